"""Worlds in levels of difficulty: scenes of one object, pictured, described and felt."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from molyneux.core import Batch, Factor, Modality, Reader, Spec, seeds
from molyneux.core.lazy import lazy_module
from molyneux.data.dataset import SPLITS, Split, World
from molyneux.data.worlds.captions import CaptionReader, TemplateCaptions
from molyneux.data.worlds.combinations import Combinations
from molyneux.data.worlds.levels import LevelSettings
from molyneux.data.worlds.raster import Figures
from molyneux.data.worlds.touch import CONTACTS, contours

if TYPE_CHECKING:
    import torch

    from molyneux.core import ConvertedViews, Understood
else:
    torch = lazy_module("torch")

_COMBINATION = 0
"""Column of `SpriteScenes.draws` that decides on the combination; the others are the subclass's."""


@dataclass(frozen=True)
class SpriteScenes:
    """A batch of scenes, one row each; every view of a world is made from these arrays alone.

    Args:
        indices: (n,) int64 sample numbers in their split.
        split: the stream they come from.
        seed: the root seed.
        factors: (n, F) int64 codes in the order of the world's factors.
        figures: where the object is and what shape it has, in scene units (0..1, x right, y down).
        draws: (n, k) float64 uniform numbers of each scene, for what the factors do not say (textures, noise).
    """

    indices: np.ndarray
    split: Split
    seed: int
    factors: np.ndarray
    figures: Figures
    draws: np.ndarray

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, part: slice) -> SpriteScenes:
        """The scenes of a slice."""
        return SpriteScenes(self.indices[part], self.split, self.seed, self.factors[part], self.figures[part], self.draws[part])


PaintScenes = Callable[[SpriteScenes, np.ndarray], None]
"""Paints scenes into RGB pictures (n, 3, image_size, image_size) uint8."""


