"""Importance-weighted log-likelihoods, beside a loop over samples.

    python benchmarks/likelihood.py [--quick] [--out FOLDER]

The joint log-likelihood of an MVAE and a DMVAE with the default nets on CdSprites level 3, from K draws of the posterior, with
effective sample sizes. The plain implementation goes through the samples one by one and decodes the K draws of a sample at once,
as published toolkits do. Seconds of the processor's time, in turns; memory is the most that tensors take at the same time.
"""

from __future__ import annotations

import math
from time import process_time

import torch
from record import Record, options
from timing import interleaved, peak_memory
from torch import Tensor

from molyneux.core import Batch
from molyneux.data import CdSprites, load
from molyneux.learn import DMVAE, MVAE
from molyneux.measure import Evaluation
from molyneux.measure.likelihood import importance_bounds

WHAT = (
    "Processor milliseconds a sample of the joint log-likelihood of {samples} samples of CdSprites level 3, one thread; `loop` "
    "encodes and decodes sample by sample"
)


def main() -> None:
    arguments = options(__doc__).parse_args()
    samples, draws = (4, (2, 3)) if arguments.quick else (8, (100, 1000))
    record = Record("likelihood", WHAT.format(samples=samples), arguments.out)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    world = CdSprites(level=3)
    test = load(world.source("test", samples, seed=1))
    for kind in (MVAE, DMVAE):
        private = {"private_dim": {"image": 6}} if kind is DMVAE else {}
        evaluation = Evaluation(kind(world.spec, latent_dim=16, **private).eval(), test)
        for k in draws:
            record.add(row(evaluation, k))
    record.write()


def row(evaluation: Evaluation, k: int) -> dict[str, str | float]:
    """Time and memory of both ways of one model and number of draws."""
    batch = next(evaluation.batches())[1]
    works = {"batched": lambda: batched(evaluation, k), "loop": lambda: loop(evaluation.model, batch, k)}
    found = interleaved(works, rounds=2, seconds=0.0, timer=process_time)
    times = {name: 1000 * seconds / len(batch) for name, seconds in found.items()}
    memory = {name: peak_memory(work)[1] for name, work in works.items()}
    return {
        "model": type(evaluation.model).__name__,
        "draws": str(k),
        "ms a sample": times["batched"],
        "loop, ms a sample": times["loop"],
        "times as fast": times["loop"] / times["batched"],
        "MiB": memory["batched"],
        "loop, MiB": memory["loop"],
    }


@torch.inference_mode()
def batched(evaluation: Evaluation, k: int) -> Tensor:
    """The bound of every sample, as the measure makes it."""
    batch = next(evaluation.batches())[1]
    return importance_bounds(evaluation, batch, k, evaluation.generator("benchmark"))["iwae"]


@torch.inference_mode()
def loop(model: MVAE | DMVAE, batch: Batch, k: int) -> Tensor:
    """The same, sample by sample, all draws decoded at once."""
    found = []
    for number in range(len(batch)):
        sample = batch[torch.tensor([number])]
        observation = model.observe(sample)
        posterior = model.posterior(observation)
        codes = posterior.rsample(k)
        total = torch.stack(list(model.prior(1).log_probs(codes).values())).sum(0) - posterior.log_prob(codes)
        for name in observation.names:
            total = total + model.networks.log_likelihood(observation, name, codes.shared, codes.private.get(name))
        found.append(total.logsumexp(0) - math.log(k))
    return torch.cat(found)


if __name__ == "__main__":
    main()
