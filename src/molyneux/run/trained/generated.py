"""Generated views: as people have them, with what is read in them, written to files and shown in notebooks."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from molyneux.core import ConfigError, ConflictError, Modality, Reader, Spec, nearest, store, values_of, views_of
from molyneux.run.trained.given import GivenInput
from molyneux.run.trained.pictures import SHOWN, npz_bytes, picture_sheet, png_bytes, shown_view
from molyneux.run.trained.readers import Readings, described, first_readers, read_views

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class Origin:
    """Where generated views come from.

    Args:
        model: its name.
        seed: of the noise.
        count: samples for each input.
        prior: which was chosen; empty for the usual one.
    """

    model: str
    seed: int
    count: int
    prior: str


@dataclass(frozen=True, repr=False)
class Generated:
    """Generated views of one or several modalities, sample by sample.

    Args:
        names: the modalities.
        views: by modality, (N, *shape) in stored form.
        inputs: what each sample was made from; empty where it came from a prior, or from codes.
        origin: model, seed and settings.
        spec: of the model.
        readers: gives the readers of the modalities; called when views are to be read.
        notes: what was converted of what was given, such as a picture that was resized.
    """

    names: tuple[str, ...]
    views: Mapping[str, Tensor]
    inputs: tuple[GivenInput, ...]
    origin: Origin
    spec: Spec = field(repr=False)
    readers: Callable[[], Mapping[str, tuple[Reader, ...]]] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.views.values())))

    def __repr__(self) -> str:
        source = f" from {self.inputs[0]}" if self.inputs else ""
        more = f" and {len(self) - 1} more" if len(self) > 1 and self.inputs else ""
        made = f"{len(self)} of {' and '.join(self.names)}"
        return f"Generated({made}{source}{more}; {self.origin.model}, seed {self.origin.seed})"

    def values(self, name: str = "") -> list[Any]:
        """The views as people have them: PIL images, strings, symbols, or arrays; of the only modality, or of the one named.

        Raises:
            ConfigError: several modalities were generated and none is named, or none of that name.
        """
        modality = self._modality(name)
        return values_of(modality, self.views[modality.name])

    def images(self, name: str = "") -> list[Image]:
        """The views of a modality of kind image as PIL images.

        Raises:
            ConfigError: there is none, or there are several and none is named.
        """
        return self.values(name or self._only("image"))

    def texts(self, name: str = "") -> list[str]:
        """The views of a modality of kind text as strings; errors as `images`."""
        return self.values(name or self._only("text"))

    def arrays(self, name: str = "") -> np.ndarray:
        """The views of a modality as they are stored, (N, *shape); errors as `values`."""
        found: np.ndarray = self.views[self._modality(name).name].numpy()
        return found

    def __getitem__(self, part: slice) -> Generated:
        """The samples of a slice."""
        return replace(self, views={name: view[part] for name, view in self.views.items()}, inputs=self.inputs[part])

    def readings(self, *, first: bool = False) -> list[Readings]:
        """What the readers of the world read in each sample, with what they do not read; modalities without readers are left out.

        Exact readers stand first, judges after them.

        Args:
            first: read with the first reader of each modality alone: the exact one of the world where there is one, the judge
                elsewhere.
        """
        return read_views(first_readers(self.readers()) if first else self.readers(), self.spec, self.views)

    def read_by(self) -> dict[str, str]:
        """By modality that has readers, which one reads in `readings(first=True)`: exact, or a judge and how well it reads."""
        found = first_readers(self.readers())
        return {name: described(found[name][0]) for name in self.names if name in found}

    def wanted(self, row: int) -> dict[str, str]:
        """The values that the texts a sample was made from say, by factor, as the exact readers of texts read them.

        With `readings`, this tells whether what was drawn is what was asked for. What a text leaves open has the value that was
        drawn for it. Empty where no text was given, or one that the readers do not read.
        """
        if not self.inputs:
            return {}
        readers, found = self.readers(), dict[str, str]()
        for name, text in self.inputs[row].used.items():
            if name in readers and name not in self.inputs[row].unread:
                view = views_of(self.spec.modality(name), text).view
                first = read_views({name: readers[name][:1]}, self.spec, {name: view})[0][name][0]
                found |= {factor: value for factor, value in first.values.items() if value is not None}
        return found

    def save(self, path: Path | str) -> Path:
        """Write the views into a file, or into a folder with one file for each view where the path has no suffix.

        By suffix: `.png`, a sheet of the pictures; `.txt`, the texts, a line each; `.json`, inputs, texts and readings; `.npz`,
        arrays.

        Raises:
            ConfigError: no modality fits the suffix. StoreError: it cannot be written. ConflictError: a folder with files in it.
        """
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix == ".png":
            store.write_bytes(path, png_bytes(picture_sheet(self.images())))
        elif suffix == ".txt":
            store.write_text(path, "".join(f"{text}\n" for text in self.texts()))
        elif suffix == ".json":
            store.write_json(path, self.to_json())
        elif suffix == ".npz":
            store.write_bytes(path, npz_bytes({name: view.numpy() for name, view in self.views.items()}))
        elif not suffix and path.name:
            self._save_each(path)
        else:
            raise ConfigError(f"expected a file .png, .txt, .json or .npz, or a folder, got {path.name}: choose one of them")
        return path

    def to_json(self) -> dict[str, Any]:
        """Inputs, texts, readings and origin as plain data."""
        readings = self.readings()
        texts = {name: self.values(name) for name in self.names if self.spec.modality(name).symbols}
        samples = []
        for row in range(len(self)):
            made = {name: values[row] for name, values in texts.items()}
            read = {name: [part.to_json() for part in parts] for name, parts in readings[row].items()}
            sample: dict[str, Any] = {"generated": made, "readings": read}
            if self.inputs:
                given = self.inputs[row]
                plain = {name: value if isinstance(value, str) else "" for name, value in given.given.items()}
                sample = {
                    "given": plain,
                    "used": dict(given.used),
                    "drawn": dict(given.drawn),
                    "unread": dict(given.unread),
                    **sample,
                }
            samples.append(sample)
        origin = {"model": self.origin.model, "seed": self.origin.seed, "count": self.origin.count, "prior": self.origin.prior}
        return {**origin, "targets": list(self.names), "notes": list(self.notes), "read_by": self.read_by(), "samples": samples}

    def _repr_html_(self) -> str:
        readings = self[:SHOWN].readings(first=True)
        cells = []
        for row in range(min(len(self), SHOWN)):
            shown = "".join(shown_view(self.spec.modality(name), self.views[name][row]) for name in self.names)
            read = "; ".join(str(part) for parts in readings[row].values() for part in parts[:1])
            source = f"<div>{html.escape(str(self.inputs[row]))}</div>" if self.inputs else ""
            cells.append(
                f'<figure style="display:inline-block;width:11em;margin:4px;vertical-align:top;font-size:.8em">'
                f"{shown}<figcaption>{source}<small>{html.escape(read)}</small></figcaption></figure>"
            )
        left = f"<p>and {len(self) - SHOWN:,} more</p>" if len(self) > SHOWN else ""
        return f"<div>{''.join(cells)}{left}<p><small>{html.escape(repr(self))}</small></p></div>"

    def _modality(self, name: str) -> Modality:
        if not name and len(self.names) > 1:
            raise ConfigError(f"expected the name of one of the modalities {', '.join(self.names)}: several were generated")
        if name and name not in self.names:
            raise ConfigError(f"{name!r} was not generated; {nearest(name, self.names)}")
        return self.spec.modality(name or self.names[0])

    def _only(self, kind: str) -> str:
        found = [name for name in self.names if self.spec.modality(name).kind == kind]
        if len(found) != 1:
            got = ", ".join(f"{name} ({self.spec.modality(name).kind})" for name in self.names)
            raise ConfigError(f"expected one modality of kind {kind}, got {got}: name it, or call values() or arrays()")
        return found[0]

    def _save_each(self, folder: Path) -> None:
        if folder.is_dir() and any(folder.iterdir()):
            raise ConflictError(f"expected a new or empty folder for single files, got {folder} with files in it: choose another")
        for name in self.names:
            kind = self.spec.modality(name).kind
            for row, value in enumerate(self.values(name)):
                stem = folder / f"{store.file_name(name)}-{row + 1:0{len(str(len(self)))}}"
                if kind == "image":
                    store.write_bytes(stem.with_suffix(".png"), png_bytes(value))
                elif isinstance(value, str):
                    store.write_text(stem.with_suffix(".txt"), f"{value}\n")
                else:
                    store.write_bytes(stem.with_suffix(".npz"), npz_bytes({name: np.asarray(value)}))
