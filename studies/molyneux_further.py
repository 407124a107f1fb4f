"""Ask the trained models of a study of `molyneux-v1` about shapes that no other study has: further members of the family.

    python studies/molyneux_further.py runs/molyneux-v1

200 curves in pairs that are alike, 0.12 apart from each other and from all 320 shapes of the world, are chosen as those were,
from candidates that were never looked at. They are seen and felt as the study's test samples are. The runs' folders are only
read; the scores go to `studies/results/molyneux-v1-further/records.jsonl`. Called again, it goes on with runs that are new.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from molyneux.core import Score, store
from molyneux.data import ArraySource, MolyneuxShapes
from molyneux.data.worlds.molyneux_shapes.bridging import ROLES
from molyneux.data.worlds.molyneux_shapes.chosen import shape_curves
from molyneux.data.worlds.molyneux_shapes.family import candidates, curves
from molyneux.measure import Evaluation, TwoWayChoice, evaluate
from molyneux.report import StudyRun, flatten, load_records, portable, save_records
from molyneux.run import open_model
from molyneux.run.run.experiment import parse_experiment
from molyneux.run.run.stored import stored_settings

FIRST, OF_EACH, SEED = 40_000, 12, 0
"""The first candidate that is looked at, how many samples of each shape, and the seed of the samples."""

# fmt: off
NUMBERS = (
    54767, 67351, 54912, 77498, 51226, 52875, 42422, 70795, 51929, 67548, 64525, 77544, 67434, 69907, 57764, 78991,
    51088, 51526, 43246, 44091, 58500, 68360, 64586, 69550, 43228, 56540, 57844, 74721, 48779, 62770, 49322, 70797,
    53886, 79986, 63283, 75034, 48986, 74371, 44460, 46709, 54486, 75796, 49695, 51705, 60327, 70093, 57423, 73446,
    65473, 74023, 65271, 73281, 42983, 71314, 46963, 59218, 52144, 61353, 51957, 56080, 73528, 76327, 59679, 67363,
    52223, 78702, 68275, 75108, 42820, 47955, 68517, 78321, 47514, 56506, 48966, 51277, 40508, 59990, 66172, 73456,
    49925, 73906, 44764, 76400, 47677, 50859, 45856, 65369, 49404, 74218, 50173, 63536, 42607, 64241, 45407, 79500,
    69376, 69966, 47797, 68387, 60523, 67559, 62937, 79037, 53405, 74275, 60015, 77184, 50847, 53960, 57784, 68302,
    55889, 76618, 42571, 54633, 53907, 71548, 48336, 51597, 67100, 79116, 57290, 61550, 42660, 78054, 65545, 67311,
    50890, 68065, 59428, 62873, 55191, 55367, 62786, 79160, 45683, 61591, 42513, 73475, 70027, 71949, 49325, 49949,
    66457, 78858, 60023, 60619, 61873, 64684, 60211, 75487, 57852, 61092, 51780, 59911, 40913, 65616, 66170, 78564,
    47513, 56674, 60179, 73626, 43718, 62592, 44412, 77507, 47376, 64809, 42062, 49698, 72682, 79090, 60113, 62846,
    55656, 59376, 56941, 77949, 47042, 55946, 56331, 56656, 45957, 53795, 49594, 69419, 61826, 67926, 55232, 76919,
    55473, 61354, 45642, 48655, 63103, 68570, 53354, 68312,
)
# fmt: on
"""What `chosen.choose` finds from `FIRST` on, apart from all shapes: kept, so that a last bit cannot choose another one."""

SHAPES = len(NUMBERS)

RESULTS = Path(__file__).parent / "results" / "molyneux-v1-further"
PAIRS = (("touch", "image"), ("image", "touch"), ("touch", "touch"), ("image", "image"))


@lru_cache(maxsize=1)
def further() -> np.ndarray:
    """The curves (200, points, 2), those of a pair one after the other."""
    return curves(candidates(np.array(NUMBERS)))


def samples(world: MolyneuxShapes) -> ArraySource:
    """Test samples of the world that show the further shapes; their factors `shape` and `pair` tell these apart."""
    scenes = world.scenes(np.arange(SHAPES * OF_EACH), split="test", seed=SEED)
    shown = np.arange(len(scenes.shape)) % SHAPES
    reaches = [np.sqrt((points**2).sum(2)).max(1) for points in (shape_curves(), further())]
    batch = world.view(scenes._replace(size=scenes.size * reaches[0][scenes.shape] / reaches[1][shown]), further()[shown])
    assert batch.factors is not None
    codes = batch.factors.clone()
    for name, values in (("shape", shown), ("pair", shown // 2), ("role", np.full(len(shown), ROLES.index("new")))):
        codes[:, world.spec.factor_index(name)] = torch.from_numpy(values)
    return ArraySource(world.spec, replace(batch, factors=codes))


def asked(folder: Path) -> StudyRun:
    """The scores of the model in the folder of a run."""
    experiment = parse_experiment(stored_settings(folder))
    world = experiment.data.dataset
    assert isinstance(world, MolyneuxShapes)
    origin = {"world": world.name, "shapes": "further", "samples": SHAPES * OF_EACH}
    measure = TwoWayChoice(by="role", alike="pair", pairs=PAIRS, samples=SHAPES * OF_EACH)
    found = evaluate([measure], Evaluation(open_model(folder).module, samples(world), seed=SEED, origin=origin)).scores
    told = tuple(Score.from_json({**score.to_json(), "origin": portable(score.origin)}) for score in found)
    return StudyRun(portable(flatten(experiment.resolved)), told)


def main() -> int:
    """Ask every finished run; status 1 if there was none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="folder with the folders of the runs of a study")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="folder of the records (default: that of the documentation)"
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    out = options.results / "records.jsonl"
    runs = {store.fingerprint(run.settings): run for run in load_records(out)} if out.is_file() else {}
    for folder in sorted(path.parent.parent for path in options.runs.glob("*/measure/stage.json")):
        key = store.fingerprint(portable(flatten(parse_experiment(stored_settings(folder)).resolved)))
        if key not in runs:
            runs[key] = asked(folder)
            save_records(out, list(runs.values()))
            print(f"{folder.name}: {len(runs[key].scores)} scores", flush=True)
    print(f"{len(runs)} runs are on record in {out}")
    return 0 if runs else 1


if __name__ == "__main__":
    sys.exit(main())
