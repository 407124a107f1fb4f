"""Time of a training step by the number of modalities, one to six, with small nets.

    python benchmarks/modalities.py [--quick] [--out FOLDER]

Modalities of 32 numbers, fully connected nets, batches of 128, one thread. For comparison, a plain MVAE
runs every subset of modalities separately (see `training.py`): with M modalities M 2^(M-1) calls of encoders and M (2^M - 1) of
decoders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from record import Record, Value, options
from timing import interleaved
from torch import nn
from training import Plain, Step, calls

from molyneux.core import Batch, Modality, Spec
from molyneux.learn import DMVAE, MMVAE, MVAE, MoPoE
from molyneux.learn.nets import Dense, Net

WHAT = (
    "Median milliseconds of one training step by number of modalities (32 numbers each, fully connected nets, batches of 128, "
    "one thread), and calls of encoders + decoders in it; `MVAE, plain` is the loss of MVAE with a full forward pass for every "
    "subset; `MVAE, sampled` takes the paper's sample of the subsets"
)
LATENT, VALUES, MOST = 16, 32, 6
MODELS: Mapping[str, Callable[[Spec, Mapping[str, Net]], nn.Module]] = {
    "MVAE, plain": lambda spec, nets: Plain(all_subsets(spec, nets)),
    "MVAE": lambda spec, nets: all_subsets(spec, nets),
    "MVAE, sampled": lambda spec, nets: MVAE(spec, latent_dim=LATENT, nets=nets),
    "MMVAE": lambda spec, nets: MMVAE(spec, latent_dim=LATENT, nets=nets),
    "MoPoE": lambda spec, nets: MoPoE(spec, latent_dim=LATENT, nets=nets),
    "DMVAE": lambda spec, nets: DMVAE(spec, latent_dim=LATENT, private_dim=4, nets=nets),
}


def main() -> None:
    arguments = options(__doc__).parse_args()
    record = Record("modalities", WHAT, arguments.out)
    torch.set_num_threads(1)
    counts = (1, 2, 3) if arguments.quick else range(1, MOST + 1)
    for count in counts:
        record.add(row(count, size=8 if arguments.quick else 128, seconds=0.0 if arguments.quick else 0.5))
    record.write()


def all_subsets(spec: Spec, nets: Mapping[str, Net]) -> MVAE:
    """MVAE with every subset, each reconstructing every modality."""
    return MVAE(spec, latent_dim=LATENT, nets=nets, subsets="all", reconstruct="all")


def row(count: int, *, size: int, seconds: float) -> dict[str, Value]:
    """All models with so many modalities."""
    spec = Spec(tuple(Modality(f"sense{number}", "tabular", (VALUES,)) for number in range(count)))
    generator = torch.Generator().manual_seed(1)
    batch = Batch({name: torch.randn(size, VALUES, generator=generator) for name in spec.names})
    nets = dict.fromkeys(spec.names, Dense(width=64))
    steps = {name: Step(make(spec, nets), batch) for name, make in MODELS.items()}
    took = interleaved(steps, rounds=3, seconds=seconds)
    counted = {name: " + ".join(str(number) for number in calls(step.model, batch).values()) for name, step in steps.items()}
    return {
        "modalities": count,
        "calls, plain": counted.pop("MVAE, plain"),
        "calls, all others": ", ".join(dict.fromkeys(counted.values())),
        **{f"{name}, ms": 1000 * seconds for name, seconds in took.items()},
    }


if __name__ == "__main__":
    main()
