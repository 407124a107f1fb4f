"""Exports the runs of `configs/pretrained` and `configs/cdsprites-level5.yaml` as the models that come with the package.

    molyneux run configs/pretrained/gebid-level5.yaml --out runs/gebid-level5
    python studies/ship_models.py runs

A run that is not there leaves its model as it is. Weights are stored in 16 bits; `tests/run/trained/test_shipped.py` finds the
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
