"""How much faster a sweep is with two jobs than with one, on cores that are free.

The same grid of small runs is swept in empty folders, with one job and with two; every training has one thread.
"""

import tempfile
import time
from pathlib import Path

from record import Record, options

from molyneux.core.config import read_document
from molyneux.run import Study, run_study

QUICKSTART = Path(__file__).parents[1] / "configs" / "quickstart.yaml"


class Quiet:
    """Progress that nobody reads."""

    def plan(self, runs):
        pass

    def run(self, name, step, done, total):
        pass


def study_of(runs, steps, samples=500):
    base = read_document(QUICKSTART)
    base["learn"] = {name: value for name, value in base["learn"].items() if name != "epochs"}
    base["learn"] |= {"steps": steps, "threads": 1, "tensorboard": False}
    base["data"] |= {"train": 10 * steps + 200, "validation": 200, "test": samples}
    base |= {"measure": ["reconstruction"], "report": ["markdown"]}
    return Study(name="sweep", base=base, seeds=tuple(range(1, runs + 1)))


def seconds(study, jobs):
    with tempfile.TemporaryDirectory() as place:
        began = time.perf_counter()
        outcome = run_study(study, Path(place) / "runs", Path(place) / "results", jobs=jobs, progress=Quiet())
        assert not outcome.failed, outcome.failed[0].error
        return time.perf_counter() - began


def main():
    arguments = options(__doc__).parse_args()
    runs, steps = (1, 2) if arguments.quick else (4, 450)
    record = Record("sweep", f"A sweep of {runs} runs of {steps} steps, by the number of jobs", arguments.out)
    study = study_of(runs, steps, 20 if arguments.quick else 500)
    alone = 0.0
    for jobs in (1, 2):
        took = seconds(study, jobs)
        alone = alone or took
        record.add({"jobs": jobs, "s": took, "times as fast as one": alone / took})
    record.write()


if __name__ == "__main__":
    main()
