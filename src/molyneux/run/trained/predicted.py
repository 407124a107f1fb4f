"""What a predictor says: probabilities of classes and labels, agreement, numbers."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor
from torch.distributions import Distribution

from molyneux.core import ConfigError, Target, nearest
from molyneux.run.trained.given import GivenInput
from molyneux.run.trained.pictures import SHOWN


@dataclass(frozen=True, repr=False)
class Predicted:
    """What a model says of its targets, sample by sample.

    Args:
        targets: what it was asked for.
        answers: by target: `class`, probabilities (N, classes); `agreement`, the probability that the modalities agree, (N,);
            `multilabel`, probabilities (N, labels); `number`, the mean (N, *shape).
        parts: the same given each smaller set of the modalities, where it was asked for.
        inputs: what was given.
        model: its name.
        notes: what was converted of what was given, such as a picture that was resized.
    """

    targets: tuple[Target, ...]
    answers: Mapping[str, np.ndarray]
    parts: Mapping[tuple[str, ...], Mapping[str, np.ndarray]]
    inputs: tuple[GivenInput, ...]
    model: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.inputs)

    def probabilities(self, target: str = "") -> list[dict[str, float]]:
        """For each sample, the probability of each class or label, the most probable first; of `agree` for agreement.

        Raises:
            ConfigError: no such target, one of numbers, or there are several and none is named.
        """
        item = self._target(target)
        if item.task == "number":
            raise ConfigError(f"{item.name} is a number: read answers[{item.name!r}]")
        return [_probabilities(item, row) for row in self.answers[item.name]]

    def best(self, target: str = "") -> list[str]:
        """For each sample, the most probable class, `agree` or `disagree`, the labels above one half, or the number."""
        item = self._target(target)
        return [_best(item, row) for row in self.answers[item.name]]

    def line(self, target: str, answers: Mapping[str, np.ndarray], row: int) -> str:
        """What some answers say of one target of one sample: the three most probable symbols, or the number."""
        return _line(self._target(target), answers[target][row])

    def to_json(self) -> dict[str, Any]:
        """Everything as plain data."""

        def rows(answers: Mapping[str, np.ndarray], row: int) -> dict[str, Any]:
            return {item.name: _plain(item, answers[item.name][row]) for item in self.targets}

        samples = []
        for row, given in enumerate(self.inputs):
            parts = {" + ".join(names): rows(answers, row) for names, answers in self.parts.items()}
            plain = {name: value if isinstance(value, str) else "" for name, value in given.given.items()}
            said = {"given": plain, "used": dict(given.used), "unread": dict(given.unread), "answers": rows(self.answers, row)}
            samples.append({**said, **({"apart": parts} if parts else {})})
        return {"model": self.model, "notes": list(self.notes), "samples": samples}

    def __repr__(self) -> str:
        shown = [f"{item.name}: {_best(item, self.answers[item.name][0])}" for item in self.targets] if len(self) else []
        more = f", and {len(self) - 1} more" if len(self) > 1 else ""
        return f"Predicted({'; '.join(shown)}{more}; {self.model})"

    def _repr_html_(self) -> str:
        rows = []
        for row, given in list(enumerate(self.inputs))[:SHOWN]:
            said = "; ".join(html.escape(_line(item, self.answers[item.name][row])) for item in self.targets)
            rows.append(f"<tr><td>{html.escape(str(given))}</td><td>{said}</td></tr>")
        return f"<table>{''.join(rows)}</table>"

    def _target(self, name: str) -> Target:
        known = [item.name for item in self.targets]
        if not name and len(known) == 1:
            return self.targets[0]
        if name not in known:
            raise ConfigError(f"expected one of the targets {', '.join(known)}, got {name!r}; {nearest(name, known)}")
        return self.targets[known.index(name)]


def answer(distribution: Distribution) -> Tensor:
    """What is told of a predicted distribution: probabilities, or the mean of numbers."""
    probabilities = getattr(distribution, "probs", None)
    base = getattr(distribution, "base_dist", None)
    if probabilities is None and base is not None:
        probabilities = getattr(base, "probs", None)
    found: Tensor = distribution.mean if probabilities is None else probabilities
    return found.float()


def _probabilities(item: Target, row: np.ndarray) -> dict[str, float]:
    if item.task == "agreement":
        return {"agree": float(row), "disagree": 1.0 - float(row)}
    order = np.argsort(-row, kind="stable")
    return {item.symbols[place]: float(row[place]) for place in order}


def _best(item: Target, row: np.ndarray) -> str:
    if item.task == "agreement":
        return "agree" if row > 0.5 else "disagree"
    if item.task == "class":
        return item.symbols[int(row.argmax())]
    if item.task == "multilabel":
        return ", ".join(symbol for symbol, share in zip(item.symbols, row, strict=True) if share > 0.5)
    return str(np.round(row, 3).tolist())


def _plain(item: Target, row: np.ndarray) -> Any:
    return np.asarray(row).tolist() if item.task == "number" else _probabilities(item, row)


def _line(item: Target, row: np.ndarray) -> str:
    if item.task == "number":
        return f"{item.name} {_best(item, row)}"
    most = list(_probabilities(item, row).items())[:3]
    return f"{item.name}: " + ", ".join(f"{name} {100 * share:.1f} %" for name, share in most)
