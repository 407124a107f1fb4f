"""The settings of a diffusion model of codes: its net, what it learns, how codes are drawn, and how it is fitted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, get_args

from molyneux.core import choice_problems
from molyneux.core.tooling.classes import ADDED
from molyneux.learn.checks import refuse, too_small
from molyneux.learn.diffusion.fit import CodeNet, ExPostDiffusion
from molyneux.learn.diffusion.grid import GridLayers
from molyneux.learn.diffusion.multitime import MultiTimeDenoiser
from molyneux.learn.diffusion.schedule import Schedule
from molyneux.learn.diffusion.solvers import Solver
from molyneux.learn.diffusion.tokens import TokenDenoiser, TokenLayers

__all__ = ["CodeDiffusion"]


@dataclass(frozen=True)
class CodeDiffusion:
    """Settings of a diffusion model of the codes of several modalities, each with a time of its own (`multitime_loss`).

    Args:
        width: units of each layer of its net.
        blocks: residual blocks of its net.
        grids: convolutions for codes on a grid, those of nets such as `GridConvolutional`.
        tokens: a transformer in place of the multilayer perceptron and of these convolutions; each cell of a grid is a token.
        given_share: share of the samples of which, in training, a part of the modalities is given.
        alone_share: share of the samples of which, in training, one of the modalities that are not given is learned alone, the
            others being as if absent. Above 0, each modality that is not observed is drawn given the observed ones alone, and
            not together with the others. For training samples that lack modalities: otherwise the net sees which are absent,
            and takes it for a sign of whatever goes along with it.
        schedule: how noise grows with time: `linear`, or `cosine` for codes of many numbers.
        steps: to draw a code; each runs the net once.
        solver: with which codes are drawn, see `solve`: `dpm-solver++`, or `unipc`, which needs fewer steps to be as exact.
        redrawn: modalities whose codes, where several are drawn together, are then drawn anew given those of the others, in this
            order. Where the joint distribution is not learned exactly, this moves it towards the conditional ones.
        after: how it is fitted after the training; None trains it in the training.

    Raises:
        ConfigError: settings that cannot be used, all problems at once.
    """

    width: int = 256
    blocks: int = 3
    grids: GridLayers = field(default_factory=GridLayers)
    tokens: Annotated[TokenLayers | None, ADDED] = None
    given_share: float = 0.5
    alone_share: float = 0.0
    schedule: Schedule = "linear"
    steps: int = 50
    solver: Annotated[Solver, ADDED] = "dpm-solver++"
    redrawn: tuple[str, ...] = ()
    after: ExPostDiffusion | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "redrawn", tuple(self.redrawn))
        shares = {"given_share": self.given_share, "alone_share": self.alone_share}
        problems = too_small(self, "width", "blocks", "steps")
        problems += [f"{name}: expected a share in 0..1, got {share}" for name, share in shares.items() if not 0 <= share <= 1]
        problems += choice_problems(schedule=(self.schedule, get_args(Schedule)), solver=(self.solver, get_args(Solver)))
        refuse(problems)

    def net(self, sizes: Mapping[str, int], grids: Mapping[str, tuple[int, int]]) -> CodeNet:
        """A net that predicts velocities of codes.

        Args:
            sizes: dimensions of the codes by modality, in the order of the codes.
            grids: rows and columns of the codes that lie on a grid.
        """
        if self.tokens is None:
            return MultiTimeDenoiser(sizes, width=self.width, blocks=self.blocks, grids=grids, layers=self.grids)
        return TokenDenoiser(sizes, width=self.width, blocks=self.blocks, tokens=self.tokens, grids=grids, schedule=self.schedule)
