"""Views that readers read in a second: judges, parsers and comparison with renderings, in batches and one at a time.

    python benchmarks/judging.py [--quick] [--out FOLDER]

Level 5 of every world, and pictures of CdSprites+ on black ground (level 4), true views, one thread.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
from record import Record, Value, options
from timing import interleaved
from torch import Tensor

from molyneux.core import Reader
from molyneux.data import CdSprites, GeBiD
from molyneux.run.run.readers import find_readers

WHAT = (
    "True views of levels 4 and 5 read per second by each reader, all factors at once, in batches of 500 and one at a time, "
    "one thread; a judge is learned, a parser and the comparison with renderings are exact"
)
SENSES = ("image", "text", "touch")
EXACT = {"image": "renderings", "text": "parser"}


def main() -> None:
    arguments = options(__doc__).parse_args()
    record = Record("judging", WHAT, arguments.out)
    torch.set_num_threads(1)
    size, seconds = (20, 0.0) if arguments.quick else (500, 2.0)
    black = CdSprites(level=4, modalities=("image",))
    for world in (black, CdSprites(level=5, modalities=SENSES), GeBiD(level=5, modalities=SENSES)):
        readers = find_readers(world, world.spec, {})
        batch = world.batch(np.arange(size), split="test", seed=1)
        for name in world.spec.names:
            reader = readers.exact.get(name, readers.judges.get(name))
            if reader is not None:
                kind = EXACT[name] if name in readers.exact else "judge"
                head = {"world": world.name, "modality": name, "reader": kind, "factors": len(reader.factors)}
                record.add({**head, **speed(reader, batch.views[name], seconds)})
    record.write()


def speed(reader: Reader, views: Tensor, seconds: float) -> dict[str, Value]:
    """Views per second in both ways, in turns."""
    together = {"batch": partial(reader.read, views), "single": partial(reader.read, views[:1])}
    took = interleaved(together, rounds=3, seconds=seconds)
    batch, single = len(views) / took["batch"], 1 / took["single"]
    return {"views/s": batch, "views/s, one at a time": single, "times as fast": batch / single}


if __name__ == "__main__":
    main()
