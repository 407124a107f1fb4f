"""What each split of ShapeWorld has: scenes and captions with what it holds out, or without what the others do."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from molyneux.core import ConfigError
from molyneux.data.worlds.shapeworld.kinds import Kind
from molyneux.data.worlds.shapeworld.meaning.language.constraints import CaptionConstraint
from molyneux.data.worlds.shapeworld.meaning.language.language import Language
from molyneux.data.worlds.shapeworld.meaning.trees.trees import CODES
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES
from molyneux.data.worlds.shapeworld.scenes.setting_types import covers_range, covers_square
from molyneux.data.worlds.shapeworld.scenes.settings import HeldOut, SceneSettings, training_scenes

Held = Mapping[str, HeldOut]
"""What validation and test hold out."""


def split_scenes(split: str, usual: SceneSettings, held_out: Held, *, published: bool) -> SceneSettings:
    """What the scenes of a split are drawn from; one that holds out nothing has those of training.

    Args:
        split: its name.
        usual: what scenes are drawn from before anything is held out.
        held_out: by split.
        published: whether training has what is held out, and the other entities of a split are like the held-out ones.
    """
    if split in held_out and (held_out[split].levels or published):
        own = held_out[split].scenes(usual)
        if published and own.required:  # the other entities have shapes and colours of those held out
            shapes, colours = (tuple(dict.fromkeys(names)) for names in zip(*own.required, strict=True))
            own = replace(own, shapes=shapes, colours=colours)
        return own
    return usual if published else training_scenes(usual, list(held_out.values()))


def split_captions(split: str, held_out: Held, language: Language, longest: int) -> CaptionConstraint:
    """The captions that a split may have; one that holds out nothing has those of training."""
    if split in held_out and held_out[split].levels:
        own = held_out[split]
        return CaptionConstraint(language, longest, required_patterns=own.patterns, required_lengths=own.lengths)
    patterns = [group for one in held_out.values() for group in one.patterns]
    lengths = [length for one in held_out.values() for length in one.lengths]
    return CaptionConstraint(language, longest, excluded_patterns=patterns, excluded_lengths=lengths)


def names_of(split: str, held_out: Held, longest: int) -> dict[str, str]:
    """The settings that the parts of `split_captions` come from, by the names of `CaptionConstraint.refused`."""
    own = [split] if split in held_out and held_out[split].levels else list(held_out)
    found = {"longest": f"text.longest ({longest} words)"}
    for level in ("patterns", "lengths"):
        found[level] = " and ".join(f"held_out.{one}.{level}" for one in own if getattr(held_out[one], level)) or level
    return found


def limits_of(split: str, held_out: Held, only: Collection[str]) -> list[str]:
    """Names of the settings that restrict the scenes and captions of a split."""
    own = [split] if split in held_out and held_out[split].levels else list(held_out)
    return [f"held_out.{one}.{level}" for one in own for level in held_out[one].levels] + [f"only.{name}" for name in only]


def steered(settings: SceneSettings, patterns: Sequence[Sequence[str]]) -> SceneSettings:
    """Scenes of which captions with one of some patterns are likely: the first entity has a shape or colour of a pattern.

    Where a pattern names neither, or the first entity has a combination that is held out, they stay as they are.
    """
    combinations = list[tuple[str, str]]()
    for group in patterns:
        shapes = [name for name in group if name in settings.shapes]
        colours = [name for name in group if name in settings.colours]
        if not shapes and not colours:
            return settings
        combinations += [(shape, colour) for shape in shapes[:1] or settings.shapes for colour in settings.colours if shapes]
        combinations += [(shape, colours[0]) for shape in settings.shapes if not shapes]
    left = tuple(dict.fromkeys(pair for pair in combinations if pair not in set(map(tuple, settings.excluded))))
    return replace(settings, required=left) if left and not settings.required else settings


def held_out_setting_problems(usual: SceneSettings, held_out: Held, symbols: Mapping[str, Collection[str]]) -> list[str]:
    """What is wrong with what is held out of scenes and captions, by the names of the settings of `ShapeWorld`.

    Args:
        usual: what scenes are drawn from before anything is held out.
        held_out: by split.
        symbols: of meaning that captions may have, by kind.
    """
    problems = list[str]()
    for split, one in held_out.items():
        problems += [
            f"held_out.{split}.combinations: expected a shape and a colour of the scenes, got {tuple(pair)}"
            for pair in one.combinations
            if len(pair) != 2 or pair[0] not in usual.shapes or pair[1] not in usual.colours
        ]
        if one.counts and not 1 <= min(one.counts) <= max(one.counts) <= 40:
            problems.append(f"held_out.{split}.counts: expected numbers of 1 to 40 entities, got {tuple(one.counts)}")
        problems += [f"held_out.{split}.places: {told}" for place in one.places if (told := _place_problem(usual, place))]
        problems += [f"held_out.{split}.sizes: {told}" for sizes in one.sizes if (told := _size_problem(usual, sizes))]
        for kind, known in symbols.items():
            problems += [f"held_out.{split}.patterns: {told}" for told in _pattern_problems(one.patterns, kind, known)]
    return problems or _nothing_left(usual, held_out)


def _place_problem(usual: SceneSettings, place: Sequence[float]) -> str:
    if len(place) != 4 or not (0 <= place[0] < place[2] <= 1 and 0 <= place[1] < place[3] <= 1):
        return f"expected left, top, right and bottom within 0 to 1, rising, got {tuple(place)}"
    margin = 0.0 if usual.outside > 0 else usual.size[0] / (2 * max(2.0, usual.distortion[1]))  # half of the flattest entity
    if min(place[2:]) < margin or max(place[:2]) > 1 - margin:
        return f"no entity of a width of {usual.size[0]} and more has its centre in {tuple(place)}: take a larger part"
    return ""


def _size_problem(usual: SceneSettings, sizes: Sequence[float]) -> str:
    if len(sizes) != 2 or not 0 < sizes[0] < sizes[1] <= 1:
        return f"expected two rising widths of 0 to 1, got {tuple(sizes)}"
    if sizes[0] > usual.size[1] or sizes[1] < usual.size[0]:
        return f"the entities have widths of {usual.size[0]} to {usual.size[1]}, none of {sizes[0]} to {sizes[1]}"
    return ""


def _pattern_problems(patterns: Sequence[Sequence[str]], kind: str, known: Collection[str]) -> list[str]:
    """Patterns of which no group can occur in captions of a kind; unknown symbols are told elsewhere."""
    if not patterns or any(name not in CODES for group in patterns for name in group):
        return []
    missing = [next((name for name in group if name not in known), "") for group in patterns]
    if not all(missing):
        return []
    told = ", ".join(name for name in known if name not in SHAPES and name not in COLOURS)
    return [f"no caption of the kind {kind} has {', '.join(map(repr, missing))}; besides shapes and colours they have {told}"]


def _nothing_left(usual: SceneSettings, held_out: Held) -> list[str]:
    """What is held out wholly, so that nothing is left to train on."""

    def of(level: str) -> str:
        return " and ".join(f"held_out.{split}.{level}" for split, one in held_out.items() if getattr(one, level))

    problems, every = list[str](), held_out.values()
    if not [count for count in usual.counts if not any(count in one.counts for one in every)]:
        told = ", ".join(map(str, usual.counts))
        problems.append(f"{of('counts')}: every number of entities ({told}) is held out: leave some to train on")
    pairs = {tuple(pair) for one in every for pair in one.combinations} | set(map(tuple, usual.excluded))
    if len(pairs & {(shape, colour) for shape in usual.shapes for colour in usual.colours}) == len(set(usual.shapes)) * len(
        set(usual.colours)
    ):
        problems.append(f"{of('combinations')}: every combination of shape and colour is held out: leave some to train on")
    sizes = [*usual.excluded_sizes, *(sizes for one in every for sizes in one.sizes)]
    if covers_range(*usual.size, sizes):
        told = f"all widths of {usual.size[0]} to {usual.size[1]} are excluded from training"
        problems.append(f"{of('sizes')}: {told}: leave some")
    if covers_square([*usual.excluded_places, *(place for one in every for place in one.places)]):
        problems.append(f"{of('places')}: the whole scene is excluded from training: leave some of it")
    return problems


def counted(kinds: Mapping[Kind, SceneSettings], only: Mapping[str, Sequence[str]], split: str) -> dict[Kind, SceneSettings]:
    """The kinds that a partition asks for, with scenes of the numbers of entities that it asks for.

    Args:
        kinds: what scenes are drawn from, by kind.
        only: values by factor.
        split: for the error.

    Raises:
        ConfigError: no kind has scenes with such a number.
    """
    asked = {kind: settings for kind, settings in kinds.items() if kind in only.get("kind", tuple(kinds))}
    if "entities" not in only:
        return asked
    left = {kind: tuple(count for count in one.counts if str(count) in only["entities"]) for kind, one in asked.items()}
    if not any(left.values()):
        told = "; ".join(f"{kind}: {', '.join(map(str, settings.counts))}" for kind, settings in asked.items())
        wanted = " or ".join(only["entities"])
        raise ConfigError(f"only.entities: no scene of the split {split} has {wanted} entities ({told}): choose other values")
    return {kind: replace(asked[kind], counts=counts) for kind, counts in left.items() if counts}
