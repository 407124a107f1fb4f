"""Judges: learned readers for views that no exact reader can read, and those that come with the package."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from molyneux.core import (
    UNREADABLE,
    CorruptFileError,
    Factor,
    Modality,
    Reading,
    Spec,
    SpecError,
    StoreError,
    files,
    nearest,
    store,
    views,
)
from molyneux.learn.files import assign, load_tensors, save_tensors
from molyneux.learn.judges.net import WIDTH, JudgeNet, width_of

_BATCH = 500

Abstention = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Rates 0..1 by kind of view, then `abstained` or `correct`, then factor."""


@dataclass(frozen=True)
class Record:
    """Where a judge comes from, and its validation.

    Args:
        world: name and version of the world it was trained on.
        modality: what it reads.
        factors: what it reads in it.
        accuracy: per level, per factor, the accuracy on fresh samples, 0..1.
        abstention: per level, per kind of view, how often the judge abstains: of true views (`true`) `abstained` per factor,
            where it should not; of each other kind `abstained` per factor that a view does not show, where it should, and
            `correct` per factor that it shows. Judges of an earlier version have none.
        samples: number of fresh samples per level.
        command: what rebuilds it.
    """

    world: str
    modality: Modality
    factors: tuple[Factor, ...]
    accuracy: Mapping[str, Mapping[str, float]]
    abstention: Mapping[str, Abstention]
    samples: int
    command: str

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        spec = Spec((self.modality,), self.factors).to_json()
        accuracy = {level: dict(row) for level, row in self.accuracy.items()}
        validation = {"accuracy": accuracy, "abstention": self.abstention, "samples": self.samples}
        return {"world": self.world, "spec": spec, **validation, "command": self.command}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Record:
        """Read what `to_json` wrote."""
        read = {part: record["spec"][part] for part in ("modalities", "factors")}
        spec = Spec.from_json({**read, "targets": [], "quantities": []})
        plain = {name: record[name] for name in ("world", "accuracy", "samples", "command")}
        return cls(modality=spec.modalities[0], factors=spec.factors, abstention=record.get("abstention", {}), **plain)


