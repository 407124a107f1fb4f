"""The measure of what codes know: a linear probe of each factor."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from molyneux.core import ConfigError, Encodes, Factor, NotApplicableError, Score
from molyneux.measure.coherence import majority
from molyneux.measure.evaluation import Evaluation, Measure, Measurement
from molyneux.measure.generation import Draw, check_draw
from molyneux.measure.latents.codes import code_tables
from molyneux.measure.logistic import logistic_predictions
from molyneux.measure.recorder import Recorder, percent


@final
class LatentProbe(Measure):
    """How well a linear classifier reads each factor in the codes of samples it was not fitted on.

    Logistic regression on standardised codes; half of the samples to fit, the other half to score. `latent_probe.accuracy`
    %, with `about` naming the source (what is observed), the code (`shared`, `private.image`) and the factor. Control: the
    value most common among the samples fitted on. Samples where the factor is absent are left out. Above chance means that
    the factor can be read off linearly, not that the model uses it.

    Args:
        draw: probe posterior means (what the code says at best) or samples (what a decoder gets).
        samples: at most so many samples.
        regularization: inverse strength of the quadratic penalty (scikit-learn's C).

    Raises:
        ConfigError: unknown draw, fewer than 20 samples, or a regularization that is not positive.
    """

    name: ClassVar[str] = "latent_probe"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def __init__(self, *, draw: Draw = "mean", samples: int = 10_000, regularization: float = 1.0) -> None:
        if samples < 20:
            raise ConfigError(f"samples: expected at least 20, got {samples}")
        if not regularization > 0:
            raise ConfigError(f"regularization: expected a positive number, got {regularization}")
        self.draw = check_draw(draw)
        self.samples = samples
        self.regularization = regularization

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Probe every code, given each modality alone and all together."""
        if not evaluation.spec.factors:
            raise NotApplicableError("latent_probe needs known factors: choose another source")
        scores: list[Score] = []
        for source, table in code_tables(evaluation, self.samples).items():
            order = evaluation.rng(self.name, "split").permutation(len(table.factors))
            codes = table.means if self.draw == "mean" else table.samples
            for code, values in codes.items():
                for column, factor in enumerate(evaluation.spec.factors):
                    about = {"source": source, "code": code, "factor": factor.name}
                    rng, origin = evaluation.rng(self.name), {**evaluation.provenance(), "draw": self.draw}
                    recorder = Recorder(self.name, rng, about, origin)
                    scores.append(self._probe(values[order], table.factors[order, column], factor, recorder))
        return Measurement(tuple(scores))

    def _probe(self, codes: np.ndarray, truth: np.ndarray, factor: Factor, recorder: Recorder) -> Score:
        fit, test = np.array_split(np.flatnonzero(truth >= 0), 2)
        chance = 100 / len(factor.values)
        if len(np.unique(truth[fit])) < 2 or not len(test):
            note = "the samples show fewer than two values of the factor"
            return recorder.score("accuracy", None, unit="%", chance=chance, note=note)
        scale = self.regularization
        said, settled = logistic_predictions(codes[fit], truth[fit], codes[test], regularization=scale)
        return recorder.share(
            "accuracy",
            said == truth[test],
            chance=chance,
            controls={"majority": percent(truth[test] == majority(truth[fit]))},
            note="" if settled else "the probe had not settled",
        )
