"""A transformer that reads a random part of all modalities together, and a code from which all of them are reconstructed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack, cast, final

import torch
from torch import Tensor, nn

from molyneux.core import Batch, ConfigError, Loss, Modality, Posterior, Progress, Spec
from molyneux.learn.encoders.by_modality import ModalityDict
from molyneux.learn.encoders.sequences import transformer_layers, unattended
from molyneux.learn.encoders.steps import ViewSteps, step_mask
from molyneux.learn.posteriors import Diagonal, Point
from molyneux.learn.vaes.autoencoder import SharedSettings, reporting
from molyneux.learn.vaes.networks import Observation
from molyneux.learn.vaes.unimodal import PointAutoencoder


@final
class MaskedTransformer(PointAutoencoder):
    """A masked autoencoder of several modalities with one code: Bachmann et al., MultiMAE (ECCV 2022), with a bottleneck.

    Views become tokens (patches of an image, stretches of a series or a sound, words, one token of anything else), each with a
    learned vector for its modality and place. In training one transformer reads a random part of the tokens that are there; how
    many of each modality is drawn anew for each sample (a uniform distribution over shares, as in the paper's section 3.2), so
    that often nearly all are of one modality. The mean of its outputs is the code, and every modality that is present is
    reconstructed from it, whole. In the paper decoders read all outputs of the transformer, and no vector stands for a sample.

    `encode` reads all tokens of what is observed. The code is a point: there is no likelihood, and a prior only where one is
    fitted. Satisfies `core.Trainable`, `Encodes`, `Decodes` and `Representation`.

    Args:
        spec: what the batches look like.
        visible: share of the tokens that are read in training, above 0, at most 1.
        patch: side of an image's patches in pixels.
        stretch: steps of a series or a sound that are one token.
        width: numbers of a token; a multiple of `heads`.
        layers: of the transformer.
        heads: attention heads.
        shared: see `Autoencoder`; of `nets` only decoders are used.

    Raises:
        ConfigError: settings that cannot be used, all problems at once.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        visible: float = 0.5,
        patch: int = 8,
        stretch: int = 4,
        width: int = 96,
        layers: int = 3,
        heads: int = 4,
        **shared: Unpack[SharedSettings],
    ) -> None:
        sizes = {"patch": patch, "stretch": stretch, "width": width, "layers": layers, "heads": heads}
        problems = [f"{name}: expected at least 1, got {size}" for name, size in sizes.items() if size < 1]
        problems += [] if 0 < visible <= 1 else [f"visible: expected a share above 0, at most 1, got {visible}"]
        problems += [f"width: expected a multiple of the {heads} heads, got {width}"] if not problems and width % heads else []
        with reporting(problems):
            super().__init__(spec, **shared)
        self.networks.encoders = ModalityDict[nn.Module]()  # one transformer stands for them
        self.visible = visible
        self.tokens = ModalityDict[Tokens]()
        for modality in spec.modalities:
            self.tokens[modality.name] = Tokens(modality, width, patch=patch, stretch=stretch)
        self.transformer = transformer_layers(width, heads, layers, 2 * width, 0.0)
        self.code = nn.Linear(width, self.latent_dim)

    @property
    def encoders(self) -> ModalityDict[nn.Module]:
        """What makes tokens of views, by modality."""
        return cast(ModalityDict[nn.Module], self.tokens)

    def joint(self, experts: Diagonal, present: Tensor) -> Diagonal:
        """Raises ConfigError: there are no experts of single modalities."""
        raise ConfigError("MaskedTransformer has no experts: its code is made of all observed modalities together")

    def observe(self, batch: Batch, names: tuple[str, ...] | None = None) -> Observation:
        """Check and read modalities of a batch; no experts are made. See `Autoencoder`."""
        names = self.spec.names if names is None else names
        views, lengths, present = self.networks.read(batch, names)
        return Observation(names, views, lengths, present, Point(torch.zeros(*present.shape, 1, device=present.device)), {})

    def shared_posterior(self, observation: Observation) -> Diagonal:
        """The code of all tokens that were observed."""
        tokens, there, _ = self.sequence(observation)
        return Point(self.code_of(tokens, there))

    def sequence(self, observation: Observation) -> tuple[Tensor, Tensor, Tensor]:
        """The tokens (B, N, width), which of them are there (B, N), and of which observed modality each is (N,)."""
        parts = [self.tokens[name](observation.views[name], observation.lengths.get(name)) for name in observation.names]
        there = [mask & observation.mask(name).unsqueeze(1) for name, (_, mask) in zip(observation.names, parts, strict=True)]
        of = torch.cat([torch.full((mask.shape[1],), number) for number, mask in enumerate(there)])
        return torch.cat([tokens for tokens, _ in parts], 1), torch.cat(there, 1), of.to(observation.present.device)

    def code_of(self, tokens: Tensor, there: Tensor) -> Tensor:
        """The code (B, D) of tokens (B, N, width), of which some are there, (B, N) bool; 0 where none is."""
        if not len(tokens):  # torch's attention takes no empty batch
            return tokens.new_zeros(0, self.latent_dim)
        states = self.transformer(tokens, src_key_padding_mask=unattended(there)).float()
        weight = there.unsqueeze(-1).to(states)
        count = weight.sum(1)
        code: Tensor = self.code((states * weight).sum(1) / count.clamp(min=1.0)).float()
        return code.where(count > 0, 0.0)

    def loss(self, batch: Batch, progress: Progress, generator: torch.Generator | None = None) -> Loss:
        """The weighted distortion of what is present, given the code of some of its tokens; see `core.Trainable`."""
        observation = self.observe_samples(batch)
        codes = self.code_of(*some_tokens(*self.sequence(observation), self.visible, generator))
        terms = {
            name: -self.networks.log_likelihood(observation, name, codes, weight=torch.ones_like(codes[..., 0])).mean()
            for name in observation.names
        }
        total = torch.stack([self.scales[name] * term for name, term in terms.items()]).sum()
        return Loss(total, {f"distortion.{name}": term.detach() for name, term in terms.items()})

    def encode_subsets(self, batch: Batch, subsets: Sequence[Sequence[str]]) -> list[Posterior]:
        """What `encode` gives for each of several sets of modalities; see `Autoencoder`."""
        return [self.encode(batch, names) for names in subsets]


