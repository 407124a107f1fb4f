"""The classifier that the text study puts on frozen codes."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from molyneux.measure.prediction.checks import finite_codes, labelled

HIDDEN, EPOCHS, BATCH, RATE = 1024, 15, 512, 1e-3


def net_predictions(train: np.ndarray, labels: np.ndarray, test: np.ndarray, *, generator: torch.Generator) -> np.ndarray:
    """What a net with one hidden layer says of samples that it was not trained on, (M,) labels.

    The paper has "a single linear layer with 1024 neurons followed by softmax", 15 epochs of Adam with rate 1e-3 and batches of
    512 (Zhang, Prokhorov and Shareghi, RepL4NLP 2021). This is read as one hidden layer of 1024 units without a nonlinearity,
    then one output for each class: together a linear classifier of features as they are, not standardised. Starts are
    Glorot-uniform, as in Keras. Runs on the CPU.

    Args:
        train: (N, D) finite features, N at least 1.
        labels: (N,) integers from 0.
        test: (M, D) finite features.
        generator: of the CPU; draws starts and shuffles.

    Raises:
        DataError: arrays that do not fit; the message says where.
    """
    train, labels = labelled(train, labels, names=("train", "labels"))
    test = finite_codes(test, "test", width=train.shape[1])
    # Measures run in inference mode, where nothing can be trained.
    with torch.inference_mode(False), torch.enable_grad():
        inputs, targets = torch.tensor(train, dtype=torch.float32), torch.tensor(labels, dtype=torch.int64)
        sizes = (train.shape[1], HIDDEN, int(labels.max()) + 1)
        weights = [_glorot(rows, columns, generator) for rows, columns in pairwise(sizes)]
        offsets = [torch.zeros(size, requires_grad=True) for size in sizes[1:]]
        adam = torch.optim.Adam([*weights, *offsets], lr=RATE, eps=1e-7)
        for _ in range(EPOCHS):
            for rows in torch.split(torch.randperm(len(inputs), generator=generator), BATCH):
                adam.zero_grad()
                torch.autograd.backward(functional.cross_entropy(_logits(inputs[rows], weights, offsets), targets[rows]))
                adam.step()
        with torch.no_grad():
            said = _logits(torch.tensor(test, dtype=torch.float32), weights, offsets).argmax(1)
    return said.numpy()


def _logits(inputs: Tensor, weights: list[Tensor], offsets: list[Tensor]) -> Tensor:
    return (inputs @ weights[0] + offsets[0]) @ weights[1] + offsets[1]


def _glorot(rows: int, columns: int, generator: torch.Generator) -> Tensor:
    limit = math.sqrt(6 / (rows + columns))
    return ((2 * torch.rand(rows, columns, generator=generator) - 1) * limit).requires_grad_()
