"""Joint generation: whether views decoded from one draw of the prior show the same factors.

A single draw of the prior gives one shared code; every modality is decoded from it, with its private code from the prior.
Nothing is asked for: what counts is that the readers of the modalities read the same.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from types import MappingProxyType

import numpy as np

from molyneux.core import Factor, Score, about_names
from molyneux.measure.coherence.answers import ReadCodes, read_all
from molyneux.measure.coherence.controls import MEAN, view_controls
from molyneux.measure.coherence.scores import CEILING, agreement_scores
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import WithPrior, decoded, prior_codes, priors_of
from molyneux.measure.scores import Recorder

_MOST_PAIRED = 20
"""Of more modalities than this, only the agreement of all together is scored."""


@dataclass(frozen=True)
class Readings:
    """What several readers read in views that belong together, such as the modalities of one draw.

    Args:
        factors: factors that at least two of them read.
        codes: by reader (N, F); -1 = unreadable, or not read by this one.
        reads: by reader (F,) whether it reads a factor.
    """

    factors: tuple[Factor, ...]
    codes: Mapping[str, np.ndarray]
    reads: Mapping[str, np.ndarray]

    @classmethod
    def of(cls, answers: Mapping[str, ReadCodes]) -> Readings:
        """Gather what was read; factors read by only one of them are left out."""
        counts = Counter(factor for part in answers.values() for factor in part.factors)
        factors = tuple(factor for factor, count in counts.items() if count > 1)
        codes, reads = {}, {}
        for name, part in answers.items():
            columns = np.array([part.factors.index(factor) if factor in part.factors else -1 for factor in factors], np.int64)
            reads[name] = columns >= 0
            codes[name] = np.where(reads[name], part.read[:, columns], -1)
        return cls(factors, codes, reads)

    @property
    def agree(self) -> np.ndarray:
        """(N, F) whether all readers of a factor could read it, and read the same."""
        highest = np.max(list(self.codes.values()), axis=0)
        same = [(self.codes[name] == highest) | ~self.reads[name] for name in self.codes]
        return np.asarray(np.all(same, axis=0) & (highest >= 0))

    @property
    def agreement(self) -> ReadCodes:
        """`agree` as answers: each factor is asked for, and right where all agree."""
        return ReadCodes(self.factors, np.zeros(self.agree.shape, np.int64), np.where(self.agree, 0, -1))

    @property
    def chance(self) -> np.ndarray:
        """(F,) probability that uniform guesses of all who read a factor agree: (1 / number of values)^(readers - 1)."""
        readers = np.sum(list(self.reads.values()), axis=0)
        return np.asarray(np.array([len(factor.values) for factor in self.factors], dtype=np.float64) ** (1.0 - readers))

    def unpaired(self, rng: np.random.Generator) -> Readings:
        """The same readings, each reader's in another order: they agree by chance alone."""
        return Readings(self.factors, {name: rng.permutation(codes) for name, codes in self.codes.items()}, self.reads)


def joint_readings(evaluation: Evaluation, prior: str = "") -> dict[str, ReadCodes]:
    """What the readers read in jointly generated views, by modality; as many draws as there are samples.

    Args:
        evaluation: has the model and the readers.
        prior: name of one of the priors of the model (`priors_of`); its usual one by default.
    """
    piles: dict[str, list[ReadCodes]] = defaultdict(list)
    for part in evaluation.by_batch(partial(_read_draws, prior)):
        for name, found in part.items():
            piles[name].append(found)
    return {name: ReadCodes.join(parts) for name, parts in piles.items()}


def _read_draws(prior: str, evaluation: Evaluation, start: int, end: int) -> dict[str, ReadCodes]:
    """What the readers read in views of as many draws as a batch has samples."""
    model = WithPrior(evaluation.model, priors_of(evaluation.model)[prior]) if prior else evaluation.model
    names = [name for name in evaluation.spec.names if evaluation.reader(name) is not None]
    codes = prior_codes(model, end - start, evaluation.generator("joint", start))
    return read_all(evaluation, decoded(model, codes, evaluation.spec, only=names))


def mean_readings(evaluation: Evaluation, true: Mapping[str, ReadCodes]) -> dict[str, ReadCodes]:
    """What the readers read in the mean training views with the factors of the samples, by modality."""
    found = {}
    for name, ceiling in true.items():
        reader = evaluation.reader(name)
        controls = {} if reader is None else view_controls(evaluation, name, reader, ceiling)
        if MEAN in controls:
            found[name] = controls[MEAN]
    return found


def joint_scores(
    made: Mapping[str, ReadCodes],
    true: Mapping[str, ReadCodes],
    recorder: Recorder,
    means: Mapping[str, ReadCodes] = MappingProxyType({}),
) -> list[Score]:
    """Strict, features and accuracy of the agreement of every pair (of at most 20 modalities) and of all together; diversity.

    Args:
        made: readings of jointly generated views.
        true: readings of the true views: their agreement is the ceiling.
        recorder: writes the scores.
        means: readings of the mean training views with the factors of the same samples: their agreement is a control.
    """
    names, write = list(made), recorder.on(source="prior")
    sizes = dict.fromkeys((2, len(names)) if len(names) <= _MOST_PAIRED else (len(names),))
    groups = [group for count in sizes for group in combinations(names, count)]
    scores = [
        score
        for group in groups
        for score in _group_scores(group, made, {MEAN: means, CEILING: true}, write.on(target=about_names(group)))
    ]
    return scores + [diversity_score(made[name], true[name], write.on(view=name)) for name in names if name in true]


def _group_scores(
    group: Sequence[str], made: Mapping[str, ReadCodes], compared: Mapping[str, Mapping[str, ReadCodes]], recorder: Recorder
) -> list[Score]:
    """The agreement of some modalities beside that of others to compare with; nothing where no factor is read in two of them."""
    readings = Readings.of({name: made[name] for name in group})
    if not readings.factors:
        return []
    guess, controls = readings.chance, {"unpaired": readings.unpaired(recorder.rng).agreement}
    for control, read in compared.items():
        if all(name in read for name in group) and len({len(read[name].read) for name in group}) == 1:  # of the same samples
            controls[control] = Readings.of({name: read[name] for name in group}).agreement
    chance = (float(guess.prod()), float(guess.sum()))
    return agreement_scores(readings.agreement, controls, recorder, chance=chance, factor_chance=(100 * guess).tolist())


def diversity_score(made: ReadCodes, true: ReadCodes, recorder: Recorder) -> Score:
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
        interval=(max(1.0, low), min(possible, high)) if error > 0 else None,  # scenes that are equally frequent do not tell
        n=len(rows),
        unit="scenes",
        bounds=(1.0, possible),
        controls={"constant": 1.0, "true views": float(np.exp(_entropy(true.read[(true.read >= 0).all(1)])[0]))},
    )


def _entropy(rows: np.ndarray) -> tuple[float, float]:
    """Entropy of the rows in nats, and its standard error; 0 for no rows."""
    if not len(rows):
        return 0.0, 0.0
    shares = np.unique(rows, axis=0, return_counts=True)[1] / len(rows)
    entropy = -float(shares @ np.log(shares))
    variance = float(shares @ np.log(shares) ** 2) - entropy**2
    return entropy, float(np.sqrt(max(0.0, variance) / len(rows)))