class Tokens(nn.Module):
    """Views of a modality as tokens, with a learned vector for the modality and one for each place.

    Args:
        modality: of the views.
        width: numbers of a token.
        patch: side of an image's patches in pixels; zeros fill what is missing to whole patches.
        stretch: steps of a series or a sound that are one token.
    """

    def __init__(self, modality: Modality, width: int, *, patch: int, stretch: int) -> None:
        super().__init__()
        self.patch, self.steps = 0, None
        if modality.kind == "image":
            depth, height, breadth = modality.shape
            self.patch, self.count = patch, -(-height // patch) * -(-breadth // patch)
            self.padding = (0, -breadth % patch, 0, -height % patch)
            self.entry: nn.Module = nn.Conv2d(depth, width, patch, patch)
        else:
            self.steps = ViewSteps(modality, width)
            self.stretch = stretch if modality.kind in ("series", "audio") else 1
            self.count = -(-self.steps.count // self.stretch)
            self.entry = nn.Linear(self.stretch * self.steps.width, width)
        self.places = nn.Parameter(torch.randn(self.count, width) / math.sqrt(width))

    def forward(self, view: Tensor, lengths: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Views in model form to tokens (B, N, width), and which of them are there, (B, N) bool."""
        if self.steps is None:
            grid = self.entry(nn.functional.pad(view, self.padding)).flatten(2).transpose(1, 2)
            return grid + self.places, torch.ones(grid.shape[:2], dtype=torch.bool, device=view.device)
        values, counts = self.steps(view, lengths)
        values = nn.functional.pad(values, (0, 0, 0, self.count * self.stretch - values.shape[1]))
        tokens = self.entry(values.reshape(len(values), self.count, self.stretch * values.shape[2])) + self.places
        return tokens, step_mask(-(-counts // self.stretch), self.count)


def some_tokens(
    tokens: Tensor, there: Tensor, of: Tensor, visible: float, generator: torch.Generator | None
) -> tuple[Tensor, Tensor]:
    """A share `visible` of the places of tokens (B, N, width), drawn by sample, and which of them are there; see `sequence`.

    Shares of the modalities are uniform on the simplex. Given them, tokens are drawn without replacement, each with a probability
    in proportion to its modality's share (Efraimidis & Spirakis, Weighted random sampling with a reservoir, 2006).
    """
    kept = max(1, round(visible * tokens.shape[1]))
    shares = (
        torch.rand(len(tokens), int(of.max()) + 1, generator=generator, device=tokens.device).clamp(1e-6, 1 - 1e-6).log().neg()
    )
    draws = torch.rand(tokens.shape[:2], generator=generator, device=tokens.device).clamp(1e-6, 1 - 1e-6).log().neg()
    keys = (draws / shares[:, of]).masked_fill(~there, torch.inf)
    chosen = keys.topk(kept, largest=False).indices
    return tokens.gather(1, chosen.unsqueeze(-1).expand(-1, -1, tokens.shape[2])), there.gather(1, chosen)
