"""Partitions: sets of samples whose factors have some of their values, and whose captions keep to a constraint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from molyneux.core import ConfigError, Factor, nearest
from molyneux.data.worlds.shapeworld.meaning.language.constraints import CaptionConstraint
from molyneux.data.worlds.shapeworld.meaning.language.description import describe
from molyneux.data.worlds.shapeworld.scenes.scenes import NotDrawnError

Accept = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Which sets are taken, (m,) bool, by their captions (m, T, L), changes (m,), truth of the first caption (m,) and numbers of
entities of their scenes (m, P)."""

Fits = Callable[[np.ndarray], np.ndarray]
"""Which captions (m, L) may be drawn, (m,) bool."""


class Acceptance:
    """Decides which sets are taken: captions within a constraint, and factors with some of their values.

    It remembers the last sets that it was asked about, so that it can say what refused them.

    Args:
        constraint: of the captions of a split.
        factors: those of `caption_factors`.
        only: values by the name of a factor of captions, `change`, `truth` or `entities`; `kind` does not matter here.
        changes: names of the changes of sets.
        names: settings that the parts of the constraint come from, by the names of `CaptionConstraint.refused`.
    """

    def __init__(
        self,
        constraint: CaptionConstraint,
        factors: Sequence[Factor],
        only: Mapping[str, Sequence[str]],
        changes: Sequence[str],
        names: Mapping[str, str],
    ) -> None:
        self._constraint, self._factors, self._only, self._changes, self._names = constraint, factors, only, changes, names
        self._columns = {
            column: [factor.code(value) for value in only[factor.name]]
            for column, factor in enumerate(factors)
            if factor.name in only
        }
        self._last: tuple[np.ndarray, ...] = ()

    def __call__(self, programs: np.ndarray, change: np.ndarray, truth: np.ndarray, entities: np.ndarray) -> np.ndarray:
        """Which sets are taken; see `Accept`."""
        if len(programs):
            self._last = (programs, change, truth, entities)
        count, texts = programs.shape[:2]
        flat = programs.reshape(count * texts, programs.shape[2])
        fits = self._constraint.contains(flat)
        if self._columns:
            codes = describe(flat, self._factors)
            for column, wanted in self._columns.items():
                fits &= np.isin(codes[:, column], wanted)
        taken = fits.reshape(count, texts).all(1)
        for refused in self._of_sets(change, truth, entities).values():
            taken &= ~refused
        return np.asarray(taken)

    def _of_sets(self, change: np.ndarray, truth: np.ndarray, entities: np.ndarray) -> dict[str, np.ndarray]:
        """By restriction of anything but captions, which sets it refuses, (m,) bool."""
        found, only = dict[str, np.ndarray](), self._only
        if "change" in only:
            wanted = [place for place, one in enumerate(self._changes) if one in only["change"]]
            found["only.change"] = ~np.isin(change, wanted)
        if "truth" in only:
            found["only.truth"] = ~np.isin(truth, [value == "true" for value in only["truth"]])
        if "entities" in only:
            found["only.entities"] = np.asarray(~np.isin(entities, [int(value) for value in only["entities"]]).all(1))
        return found

    def reason(self) -> str:
        """Which settings refused the last sets, and how many of them; empty where none did."""
        if not self._last:
            return ""
        programs, *others = self._last
        count, texts = programs.shape[:2]
        flat = programs.reshape(count * texts, programs.shape[2])
        refused = {self._names[part]: found for part, found in self._constraint.refused(flat).items()}
        codes = describe(flat, self._factors)
        for column, wanted in self._columns.items():
            refused[f"only.{self._factors[column].name}"] = ~np.isin(codes[:, column], wanted)
        shares = {name: found.reshape(count, texts).any(1).mean() for name, found in refused.items()}
        shares |= {name: found.mean() for name, found in self._of_sets(*others).items()}
        worst = sorted((name for name, share in shares.items() if share > 0), key=lambda name: -shares[name])
        if not worst:
            return ""
        said = [f"{name} refused {_percent(shares[name])}" for name in worst]
        return f"of the captions that could have been taken, {', '.join(said)}"


def _percent(share: float) -> str:
    return "all" if share == 1 else f"{100 * share:.3g} %"


def explained(error: NotDrawnError, split: str, kind: str, accept: Acceptance, limits: Sequence[str]) -> ConfigError:
    """The error of samples that were not found, with the settings that refused them.

    Args:
        error: as it was raised.
        split: of the samples.
        kind: of their captions.
        accept: what decided which sets are taken, and counted why others were refused.
        limits: names of all settings that restrict scenes or captions, which are told if no single one can be named.
    """
    reason = accept.reason()
    if reason:
        told = f"{reason}: change that"
    elif limits:
        told = f"what restricts them is {', '.join(limits)}: change that, or {error.advice}"
    else:
        told = error.advice
    return ConfigError(f"split {split}, kind {kind}: {error.what}; {told}")


def partition_problems(
    only: Mapping[str, Sequence[str]], known: Sequence[Factor], *, two_sided: bool, related: bool = False
) -> list[str]:
    """What is wrong with a partition: unknown factors or values, and the truth of sets with both true and false captions.

    Args:
        only: values by the name of a factor.
        known: the factors of the samples.
        two_sided: whether every set has true and false captions.
        related: whether every set has a caption and its negation.
    """
    problems, factors = list[str](), {factor.name: factor for factor in known}
    for name, values in only.items():
        if name not in factors:
            problems.append(f"only: unknown factor {name!r}; {nearest(name, factors)}")
            continue
        problems += [
            f"only: {name} has no value {value!r}; {nearest(value, factors[name].values)}"
            for value in values
            if value not in factors[name].values
        ]
        if not values:
            problems.append(f"only: expected values of {name}, got none")
    if "truth" in only and two_sided:
        problems.append("only: every set has a true and a false caption; truth can be restricted in the variant published")
    if related and "truth" in only:
        problems.append("only: a caption and its negation are never true both; truth can be restricted in the variant published")
    return problems