class Judge:
    """A trained network with its record.

    Args:
        net: classifies every factor of the record.
        record: where it comes from.
        digest: SHA-256 of its file; of its weights and its record as long as it has none.
    """

    def __init__(self, net: JudgeNet, record: Record, digest: str = "") -> None:
        self.net, self.record, self._digest = net.eval(), record, digest
        if record.modality.kind == "image":
            self.net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    @property
    def name(self) -> str:
        """What it reads: `judge of cdsprites-v1 image`."""
        return f"judge of {self.record.world} {self.record.modality.name}"

    @property
    def digest(self) -> str:
        """SHA-256 of its file, or of its weights and its record where it has none: another judge has another."""
        if self._digest:
            return self._digest
        found = hashlib.sha256(json.dumps(self.record.to_json(), sort_keys=True).encode())
        for name, tensor in sorted(self.net.state_dict().items()):
            found.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
        return found.hexdigest()

    @property
    def abstains(self) -> bool:
        """Whether it can abstain from every factor that it reads."""
        return all(UNREADABLE in factor.values for factor in self.record.factors)

    def reader(self, spec: Spec, modality: str, factors: Sequence[str], *, abstain: bool = True) -> JudgeReader:
        """A reader of some factors, which answers only with values that `spec` has (custom subsets of colours, say).

        Args:
            spec: of the samples to read.
            modality: name of the modality to read.
            factors: names of the factors to read.
            abstain: whether it may abstain. Otherwise it always gives the most probable value, as the published classifiers
                do, which are fooled by means of many pictures.

        Raises:
            SpecError: this judge cannot read that modality, a factor, or a value, or cannot abstain although it is to.
        """
        found, own = spec.modality(modality), self.record.modality
        same = found.shape[0] == own.shape[0] if own.kind == "image" else found.shape[1:] == own.shape[1:]
        if found.kind != own.kind or not same:
            raise SpecError(
                f"modality {modality}: the judge of {self.record.world} reads {own.kind} {own.shape}, "
                f"got {found.kind} {found.shape}"
            )
        if abstain and not self.abstains:
            raise SpecError(
                f"expected a judge that can abstain, got one of {self.record.world} that cannot: train it again with "
                "`molyneux judge`, or give abstain=False to have it always choose a value"
            )
        known = Spec((own,), self.record.factors)
        tables = {name: [known.factor(name).code(value) for value in spec.factor(name).values] for name in factors}
        unreadable = {name: known.factor(name).code(UNREADABLE) for name in factors} if abstain else {}
        return JudgeReader(self, found, tables, unreadable)

    def accuracy(self, factors: Sequence[str]) -> dict[str, float]:
        """Accuracy on fresh samples, of the level that has just these factors, else the lowest of all levels."""
        levels = [self.record.accuracy[level] for level in self._levels(factors)]
        return {name: min(level[name] for level in levels if name in level) for name in factors}

    def abstention(self, factors: Sequence[str]) -> dict[str, dict[str, float]]:
        """How often it abstains from true views, and from the negatives that it recognises least, by factor, same levels."""
        worst: dict[str, dict[str, float]] = {"abstains from true views": {}, "abstains from negatives": {}}
        true, negatives = worst.values()
        for level in self._levels(factors):
            for kind, rates in self.record.abstention.get(level, {}).items():
                row, pick = (true, max) if kind == "true" else (negatives, min)
                for name in set(factors) & set(rates["abstained"]):
                    row[name] = pick(rates["abstained"][name], row.get(name, rates["abstained"][name]))
        return {what: dict(sorted(row.items())) for what, row in worst.items() if row}

    def _levels(self, factors: Sequence[str]) -> list[str]:
        levels = self.record.accuracy
        return [level for level in levels if set(levels[level]) == set(factors)] or list(levels)

    def save(self, path: Path | str) -> None:
        """Write one safetensors file; weights in 16 bits, statistics and biases in 32."""
        path = Path(path)
        tensors = {name: tensor.half() if tensor.ndim > 1 else tensor for name, tensor in self.net.state_dict().items()}
        save_tensors(path, tensors, {"judge": json.dumps(self.record.to_json(), sort_keys=True, ensure_ascii=False)})

    @classmethod
    def load(cls, path: Path | str) -> Judge:
        """Read what `save` wrote.

        Raises:
            StoreError: there is none. CorruptFileError: it was truncated or altered, or is no judge.
        """
        path = Path(path)
        tensors, metadata = load_tensors(path)
        try:
            record = Record.from_json(json.loads(metadata["judge"]))
            width = width_of(tensors)
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError, SpecError) as error:
            raise CorruptFileError(f"{path} is no judge ({error!r}): train it again with `molyneux judge`") from error
        factors = {factor.name: len(factor.values) for factor in record.factors}
        net = JudgeNet(record.modality, factors, width)
        assign(net, tensors, str(path))
        return cls(net, record, file_digest(path))


def file_digest(path: Path) -> str:
    """SHA-256 of a judge's file: another judge has another. Raises StoreError where it cannot be read."""
    try:
        version = files.version(path)
        return _digest(path) if version is None else _digest_of(path.absolute(), version)
    except OSError as error:
        raise store.read_error(error, path) from error


