"""How scores are written: measures, families, controls, directions and conditions in words, and numbers with their decimals.

A name that the lists do not hold gets words made from the name itself. A value, its interval and its controls have the same
number of decimals.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from molyneux.core import Score

MISSING = "n/a"
"""Stands in place of a number that there is not."""
MEASURES = {
    "above_unbound": "Above unbound counts",
    "area": "Mean over strengths",
    "ari": "Adjusted Rand index",
    "conditional_difference": "Conditional, as a difference of bounds",
    "dci_completeness": "DCI completeness",
    "dci_disentanglement": "DCI disentanglement",
    "dci_informativeness": "DCI informativeness",
    "effective": "Effective robustness",
    "elbo": "ELBO",
    "effective_samples": "Effective samples",
    "f1": "F1",
    "frechet": "Fréchet distance",
    "gaussian_kl": "Gaussian KL divergence",
    "hoyer": "Hoyer sparsity",
    "irs": "IRS",
    "iwae": "IWAE bound",
    "kim_mnih": "Kim-Mnih",
    "kid": "KID",
    "kl": "KL divergence",
    "letters_padded": "Letters, whole length",
    "log_likelihood": "Log-likelihood",
    "macro_f1": "Macro F1",
    "mae": "Mean absolute error",
    "marginal_kl": "Marginal KL divergence",
    "micro_f1": "Micro F1",
    "mig": "MIG",
    "mmd": "MMD",
    "mse": "Mean squared error",
    "neighbours": "Told by neighbours",
    "nmi": "Normalised mutual information",
    "nonnegative_accuracy": "Accuracy of the sign (0 counts as positive)",
    "nonnegative_weighted_f1": "Weighted F1 of the sign (0 counts as positive)",
    "positive_accuracy": "Accuracy of the sign (0 counts as negative)",
    "positive_weighted_f1": "Weighted F1 of the sign (0 counts as negative)",
    "r2": "R²",
    "readers_agree": "Readers agree",
    "readers_agree_readable": "Readers agree (readable views)",
    "relative": "Relative robustness",
    "rounded_accuracy": "Accuracy of rounded values",
    "sap": "SAP",
    "sign_accuracy": "Accuracy of the sign (without 0)",
    "sign_weighted_f1": "Weighted F1 of the sign (without 0)",
    "sliced_wasserstein": "Sliced Wasserstein distance",
    "ssim": "SSIM",
    "strict_by_inputs": "Strict by number of inputs",
    "strict_forced_by_inputs": "Strict by number of inputs (forced choice)",
    "strict_forced": "Strict (forced choice)",
    "strict_judge": "Strict (judge)",
    "value_accuracy": "Accuracy of a value",
}
FAMILIES = {
    "code_use": "Use of codes",
    "fidelity": "Sets of generated views",
    "latent": "What the codes know",
    "latent_probe": "What the codes know",
    "leakage": "What private codes know of the rest",
    "posterior_gap": "Posterior and prior",
    "synergy": "Synergy (canonical correlation)",
    "two_way_choice": "Two-way choice between senses",
}
CONTROLS = {
    "ceiling": "judge ceiling",
    "constant": "best constant",
    "majority": "most common value",
    "unbound": "unbound counts",
    "unpaired": "unpaired draws",
}
CONDITIONS = ("corruption", "corrupted", "strength", "missing", "split", "partition")
"""Keys of `Score.about` that name the condition of a score; `corrupted` has the modalities that a corruption is limited to."""
_JOINT = frozenset({"joint", "prior"})

Value = str | tuple[str, ...]
"""A value of `Score.about`: a word, or the names of several modalities."""


def names_of(value: Value | None) -> tuple[str, ...]:
    """The names in a value of `Score.about`; none where there is no value."""
    return () if not value else (value,) if isinstance(value, str) else tuple(value)


def value_text(value: Value | None) -> str:
    """A value of `Score.about` as text; the names of several modalities are joined by plus signs, to be read and not parsed.

    >>> value_text(("image", "text")), value_text(None)
    ('image + text', '')
    """
    return " + ".join(names_of(value))


def is_joint(about: Mapping[str, Value]) -> bool:
    """Whether a score with this `about` is about views generated from one draw of the prior."""
    return about.get("source") in _JOINT


def is_conditional(score: Score) -> bool:
    """Whether a score was measured under a condition other than the samples as they are."""
    return any(name in score.about for name in CONDITIONS)


def direction(score: Score) -> str:
    """Source and target modalities; empty for a score that has none.

    >>> direction(Score("coherence.strict", 1.0, {"source": ("image", "touch"), "target": "text"}))
    'image + touch → text'
    """
    parts = (value_text(score.about.get("source")), value_text(score.about.get("target")))
    return " → ".join(part for part in parts if part)


def subject(score: Score, *, without: Iterable[str] = ()) -> str:
    """All parts of a score's `about` as text: the direction first, such as `text → image, dimension 3`."""
    return ", ".join(subjects(score, without=without))


