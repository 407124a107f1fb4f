"""The length of codes."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np

from molyneux.core import Encodes, Score, about_names
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder


@final
class CodeLength(Measure):
    """How long codes are.

    `code_length.mean`: mean Euclidean length of the means of posteriors, with `about` naming the source and the code. Control: 0,
    the length of the mean of the prior.
    """

    name: ClassVar[str] = "code_length"
    needs: ClassVar[tuple[type, ...]] = (Encodes,)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """The length of the codes of each set of modalities."""
        scores = list[Score]()
        for observed, table in evaluation.tables().items():
            for code, means in table.means.items():
                about = {"source": about_names(observed), "code": code}
                recorder = Recorder(self.name, evaluation.rng(self.name, *observed, code), about, evaluation.provenance())
                lengths = np.linalg.norm(means, axis=1)
                scores.append(recorder.mean("mean", lengths, bounds=(0.0, None), controls={"prior": 0.0}))
        return Measurement(tuple(scores))