class CaptionedWorld(World):
    """Scenes of one object with a caption that says, up to a level, what the picture shows.

    Combinations of the attributes are equally likely; a subclass says how its nuisances are drawn, what figure the object is,
    and how it is painted.

    Args:
        settings: of the world.
        problems: what is already known to be wrong with them.
        nuisances: factors that no caption says; they come last.
        threads: for making pictures.

    Raises:
        ConfigError: settings that cannot be used; all problems at once, those of held-out combinations once the rest is right.
    """

    untouched: ClassVar[tuple[str, ...]] = ("colour", "background")
    """Names of the factors that a contour does not show."""

    relative_colours: ClassVar[bool] = False
    """Whether colours are ratios of the channels, shown at full brightness."""

    _settings: LevelSettings

    def __init__(self, settings: LevelSettings, problems: Sequence[str], nuisances: tuple[Factor, ...], *, threads: int) -> None:
        settings.check(problems, threads=threads)
        self._settings, self._threads = settings, threads
        self._factors = (*settings.drawn, *nuisances)
        held_out = {"heldout": settings.combinations(held_out=True)} if settings.rules else {}
        combinations = dict.fromkeys(SPLITS, settings.combinations(held_out=False)) | held_out
        self._combinations = {split: some for split, some in combinations.items() if len(some)}
        self._columns = {factor.name: column for column, factor in enumerate(self._factors)}
        if "text" in settings.modalities:
            _ = self.grammar  # refuses combinations with the same caption

    @property
    @abstractmethod
    def _numbers(self) -> int:
        """Uniform numbers per scene; more of them leave the first ones as they are."""

    @abstractmethod
    def _nuisances(self, drawn: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Codes (n, N) int64 of the factors that no caption says, from combinations (n, F) and uniform numbers (n, k)."""

    @abstractmethod
    def _figures(self, factors: np.ndarray, draws: np.ndarray) -> Figures:
        """Geometry of scenes, in scene units, from the codes of all factors and uniform numbers (n, k)."""

    @abstractmethod
    def _painter(self) -> PaintScenes:
        """What paints pictures; asked for once a batch."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings as plain data: with name, split and seed they determine every byte."""
        return self._settings.to_json()

    @property
    def spec(self) -> Spec:
        """Modalities as chosen; factors are those of the picture and the caption, then the nuisances, with x and y at the end."""
        return Spec(tuple(self._modality(name) for name in self._settings.modalities), self._factors)

    @property
    def caption_factors(self) -> tuple[str, ...]:
        """Names of the factors that a caption says."""
        return self._settings.names(self._settings.caption_level)

    @property
    def picture_factors(self) -> tuple[str, ...]:
        """Names of the factors that a picture shows and a caption of its level would say."""
        return self._settings.names(self._settings.level)

    def visible(self, modality: str) -> tuple[str, ...]:
        """Names of the factors that a view shows; all that its picture shows but for `untouched` where it is a contour."""
        if modality == "text":
            return self.caption_factors
        return tuple(name for name in self.picture_factors if modality == "image" or name not in self.untouched)

    @property
    def palette(self) -> Mapping[str, tuple[int, int, int]]:
        """The colours of figures by caption word, RGB; a world that changes them when it paints says how they come out."""
        return {name: (red, green, blue) for name, (red, green, blue) in self._settings.choices["colours"].items()}

    @property
    def shapes(self) -> tuple[str, ...]:
        """Names of its shapes, as the rasteriser has them."""
        return tuple(self._settings.choices["shapes"].values())

    @property
    def lengths(self) -> tuple[float, ...]:
        """Its sizes as numbers, in the unit of the settings."""
        return tuple(float(length) for length in self._settings.choices["sizes"].values())

    def length(self, scenes: SpriteScenes) -> np.ndarray:
        """The number of `lengths` that each scene's object is drawn with, (n,)."""
        lengths = np.array(self.lengths)
        if self._settings.level < 2:
            return np.full(len(scenes), lengths.max())
        return np.asarray(lengths[self._codes(scenes.factors, "size")])

    @cached_property
    def grammar(self) -> TemplateCaptions:
        """Every caption of this world.

        Raises:
            ConfigError: two combinations have the same caption.
        """
        return TemplateCaptions(self._settings.templates[self._settings.caption_level], self._settings.drawn)

    @property
    def splits(self) -> Mapping[Split, int | None]:
        """Endless splits; `heldout` is among them where combinations are held out."""
        return dict.fromkeys(self._combinations)

    def combinations(self, split: Split) -> Combinations:
        """What a split draws from; its `contains` takes the columns of `Batch.factors` before the nuisances.

        Raises:
            ConfigError: no such split.
        """
        self.size(split)
        return self._combinations[split]

    def scenes(self, indices: np.ndarray, *, split: Split, seed: int) -> SpriteScenes:
        """The scenes of these sample numbers (n,), any order, any non-negative integers.

        Raises:
            ConfigError: no such split. DataError: no integers in one row, or a negative number.
        """
        indices, combinations = self.numbers(indices, split), self.combinations(split)
        draws = seeds.uniforms(seeds.key(seed, self.name, split), indices, self._numbers)
        drawn = combinations.sample(draws[:, _COMBINATION])
        factors = np.concatenate([drawn, self._nuisances(drawn, draws)], 1)
        return SpriteScenes(indices, split, seed, factors, self._figures(factors, draws), draws)

    def batch(self, indices: np.ndarray, *, split: Split, seed: int) -> Batch:
        """The samples of these numbers (B,), any order, any non-negative integers; errors as `scenes`."""
        return self.view(self.scenes(indices, split=split, seed=seed))

    def factor_codes(self, indices: np.ndarray, *, split: Split, seed: int) -> np.ndarray:
        """See `SplitDataset`; the scenes alone are drawn."""
        return self.scenes(indices, split=split, seed=seed).factors

    def view(self, scenes: SpriteScenes) -> Batch:
        """The samples of scenes, which may have been altered since they were drawn."""
        views = {name: torch.from_numpy(self._view(name, scenes)) for name in self._settings.modalities}
        return Batch(views, factors=torch.from_numpy(scenes.factors))

    def readers(self) -> Mapping[str, Reader]:
        """The parser of captions, if there are captions."""
        return {"text": CaptionReader(self.grammar)} if "text" in self._settings.modalities else {}

    def understand(self, text: str) -> Understood:
        """What a text of a person says of the factors of captions; see `core.Understands` and `NamedValues`.

        What is open is drawn from the combinations of the training split, from all where these have none that fits.
        """
        from molyneux.data.worlds.named_values import understood_caption  # which a training does not need

        return understood_caption(self.grammar, text, draw=self._completed)

    def views_of_caption(self, caption: str) -> Mapping[str, ConvertedViews]:
        """See `core.Understands`."""
        from molyneux.data.worlds.named_values import view_of_caption

        return {"text": view_of_caption(self.grammar, caption)}

    def view_of_contour(self, contour: Any, *, side: float = 1.0) -> ConvertedViews:
        """A closed line as the view `touch`; see `core.TracesContours`."""
        from molyneux.data.worlds.drawn_contours import contour_view

        return contour_view(self._modality("touch"), contour, side=side)

    def _completed(self, possible: Mapping[str, Sequence[str]], generator: np.random.Generator) -> Mapping[str, str]:
        """A value of each factor of captions, from the combinations that fit."""
        fitting = self._combinations.get("train", Combinations.every(self._settings.drawn)).matching([possible])
        if not len(fitting):
            fitting = Combinations.every(self._settings.drawn).matching([possible])
        codes = fitting.codes[int(generator.integers(len(fitting)))]
        chosen = {f.name: f.values[code] for f, code in zip(fitting.factors, codes.tolist(), strict=True)}
        return {name: chosen[name] for name in self.grammar.names}

    def _modality(self, name: str) -> Modality:
        if name == "text":
            return self.grammar.modality()
        if name == "touch":
            return Modality(name, "series", (CONTACTS, 5))
        return Modality(name, "image", (3, self._settings.image_size, self._settings.image_size), "uint8")

    def _view(self, name: str, scenes: SpriteScenes) -> np.ndarray:
        """The views (n, *shape) of scenes in a modality."""
        if name == "text":
            return self.grammar.write(scenes.factors[:, [self._columns[factor] for factor in self.grammar.names]])
        if name == "touch":
            stream = seeds.key(scenes.seed, self.name, scenes.split, "touch")
            return contours(scenes.figures, scenes.indices, stream, noise=self._settings.touch_noise)
        out = np.empty((len(scenes), 3, self._settings.image_size, self._settings.image_size), np.uint8)
        paint = self._painter()
        spread(lambda part: paint(scenes[part], out[part]), len(scenes), threads=self._threads)
        return out

    def _codes(self, factors: np.ndarray, name: str) -> np.ndarray:
        """Codes (n,) int64 of one factor, from those of all (n, F) or of all but the nuisances."""
        return np.ascontiguousarray(factors[:, self._columns[name]])


def spread(work: Callable[[slice], None], count: int, *, threads: int, chunk: int = 128) -> None:
    """Call `work` with slices that cover range(count), on `threads` threads.

    Chunks are small enough for a processor's cache and are the same for any number of threads. `work` should spend its time
    in compiled code, which lets the other threads run.
    """
    slices = [slice(start, min(start + chunk, count)) for start in range(0, count, chunk)]
    if threads == 1 or len(slices) < 2:
        for part in slices:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, slices):
            pass