def subjects(score: Score, *, without: Iterable[str] = ()) -> list[str]:
    """The parts of a score's `about` as texts, the direction first."""
    left = {"source", "target", *without}
    rest = [_about_text(name, value_text(value)) for name, value in score.about.items() if name not in left]
    return [part for part in (direction(score), *rest) if part]


def condition(score: Score, *, without: Iterable[str] = ()) -> str:
    """The condition of a score in words, such as `noise of image 0.5`, `text missing`; empty for the samples as they are."""
    about = {name: value_text(score.about[name]) for name in CONDITIONS if name in score.about and name not in without}
    if "corrupted" in about:
        about["corrupted"] = f"of {about['corrupted']}"
    corruption = " ".join(about.pop(name) for name in ("corruption", "corrupted", "strength") if name in about)
    return ", ".join(part for part in (corruption, *(_about_text(name, text) for name, text in about.items())) if part)


def family(name: str) -> str:
    """The part of the name of a score before its last dot: `coherence` of `coherence.strict`."""
    return name.rpartition(".")[0] or name


def family_title(name: str) -> str:
    """A heading for a family of scores."""
    return FAMILIES.get(name) or _sentence(name)


def distinct_measures(scores: Iterable[Score]) -> Callable[[Score], str]:
    """The title of the measure of each of these scores, after its family where several families have a measure of that title.

    >>> titles = distinct_measures([Score("coherence.strict", 1.0, unit="%"), Score("reconstruction.strict", 1.0, unit="%")])
    >>> titles(Score("coherence.strict", 1.0, unit="%"))
    'Coherence: strict, %'
    """
    names: dict[str, set[str]] = {}
    for score in scores:
        names.setdefault(measure(score), set()).add(family(score.name))

    def title(score: Score) -> str:
        words = measure(score)
        return f"{family_title(family(score.name))}: {words[:1].lower()}{words[1:]}" if len(names[words]) > 1 else words

    return title


def measure(score: Score) -> str:
    """The title of a measure with its unit, or with the maximum of a count.

    >>> measure(Score("coherence.strict", 1.0, unit="%")), measure(Score("latent.active_units", 3, bounds=(0, 24)))
    ('Strict, %', 'Active units, of 24')
    """
    last = score.name.rpartition(".")[2]
    words = MEASURES.get(last) or _sentence(last)
    if score.unit not in ("", "1"):
        return f"{words}, {score.unit}"
    most = score.bounds[1]
    return f"{words}, of {most:g}" if most is not None and most > 1 and most == int(most) else words


def control(name: str) -> str:
    """The title of a control; any name with `ceiling` in it is the accuracy of the judge on true views.

    >>> control("judge ceiling"), control("text_only")
    ('judge ceiling', 'text only')
    """
    for part, words in CONTROLS.items():
        if part in name:
            return words
    return _spaced(name)


