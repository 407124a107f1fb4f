"""Exports the runs of `configs/pretrained` and `configs/cdsprites-level5.yaml` as the models that come with the package.

    molyneux run configs/pretrained/gebid-level5.yaml --out runs/gebid-level5
    python studies/ship_models.py runs

Level 5 keeps its 50 steps of a draw, on which no training depends: of 10,000 pictures from captions 95.9 % (95.5 to 96.3) are
right with 50 steps and 95.3 % (94.9 to 95.7) with 25, by the same weights, captions and noise; the Fréchet distance of pictures
from the prior is 20.4 with both. Of 2,000 pictures 94.8 % are right with 15 steps, 93.3 % with 10 and 92.6 % with 7.

A run that is not there leaves its model as it is. Weights are stored in 8 bits; `tests/run/trained/test_shipped.py` finds the
recorded scores again.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from molyneux.run import ExportSettings, export_run

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "src" / "molyneux" / "models"
_LEVEL_5 = ROOT / "configs" / "cdsprites-level5.yaml"
CONFIGS = {path.stem: path for path in (_LEVEL_5, *sorted((ROOT / "configs" / "pretrained").iterdir()))}
LEARNED_FROM_DIGITS = ("av-mnist", "spoken-digits")
"""Models whose weights learned from MNIST and FSDD, whose licences ask for the same licence."""


def main(runs: Path) -> None:
    """Export each run that is there."""
    for name, config in CONFIGS.items():
        if not (runs / name / "report").is_dir():
            print(f"{name}: no finished run in {runs}")
            continue
        licence = "CC-BY-SA-4.0" if name in LEARNED_FROM_DIGITS else "Apache-2.0"
        about = config.read_text(encoding="utf-8").splitlines()[1].removeprefix("# ")
        shutil.rmtree(MODELS / name, ignore_errors=True)
        export_run(runs / name, MODELS / name, ExportSettings(licence, bits=8, about=about, exhibits=False))
        size = sum(path.stat().st_size for path in (MODELS / name).rglob("*") if path.is_file())
        print(f"{name}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
