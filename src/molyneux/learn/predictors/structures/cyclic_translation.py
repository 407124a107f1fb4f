"""MCTN: a source sequence is translated to others and back, so that its encoding, the only one needed later, knows of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import Batch, Kind, Loss, Modality, Progress, Spec, nearest
from molyneux.core.tooling.moved import moved
from molyneux.learn.checks import levels_below_zero, refuse
from molyneux.learn.encoders.encoding import attended, attention_weights, read_view
from molyneux.learn.encoders.sequences import RecurrentSteps
from molyneux.learn.encoders.steps import as_steps, step_counts, step_mask, step_sizes
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.predictor import Predictor, target_loss

SEQUENCES: frozenset[Kind] = frozenset({"audio", "series", "video"})
"""Kinds of sequences of numbers, whose squared errors can be told."""
HEAD = Head(64)


@dataclass(frozen=True)
class TranslationWeights:
    """Weights of the errors of translations in the loss.

    Args:
        translation: of the first target.
        cycle: of the source.
        second: of the second target.
    """

    translation: float = 0.01
    cycle: float = 0.01
    second: float = 0.01

    def __post_init__(self) -> None:
        refuse(levels_below_zero(translation=self.translation, cycle=self.cycle, second=self.second))


class MCTN(Predictor):
    """Multimodal cyclic translation network (MCTN): Pham, Liang et al., Found in Translation (AAAI 2019), of one or two levels.

    An encoder and a decoder with attention translate the source to the first target, and by the same weights what they made back
    to the source. The states `E` of the encoder for the source are the joint representation. At the second level another pair
    translates `E` to the second target, and the states of its encoder are the joint representation. A recurrent layer reads it,
    and a head predicts. Training, validation and test take this one path, which reads the source alone; what decoders make
    enters the loss and nothing else. (MultiBench's published code encodes translations that saw the targets in training, and
    other numbers at test.)

    A translation has as many steps as its target has at most; errors count the steps within the length of the target and the
    samples that have it. A sample without targets is translated and back all the same; one without the source is predicted from
    nothing. The encoder and decoder of the cycle have the width of the wider sequence, the other is padded with zeros. With two
    targets, sequences of 300 numbers, 32 hidden units and one number to predict it has the published 198,809 weights.

    Terms: `translation.<target>` and `translation.<source>`, mean squared errors of numbers. In evaluation mode the loss is that
    of the predictions, and translations are those without teacher forcing.

    Args:
        spec: see `Predictor`.
        source: name of the modality that predictions are made from; by default the first sequence.
        targets: names of one or two others that it is translated to; by default all other sequences.
        hidden: units of every recurrent layer.
        head: see `Head`.
        weights: of the errors of translations.
        teaching: in training, share of the steps of a decoder that read the truth of the step before instead of its own output.

    Raises:
        ConfigError: with every name that is no sequence, and for no target or more than two.
    """

    @moved(**{item.name: f"weights.{item.name}" for item in fields(TranslationWeights)})
    def __init__(
        self,
        spec: Spec,
        *,
        source: str = "",
        targets: tuple[str, ...] = (),
        hidden: int = 32,
        head: Head = HEAD,
        weights: TranslationWeights = TranslationWeights(),
        teaching: float = 0.5,
    ) -> None:
        super().__init__(spec)
        problems = [] if hidden > 0 else [f"hidden: expected at least 1, got {hidden}"]
        problems += [] if 0 <= teaching <= 1 else [f"teaching: expected a share in 0..1, got {teaching}"]
        self.source, self.targets = _sequences(spec, source, targets, problems)
        self.losses = dict(zip(self.targets, (weights.translation, weights.second), strict=False))
        self.losses[self.source] = weights.cycle
        self.teaching = teaching
        counts, widths = zip(*(step_sizes(spec.modality(name)) for name in (self.source, *self.targets)), strict=True)
        self.counts = dict(zip((self.source, *self.targets), counts, strict=True))
        self.there_and_back = Translator(max(counts[:2]), max(widths[:2]), max(widths[:2]), hidden)
        self.onward = Translator(counts[0], hidden, widths[2], hidden) if len(self.targets) == 2 else None
        self.reading = RecurrentSteps("gru", hidden).build(Modality("states", "series", (counts[0], hidden)))
        self.answer_from(hidden, head)

    def features(self, batch: Batch, observed: Collection[str] | None = None) -> Tensor:
        """See `Predictor`; of the modalities `observed` only the source is read."""
        if not len(batch):
            return torch.zeros(0, self.answers.features, device=next(self.parameters()).device)
        values, counts = self._steps(self.source, batch, observed)
        return self._features([states for states, _ in self._encode(values, counts)], counts)

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """See `Predictor` and above."""
        self.check_targets(batch)
        values, counts = self._steps(self.source, batch, None)
        encoded = self._encode(values, counts)
        found = self.answers(self._features([states for states, _ in encoded], counts))
        loss = target_loss(found, batch, self.spec)
        errors = self._errors(batch, encoded, (values, counts), generator)
        total = loss.total
        if self.training:
            total = total + torch.stack([self.losses[name] * error for name, error in errors.items()]).sum()
        return Loss(total, {**loss.terms, **{f"translation.{name}": error.detach() for name, error in errors.items()}})

    def _encode(self, values: Tensor, counts: Tensor) -> list[tuple[Tensor, Tensor]]:
        """States and last state of each level."""
        encoded = [self.there_and_back.encode(values, counts)]
        if self.onward is not None:
            encoded.append(self.onward.encode(encoded[0][0], counts))
        return encoded

    def _features(self, states: list[Tensor], counts: Tensor) -> Tensor:
        """What the head is given, from the states of all levels, of which the last are read."""
        vector: Tensor = self.reading(states[-1], counts).vector
        return vector

    def _errors(
        self,
        batch: Batch,
        encoded: list[tuple[Tensor, Tensor]],
        source: tuple[Tensor, Tensor],
        generator: torch.Generator | None,
    ) -> dict[str, Tensor]:
        """The mean squared error of each translation, by the name of what it should be."""
        errors = {}
        for name, translator, (states, last) in zip(self.targets, (self.there_and_back, self.onward), encoded, strict=False):
            assert translator is not None
            truth, counts = self._steps(name, batch, None)
            taught = self._taught(truth, counts, generator)
            made = translator.decode(states, source[1], last, steps=self.counts[name], taught=taught)
            errors[name] = _error(made, truth, counts)
            if name == self.targets[0]:
                back = made[..., : truth.shape[2]]
                steps = torch.full_like(counts, self.counts[name])
                returning, end = self.there_and_back.encode(back, steps)
                taught = self._taught(*source, generator)
                again = self.there_and_back.decode(returning, steps, end, steps=self.counts[self.source], taught=taught)
                errors[self.source] = _error(again, *source)
        return errors

    def _taught(self, truth: Tensor, counts: Tensor, generator: torch.Generator | None) -> tuple[Tensor, Tensor] | None:
        """The truth (B, T, D), and the steps (B, T) bool at which a decoder reads it."""
        if not self.training or not self.teaching:
            return None
        drawn = torch.rand(truth.shape[:2], generator=generator, device=truth.device) < self.teaching
        return truth, drawn & step_mask(counts, truth.shape[1])

    def _steps(self, name: str, batch: Batch, observed: Collection[str] | None) -> tuple[Tensor, Tensor]:
        """The steps of a modality (B, T, D) and how many there are, (B,): none where it is absent."""
        chosen = batch.views if observed is None else [self.spec.modality(other).name for other in observed]
        modality, first = self.spec.modality(name), next(self.parameters())
        longest, width = step_sizes(modality)
        if name not in chosen or name not in batch.views:
            nothing = torch.zeros(len(batch), dtype=torch.int64, device=first.device)
            return torch.zeros(len(batch), longest, width, device=first.device), nothing
        batch.check(self.spec.restrict([name]))
        view = read_view(batch, self.spec, name)
        return as_steps(modality, view), step_counts(modality, view, batch.lengths.get(name)) * batch.mask(name)


class Translator(nn.Module):
    """A recurrent encoder of both directions and a recurrent decoder with additive attention (Bahdanau et al., ICLR 2015).

    Args:
        longest: steps of what is encoded, at most.
        inputs: numbers of a step that is encoded; narrower ones are padded with zeros.
        outputs: numbers of a step that is decoded.
        hidden: units; the states of both directions are added.
    """

    def __init__(self, longest: int, inputs: int, outputs: int, hidden: int) -> None:
        super().__init__()
        self.longest, self.inputs, self.outputs, self.hidden = longest, inputs, outputs, hidden
        self.encoder = RecurrentSteps("gru", hidden, bidirectional=True).build(Modality("steps", "series", (longest, inputs)))
        self.energy, self.score = nn.Linear(2 * hidden, hidden), nn.Parameter(torch.empty(hidden))
        nn.init.uniform_(self.score, -(hidden**-0.5), hidden**-0.5)
        self.cell, self.last = nn.GRUCell(outputs + hidden, hidden), nn.Linear(2 * hidden, outputs)

    def encode(self, values: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """States (B, T, hidden) of the first `counts` (B,) steps (B, T, D), and the last one of the forward direction."""
        steps = values.shape[1]
        padded = functional.pad(values, (0, self.inputs - values.shape[2], 0, self.longest - steps))
        encoding = self.encoder(padded, counts)
        forward, backward = encoding.parts[:, :steps].split(self.hidden, 2)
        return forward + backward, encoding.vector[:, : self.hidden]

    def decode(
        self, states: Tensor, counts: Tensor, last: Tensor, *, steps: int, taught: tuple[Tensor, Tensor] | None = None
    ) -> Tensor:
        """So many steps (B, steps, outputs), each from the one before and from what it attends to.

        Args:
            states: of an encoder, (B, T, hidden).
            counts: how many of these there are, (B,).
            last: the first state of the decoder, (B, hidden).
            steps: how many to make.
            taught: the truth (B, steps, D), and where (B, steps) bool the next step reads it in place of the output.
        """
        from_state, from_part = self.energy.weight[:, : self.hidden], self.energy.weight[:, self.hidden :]
        keys, mask = functional.linear(states, from_part, self.energy.bias), step_mask(counts, states.shape[1])
        truth = None if taught is None else functional.pad(taught[0], (0, self.outputs - taught[0].shape[2]))
        output, state, made = states.new_zeros(len(states), self.outputs), last, []
        for step in range(steps):
            energy = torch.tanh(keys + functional.linear(state, from_state).unsqueeze(1))
            context = attended(attention_weights(energy @ self.score, mask), states)
            state = self.cell(torch.cat([output, context], 1), state)
            output = self.last(torch.cat([state, context], 1))
            made.append(output)
            if truth is not None and taught is not None:
                output = torch.where(taught[1][:, step : step + 1], truth[:, step].to(output.dtype), output)
        return torch.stack(made, 1)


def _error(made: Tensor, truth: Tensor, counts: Tensor) -> Tensor:
    """The mean squared error of steps (B, T, D or more) over the numbers that the truth (B, T, D) has; 0 where there are none."""
    there = step_mask(counts, truth.shape[1]).unsqueeze(2)
    squares = (made[..., : truth.shape[2]].float() - truth).square() * there
    return squares.sum() / (there.sum() * truth.shape[2]).clamp(min=1)


def _sequences(spec: Spec, source: str, targets: tuple[str, ...], problems: list[str]) -> tuple[str, tuple[str, ...]]:
    """The names of the source and of the targets; raises ConfigError with all problems, those given among them."""
    known = [item.name for item in spec.modalities if item.kind in SEQUENCES]
    source = source or next((name for name in known if name not in targets), "")
    targets = targets or tuple(name for name in known if name != source)
    asked: Mapping[str, tuple[str, ...]] = {"source": (source,), "targets": targets}
    problems += [
        f"{setting}: expected a sequence of numbers, got {name!r}; {nearest(name, known)}"
        for setting, names in asked.items()
        for name in names
        if name not in known
    ]
    if not 1 <= len(targets) <= 2 or len({source, *targets}) <= len(targets):
        shown = ", ".join(targets) or "none"
        problems.append(f"targets: expected one or two sequences beside the source {source}, got {shown}: name them")
    refuse(problems)
    return source, targets
