"""Do trainings of a model from different seeds find the same dimensions? Asked of runs of a study, without their factors.

    python studies/ranking.py NAME RUNS...

Duan et al., "Unsupervised model selection for variational disentangled representation learning" (ICLR 2020): a model whose
dimensions come back, in any order and sign, whatever the seed, is likely to be disentangled. For every variant in the folders of
runs, codes of the same test sentences are compared across its seeds. Chance: the same codes dealt to other sentences. The
record goes to `studies/results/ranking-NAME`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from molyneux.core import ConfigError, ConflictError, MolyneuxError, Score, seeds
from molyneux.measure.disentanglement import unsupervised_ranking
from molyneux.report import StudyRun, save_records
from molyneux.run import open_evaluation, open_experiment

RESULTS = Path(__file__).parent / "results"
_ACTIVE = 0.01
"""Variance of an active unit (Burda et al., ICLR 2016)."""


def variants(folders: Sequence[Path]) -> dict[str, dict[int, Path]]:
    """Runs by variant and seed: a run of a study is called `VARIANT-seedN-...`; variants of a single seed are left out.

    Raises:
        ConflictError: two runs of one variant and seed. ConfigError: no variant has two seeds.
    """
    found: dict[str, dict[int, Path]] = defaultdict(dict)
    for path in (config.parent for folder in folders for config in sorted(folder.glob("*-seed*-*/config.yaml"))):
        name, _, rest = path.name.rpartition("-seed")
        first = found[name].setdefault(int(rest.partition("-")[0]), path)
        if first != path:
            raise ConflictError(f"expected one run of each variant and seed, got {first} and {path}: name one of their folders")
    several = {name: runs for name, runs in found.items() if len(runs) > 1}
    if not several:
        said = ", ".join(map(str, folders))
        raise ConfigError(f"expected runs VARIANT-seedN-... of at least two seeds in {said}, got none: name folders of sweeps")
    return several


def codes_of(folder: Path, samples: int) -> np.ndarray:
    """Posterior means (N, D) of the first test sentences in an order that is the same for all seeds of a model."""
    opened, dataset = open_evaluation(folder), open_experiment(folder).data.dataset
    source = opened.source if dataset is None else dataset.source("test", samples, seed=0)
    with torch.inference_mode():
        return replace(opened, source=source, samples=samples).table(("text",)).means["shared"]


def ranked(name: str, runs: Mapping[int, Path], samples: int) -> StudyRun:
    """The mean ranking of a variant's seeds; without an interval, for they are compared with each other and not independent."""
    codes = [codes_of(path, samples) for path in runs.values()]
    rng = seeds.generator(0, "ranking", name)
    dealt = [rng.permutation(part) for part in codes]
    active = [part.var(0) > _ACTIVE for part in codes]
    scores = []
    for relation in ("lasso", "spearman", "information"):
        found, chance = (float(unsupervised_ranking(part, active=active, relation=relation).mean()) for part in (codes, dealt))
        about = {"source": "text", "code": "shared", "relation": relation}
        origin = {"seeds": list(runs), "split": "test"}
        scores.append(Score("ranking.agreement", found, about, n=len(codes[0]), bounds=(0, 1), chance=chance, origin=origin))
    model = open_experiment(next(iter(runs.values()))).resolved["learn"]["model"]
    return StudyRun({"name": name, "seed": 0, "learn": {"model": model}}, tuple(scores))


def main() -> None:
    """Make the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of the record, such as ynoc")
    parser.add_argument("runs", type=Path, nargs="+", help="folders of the runs of studies")
    parser.add_argument("--samples", type=int, default=10_000, help="test sentences (default: %(default)s)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    records: list[StudyRun] = []
    try:
        for name, runs in variants(options.runs).items():
            records.append(ranked(name, runs, options.samples))
            print(name, *(f"{score.about['relation']} {score.value:.3f} ({score.chance:.3f})" for score in records[-1].scores))
    except MolyneuxError as error:
        parser.error(str(error))
    save_records(RESULTS / f"ranking-{options.name}" / "records.jsonl", records)


if __name__ == "__main__":
    main()
