"""Transfer: what is generated of samples whose senses were kept apart in training, beside the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, final

import numpy as np
import torch

from molyneux.core import (
    Batch,
    Codes,
    ConfigError,
    Decodes,
    Encodes,
    NotApplicableError,
    Posterior,
    Score,
    Spec,
    about_names,
    nearest,
)
from molyneux.core.intervals import difference_interval
from molyneux.measure.coherence.answers import ReadCodes, asked_factors, read, strict_chance, true_answers
from molyneux.measure.coherence.controls import CONSTANT, MEAN, view_controls
from molyneux.measure.coherence.scores import CEILING
from molyneux.measure.evaluation import Evaluation
from molyneux.measure.generation import Direction, Draw, check_draw, decoded, generated_batch
from molyneux.measure.measures import Measure, Measurement
from molyneux.measure.scores import Recorder, percent

GROUPS = ("apart", "together")
PERMUTED = "permuted pairing"


@dataclass(frozen=True)
class Walked:
    """What was read at the end of a path, and which samples were kept apart."""

    answers: ReadCodes
    apart: np.ndarray


@final
class Transfer(Measure):
    """Factors read at the end of paths of generation, of samples with some factor values and of all others.

    Made for trainings in which the samples with these values never had certain modalities together (`data.apart`). A path such as
    `[image, touch, text]` generates touch from an image, encodes what was generated, and generates a text from it.

    Scores, with `about` naming `source`, `target`, what lies between (`via`), and the `group`: `apart` or `together`:

    - `transfer.strict` %: all factors asked for are right. `transfer.accuracy` %: the same of each factor that `where` names.
    - `transfer.gap`, in points: the accuracy of the samples together less that of those apart, two independent shares.

    Chance is uniform guessing; `permuted pairing` compares what was read with the truth of another sample of either group, `judge
    ceiling` is the reader's own result on true views, and `mean view` and `mean of all views` are
    those of `Coherence`. A model that prefers the values of one group for all samples has a high accuracy there: compare the
    groups, and the control.

    Args:
        where: by the name of a factor, the values of the samples that were kept apart; a sample has to have one of each.
        paths: modalities, each generated from the one before it.
        draw: codes from one posterior sample or from its mean.

    Raises:
        ConfigError: no values, no paths, or a path of fewer than two modalities or that repeats one at once.
    """

    name: ClassVar[str] = "transfer"
    needs: ClassVar[tuple[type, ...]] = (Encodes, Decodes)

    def __init__(self, *, where: Mapping[str, Sequence[str]], paths: Sequence[Sequence[str]], draw: Draw = "sample") -> None:
        self.where = {name: tuple(values) for name, values in where.items()}
        self.paths = tuple(tuple(path) for path in paths)
        self.draw = check_draw(draw)
        problems = [] if self.where and all(self.where.values()) else ["where: expected factors with values, got none"]
        problems += [] if self.paths else ["paths: expected at least one, such as [image, touch], got none"]
        problems += [
            f"paths: expected at least two modalities, no two equal ones in a row, got {list(path)}"
            for path in self.paths
            if len(path) < 2 or any(first == second for first, second in pairwise(path))
        ]
        if problems:
            raise ConfigError(problems)

    def check(self, spec: Spec) -> None:
        """Raise ConfigError for unknown modalities, factors or values."""
        names, known = spec.names, {factor.name: factor.values for factor in spec.factors}
        used = dict.fromkeys(name for path in self.paths for name in path)
        problems = [f"paths: no modality {name!r}; {nearest(name, names)}" for name in used if name not in names]
        for name, values in self.where.items():
            if name not in known:
                problems.append(f"where: no factor {name!r}; {nearest(name, known)}")
                continue
            problems += [f"where.{name}: no value {v!r}; {nearest(v, known[name])}" for v in values if v not in known[name]]
        if problems:
            raise ConfigError(problems)

    def measure(self, evaluation: Evaluation) -> Measurement:
        """Walk every path from the test samples."""
        self.check(evaluation.spec)
        walked, ceilings = self._walk(evaluation), true_answers(evaluation)
        if not walked:
            raise NotApplicableError("transfer needs a reader of the last modality of a path: none is given")
        scores: list[Score] = []
        for path, found in walked.items():
            target = path[-1]
            via = {"via": about_names(path[1:-1])} if path[1:-1] else {}
            about = {"source": path[0], **via, "target": target}
            origin = {**evaluation.provenance((target,)), "draw": self.draw}
            recorder = Recorder(self.name, evaluation.rng(self.name, *path), about, origin)
            ceiling = ceilings.get(target)
            true = None if ceiling is None or len(ceiling.truth) != len(found.apart) else ceiling
            compared, reader = dict[str, ReadCodes](), evaluation.reader(target)
            if true is not None and reader is not None:
                compared[CEILING] = true.select([factor.name for factor in found.answers.factors])
                beside = view_controls(evaluation, target, reader, compared[CEILING])
                compared = {**{name: beside[name] for name in (MEAN, CONSTANT) if name in beside}, **compared}
            scores += self._scores(found, compared, recorder)
        return Measurement(tuple(scores))

    def _walk(self, evaluation: Evaluation) -> dict[tuple[str, ...], Walked]:
        """What is read at the end of each path that has a reader there."""
        piles: dict[tuple[str, ...], list[Walked]] = defaultdict(list)
        for start, batch in evaluation.batches():
            for path in self.paths:
                reader, asked = evaluation.reader(path[-1]), _asked(evaluation, path)
                given = evaluation.generated_from(path[:1], start, batch, draw=self.draw)
                if reader is None or not asked or given is None or given[0].factors is None:
                    continue
                part, codes = given[0].to("cpu"), given[1]
                for number, name in enumerate(path[1:-1]):
                    generator = evaluation.generator(self.name, *path, number, start)
                    codes = self._through(evaluation, codes, name, generator, lengths=name in part.lengths)
                view = decoded(evaluation.model, codes, evaluation.spec, only=path[-1:])[path[-1]]
                answers = read(reader, view, evaluation.spec, part.factors).select(asked)
                piles[path].append(Walked(answers, self._apart(evaluation.spec, part)))
        return {
            path: Walked(ReadCodes.join([part.answers for part in parts]), np.concatenate([part.apart for part in parts]))
            for path, parts in piles.items()
        }

    def _through(self, evaluation: Evaluation, codes: Codes, name: str, generator: torch.Generator, *, lengths: bool) -> Codes:
        """The codes of what is generated of a modality from codes; `lengths` as of `generated_batch`."""
        made = generated_batch(evaluation.model, codes, evaluation.spec, name, lengths=lengths)
        posterior: Posterior = evaluation.model.encode(made.to(evaluation.device), (name,))
        return posterior.mean if self.draw == "mean" else posterior.rsample(1, generator)[0]

    def _apart(self, spec: Spec, batch: Batch) -> np.ndarray:
        """Which samples have the values of `where`, (B,) bool."""
        assert batch.factors is not None  # asked for where it is called
        found = np.ones(len(batch), dtype=bool)
        for name, values in self.where.items():
            codes = batch.factors[:, spec.factor_index(name)].cpu().numpy()
            found &= np.isin(codes, [spec.factor(name).code(value) for value in values])
        return found

    def _scores(self, found: Walked, beside: Mapping[str, ReadCodes], recorder: Recorder) -> list[Score]:
        answers, named = found.answers, [factor.name for factor in found.answers.factors if factor.name in self.where]
        order = recorder.rng.permutation(len(found.apart))
        other = ReadCodes(answers.factors, answers.truth[order], answers.read)
        compared = {PERMUTED: other, **beside}
        scores = []
        for group, rows in zip(GROUPS, (found.apart, ~found.apart), strict=True):
            write = recorder.on(group=group)
            controls = {name: percent(part.strict[rows]) for name, part in compared.items()}
            chance = 100 * strict_chance(_rows(answers, rows)) if rows.any() else None
            scores.append(write.share("strict", answers.strict[rows], chance=chance, controls=controls))
            for name in named:
                one, factor = answers.select([name]), next(item for item in answers.factors if item.name == name)
                controls = {key: percent(part.select([name]).strict[rows]) for key, part in compared.items()}
                right = one.strict[rows]
                chance = 100 / len(factor.values)
                scores.append(write.on(factor=name).share("accuracy", right, chance=chance, controls=controls))
        return scores + [_gap(answers.select([name]).strict, found.apart, recorder.on(factor=name)) for name in named]


def _asked(evaluation: Evaluation, path: Sequence[str]) -> list[str]:
    """The factors that the reader at the end of a path reads and that every modality before it shows."""
    each = [asked_factors(evaluation, Direction((name,), path[-1])) for name in path[:-1]]
    return [name for name in each[0] if all(name in names for names in each)]


def _rows(answers: ReadCodes, rows: np.ndarray) -> ReadCodes:
    return ReadCodes(answers.factors, answers.truth[rows], answers.read[rows])


def _gap(right: np.ndarray, apart: np.ndarray, recorder: Recorder) -> Score:
    """The accuracy of the samples `together` minus that of those `apart`, in percentage points."""
    fields = {"unit": "points", "bounds": (-100.0, 100.0), "higher_is_better": False, "n": len(right)}
    if apart.all() or not apart.any():
        return recorder.score("gap", None, note="all samples are of one group", **fields)

    together, alone = (recorder.share("gap", right[rows]) for rows in (~apart, apart))
    value = percent(right[~apart]) - percent(right[apart])
    return recorder.score("gap", value, interval=difference_interval(together, alone), chance=0.0, **fields)
