"""What a model is given: views of some modalities, made of what people have, and how texts were understood."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from molyneux.core import (
    Batch,
    ConfigError,
    ConvertedViews,
    DataError,
    Dataset,
    Modality,
    MolyneuxError,
    PicturesSounds,
    Spec,
    SpecError,
    Understands,
    Understood,
    nearest,
    seeds,
    views_of,
)
from molyneux.core.conversion.given import is_several

MOST = 100_000
"""Inputs of one call."""
_AS_IT_IS = "; the model gets the text as it is"
_TORCH = {"float32": torch.float32, "int64": torch.int64, "uint8": torch.uint8}


@dataclass(frozen=True)
class GivenInput:
    """What a sample was made from.

    Args:
        given: by modality, the value that was given.
        used: by modality of kind text, the text that the model was given; another one than was given where a person's wording
            was turned into the world's, or where what it left open was drawn.
        drawn: factors that the text left open, with the values that were drawn.
        unread: why the world's own reader does not read a text, which the model was given as it is.
    """

    given: Mapping[str, Any] = field(default_factory=dict)
    used: Mapping[str, str] = field(default_factory=dict)
    drawn: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return ", ".join(self._said(name, value) for name, value in self.given.items())

    def _said(self, name: str, value: Any) -> str:
        """What was given of one modality, and what the model got for it where that is something else."""
        if not isinstance(value, str) or name not in self.used:
            return name
        used = self.used[name]
        return f"{name} {value!r}" if used == value else f"{name} {value!r} as {used!r}"


@dataclass(frozen=True)
class GivenViews:
    """What is given of one modality, for each of N inputs.

    Args:
        modality: which.
        values: as given; None where an input lacks it.
        view: (N, *shape) in stored form; what stands for None means nothing.
        lengths: (N,), where samples have lengths.
        wordings: of texts that the world understands, by input, what it understood; None where the text is taken as it is.
        unread: by input, why the world does not read a text that is taken as it is.
        notes: what was converted, such as a picture that was resized.
        world: that understood the wordings.
    """

    modality: Modality
    values: list[Any]
    view: Tensor
    lengths: Tensor | None
    wordings: Mapping[int, Understood] = field(default_factory=dict)
    unread: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    world: Understands | None = None

    def repeated(self, size: int) -> GivenViews:
        """The same, for `size` inputs where it is given once."""
        if len(self.values) == size:
            return self
        rows = torch.zeros(size, dtype=torch.int64)
        lengths = None if self.lengths is None else self.lengths[rows]
        wordings = dict.fromkeys(range(size), self.wordings[0]) if self.wordings else {}
        unread = dict.fromkeys(range(size), self.unread[0]) if self.unread else {}
        return replace(self, values=self.values * size, view=self.view[rows], lengths=lengths, wordings=wordings, unread=unread)


def given_views(
    spec: Spec, views: Mapping[str, Any], dataset: Callable[[], Dataset | None], *, name: str, raw: bool
) -> list[GivenViews]:
    """What is given, by modality in the order of the Spec; one value beside lists stands for each of their inputs.

    Args:
        spec: of the model.
        views: by modality, what people have; None, where it is not there.
        dataset: makes the data set; called where there are texts and not `raw`.
        name: of the model, for messages.
        raw: take texts as they are.

    Raises:
        ConfigError: an unknown modality, or lists of different lengths. DataError: values that cannot be used.
    """
    named: dict[str, Any] = {}
    for key, value in views.items():
        modality = given_modality(spec, key, name)
        if modality.name in named:
            raise ConfigError(f"expected each modality once, got {modality.name} twice")
        if value is not None and not (isinstance(value, list | tuple) and len(value) and all(part is None for part in value)):
            named[modality.name] = value
    texts = not raw and any(spec.modality(key).symbols for key in named)
    world = dataset() if texts or any(map(_has_sound, named.values())) else None
    items = [_item(item, named[item.name], world, raw=raw) for item in spec.modalities if item.name in named]
    sizes = {len(item.values) for item in items} - {1}
    if len(sizes) > 1:
        got = ", ".join(f"{len(item.values)} of {item.modality.name}" for item in items)
        raise ConfigError(f"expected as many values of each modality, or one, got {got}")
    size = max(sizes, default=1)
    if size > MOST:
        raise ConfigError(f"expected at most {MOST:,} inputs in one call, got {size:,}: give them in parts")
    items = [item.repeated(size) for item in items]
    for place in range(size):
        if items and all(item.values[place] is None for item in items):
            raise ConfigError(
                f"expected at least one modality of each input, got None for all of input {place + 1}: leave it out"
            )
    return items


def given_of(batch: Batch, spec: Spec, names: Iterable[str]) -> dict[str, GivenViews]:
    """Modalities of samples as inputs of a model: as stored, with their lengths, and missing where the samples lack them."""
    found = {}
    for name in names:
        view = batch.views[name]
        here = batch.present[name].tolist() if name in batch.present else [True] * len(view)
        values = [row if is_here else None for row, is_here in zip(view.numpy(), here, strict=True)]
        found[name] = GivenViews(spec.modality(name), values, view, batch.lengths.get(name))
    return found


def _item(modality: Modality, value: Any, world: Dataset | None, *, raw: bool) -> GivenViews:
    """What is given of one modality; texts that the world understands are read by it."""
    if isinstance(value, GivenViews):
        return value
    listed = _listed(value)
    if listed is None:
        made = views_of(modality, value)  # an array may hold several
        values = [value] if len(made) == 1 else list(value)
        return GivenViews(modality, values, made.view, made.lengths, notes=made.notes)
    understands = world if isinstance(world, Understands) and modality.kind == "text" and not raw else None
    if understands is not None and world is not None:
        _require_same(modality, world)
    wordings, unread = dict[int, Understood](), dict[int, str]()
    if understands is not None and world is not None:
        wordings, unread = _understood(understands, world.name, listed)
    plain = [place for place, part in enumerate(listed) if part is not None and place not in wordings]
    view = torch.zeros((len(listed), *modality.shape), dtype=_TORCH[modality.dtype])
    lengths, notes = None, tuple[str, ...]()
    if plain:
        try:
            made = _views(modality, [listed[place] for place in plain], world)
        except DataError as error:
            made = _without_punctuation(modality, [listed[place] for place in plain], unread, error)
        view[plain], notes = made.view, made.notes
        if made.lengths is not None:
            lengths = torch.zeros(len(listed), dtype=torch.int64)
            lengths[plain] = made.lengths
    notes = (*notes, *dict.fromkeys(note for found in wordings.values() for note in _reading(found)))
    return GivenViews(modality, listed, view, lengths, wordings, unread, notes, understands)


def _reading(found: Understood) -> list[str]:
    """How a text was read that says more than values of factors, where its words are others than those of its caption."""
    plain = [re.findall(r"\w+", text.lower()) for text in (found.text, found.nearest)]
    if found.values or not found.complete or (plain[0] == plain[1] and not found.remarks):
        return []
    return ["; ".join([f"{found.text!r} is read as {found.nearest!r}", *found.remarks])]


def _require_same(modality: Modality, world: Dataset) -> None:
    """Refuse a world whose texts are written in other symbols than those of the model.

    Raises:
        SpecError: names both.
    """
    try:
        known = {item.name: item for item in world.spec.modalities}
    except MolyneuxError:  # of files that are not there
        return
    theirs = known.get(modality.name, modality)
    if (theirs.symbols, theirs.shape) != (modality.symbols, modality.shape):
        sizes = f"{modality.shape} of {len(modality.symbols)} and {theirs.shape} of {len(theirs.symbols)} symbols"
        raise SpecError(
            f"expected the world that the model was trained on, got {world.name} with another {modality.name}: {sizes}"
        )


def _listed(value: Any) -> list[Any] | None:
    """The values of a list, or one text or sound; None for anything else, such as an array, also as nested lists of numbers."""
    if isinstance(value, str) or _is_sound(value):
        return [value]
    if isinstance(value, list | tuple) and value and (is_several(value) or any(part is None for part in value)):
        return list(value)
    return None


def _understood(world: Understands, name: str, texts: Sequence[Any]) -> tuple[dict[int, Understood], dict[int, str]]:
    """By place, the wordings that a world understands, and why it does not read the others.

    Raises:
        DataError: a text that is no sentence of a world of sentences.
    """
    wordings, unread = dict[int, Understood](), dict[int, str]()
    for place, text in enumerate(texts):
        if isinstance(text, str):
            if not text.strip():
                raise DataError("expected a text, got an empty one: leave it out, or give raw=True to take it as padding alone")
            found = world.understand(text)
            if found.consistent:
                wordings[place] = found
            elif found.problem:
                raise DataError(f"{found.explained()}: give raw=True to take it symbol by symbol")
            else:
                unread[place] = f"the world {name} does not read {found.explained()}{_AS_IT_IS}"
    return wordings, unread


def _without_punctuation(
    modality: Modality, values: Sequence[Any], unread: Mapping[int, str], error: DataError
) -> ConvertedViews:
    """Views of texts that the world does not read, without what is no letter; the error of before where that is none either."""
    if not unread:
        raise error
    try:
        return views_of(modality, [" ".join(re.findall(r"\w+", text)) if isinstance(text, str) else text for text in values])
    except DataError as again:
        told = [text.removesuffix(_AS_IT_IS) for text in unread.values()]
        if modality.arities:  # symbols of meaning, which nobody writes
            raise DataError("; ".join(told)) from again
        raise DataError("; ".join([*told, f"nor can it be taken as it is ({again})"])) from again


def _views(modality: Modality, values: Sequence[Any], world: Dataset | None) -> ConvertedViews:
    """Views of values; those of sounds, where the modality is a picture of sounds, by the data set that draws such."""
    if not (isinstance(world, PicturesSounds) and modality.kind == "image" and any(map(_is_sound, values))):
        return views_of(modality, values[0] if len(values) == 1 else list(values))
    parts = [world.view_of_sound(modality.name, part) if _is_sound(part) else views_of(modality, part) for part in values]
    return ConvertedViews(torch.cat([part.view for part in parts]), None, tuple(note for part in parts for note in part.notes))


def _is_sound(value: Any) -> bool:
    """Whether a value is a sound for a modality that is a picture: the path of a WAV file, or a pair (rate, array)."""
    if isinstance(value, tuple):
        return len(value) == 2 and isinstance(value[0], int) and hasattr(value[1], "shape")
    return isinstance(value, str | Path) and str(value).lower().endswith(".wav")


def _has_sound(value: Any) -> bool:
    return _is_sound(value) or (isinstance(value, list) and any(map(_is_sound, value)))


def given_modality(spec: Spec, key: str, model: str) -> Modality:
    """The modality of a name, or the only one of a kind that is asked for by the name of the kind.

    Raises:
        ConfigError: there is none.
    """
    named = [item for item in spec.modalities if _folded(item.name) == _folded(key)]
    if key in spec.names or len(named) == 1:
        return spec.modality(key) if key in spec.names else named[0]
    of_kind = [item for item in spec.modalities if item.kind == key]
    if len(of_kind) == 1:
        return of_kind[0]
    raise ConfigError(f"{model} has no modality {key!r}; {nearest(key, spec.names)}")


def _folded(name: str) -> str:
    """A name as an argument of Python or of the command line may spell it."""
    return re.sub(r"[\W_]+", "_", str(name)).lower()


@dataclass(frozen=True)
class Given:
    """What a model is given: each input, as often as samples are wanted of it.

    Args:
        batch: N inputs x count samples, in this order; only what is given.
        names: the modalities.
        rows: (N * count,) uint64: what the noise of a sample depends on, its input, how often the same input came before, and
            the number of the sample.
        samples: what each was made from.
        notes: what was converted.
    """

    batch: Batch
    names: tuple[str, ...]
    rows: np.ndarray
    samples: tuple[GivenInput, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def drawn(cls, spec: Spec, items: Sequence[GivenViews], count: int, seed: int) -> Given:
        """Every input `count` times; what texts leave open is drawn for each sample."""
        size = len(items[0].values)
        if size * count > MOST:
            raise ConfigError(f"expected at most {MOST:,} samples in one call, got {size:,} inputs x {count:,}: ask in parts")
        inputs = [_identity(items, place) for place in range(size)]
        seen, samples, rows = Counter[str](), list[GivenInput](), list[int]()
        texts: dict[str, dict[str, list[int]]] = {item.modality.name: {} for item in items}
        for place, one in enumerate(inputs):
            fixed = None if _is_open(items, place) else _sample(items, place, np.random.default_rng(0))
            for number in range(count):
                rows.append(int(seeds.key(seed, "sample", one, seen[one], number)[0]))
                named = (seed, "wording", one, seen[one], number)
                sample = fixed or _sample(items, place, seeds.generator(*named))
                for item in items:
                    if place in item.wordings:
                        texts[item.modality.name].setdefault(sample.used[item.modality.name], []).append(len(samples))
                samples.append(sample)
            seen[one] += 1
        repeats = torch.arange(size).repeat_interleave(count)
        views, lengths, present = dict[str, Tensor](), dict[str, Tensor](), dict[str, Tensor]()
        for item in items:
            name = item.modality.name
            view = item.view[repeats]
            for text, places in texts[name].items():
                assert item.world is not None
                made = item.world.views_of_caption(text).get(name) or views_of(item.modality, text)
                view[places] = made.view.to(view.dtype)
            views[name] = view
            if item.lengths is not None:
                lengths[name] = item.lengths[repeats]
            if any(value is None for value in item.values):
                present[name] = torch.tensor([value is not None for value in item.values])[repeats]
        names = tuple(item.modality.name for item in items)
        notes = tuple(note for item in items for note in item.notes)
        return cls(Batch(views, present, lengths=lengths), names, np.array(rows, np.uint64), tuple(samples), notes)


def _is_open(items: Sequence[GivenViews], place: int) -> bool:
    """Whether a text of an input leaves something open, which is drawn for each sample."""
    return any(place in item.wordings and item.wordings[place].open for item in items)


def _sample(items: Sequence[GivenViews], place: int, rng: np.random.Generator) -> GivenInput:
    """What a sample is made from; what is open is drawn."""
    given, used, drawn, unread = dict[str, Any](), dict[str, str](), dict[str, str](), dict[str, str]()
    for item in items:
        name, value = item.modality.name, item.values[place]
        if value is None:
            continue
        given[name] = value
        if place in item.wordings:
            caption = item.wordings[place].caption(rng)
            used[name] = caption.text
            drawn |= caption.drawn
        elif isinstance(value, str) and item.modality.kind == "text":
            used[name] = value
        if place in item.unread:
            unread[name] = item.unread[place]
    return GivenInput(given, used, drawn, unread)


def _identity(items: Sequence[GivenViews], place: int) -> str:
    """A digest of one input."""
    digest = hashlib.blake2b(digest_size=16)
    for item in items:
        value = item.values[place]
        if value is None:
            continue  # as if it were not given
        digest.update(f"{item.modality.name}:True:".encode())
        if isinstance(value, str) and item.modality.kind == "text":
            digest.update(value.encode())
        else:
            digest.update(item.view[place].numpy().tobytes())
    return digest.hexdigest()
