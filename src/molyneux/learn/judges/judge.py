"""Judges: learned readers for views that no exact reader can read."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from molyneux.core import CorruptFileError, Factor, Modality, Reading, Spec, SpecError, views
from molyneux.learn.judges.ghosts import UNREADABLE
from molyneux.learn.judges.net import JudgeNet
from molyneux.learn.tensors import assign, load_tensors, save_tensors

_BATCH = 500


@dataclass(frozen=True)
class Record:
    """Where a judge comes from and how well it reads.

    Args:
        world: name and version of the world it was trained on.
        modality: what it reads.
        factors: what it reads in it.
        accuracy: per level, per factor, the share of right answers on fresh samples, 0..1.
        refused: per level, per factor, the share of fresh ghosts (see `ghosts`) that were called unreadable, 0..1.
        samples: number of fresh samples per level.
        command: what rebuilds it.
    """

    world: str
    modality: Modality
    factors: tuple[Factor, ...]
    accuracy: Mapping[str, Mapping[str, float]]
    refused: Mapping[str, Mapping[str, float]]
    samples: int
    command: str

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        spec = Spec((self.modality,), self.factors).to_json()
        tables = {"accuracy": self.accuracy, "refused": self.refused}
        plain = {name: {level: dict(row) for level, row in table.items()} for name, table in tables.items()}
        return {"world": self.world, "spec": spec, **plain, "samples": self.samples, "command": self.command}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Record:
        """Read what `to_json` wrote."""
        spec = Spec.from_json(record["spec"])
        told = {name: record[name] for name in ("accuracy", "samples", "command")}
        return cls(record["world"], spec.modalities[0], spec.factors, refused=record.get("refused", {}), **told)


class Judge:
    """A trained net with its record.

    Args:
        net: answers for every factor of the record.
        record: where it comes from.
    """

    def __init__(self, net: JudgeNet, record: Record) -> None:
        self.net, self.record = net.eval(), record
        self.net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def reader(self, spec: Spec, modality: str, factors: Sequence[str], *, refuse: bool = True) -> JudgeReader:
        """A reader of some factors, which answers only with values that `spec` has (custom subsets of colours, say).

        Args:
            spec: of the samples to read.
            modality: name of the modality to read.
            factors: names of the factors to read.
            refuse: whether "unreadable" is among the answers. Without it the likeliest value is always given, as by the
                published classifiers, which are fooled by means of many pictures.

        Raises:
            SpecError: this judge cannot read that modality, a factor, or a value.
        """
        found, own = spec.modality(modality), self.record.modality
        same = found.shape[0] == own.shape[0] if own.kind == "image" else found.shape[1:] == own.shape[1:]
        if found.kind != own.kind or not same:
            raise SpecError(
                f"modality {modality}: the judge of {self.record.world} reads {own.kind} {own.shape}, "
                f"got {found.kind} {found.shape}"
            )
        known = Spec((own,), self.record.factors)
        tables = {name: [known.factor(name).code(value) for value in spec.factor(name).values] for name in factors}
        open_to_doubt = {name for name in factors if refuse and UNREADABLE in known.factor(name).values}
        for name in open_to_doubt:
            tables[name].append(known.factor(name).code(UNREADABLE))
        return JudgeReader(self, found, tables, open_to_doubt)

    def accuracy(self, factors: Sequence[str]) -> dict[str, float]:
        """Accuracy on fresh samples, of the level that has just these factors, else the lowest of all levels."""
        levels = list(self.record.accuracy.values())
        chosen = [level for level in levels if set(level) == set(factors)] or levels
        return {name: min(level[name] for level in chosen if name in level) for name in factors}

    def save(self, path: Path) -> None:
        """Write one safetensors file; weights in 16 bits, statistics and biases in 32."""
        tensors = {name: tensor.half() if tensor.ndim > 1 else tensor for name, tensor in self.net.state_dict().items()}
        save_tensors(path, tensors, {"judge": json.dumps(self.record.to_json(), sort_keys=True, ensure_ascii=False)})

    @classmethod
    def load(cls, path: Path) -> Judge:
        """Read what `save` wrote.

        Raises:
            StoreError: there is none. CorruptFileError: it was truncated or altered, or is no judge.
        """
        tensors, metadata = load_tensors(path)
        try:
            record = Record.from_json(json.loads(metadata["judge"]))
        except (KeyError, TypeError, json.JSONDecodeError, SpecError) as error:
            raise CorruptFileError(f"{path} is no judge ({error!r}): rebuild it with `molyneux judge`") from error
        net = JudgeNet(record.modality, {factor.name: len(factor.values) for factor in record.factors})
        assign(net, tensors, str(path))
        return cls(net, record)


class JudgeReader:
    """A judge's answers for some factors and some of their values; satisfies `core.Reader`.

    Args:
        judge: who reads.
        modality: as stored by the samples.
        tables: per factor, the judge's code of each answer that may be given.
        open_to_doubt: the factors whose last answer means "unreadable".
    """

    def __init__(
        self, judge: Judge, modality: Modality, tables: Mapping[str, Sequence[int]], open_to_doubt: Collection[str]
    ) -> None:
        self._judge, self._modality, self._open_to_doubt = judge, modality, open_to_doubt
        self._tables = {name: torch.tensor(codes) for name, codes in tables.items()}

    @property
    def modality(self) -> str:
        """Name of the modality it reads."""
        return self._modality.name

    @property
    def factors(self) -> tuple[str, ...]:
        """Names of the factors it reads."""
        return tuple(self._tables)

    @property
    def accuracy(self) -> Mapping[str, float]:
        """Held-out accuracy per factor, 0..1."""
        return self._judge.accuracy(self.factors)

    def read(self, view: Tensor) -> Reading:
        """The likeliest answer for each factor in views (B, *shape), in their stored form."""
        parts = [self._codes(part) for part in torch.split(view, _BATCH)]
        codes = torch.cat(parts) if parts else torch.empty(0, len(self.factors), dtype=torch.long)
        refused = {name: (codes[:, i] < 0).tolist() for i, name in enumerate(self.factors)}
        doubts = [[name for name in self.factors if refused[name][row]] for row in range(len(codes))]
        reasons = {row: f"no {' and no '.join(names)} can be told" for row, names in enumerate(doubts) if names}
        return Reading(codes, self.factors, reasons)

    @torch.inference_mode()
    def _codes(self, view: Tensor) -> Tensor:
        device = next(self._judge.net.parameters()).device
        ready = views.to_model(self._modality, view.to(device))
        if ready.ndim == 4:
            ready = ready.contiguous(memory_format=torch.channels_last)  # three times as fast on a CPU
        logits = self._judge.net(ready)
        return torch.stack([self._answer(name, logits[name]) for name in self._tables], 1).to(view.device)

    def _answer(self, name: str, logits: Tensor) -> Tensor:
        table = self._tables[name].to(logits.device)
        code = logits[:, table].argmax(1)
        return torch.where(code == len(table) - 1, -1, code) if name in self._open_to_doubt else code
