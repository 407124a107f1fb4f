"""Examples of docstrings are tests, and only files that have some are imported to find them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "molyneux" / "core"


def test_examples_are_collected_and_other_files_are_not_imported() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", str(FOLDER)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    found = {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}
    assert found == {path.relative_to(ROOT).as_posix() for path in FOLDER.rglob("*.py") if ">>>" in path.read_text()}
