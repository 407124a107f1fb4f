"""MAC: a recurrent cell that attends to the words and then to the picture, several times."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor, nn

from molyneux.core import Spec
from molyneux.learn.checks import refuse
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder, attended, attention_weights
from molyneux.learn.encoders.pictures.small import StridedCNN
from molyneux.learn.encoders.texts import RecurrentWords
from molyneux.learn.predictors.head import Head
from molyneux.learn.predictors.predictor import Inputs, PictureTextPredictor

TRUNK, WORDS, HEAD = StridedCNN(), RecurrentWords("lstm", width=64, bidirectional=True), Head(256)


class MAC(PictureTextPredictor):
    """Cells that choose words, read the picture by them and write to a memory; Hudson & Manning (ICLR 2018).

    Compositional Attention Networks for Machine Reasoning, section 3.2; equation numbers c, r and w as there. All cells share
    their weights but for the layer that makes each cell's view `q_i` of the text. The first control and memory are learned.

    Deviations: 96 dimensions and 4 cells, where the paper has 512 and 12; the knowledge base is one linear layer with ELU of
    the trunk's regions, where the paper has two convolutions; no dropout; no biases that a softmax ignores.

    Args:
        spec: see `Predictor`.
        cells: how often it looks.
        width: dimensions of control, memory and knowledge base.
        self_attention: whether a cell also writes what earlier cells wrote (w2.1 to w2.3).
        gate: whether a cell can leave its memory as it is (w3.1 and w3.2).
        trunk: encoder of the picture.
        words: encoder of the text, whose parts are the contextual words.
        head: see `Head`.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        cells: int = 4,
        width: int = 96,
        self_attention: bool = False,
        gate: bool = False,
        trunk: ViewEncoder = TRUNK,
        words: ViewEncoder = WORDS,
        head: Head = HEAD,
        **inputs: Unpack[Inputs],
    ) -> None:
        sizes = {"cells": cells, "width": width}
        problems = [f"{name}: expected at least 1, got {value}" for name, value in sizes.items() if value < 1]
        if self_attention and cells == 1:
            problems.append("self_attention: expected false with one cell, which has no earlier ones, got true")
        refuse(problems)
        super().__init__(spec, trunk, words, **inputs)
        self.knowledge = nn.Sequential(nn.Linear(self.picture.width, width), nn.ELU())
        self.word, self.question = nn.Linear(self.words.width, width), nn.Linear(self.words.vector, width)
        self.views = nn.ModuleList(nn.Linear(width, width) for _ in range(cells))
        self.first_control, self.first_memory = (nn.Parameter(torch.randn(width) / width**0.5) for _ in range(2))
        self.control, self.read = ControlUnit(width), Read(width)
        self.write = Write(width, self_attention=self_attention, gate=gate)
        self.answer_from(2 * width, head)

    def join_both(self, picture: Encoding, text: Encoding) -> Tensor:
        """The last memory and the text, (B, 2 width)."""
        regions, words, question = self.knowledge(picture.parts), self.word(text.parts), self.question(text.vector)
        known = self.read.known(regions)
        controls = [self.first_control.expand_as(question)]
        memories = [self.first_memory.expand_as(question)]
        for view in self.views:
            controls.append(self.control(controls[-1], view(question), words, text.mask))
            retrieved = self.read(memories[-1], controls[-1], regions, known, picture.mask)
            memories.append(self.write(retrieved, memories, controls))
        return torch.cat([memories[-1], question.to(memories[-1].dtype)], -1)


class ControlUnit(nn.Module):
    """Control unit: which words matter now."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.joint, self.score = nn.Linear(2 * width, width), nn.Linear(width, 1, bias=False)

    def forward(self, before: Tensor, view: Tensor, words: Tensor, mask: Tensor) -> Tensor:
        """The next control (B, D), of that before, the view of the text (B, D) and the words (B, L, D)."""
        joint = self.joint(torch.cat([before, view], -1))  # c1
        scores = self.score(joint.unsqueeze(1) * words).squeeze(-1)  # c2.1
        return attended(attention_weights(scores, mask), words)  # c2.2, c2.3


class Read(nn.Module):
    """Read unit: what the regions say that matters now, given the memory."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.memory, self.region = nn.Linear(width, width), nn.Linear(width, width)
        self.related, self.alone = nn.Linear(width, width), nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)

    def known(self, regions: Tensor) -> tuple[Tensor, Tensor]:
        """The terms of r1 and r2 that no cell changes, (B, N, D) each."""
        return self.region(regions), self.alone(regions)

    def forward(self, memory: Tensor, control: Tensor, regions: Tensor, known: tuple[Tensor, Tensor], mask: Tensor) -> Tensor:
        """What is retrieved from the regions (B, N, D), (B, D)."""
        region, alone = known
        related = self.memory(memory).unsqueeze(1) * region  # r1
        facts = self.related(related) + alone  # r2: one linear layer of both side by side
        scores = self.score(control.unsqueeze(1) * facts).squeeze(-1)  # r3.1
        return attended(attention_weights(scores, mask), regions)  # r3.2, r3.3


class Write(nn.Module):
    """Write unit: the next memory."""

    def __init__(self, width: int, *, self_attention: bool, gate: bool) -> None:
        super().__init__()
        self.joint = nn.Linear(2 * width, width)
        self.score = nn.Linear(width, 1, bias=False) if self_attention else None
        self.earlier = nn.Linear(width, width, bias=False) if self_attention else None
        self.own = nn.Linear(width, width) if self_attention else None
        self.gate = nn.Linear(width, 1) if gate else None

    def forward(self, retrieved: Tensor, memories: list[Tensor], controls: list[Tensor]) -> Tensor:
        """The next memory (B, D), of what was retrieved, the memories before, and the controls up to this cell's."""
        memory: Tensor = self.joint(torch.cat([retrieved, memories[-1]], -1))  # w1
        if self.score is not None and self.earlier is not None and self.own is not None:
            past, now = torch.stack(controls[:-1], 1), controls[-1].unsqueeze(1)
            weights = self.score(now * past).squeeze(-1).float().softmax(-1)  # w2.1
            memory = self.earlier(attended(weights, torch.stack(memories, 1))) + self.own(memory)  # w2.2, w2.3
        if self.gate is None:
            return memory
        keep = self.gate(controls[-1]).sigmoid()  # w3.1
        kept: Tensor = keep * memories[-1] + (1 - keep) * memory  # w3.2
        return kept
