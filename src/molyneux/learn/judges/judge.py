"""Judges: learned readers for views that no exact reader can read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from molyneux.core import CorruptFileError, Factor, Modality, Reading, Spec, SpecError, views
from molyneux.learn.files import assign, load_tensors, save_tensors
from molyneux.learn.judges.ghosts import UNREADABLE
from molyneux.learn.judges.net import JudgeNet

_BATCH = 500

Doubts = Mapping[str, Mapping[str, Mapping[str, float]]]
"""By kind of view, then `refused` or `told`, then factor."""


@dataclass(frozen=True)
class Record:
    """Where a judge comes from and how well it reads.

    Args:
        world: name and version of the world it was trained on.
        modality: what it reads.
        factors: what it reads in it.
        accuracy: per level, per factor, the share of right answers on fresh samples, 0..1.
        doubts: per level, per kind of view, how the answer unreadable is used, all 0..1: of true views (`true`) `refused`
            per factor, which should not be; of fresh ghosts by recipe `refused` per factor that they do not show and
            `told` per factor that they do.
        samples: number of fresh samples per level.
        command: what rebuilds it.
    """

    world: str
    modality: Modality
    factors: tuple[Factor, ...]
    accuracy: Mapping[str, Mapping[str, float]]
    doubts: Mapping[str, Doubts]
    samples: int
    command: str

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        spec = Spec((self.modality,), self.factors).to_json()
        accuracy = {level: dict(row) for level, row in self.accuracy.items()}
        told = {"world": self.world, "spec": spec, "accuracy": accuracy, "doubts": self.doubts}
        return {**told, "samples": self.samples, "command": self.command}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Record:
        """Read what `to_json` wrote."""
        spec = Spec.from_json(record["spec"])
        told = {name: record[name] for name in ("accuracy", "samples", "command")}
        return cls(record["world"], spec.modalities[0], spec.factors, doubts=record.get("doubts", {}), **told)


class Judge:
    """A trained net with its record.

    Args:
        net: answers for every factor of the record.
        record: where it comes from.
        digest: SHA-256 of its file; empty as long as it has none.
    """

    def __init__(self, net: JudgeNet, record: Record, digest: str = "") -> None:
        self.net, self.record, self.digest = net.eval(), record, digest
        self.net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    @property
    def refuses(self) -> bool:
        """Whether it knows the answer "unreadable" for all that it reads; judges of an earlier version do not."""
        return all(UNREADABLE in factor.values for factor in self.record.factors)

    def reader(self, spec: Spec, modality: str, factors: Sequence[str], *, refuse: bool = True) -> JudgeReader:
        """A reader of some factors, which answers only with values that `spec` has (custom subsets of colours, say).

        Args:
            spec: of the samples to read.
            modality: name of the modality to read.
            factors: names of the factors to read.
            refuse: whether "unreadable" is among the answers. Without it the likeliest value is always given, as by the
                published classifiers, which are fooled by means of many pictures.

        Raises:
            SpecError: this judge cannot read that modality, a factor, or a value, or cannot refuse although it is to.
        """
        found, own = spec.modality(modality), self.record.modality
        same = found.shape[0] == own.shape[0] if own.kind == "image" else found.shape[1:] == own.shape[1:]
        if found.kind != own.kind or not same:
            raise SpecError(
                f"modality {modality}: the judge of {self.record.world} reads {own.kind} {own.shape}, "
                f"got {found.kind} {found.shape}"
            )
        if refuse and not self.refuses:
            raise SpecError(
                f"expected a judge that can answer {UNREADABLE!r}, got one of {self.record.world} that cannot: rebuild it with "
                "`molyneux judge`, or give refuse=False to have it choose a value always"
            )
        known = Spec((own,), self.record.factors)
        tables = {name: [known.factor(name).code(value) for value in spec.factor(name).values] for name in factors}
        doubts = {name: known.factor(name).code(UNREADABLE) for name in factors} if refuse else {}
        return JudgeReader(self, found, tables, doubts)

    def accuracy(self, factors: Sequence[str]) -> dict[str, float]:
        """Accuracy on fresh samples, of the level that has just these factors, else the lowest of all levels."""
        levels = [self.record.accuracy[level] for level in self._levels(factors)]
        return {name: min(level[name] for level in levels if name in level) for name in factors}

    def doubts(self, factors: Sequence[str]) -> dict[str, dict[str, float]]:
        """How often true views are refused, and ghosts of the kind that is refused least, per factor of the same levels."""
        worst: dict[str, dict[str, float]] = {"true views refused": {}, "ghosts refused": {}}
        for level in self._levels(factors):
            for kind, used in self.record.doubts.get(level, {}).items():
                row, pick = (worst["true views refused"], max) if kind == "true" else (worst["ghosts refused"], min)
                for name in set(factors) & set(used["refused"]):
                    row[name] = pick(used["refused"][name], row.get(name, used["refused"][name]))
        return {what: dict(sorted(row.items())) for what, row in worst.items() if row}

    def _levels(self, factors: Sequence[str]) -> list[str]:
        levels = self.record.accuracy
        return [level for level in levels if set(levels[level]) == set(factors)] or list(levels)

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
        return cls(net, record, file_digest(path))


def file_digest(path: Path) -> str:
    """SHA-256 of a judge's file: another judge has another."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


