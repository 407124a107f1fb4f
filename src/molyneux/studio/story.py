"""Molyneux's question in words: senses, paths between them, how samples were kept apart, and what is on record."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING

from molyneux.core import Factor, Spec
from molyneux.report.wording import write_interval

if TYPE_CHECKING:
    import molyneux.run as runs
    from molyneux.report import KeptApart, TransferVariant
    from molyneux.report.study.seeds import OverSeeds

LETTER = (
    "In 1688 William Molyneux asked John Locke about a man born blind who knows a cube and a sphere by touch: if he came "
    "to see, could he tell by sight alone which is which?",
    "Here the same is asked of a trained model: a shape that it was taught in one sense and by name, does it know it in another?",
)
"""The question, as Locke tells it in An Essay Concerning Human Understanding (second edition, 1694), book II, chapter IX, § 8."""
_SENSES = {
    "image": ("sight", "seen", "See", "how does it look?"),
    "series": ("touch", "felt", "Feel", "how does it feel?"),
    "audio": ("hearing", "heard", "Hear", "how does it sound?"),
    "text": ("name", "named", "Name", "what is it called?"),
    "label": ("name", "named", "Name", "what is it called?"),
}
STEPS = ("By its name", "From one sense to the other", "Through the name")
"""The three parts of the experiment: naming, making one sense from another, and the same by way of the name."""


def name_of(spec: Spec) -> str:
    """The modality that names things: the first of kind text or label; empty where there is none."""
    return next((item.name for item in spec.modalities if item.kind in ("text", "label")), "")


def senses_of(spec: Spec) -> tuple[str, ...]:
    """The modalities that are no names."""
    return tuple(item.name for item in spec.modalities if item.kind not in ("text", "label"))


def paths_of(spec: Spec) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """The paths of each of `STEPS`; none where the samples have no name, or one sense alone."""
    name, senses = name_of(spec), senses_of(spec)
    if not name or len(senses) < 2:
        return ()
    pairs = list(permutations(senses, 2))
    return tuple((sense, name) for sense in senses), tuple(pairs), tuple((first, name, last) for first, last in pairs)


def path_title(spec: Spec, path: Sequence[str]) -> str:
    """A path as what a person does, such as `See it: what is it called?`."""
    words = [_SENSES[spec.modality(name).kind] for name in path]
    through = "".join(f", {word[2].lower()} it" for word in words[1:-1])
    return f"{words[0][2]} it{through}: {words[-1][3]}"


def sense_word(spec: Spec, name: str) -> str:
    """A modality as a sense, such as `sight`."""
    return _SENSES[spec.modality(name).kind][0]


def path_word(spec: Spec, path: Sequence[str]) -> str:
    """A path in words, such as `sight → name → touch`."""
    return " → ".join(sense_word(spec, name) for name in path)


def read_words(said: str) -> str:
    """What was read, such as `read as heart`, or that nothing was."""
    from molyneux.run.trained.paths import NOT_READ  # with torch, which the first page does without

    return said if said == NOT_READ else f"read as {said}"


def plural(values: Sequence[str]) -> str:
    """Values of a factor as things, such as `hearts and squares`."""
    return " and ".join(f"{value}s" for value in values)


def kept_words(spec: Spec, kept: KeptApart) -> str:
    """How samples came in training, such as `seen and named, or felt and named`."""
    every = tuple(item.name for item in spec.modalities if item.name not in kept.missing)
    parts = [" and ".join(_ordered(spec, part)) for part in kept.sets or (every,)]
    if not kept.sets and not kept.missing:
        return f"{', '.join(_ordered(spec, every)[:-1])} and named together, as all others"
    return ", or ".join(parts)


def training_sentence(spec: Spec, kept: KeptApart, factor: str) -> str:
    """How the samples of all values of a factor came in training."""
    apart = kept.where[factor]
    others = plural([value for value in spec.factor(factor).values if value not in apart])
    first = f"{plural(apart).capitalize()} came {kept_words(spec, kept)}"
    return f"{first}; {others} with all of it." if others else f"{first}."


def _ordered(spec: Spec, names: Sequence[str]) -> list[str]:
    """What was done, the senses first and the naming last."""
    first = [name for name in spec.names if name in names]
    return [_SENSES[spec.modality(name).kind][1] for name in sorted(first, key=lambda name: name == name_of(spec))]


def joined_words(spec: Spec, kept: KeptApart, path: Sequence[str]) -> str:
    """Whether the two ends of a path, or all of it, came together in training, as a sentence."""
    things, ends = plural([value for values in kept.where.values() for value in values]), (path[0], path[-1])
    both = " and ".join(_ordered(spec, ends))
    often = "also" if kept.joined(*ends) else "never"
    return f"In training, {things} were {often} {both} together."


def walk_sentence(walk: runs.PathWalk) -> str:
    """What became of samples, in one sentence with its interval and what guessing gives."""
    low, high = walk.share.interval
    beyond = "" if low > walk.guess else ", which is not above guessing"
    return (
        f"Right {100 * walk.share.share:.1f} % of the time ({100 * low:.1f} to {100 * high:.1f}; "
        f"{walk.share.samples} samples; guessing {100 * walk.guess:.1f} %){beyond}."
    )


def fitting(studies: dict[str, tuple[TransferVariant, ...]], spec: Spec) -> dict[str, tuple[TransferVariant, ...]]:
    """The studies of these modalities in which samples were kept apart, that with the most on record first."""

    def size(variants: Sequence[TransferVariant]) -> int:
        return sum(len(variant.apart) for variant in variants)

    def fits(variants: Sequence[TransferVariant]) -> bool:
        return any(one.kept.sets for one in variants) and all(set(spec.names) >= set(p) for one in variants for p in one.apart)

    order = sorted(studies, key=lambda name: -size(studies[name]))
    return {name: studies[name] for name in order if fits(studies[name])}


def answer(variants: Sequence[TransferVariant], spec: Spec) -> str:
    """The answer of a study in one sentence, from its records; empty where no variant asks the question."""
    found = _asking(variants, spec)
    if found is None:
        return ""
    (one, known, new), name = found, name_of(spec)
    taught, untaught = one.apart[known, name], one.apart[new, name]
    says = "Yes" if _above(untaught) else "No"
    things = plural([value for values in one.kept.where.values() for value in values])
    first, second = (_SENSES[spec.modality(sense).kind] for sense in (known, new))
    return (
        f"{says}: {things} that were {first[1]} and named, and never {second[1]}, are named by {first[0]} in {_share(taught)} "
        f"of cases and by {second[0]} in {_share(untaught)} (guessing {_guess(untaught)})." + _bridge(variants, spec, things)
    )


def first_asked(variants: Sequence[TransferVariant], spec: Spec) -> str:
    """The variant in which things were named in one sense and never came in the other; the first one where none is so."""
    found = _asking(variants, spec)
    return variants[0].name if found is None else found[0].name


def _asking(variants: Sequence[TransferVariant], spec: Spec) -> tuple[TransferVariant, str, str] | None:
    """The variant that asks the question, the sense in which things were named, and the one in which they never came.

    Molyneux's own question comes first: sight is new.
    """
    pairs = sorted(permutations(senses_of(spec), 2), key=lambda pair: spec.modality(pair[1]).kind != "image")
    name = name_of(spec)
    for known, new in pairs:
        for one in variants:
            asked = bool(one.kept.sets) and one.kept.joined(known, name) and not one.kept.joined(new)
            if asked and (known, name) in one.apart and (new, name) in one.apart:
                return one, known, new
    return None


def record_shares(one: TransferVariant, spec: Spec) -> list[tuple[str, float]]:
    """What is on record of a variant, path by path, as shares of one, with what guessing gives."""
    paths = [path for step in paths_of(spec) for path in step if path in one.apart]
    found = [(path_word(spec, path), (one.apart[path].mean or 0.0) / 100) for path in paths]
    chance = next((one.apart[path].chance for path in paths), None)
    return [*found, *([("guessing", chance / 100)] if chance is not None else [])]


def _bridge(variants: Sequence[TransferVariant], spec: Spec, things: str) -> str:
    """What the name joins where it was learned in both senses, and the senses never came together."""
    name = name_of(spec)
    for one in variants:
        for first, last in permutations(senses_of(spec), 2):
            apart = one.kept.joined(first, name) and one.kept.joined(last, name) and not one.kept.joined(first, last)
            direct, through = one.apart.get((first, last)), one.apart.get((first, name, last))
            if apart and direct is not None and through is not None:
                return (
                    f" Where {things} were named in both senses, {sense_word(spec, last)} made from {sense_word(spec, first)} is "
                    f"right in {_share(through)} by way of the name, and in {_share(direct)} directly."
                )
    return ""


def _above(over: OverSeeds) -> bool:
    return over.interval is not None and over.chance is not None and over.interval[0] > over.chance


def _share(over: OverSeeds) -> str:
    return f"{over.written} %"


def _guess(over: OverSeeds) -> str:
    return "not known" if over.chance is None else f"{over.chance:.1f} %"


def limits(variants: Sequence[TransferVariant], factor: Factor) -> tuple[str, ...]:
    """What the records do not say, in sentences."""
    seeds, values = max(one.seeds for one in variants), factor.values
    trainings = "One training" if seeds == 1 else f"{seeds} trainings"
    found = [
        f"{trainings} of each kind, and {len(values)} {factor.name}s ({', '.join(values)}): an answer for these, not for others.",
        "A model that never met a shape in a sense never says its name there: 0 % is the known bias of classifiers to what they "
        "have seen, and so a floor. Which of two new things is which is the sharper question, which two_way_choice measures.",
        "The line that is felt lies in the frame of the picture: position and turn are common to both senses.",
    ]
    if any(one.earlier for one in variants):
        found.append("Read by an earlier, unnamed reader: kept as history, and not compared with what today's readers read.")
    return tuple(found)


def record_rows(variants: Sequence[TransferVariant], spec: Spec) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heads and rows of a table: variants, how their samples came, and the accuracy of each path with its interval."""
    paths = [path for step in paths_of(spec) for path in step if any(path in one.apart for one in variants)]
    head = ("variant", "in training", *(path_word(spec, path) for path in paths))
    rows = [(one.name, kept_words(spec, one.kept), *(_cell(one.apart.get(path)) for path in paths)) for one in variants]
    chance = next((f"{over.chance:.1f}" for one in variants for over in one.apart.values() if over.chance is not None), "")
    return head, [*rows, ("guessing", "", *(chance for _ in paths))]


def _cell(over: OverSeeds | None) -> str:
    if over is None:
        return ""
    return f"{over.written} ({write_interval(over.interval, over.decimals)})" if over.interval else over.written