def _digest(path: Path) -> str:
    with files.open_plain(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@lru_cache(maxsize=1024)
def _digest_of(path: Path, version: tuple[int, ...]) -> str:
    """As `_digest`, once per process for every version of a file."""
    return _digest(path)


class JudgeReader:
    """A judge that reads some factors and some of their values; satisfies `core.LearnedReader` and `core.Features`.

    Args:
        judge: the judge.
        modality: as stored by the samples.
        tables: per factor, the judge's code of each value that may be read.
        unreadable: per factor, the judge's code of "unreadable"; empty where it has to choose a value.
    """

    def __init__(
        self, judge: Judge, modality: Modality, tables: Mapping[str, Sequence[int]], unreadable: Mapping[str, int]
    ) -> None:
        self._judge, self._modality, self._unreadable = judge, modality, unreadable
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
    def version(self) -> str:
        """The start of the judge's digest: a judge that is trained anew is another reader."""
        return self._judge.digest[:12]

    @property
    def origin(self) -> Mapping[str, Any]:
        """Which judge it is, the digest of its file, whether it may abstain, and how often it does (see `Judge.abstention`)."""
        which = {"name": self._judge.name, "digest": self._judge.digest}
        if not self._unreadable:
            return {**which, "choice": "forced choice"}
        return {**which, "choice": "may abstain", **self._judge.abstention(self.factors)}

    def read(self, view: Tensor) -> Reading:
        """The most probable answer for each factor in views (B, *shape), in their stored form; and the most probable value."""
        parts = [self._codes(part) for part in torch.split(view, _BATCH)]
        if not parts:
            nothing = torch.empty(0, len(self.factors), dtype=torch.long)
            return Reading(nothing, self.factors, forced=nothing if self._unreadable else None)
        codes, forced = (torch.cat(part) for part in zip(*parts, strict=True))
        missing = [[name for name, code in zip(self.factors, row, strict=True) if code < 0] for row in codes.tolist()]
        reasons = {row: f"cannot read {' or '.join(names)}" for row, names in enumerate(missing) if names}
        return Reading(codes, self.factors, reasons, forced if self._unreadable else None)

    @torch.inference_mode()
    def features(self, view: Tensor) -> Tensor:
        """The last hidden layer, (B, 128), of views (B, *shape), in their stored form; see `core.Features`."""
        parts = [self._judge.net.features(self._ready(part)).to(view.device) for part in torch.split(view, _BATCH)]
        return torch.cat(parts) if parts else torch.empty(0, WIDTH)

    def _ready(self, view: Tensor) -> Tensor:
        """Views as the network takes them."""
        ready = views.to_model(self._modality, view.to(next(self._judge.net.parameters()).device))
        # three times as fast on a CPU
        return ready.contiguous(memory_format=torch.channels_last) if self._modality.kind == "image" else ready

    @torch.inference_mode()
    def _codes(self, view: Tensor) -> tuple[Tensor, Tensor]:
        """The answers, and the most probable values, both (B, F)."""
        logits = self._judge.net(self._ready(view))
        found = [self._answer(name, logits[name]) for name in self._tables]
        codes, forced = (torch.stack(columns, 1).to(view.device) for columns in zip(*found, strict=True))
        return codes, forced

    def _answer(self, name: str, logits: Tensor) -> tuple[Tensor, Tensor]:
        best, forced = logits[:, self._tables[name].to(logits.device)].max(1)
        if name not in self._unreadable:
            return forced, forced
        return torch.where(logits[:, self._unreadable[name]] > best, -1, forced), forced


def judge_file(world: str, modality: str) -> str:
    """The file name of a world's judge for a modality."""
    return f"{world}.{modality}.safetensors"


def shipped_judges() -> tuple[tuple[str, str], ...]:
    """World and modality of every judge that comes with the package, sorted."""
    found = (
        path.name.removesuffix(".safetensors").rsplit(".", 1) for path in _folder().iterdir() if path.suffix == ".safetensors"
    )
    return tuple(sorted((world, modality) for world, modality in found))


def load_judge(world: str, modality: str) -> Judge:
    """The judge that comes with the package for a world (name with version) and a modality.

    Raises:
        StoreError: there is none; says how to train one.
    """
    path = shipped_file(world, modality)
    if not path.exists():
        known = nearest(f"{world} {modality}", (" ".join(pair) for pair in shipped_judges()))
        raise StoreError(
            f"expected a judge for {modality} of {world}, there is none ({known}): "
            f"train one with `molyneux judge {world} {modality} --out FILE`, and read it with `Judge.load`"
        )
    return Judge.load(path)


def shipped_file(world: str, modality: str) -> Path:
    """Where the judge for a world and a modality is, if there is one."""
    return _folder() / judge_file(world, modality)


@cache
def _folder() -> Path:
    return Path(str(resources.files("molyneux.learn.judges"))) / "weights"