def identifier(text: str) -> str:
    """Text as an identifier for file names, links and SVG ids: at most 80 lower-case ASCII letters, digits, `-` and `_`.

    Anything but words of such letters, arrows and plus signs also gets a hash of the text, so that different names have different
    identifiers, on file systems that ignore case too.

    >>> identifier("text → image"), identifier("BRK.B"), identifier("../x")
    ('text-to-image', 'brk-b-84b10631', 'x-d42ff05c')
    """
    spelled = text.replace(" → ", " to ").replace(" + ", " and ")
    words = re.sub("[^a-z0-9_]+", " ", spelled.lower()).split()
    short = "-".join(words)[:64]
    ambiguous = {"to", "and"} & set(text.split())
    if short and " ".join(words) == spelled and len(short) == len(spelled) and not ambiguous:
        return short
    return f"{short}-{hashlib.blake2b(text.encode(), digest_size=4).hexdigest()}".lstrip("-")


def setting(path: str) -> str:
    """The last part of a dotted setting as words: `latent dim` of `learn.model.init_args.latent_dim`, `beta` of `beta.value`."""
    return _spaced(path.removesuffix(".class_path").removesuffix(".value").rpartition(".")[2])


def _about_text(name: str, value: str) -> str:
    if name in ("variant", "missing"):
        return f"{value} {name}"
    if (name, value) == ("split", "heldout"):
        return "held-out combinations"
    return value if name in ("factor", "measure", "modality", "value") else f"{_spaced(name)} {value}"


def _spaced(name: str) -> str:
    return name.replace("_", " ").replace(".", " ")


def _sentence(name: str) -> str:
    words = _spaced(name)
    return words[:1].upper() + words[1:]


def places(score: Score) -> int:
    """Number of decimals of a score: one for percentages, none for counts, otherwise by the size of its bounds or its value.

    >>> places(Score("a.b", 12.345, unit="%")), places(Score("a.b", 1.2345, bounds=(0, 3)))
    (1, 2)
    """
    if score.unit == "%":
        return 1
    if isinstance(score.value, int) or _is_count(score):
        return 0
    ends = [abs(end) for end in score.bounds if end]
    sizes = ends or [abs(number) for number in (score.value, *(score.interval or ())) if number is not None]
    size = max(sizes, default=0.0)
    if size == 0 or math.isinf(size):
        return 2
    return min(6, max(1 if size < 10_000 else 0, 2 - math.floor(math.log10(size))))


def _is_count(score: Score) -> bool:
    """Whether a score without a unit is a count: a whole number with whole bounds, of which the upper is above one."""
    whole = [end is not None and end == int(end) for end in (score.value, *score.bounds) if end is None or math.isfinite(end)]
    return score.unit in ("", "1") and len(whole) == 3 and all(whole) and (score.bounds[1] or 0) > 1


def write(number: float | None, decimals: int) -> str:
    """A number with thousands separators and a true minus sign; `n/a` for None.

    >>> write(-1234.56, 1), write(None, 1), write(-0.04, 1)
    ('−1,234.6', 'n/a', '0.0')
    """
    if number is None:
        return MISSING
    text = f"{number:,.{decimals}f}"
    if not text.strip("-0.,"):
        text = text.lstrip("-")
    return text.replace("-", "−").replace("inf", "∞")  # noqa: RUF001


def with_unit(score: Score, value: float | None) -> str:
    """A value of a score, with as many decimals as the score has and its sign of percent."""
    return write(value, places(score)) + (" %" if score.unit == "%" else "")


def write_interval(interval: tuple[float, float], decimals: int) -> str:
    """An interval with an en dash, or with "to" where an end is negative.

    >>> write_interval((1.23, 4.56), 1), write_interval((-1.0, 2.0), 1)
    ('1.2–4.6', '−1.0 to 2.0')
    """
    low, high = (write(end, decimals) for end in interval)
    return f"{low} to {high}" if "−" in low + high else f"{low}–{high}"  # noqa: RUF001


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    >>> listed(["a picture", "a sound", "a text"])
    'a picture, a sound and a text'
    """
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def write_count(number: int) -> str:
    """A count with thousands separators."""
    return f"{number:,}"