class JudgeReader:
    """A judge's answers for some factors and some of their values; satisfies `core.LearnedReader`.

    Args:
        judge: who reads.
        modality: as stored by the samples.
        tables: per factor, the judge's code of each value that may be read.
        doubts: per factor, the judge's code of "unreadable"; empty where it has to choose a value.
    """

    def __init__(self, judge: Judge, modality: Modality, tables: Mapping[str, Sequence[int]], doubts: Mapping[str, int]) -> None:
        self._judge, self._modality, self._doubts = judge, modality, doubts
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

    @property
    def origin(self) -> Mapping[str, Any]:
        """The digest of the judge's file, whether it may refuse, and how it uses that (see `Judge.doubts`)."""
        choice = "may refuse" if self._doubts else "forced choice"
        return {"digest": self._judge.digest, "choice": choice, **(self._judge.doubts(self.factors) if self._doubts else {})}

    def read(self, view: Tensor) -> Reading:
        """The likeliest answer for each factor in views (B, *shape), in their stored form, and the likeliest value."""
        parts = [self._codes(part) for part in torch.split(view, _BATCH)]
        if not parts:
            nothing = torch.empty(0, len(self.factors), dtype=torch.long)
            return Reading(nothing, self.factors, forced=nothing if self._doubts else None)
        codes, forced = (torch.cat(part) for part in zip(*parts, strict=True))
        refused = {name: (codes[:, i] < 0).tolist() for i, name in enumerate(self.factors)}
        doubts = [[name for name in self.factors if refused[name][row]] for row in range(len(codes))]
        reasons = {row: f"no {' and no '.join(names)} can be told" for row, names in enumerate(doubts) if names}
        return Reading(codes, self.factors, reasons, forced if self._doubts else None)

    @torch.inference_mode()
    def _codes(self, view: Tensor) -> tuple[Tensor, Tensor]:
        """The answers, and the answers without "unreadable", both (B, F)."""
        device = next(self._judge.net.parameters()).device
        ready = views.to_model(self._modality, view.to(device))
        if ready.ndim == 4:
            ready = ready.contiguous(memory_format=torch.channels_last)  # three times as fast on a CPU
        logits = self._judge.net(ready)
        found = [self._answer(name, logits[name]) for name in self._tables]
        codes, forced = (torch.stack(columns, 1).to(view.device) for columns in zip(*found, strict=True))
        return codes, forced

    def _answer(self, name: str, logits: Tensor) -> tuple[Tensor, Tensor]:
        best, forced = logits[:, self._tables[name].to(logits.device)].max(1)
        if name not in self._doubts:
            return forced, forced
        return torch.where(logits[:, self._doubts[name]] > best, -1, forced), forced
