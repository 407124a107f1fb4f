"""What trained controls reach, in the scores of a model, and how far the model is above them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from molyneux.core import Score
from molyneux.measure.scores import Recorder


def with_controls(scores: Sequence[Score], of_controls: Mapping[str, Sequence[Score]]) -> list[Score]:
    """Scores with the values of the same scores of controls, by the names of the controls.

    Args:
        scores: of a model.
        of_controls: by the name of each control, its scores on the same samples.
    """
    values = {
        name: {(score.name, tuple(sorted(score.about.items()))): score.value for score in found}
        for name, found in of_controls.items()
    }
    out = []
    for score in scores:
        key = score.name, tuple(sorted(score.about.items()))
        found = {name: known[key] for name, known in values.items()}
        reached = {name: value for name, value in found.items() if value is not None}
        out.append(replace(score, controls={**score.controls, **reached}) if reached else score)
    return out


def above(name: str, right: np.ndarray, control: np.ndarray, sets: np.ndarray, recorder: Recorder) -> Score:
    """`above_<control>`: by how many points of accuracy a model is above a control, of the same samples.

    The interval is a bootstrap over sets of the difference of both in each, since they answer the same questions.

    Args:
        name: of the control.
        right: (N,) bool, of the model.
        control: (N,) bool, of the control.
        sets: (N,) the number of the set of each sample.
        recorder: makes the score.
    """
    _, place, sizes = np.unique(sets, return_inverse=True, return_counts=True)
    ahead = np.bincount(place, weights=right.astype(float) - control) / sizes.mean()
    fields = {"unit": "%", "bounds": (-100.0, 100.0), "chance": None}
    note = f"accuracy {100 * float(right.mean()):.1f} %, of the control {name} {100 * float(control.mean()):.1f} %"
    return replace(recorder.mean(f"above_{name}", 100 * ahead, **fields), n=len(right), note=note)
