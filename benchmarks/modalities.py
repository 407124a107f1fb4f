"""Time of a training step of every model by the number of modalities, two to ten, with small nets.

    python benchmarks/modalities.py [--quick] [--out FOLDER]

Modalities of 32 numbers, fully connected nets, batches of 128, one thread. For comparison, a plain MVAE runs every subset of
modalities separately (see `training.py`): with M modalities M 2^(M-1) calls of encoders and M (2^M - 1) of decoders; it stops at
five. Models that decode a code of every expert or subset to every modality have a setting that draws one for each sample: both
are measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import torch
from products import names
from record import Record, Value, options
from timing import interleaved
from torch import nn
from training import Plain, Step, calls

from molyneux.core import Batch, Modality, Spec
from molyneux.learn import MVAE, vaes
from molyneux.learn.encoders.nets import Dense, Net

WHAT = (
    "Milliseconds of processor time of one training step of every model by number of modalities (32 numbers each, fully "
    "connected nets, batches of {size}, one thread), the last divided by that of half as many modalities, which is 2 where "
    "the cost is linear and 4 where it grows with the square, and calls of encoders and of decoders for each modality; `MVAE, "
    "plain` is the loss of `MVAE, all` with a full forward pass for every subset; `drawn`: one subset or expert of each "
    "sample stands for all"
)
LATENT, VALUES, MOST_PLAIN = 16, 32, 5
EVERY = {"subsets": "all", "reconstruct": "all"}
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "MVAE, all": EVERY,
    "MVAE, drawn": {**EVERY, "subsets": "drawn"},
    "CoDEVAE": {"subsets": "all"},
    "CoDEVAE, drawn": {"subsets": "drawn"},
    **{f"{name}, drawn": {"drawn": True} for name in ("CMVAE", "DMVAE", "MMVAE", "MMVAEPlus")},
}


def main() -> None:
    arguments = options(__doc__).parse_args()
    quick = arguments.quick
    size, counts = (8, (2, 4)) if quick else (128, (2, 5, 10))
    record = Record("modalities", WHAT.format(size=size), arguments.out)
    torch.set_num_threads(1)
    models = [name for name in names() if "," not in name]
    for name in sorted({*models, *VARIANTS, "MVAE, plain"}, key=str.lower)[:: 5 if quick else 1]:
        record.add(row(name, counts, size=size, seconds=0.0 if quick else 0.05))
    record.write()


def build(name: str, spec: Spec) -> nn.Module:
    """A model or a variant, with small nets."""
    kind: type[vaes.Autoencoder] = getattr(vaes, name.partition(",")[0])
    nets: dict[str, Net] = dict.fromkeys(spec.names, Dense(width=64))
    settings: dict[str, Any] = {"latent_dim": LATENT, "nets": nets, **VARIANTS.get(name, {})}
    if settings.get("drawn"):
        settings["drawn"] = spec.names
    if kind.has_private:
        settings["private_dim"] = 4
    if name == "MVAE, plain":
        return Plain(MVAE(spec, latent_dim=LATENT, nets=nets, subsets="all", reconstruct="all"))
    return kind(spec, **settings)


def row(name: str, counts: tuple[int, ...], *, size: int, seconds: float) -> dict[str, Value]:
    """One model with each of these numbers of modalities; they take turns."""
    steps: dict[int, Step] = {}
    for count in counts:
        spec = Spec(tuple(Modality(f"sense{number}", "tabular", (VALUES,)) for number in range(count)))
        generator = torch.Generator().manual_seed(1)
        batch = Batch({view: torch.randn(size, VALUES, generator=generator) for view in spec.names})
        if not (name.endswith("plain") and count > MOST_PLAIN):
            steps[count] = Step(build(name, spec), batch)
    works: dict[str, Callable[[], object]] = {str(count): step for count, step in steps.items()}
    took = interleaved(works, rounds=3, seconds=seconds, timer=time.process_time)
    last = max(steps)
    counted = calls(steps[last].model, steps[last].batch)
    found: dict[str, Value] = {"model": name, **{f"{count}, ms": 1000 * seconds for count, seconds in took.items()}}
    if last // 2 in steps:
        found[f"{counts[-1]} / {counts[-1] // 2}"] = took[str(last)] / took[str(last // 2)]
    return {**found, **{f"{column} a modality": number / last for column, number in counted.items()}}


if __name__ == "__main__":
    main()
