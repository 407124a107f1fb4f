"""A diffusion model of the codes of several modalities, each at a time of its own: any of them given any others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import NotApplicableError
from molyneux.learn.diffusion.grid import GridFeatures, GridLayers, GridPredictor, GridReader
from molyneux.learn.diffusion.schedule import Schedule, TimeFeatures, signal_and_noise
from molyneux.learn.diffusion.solvers import Solver, solve
from molyneux.learn.encoders.by_modality import ModalityDict

Denoiser = Callable[[Tensor, Tensor], Tensor]
"""From noisy codes (N, D) and the times of their modalities (N, M) to the velocity (N, D)."""


class MultiTimeDenoiser(nn.Module):
    """A net that predicts the velocity `a noise - s z` (Salimans & Ho, ICLR 2022) of codes that have a time for each modality.

    The codes of each modality enter with features of their time; what they give is added up, as in a layer over all codes side by
    side. Residual blocks follow.

    Codes on a grid are read by convolutions, steered by the times of all modalities and the codes without a grid; features of
    the whole grid then join those of the others. After the residual blocks, convolutions predict the velocities: together they
    are a U-net (Ho et al., Denoising Diffusion Probabilistic Models, NeurIPS 2020, appendix B) of two grids, whose middle all
    modalities share.

    Args:
        sizes: dimensions of the codes by modality, in the order of the codes.
        width: units of each layer.
        blocks: residual blocks, and as many before the convolutions where there are any.
        frequencies: sines and cosines of a time.
        grids: rows and columns of the codes that lie on a grid, (channels, rows, columns) flattened.
        layers: of the convolutions.
    """

    def __init__(
        self,
        sizes: Mapping[str, int],
        *,
        width: int,
        blocks: int,
        frequencies: int = 16,
        grids: Mapping[str, tuple[int, int]] | None = None,
        layers: GridLayers = GridLayers(),  # noqa: B008 - frozen
    ) -> None:
        super().__init__()
        self.sizes, self.width = dict(sizes), width
        grids = grids or {}
        self.features = TimeFeatures(frequencies)
        self.inputs, self.outputs = ModalityDict[nn.Linear](), ModalityDict[nn.Module]()
        self.readers = ModalityDict[nn.Module]()
        for name, size in sizes.items():
            self.inputs[name] = nn.Linear((0 if name in grids else size) + 2 * frequencies, width)
            if name in grids:
                shape = (size // math.prod(grids[name]), *grids[name])
                self.readers[name] = GridReader(shape, width=width, layers=layers)
                self.outputs[name] = GridPredictor(shape, width=width, layers=layers)
            else:
                self.outputs[name] = nn.Linear(width, size)
        self.before = nn.Sequential(*(_Block(width) for _ in range(blocks if grids else 0)))
        self.blocks = nn.Sequential(*(_Block(width) for _ in range(blocks)))

    def forward(self, codes: Tensor, times: Tensor) -> Tensor:
        """Velocities (N, D) of noisy codes (N, D) at times (N, M) in 0..1."""
        parts = dict(zip(self.sizes, torch.split(codes, list(self.sizes.values()), -1), strict=True))
        entering = list[Tensor]()
        for name, features in zip(self.sizes, self.features(times).unbind(1), strict=True):
            entering += [features] if name in self.readers else [parts[name], features]
        layers = [self.inputs[name] for name in self.sizes]
        weight, bias = torch.cat([layer.weight for layer in layers], 1), torch.stack([layer.bias for layer in layers]).sum(0)
        hidden = self.before(functional.linear(torch.cat(entering, -1), weight, bias))  # one product for all modalities
        grids = dict[str, GridFeatures]()
        if self.readers:
            context = functional.silu(hidden)
            for name, reader in self.readers.items():
                grids[name], whole = reader(parts[name], context)
                hidden = hidden + whole
        hidden = self.blocks(hidden)
        predicted = {name: self.outputs[name](grids[name], hidden).float() for name in grids} | self._without_grid(hidden)
        return torch.cat([predicted[name] for name in self.sizes], -1)

    def _without_grid(self, hidden: Tensor) -> dict[str, Tensor]:
        """What is predicted of the codes that lie on no grid, (B, D) each, by one product for all of them."""
        layers = {name: layer for name, layer in self.outputs.items() if name not in self.readers}
        if not layers:
            return {}
        weight, bias = (torch.cat([getattr(layer, what) for layer in layers.values()]) for what in ("weight", "bias"))
        numbers = functional.linear(hidden, weight, bias).float()
        return dict(zip(layers, torch.split(numbers, [self.sizes[name] for name in layers], -1), strict=True))


class _Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))

    def forward(self, hidden: Tensor) -> Tensor:
        """The sum of the input and what the layers make of it."""
        added: Tensor = self.layers(hidden)
        added += hidden  # in place: the gradient of a linear layer does not need what it gave
        return added


@dataclass(frozen=True)
class Drawing:
    """How a diffusion model draws codes.

    Args:
        steps: of a draw; each runs the net once.
        schedule: of the noise.
        solver: of the probability flow, see `solve`.
        redrawn: numbers of modalities that are drawn a second time, one after the other, given all others; see
            `DiffusedCodes.rsample`.
        alone: whether each modality is drawn given those that are known alone, where any is, and not together with the others.
    """

    steps: int
    schedule: Schedule = "linear"
    solver: Solver = "dpm-solver++"
    redrawn: tuple[int, ...] = ()
    alone: bool = False


class DiffusedCodes:
    """Codes (B, D) of which some modalities are known and a diffusion model draws the others. Satisfies `core.CodeDistribution`.

    It has no density: `log_prob` raises NotApplicableError.

    Args:
        denoiser: predicts velocities of standardised codes.
        codes: standardised, (B, D); what is not known is not read.
        known: which modalities are, (B, M) bool.
        sizes: dimensions of the codes of each modality.
        drawing: how the others are drawn.
        centre: added to standardised codes after they were multiplied by `spread`, (D,).
        spread: see `centre`, (D,).
    """

    def __init__(
        self,
        denoiser: Denoiser,
        codes: Tensor,
        known: Tensor,
        sizes: tuple[int, ...],
        drawing: Drawing,
        *,
        centre: Tensor,
        spread: Tensor,
    ) -> None:
        self.denoiser, self.sizes, self.drawing, self.centre, self.spread = denoiser, sizes, drawing, centre, spread
        self.known, self.fixed = known, self._wide(known)
        self.codes = torch.where(self.fixed, codes, 0.0)

    @property
    def mean(self) -> Tensor:
        """The mean, (B, D), as the net knows it: what it predicts of codes that are noise alone."""
        if bool(self.fixed.all()):
            return self.codes * self.spread + self.centre
        times = self._times(torch.ones((), device=self.codes.device))
        signal, noise = signal_and_noise(times.new_ones(()), self.drawing.schedule)
        found = signal * self.codes - noise * self.denoiser(self.codes, times)
        return torch.where(self.fixed, self.codes, found) * self.spread + self.centre

    def rsample(self, sample_shape: torch.Size | tuple[int, ...] = (), generator: torch.Generator | None = None) -> Tensor:
        """Samples, (*sample_shape, B, D), without gradient where something is drawn.

        From noise at time 1 along the probability flow (`solve`). What is `redrawn` is then drawn anew given what was drawn of
        the others, a step of Gibbs sampling, where more than one modality was not known. An exact joint distribution stays as it
        is; one that is not moves towards the conditional ones.

        Where modalities are drawn `alone`, the others that are not known stay noise at time 1, and nothing is drawn anew.
        """
        shape = (*sample_shape, *self.codes.shape)
        if bool(self.fixed.all()):
            return (self.codes * self.spread + self.centre).expand(shape)
        with torch.no_grad():
            noise = torch.randn(shape, generator=generator, device=self.codes.device)
            some = self.known.any(-1, keepdim=True) & self.drawing.alone
            drawn = noise if bool(some.all()) else self._solve(noise)
            wanted = ~self.known & some
            for spans in torch.eye(len(self.sizes), dtype=torch.bool, device=noise.device):
                if bool((wanted & spans).any()):
                    drawn = torch.where(self._wide(wanted & spans), self._solve(noise, left_out=wanted & ~spans), drawn)
            drawn = torch.where(self.fixed, self.codes, drawn)
            for number in () if bool(some.any()) else self.drawing.redrawn:
                drawn = self._drawn_again(drawn, number, generator)
        return drawn * self.spread + self.centre

    def log_prob(self, value: Tensor) -> Tensor:
        """Raises NotApplicableError: the density of what a diffusion model draws is not known."""
        raise NotApplicableError("codes that a diffusion model draws have no known density: use a variational autoencoder")

    def _solve(self, noise: Tensor, left_out: Tensor | None = None) -> Tensor:
        """The codes at time 0 that the probability flow makes of those at time 1, (..., B, D).

        Modalities that are `left_out` (B, M) stay at time 1.
        """
        kept = torch.zeros_like(self.known) if left_out is None else left_out
        still = self._wide(kept)

        def clean_at(codes: Tensor, time: Tensor) -> Tensor:
            return self._clean(torch.where(still, noise, codes), time, kept)

        return solve(self.drawing.solver, clean_at, noise, self.drawing.steps, self.drawing.schedule)

    def _drawn_again(self, drawn: Tensor, number: int, generator: torch.Generator | None) -> Tensor:
        """Codes (..., B, D) with one modality drawn given all others, where it and another one were not known."""
        again = ~self.known[:, number] & ((~self.known).sum(-1) > 1)
        if not bool(again.any()):
            return drawn
        known = torch.ones_like(self.known)
        known[:, number] = ~again
        flat, repeats = drawn.flatten(0, -2), drawn[..., 0, 0].numel()
        drawing = Drawing(self.drawing.steps, self.drawing.schedule, self.drawing.solver)
        scale = {"centre": torch.zeros_like(self.centre), "spread": torch.ones_like(self.spread)}
        given = DiffusedCodes(self.denoiser, flat, known.repeat(repeats, 1), self.sizes, drawing, **scale)
        return given.rsample((), generator).reshape(drawn.shape)

    def _clean(self, codes: Tensor, time: Tensor, left_out: Tensor) -> Tensor:
        """What the net says the codes (..., B, D) at a time are without noise; those `left_out` (B, M) are at time 1."""
        codes = torch.where(self.fixed, self.codes, codes)
        times = torch.where(left_out, 1.0, self._times(time)).expand(*codes.shape[:-1], -1)
        velocity = self.denoiser(codes.flatten(0, -2), times.flatten(0, -2)).reshape(codes.shape)
        signal, scale = signal_and_noise(time, self.drawing.schedule)
        return signal * codes - scale * velocity

    def _wide(self, which: Tensor) -> Tensor:
        """What is said of modalities (..., M), of each dimension of their codes, (..., D)."""
        return which.repeat_interleave(torch.tensor(self.sizes, device=which.device), -1)

    def _times(self, time: Tensor) -> Tensor:
        """The time of each modality, (B, M): 0 where it is known."""
        return torch.where(self.known, 0.0, time)


def multitime_loss(
    denoiser: Denoiser,
    codes: Tensor,
    present: Tensor,
    sizes: tuple[int, ...],
    share: float,
    generator: torch.Generator | None,
    schedule: Schedule = "linear",
    *,
    alone: float = 0.0,
) -> Tensor:
    """The squared error of the velocity of each sample, (B,), over the codes that are noisy.

    Bounoua, Franzese & Michiardi, Multi-Modal Latent Diffusion (Entropy 2024), multi-time training: all modalities at one random
    time, or, in a share of the samples, a random part of them at time 0, given which the others are learned. An absent one is
    noise at time 1. It is the mean over dimensions of each modality's code, and over the noisy modalities, times D: a modality
    with a code of few numbers counts as much as one with many.

    Args:
        denoiser: the net.
        codes: standardised, (B, D); where a modality is absent, not read.
        present: (B, M) bool.
        sizes: dimensions of the codes of each modality.
        share: of the samples that are given a part of their modalities.
        generator: the randomness.
        schedule: of the noise.
        alone: share of the samples of which one of the noisy modalities is learned alone, and the others are as if absent.
    """
    rows, modalities = present.shape
    draws = torch.rand((3, rows, 1), generator=generator, device=codes.device)
    order = torch.rand((rows, modalities), generator=generator, device=codes.device).masked_fill(~present, 2.0)
    count = present.sum(1, keepdim=True)
    given = 1 + (draws[1] * (count - 1).clamp_min(0)).long()
    given = torch.where((draws[2] < share) & (count > 1), given, 0)
    rank = (order.unsqueeze(2) > order.unsqueeze(1)).sum(2)
    known = present & (rank < given)
    if alone:
        chance = torch.rand((rows, modalities + 1), generator=generator, device=codes.device)
        chosen = chance[:, 1:].masked_fill(~present | known, -1.0).argmax(1, keepdim=True)
        one = torch.zeros_like(known).scatter(1, chosen, True) & present
        present = torch.where(chance[:, :1] < alone, known | one, present)
    times = torch.where(known, 0.0, draws[0]).masked_fill(~present, 1.0)
    spans, noisy = torch.tensor(sizes, device=codes.device), present & ~known
    weights = noisy * (codes.shape[1] / (spans * noisy.sum(1, keepdim=True).clamp_min(1)))
    of_each = torch.stack([*signal_and_noise(times, schedule), weights, present.to(codes)])
    owner = torch.arange(modalities, device=codes.device).repeat_interleave(spans, output_size=codes.shape[1])
    signal, scale, weights, here = of_each.index_select(2, owner).unbind(0)  # (B, D)
    noise = torch.randn(codes.shape, generator=generator, device=codes.device)
    clean = codes.masked_fill(here == 0, 0.0)
    velocity = denoiser(torch.addcmul(signal * clean, scale, noise), times)
    return (weights * (velocity - torch.addcmul(signal * noise, scale, clean, value=-1)).square()).sum(1)
