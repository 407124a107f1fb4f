"""Samples of an evaluation that workers share out: the same scores, to the last digit, as in one process."""

import pickle
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

from molyneux.measure.sharing import BatchTask
from molyneux.run import Outcome, measure_again, read_experiment, run_experiment

MEASURES = ["coherence", "likelihood", "reconstruction", "latent_probe", "clustering"]


class Elsewhere:
    """Workers that get what they need by pickle, as other processes do; the last batches come to them first."""

    threads = 1

    def __init__(self) -> None:
        self.asked = Counter[tuple[str, int, bool]]()

    def map(self, function: Callable[[Any], Any], pieces: Iterable[Any]) -> Iterator[Any]:
        there, pieces = pickle.loads(pickle.dumps(function)), list(pieces)
        for piece in pieces:
            assert isinstance(piece, BatchTask)
            self.asked[piece.work.func.__name__, piece.condition, piece.training] += 1
        found = [pickle.dumps(there(pickle.loads(pickle.dumps(piece)))) for piece in reversed(pieces)]
        return map(pickle.loads, reversed(found))


def test_scores_are_those_of_one_process(finished: Outcome, settings: dict[str, Any], tmp_path: Path) -> None:
    conditions = [{"missing": ["word"], "strengths": [0.5]}]
    settings["measure"] = {"measures": MEASURES, "batch_size": 70, "conditions": conditions}
    experiment, workers = read_experiment(settings), Elsewhere()
    threads = torch.get_num_threads()
    places = [Path(shutil.copytree(finished.folder, tmp_path / name)) for name in ("alone", "shared")]
    torch.set_num_threads(1)
    try:
        run_experiment(experiment, places[0], steps=["measure"])
    finally:
        torch.set_num_threads(threads)
    run_experiment(experiment, places[1], steps=["measure"], workers=workers)
    alone, shared = ((place / "measure" / "scores.jsonl").read_bytes() for place in places)
    assert alone == shared
    asked = {name: {condition for other, condition, _ in workers.asked if other == name} for name, _, _ in workers.asked}
    assert asked.keys() == {"_generate", "_read_draws", "_read_true_batch", "_batch", "_reconstruct", "_encoded"}
    assert set().union(*asked.values()) == {0, 1}
    assert workers.asked["_generate", 0, False] == 5  # 300 samples in blocks of 70
    assert any(training for _, _, training in workers.asked)
    again = Elsewhere()
    assert measure_again(places[1], trust=True, workers=again).changed == ()
    assert again.asked == workers.asked
