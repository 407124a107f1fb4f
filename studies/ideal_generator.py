"""The ideal generator of letters: an LSTM that writes sentences of the ideal codes, walked through one dimension at a time.

    python studies/ideal_generator.py

Zhang et al., "Unsupervised Representation Disentanglement of Text" (RepL4NLP 2021), Table 7: codes of example 1
(`ideal_codes`), a decoder with the published sizes (embedding 4, LSTM 16, first state from the code, batches of 64, learning
rate 0.01, 10 epochs), a larger one, and one that hears sines of each number and not the number itself. The encoder is a table
that is not trained, so each dimension is one letter by construction, and what a leg of the dimension-wise homotopy changes is
what the generator makes of it. The record goes to `studies/results/ideal-generator`.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from molyneux.core import Modality, seeds
from molyneux.data import Letters, ideal_codes, load
from molyneux.learn import AE, Training, fit
from molyneux.learn.encoders.nets import Recurrent
from molyneux.learn.likelihoods import ViewLikelihood
from molyneux.measure import CodeUse, Evaluation, Homotopy, evaluate
from molyneux.report import StudyRun, save_records

RESULTS = Path(__file__).parent / "results" / "ideal-generator" / "records.jsonl"
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Ideal(Recurrent):
    """A recurrent net whose encoder is the table of ideal codes.

    Args:
        octaves: sines and cosines of each number that the decoder gets in place of it; 0 gives it the number.
    """

    octaves: int = 0

    def pair(self, modality: Modality, *, outputs: int, inputs: int, likelihood: ViewLikelihood) -> tuple[nn.Module, nn.Module]:
        """See `Net`."""
        if not self.octaves:
            return Table(modality), self.decoder(modality, inputs, likelihood)
        decoder = self.decoder(modality, 2 * self.octaves * inputs, likelihood)
        return Table(modality), nn.Sequential(Octaves(self.octaves), decoder)


class Octaves(nn.Module):
    """Sines and cosines of numbers, of half-periods 1, 1/2, 1/4, ...; numbers that lie close together are far apart in the last.

    Mildenhall et al., NeRF: Representing Scenes as Neural Radiance Fields for View Synthesis (ECCV 2020, equation 4).
    """

    frequencies: Tensor

    def __init__(self, count: int) -> None:
        super().__init__()
        self.register_buffer("frequencies", math.pi * 2.0 ** torch.arange(count))

    def forward(self, codes: Tensor) -> Tensor:
        """Codes (..., D) to features (..., 2 * count * D)."""
        angles = codes.unsqueeze(-1) * self.frequencies
        return torch.cat([angles.sin(), angles.cos()], -1).flatten(-2)


class Table(nn.Module):
    """Letters to ideal codes."""

    codes: Tensor

    def __init__(self, modality: Modality) -> None:
        super().__init__()
        world = Letters()
        batch = world.source("train", 20_000, seed=0).batch(np.arange(20_000))
        ids, found = batch.views["text"][:, :4].long(), ideal_codes(batch.factors.numpy(), 1)
        table = torch.zeros(4, len(modality.symbols))
        for letter in range(4):
            table[letter, ids[:, letter]] = torch.from_numpy(found[:, letter]).float()
        self.register_buffer("codes", table)

    def forward(self, ids: Tensor) -> Tensor:
        """Ids (B, L) to codes (B, 4)."""
        return self.codes[torch.arange(4), ids[:, :4]]


GENERATORS = {
    "published": Ideal(embedding=4, width=16),
    "larger": Ideal(embedding=4, width=64),
    "octaves": Ideal(embedding=4, width=64, coupling="concat", octaves=8),
}
"""By name; all but the first are trained with a rate that falls as a cosine."""


def study_run(name: str, seed: int, folder: Path, *, epochs: int) -> StudyRun:
    """Train a generator and measure its paths."""
    world = Letters()
    train, test = (load(world.source(split, seed=seed)) for split in ("train", "test"))
    torch.manual_seed(int(seeds.key(seed, "learn", "weights")[0] >> 1))
    net = GENERATORS[name]
    model = AE(train.spec, latent_dim=4, nets={"text": net})
    training = Training(
        epochs=epochs,
        batch_size=64,
        learning_rate=1e-2,
        schedule="constant" if name == "published" else "cosine",
        keep="last",
        threads=1,
    )
    fit(model, train, None, training, folder / f"{name}-{seed}", seed=seed)
    origin = {"world": world.name, "settings": dict(world.settings), "split": "test", "seed": seed, "changed": []}
    evaluation = Evaluation(model, test, exact=world.readers(), seed=seed, samples=10_000, origin=origin)
    found = evaluate([Homotopy(pairs=200, shown=0), CodeUse()], evaluation)
    settings = {"name": name, "seed": seed, "width": net.width, "octaves": net.octaves, "coupling": net.coupling}
    settings |= {"epochs": epochs, "schedule": training.schedule}
    return StudyRun(settings, found.scores)


def main() -> None:
    """Make the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where the trainings go, and go on from")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file of the record (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=10, help="passes over the 96,000 sentences to learn from")
    options = parser.parse_args()
    torch.set_num_threads(1)
    runs = []
    for name in GENERATORS:
        for seed in SEEDS:
            runs.append(study_run(name, seed, options.folder, epochs=options.epochs))
            for score in runs[-1].scores:
                print(name, seed, score.name, dict(score.about), score.value)
    save_records(options.out, runs)


if __name__ == "__main__":
    main()
