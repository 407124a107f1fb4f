"""A sheet of two-way questions: what is given, what there is to choose from, what was chosen, and what is right."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from molyneux.core import ConfigError, Modality, store
from molyneux.core.fingers import finger_paths
from molyneux.core.views import to_model

if TYPE_CHECKING:
    from molyneux.run.trained.two_ways import TwoWayAnswers, TwoWayQuestions

_RIGHT, _WRONG, _FINGERS = "#0d8a6a", "#c2590a", ("#1e1e1e", "#2f7fc4")


def two_way_sheet(
    questions: TwoWayQuestions, answers: TwoWayAnswers, path: Path | str, *, name: str = "the model", rows: int = 6
) -> None:
    """Write a PNG picture of the first questions, one in each row; a picture that stands there is replaced.

    Args:
        questions: of pictures, and of series of fingers, which are drawn as paths.
        answers: to these questions.
        path: of the file.
        name: of who answered.
        rows: at most so many questions.

    Raises:
        ConfigError: no rows, or answers to other questions. StoreError: the picture cannot be written.
    """
    if rows < 1 or len(answers.right) != len(questions):
        got = f"{rows} rows and {len(answers.right)} answers"
        raise ConfigError(f"expected at least 1 row and an answer to each of {len(questions)} questions, got {got}")
    from matplotlib.figure import Figure

    rows, spec = min(rows, len(questions)), questions.spec
    figure = Figure(figsize=(6.6, 2.2 * rows), layout="constrained")
    for row, (given, *choices) in enumerate(figure.subplots(rows, 3, squeeze=False)):
        _show(given, spec.modality(questions.source), questions.given_view(row))
        given.set_title(f"given: {questions.source}", fontsize=8)
        for place, (axes, view) in enumerate(zip(choices, questions.choice_views(row), strict=True)):
            _show(axes, spec.modality(questions.target), view)
            right, chosen = place == int(questions.right[row]), int(answers.chosen[row]) == place
            told = "the same" if right else "another"
            axes.set_title(
                f"{told}\n{name} chose it" if chosen else told,
                fontsize=8,
                color="black" if not chosen else _RIGHT if right else _WRONG,
            )
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=110)
    store.write_bytes(Path(path), stream.getvalue())


def _show(axes: Any, modality: Modality, view: Tensor) -> None:
    """A view: a picture as it is, fingers as paths with their first points, other numbers as curves."""
    axes.set(xticks=[], yticks=[])
    values = to_model(modality, view).numpy()
    if modality.kind == "image":
        axes.imshow(np.clip(np.moveaxis(values[:3] if len(values) >= 3 else values[:1], 0, -1), 0, 1), cmap="gray")
        return
    if not (paths := finger_paths(values, modality.channels)):
        axes.plot(values.reshape(len(values), -1), linewidth=1)
        return
    for number, points in enumerate(paths):
        colour, (x, y) = _FINGERS[number % len(_FINGERS)], points[np.isfinite(points[:, 0])][0]
        axes.plot(*points.T, color=colour, linewidth=1.5)
        axes.plot([x], [y], "o", color=colour, markersize=4)
    axes.set_aspect("equal", adjustable="datalim")
    axes.invert_yaxis()
