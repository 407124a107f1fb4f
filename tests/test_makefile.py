"""The first command of a newcomer: it says which Python it needs, and works after it was stopped."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BASE = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"


def make(venv: Path, python: Path) -> "subprocess.CompletedProcess[str]":
    command = ["make", "-C", str(ROOT), f"VENV={venv}", f"PYTHON={python}", f"{venv}/.created"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("version", [(3, 10), (3, 14)])
def test_another_python_is_refused_in_a_sentence(tmp_path: Path, version: tuple[int, int]) -> None:
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "import sys; sys.version_info = {(*version, 0)}; exec(sys.argv[1])" "$2"\n'
    )
    python.chmod(0o755)
    done = make(tmp_path / "venv", python)
    assert done.returncode != 0
    told = f"Python 3.11, 3.12 or 3.13 is needed, this is {version[0]}.{version[1]}: make PYTHON=/path/to/python3.11"
    assert done.stderr.splitlines()[0] == told
    assert not (tmp_path / "venv").exists()


@pytest.mark.skipif(not BASE.exists(), reason="needs the Python that environments are made with")
def test_an_environment_whose_creation_was_stopped_is_made_anew(tmp_path: Path) -> None:
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(BASE)
    (venv / "pyvenv.cfg").write_text(f"home = {BASE.parent}\ninclude-system-site-packages = false\n")
    assert subprocess.run([venv / "bin" / "python", "-m", "pip", "--version"], capture_output=True, check=False).returncode != 0
    done = make(venv, BASE)
    assert done.returncode == 0, done.stderr
    subprocess.run([venv / "bin" / "python", "-m", "pip", "--version"], capture_output=True, check=True)
