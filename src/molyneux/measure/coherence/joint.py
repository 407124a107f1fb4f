"""Joint generation: whether views decoded from one draw of the prior show the same factors.

A single draw of the prior gives one shared code; every modality is decoded from it, with its private code from the prior.
Nothing is asked for: what counts is that the readers of the modalities read the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch

from molyneux.core import Factor, Score, about_names
from molyneux.measure.coherence.answers import Answers, read
from molyneux.measure.coherence.scores import CEILING, agreement_scores
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import decoded, prior_codes
from molyneux.measure.scores import Recorder, percent

_MOST_PAIRED = 20
"""Of more modalities than this, only the agreement of all together is scored."""


@dataclass(frozen=True)
class Readings:
    """What each modality's reader read in views that belong together.

    Args:
        factors: factors that at least two of the modalities are read for.
        codes: by modality (N, F); -1 = unreadable, or not read by this reader.
        reads: by modality (F,) whether its reader reads a factor.
    """

    factors: tuple[Factor, ...]
    codes: Mapping[str, np.ndarray]
    reads: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, answers: Mapping[str, Answers]) -> Readings:
        """Gather the readings of modalities; factors read by only one of them are left out."""
        counts = Counter(factor for part in answers.values() for factor in part.factors)
        factors = tuple(factor for factor, count in counts.items() if count > 1)
        codes, reads = {}, {}
        for name, part in answers.items():
            known = [factor.name for factor in part.factors]
            columns = [known.index(factor.name) if factor in part.factors else -1 for factor in factors]
            reads[name] = np.array(columns, dtype=np.int64) >= 0
            codes[name] = np.where(reads[name], part.read[:, columns], -1)
        return cls(factors, codes, reads)

    @property
    def agree(self) -> np.ndarray:
        """(N, F) whether all readers of a factor could read it, and read the same."""
        highest = np.max(list(self.codes.values()), axis=0)
        same = [(self.codes[name] == highest) | ~self.reads[name] for name in self.codes]
        return np.asarray(np.all(same, axis=0) & (highest >= 0))

    @property
    def chance(self) -> np.ndarray:
        """(F,) probability that uniform guesses of all who read a factor agree: (1 / number of values)^(readers - 1)."""
        readers = np.sum(list(self.reads.values()), axis=0)
        return np.asarray(np.array([len(factor.values) for factor in self.factors], dtype=np.float64) ** (1.0 - readers))

    def unpaired(self, rng: np.random.Generator) -> Readings:
        """The same readings, each modality's in another order: they agree by chance alone."""
        return Readings(self.factors, {name: rng.permutation(codes) for name, codes in self.codes.items()}, self.reads)


def joint_readings(evaluation: Evaluation) -> dict[str, Answers]:
    """What the readers read in jointly generated views, by modality; as many draws as there are samples."""
    readers = {name: reader for name in evaluation.spec.names if (reader := evaluation.reader(name)) is not None}
    piles: dict[str, list[Answers]] = {name: [] for name in readers}
    for start in range(0, evaluation.size, evaluation.batch_size):
        size = min(evaluation.batch_size, evaluation.size - start)
        codes = prior_codes(evaluation.model, size, evaluation.generator("joint", start))
        made = decoded(evaluation.model, codes, evaluation.spec, only=list(readers))
        nothing_asked = torch.full((size, len(evaluation.spec.factors)), -1)
        for name, reader in readers.items():
            piles[name].append(read(reader, made[name], nothing_asked, evaluation.spec))
    return {name: Answers.join(parts) for name, parts in piles.items()}


def joint_scores(made: Mapping[str, Answers], true: Mapping[str, Answers], recorder: Recorder) -> list[Score]:
    """Strict, features and accuracy of the agreement of every pair (of at most 20 modalities) and of all together; diversity.

    Args:
        made: readings of jointly generated views.
        true: readings of the true views: their agreement is the ceiling.
        recorder: writes the scores.
    """
    names = list(made)
    sizes = dict.fromkeys((2, len(names)) if len(names) <= _MOST_PAIRED else (len(names),))
    groups = [group for count in sizes for group in combinations(names, count)]
    scores = [score for group in groups for score in _agreement(group, made, true, recorder)]
    write = recorder.on(source="prior")
    return scores + [diversity_score(made[name], true[name], write.on(view=name)) for name in names if name in true]


def _agreement(group: Sequence[str], made: Mapping[str, Answers], true: Mapping[str, Answers], recorder: Recorder) -> list[Score]:
    readings = Readings.of({name: made[name] for name in group})
    if not readings.factors:
        return []
    agree, guess = readings.agree, readings.chance
    compared = {"unpaired": readings.unpaired(recorder.rng).agree}
    if _paired(group, true):
        compared[CEILING] = Readings.of({name: true[name] for name in group}).agree
    write = recorder.on(source="prior", target=about_names(group))
    totals = agreement_scores(
        readings.factors,
        *_totals(agree),
        write,
        chance=(float(guess.prod()), float(guess.sum())),
        controls={name: _totals(rows) for name, rows in compared.items()},
    )
    factors = [
        write.on(factor=factor.name).share(
            "accuracy",
            agree[:, column],
            chance=100 * float(guess[column]),
            controls={name: percent(rows[:, column]) for name, rows in compared.items()},
        )
        for column, factor in enumerate(readings.factors)
    ]
    return [*totals, *factors]


def diversity_score(made: Answers, true: Answers, recorder: Recorder) -> Score:
    """Number of different scenes drawn: the perplexity of the combinations read, with that of the true views as control.

    A model that always draws the same scene agrees with itself perfectly; this score shows it. The interval is the
    asymptotic one of an entropy (Basharin 1959), exponentiated.
    """
    possible = float(np.prod([len(factor.values) for factor in made.factors]))
    rows = made.read[(made.read >= 0).all(1)]
    if not len(rows):
        return recorder.score("diversity", None, unit="scenes", note="no generated view could be read")
    entropy, error = _entropy(rows)
    low, high = float(np.exp(entropy - 1.96 * error)), float(np.exp(entropy + 1.96 * error))
    return recorder.score(
        "diversity",
        float(np.exp(entropy)),
        interval=(max(1.0, low), min(possible, high)),
        n=len(rows),
        unit="scenes",
        bounds=(1.0, possible),
        controls={"constant": 1.0, "true views": float(np.exp(_entropy(true.read[(true.read >= 0).all(1)])[0]))},
    )


def _totals(agree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Strict and Features of the agreement (N, F): whether all factors agree, and how many, both (N,)."""
    return np.all(agree, axis=1), np.sum(agree, axis=1)


def _entropy(rows: np.ndarray) -> tuple[float, float]:
    """Entropy of the rows in nats, and its standard error; 0 for no rows."""
    if not len(rows):
        return 0.0, 0.0
    shares = np.unique(rows, axis=0, return_counts=True)[1] / len(rows)
    entropy = -float(shares @ np.log(shares))
    variance = float(shares @ np.log(shares) ** 2) - entropy**2
    return entropy, float(np.sqrt(max(0.0, variance) / len(rows)))


def _paired(group: Sequence[str], true: Mapping[str, Answers]) -> bool:
    """Whether the true readings of a group are of the same samples."""
    return all(name in true for name in group) and len({len(true[name].read) for name in group}) == 1
