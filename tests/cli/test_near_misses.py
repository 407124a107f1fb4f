"""What was meant is said: settings that stand elsewhere, commands of other names, studies for experiments, absent files.

Nothing that takes long is imported for it.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from molyneux.cli.experiment_names import is_experiment, is_study, name_problems, override_problems
from molyneux.core.config import read_document

ROOT = Path(__file__).parents[2]
QUICKSTART = str(ROOT / "configs" / "quickstart.yaml")
STUDY = str(ROOT / "configs" / "studies" / "cdsprites.yaml")
CASES = {
    ("run", QUICKSTART, "--levle", "3"): "--levle: unknown setting; did you mean --data.world.level?",
    ("run", QUICKSTART, "--device", "cpu"): "--device: unknown setting; did you mean --learn.device?",
    ("run", QUICKSTART, "--epoch", "3"): "--epoch: unknown setting; did you mean --learn.epochs?",
    ("run", QUICKSTART, "--learn.epoch", "3"): 'learn.epoch: unknown setting; did you mean "epochs"?',
    ("run", QUICKSTART, "--learn.model.latentdim", "3"): (
        'learn.model.init_args.latentdim: unknown setting of DMVAE; did you mean "latent_dim"?'
    ),
    ("run", QUICKSTART, "--data.world", "CdSprite"): "data.world: unknown class 'CdSprite'; did you mean \"CdSprites\"?",
    ("run", STUDY): f"expected an experiment, got {STUDY}, which is a study: molyneux sweep {STUDY}",
    ("learn", STUDY): f"expected an experiment, got {STUDY}, which is a study: molyneux sweep {STUDY}",
    ("sweep", QUICKSTART): f"expected a study, got {QUICKSTART}, which is an experiment: molyneux run {QUICKSTART}",
    ("run", QUICKSTART.replace("quick", "quik")): f"; did you mean {QUICKSTART}?",
    ("run", str(ROOT / "configs")): f"expected the YAML file of settings, got the folder {ROOT / 'configs'}: name a file in it",
    ("runs", "x"): "invalid choice: 'runs'; did you mean \"run\"?",
    ("train", "x"): "invalid choice: 'train'; did you mean \"run\"?",
    ("evaluate", "x"): "invalid choice: 'evaluate'; did you mean \"measure\"?",
    ("learn", QUICKSTART, "--epochs", "3"): "settings of an experiment are given to molyneux run",
}


@pytest.mark.parametrize(("words", "said"), CASES.items(), ids=lambda value: " ".join(value) if isinstance(value, tuple) else "")
def test_what_was_meant_is_said(
    molyneux: Callable[..., "subprocess.CompletedProcess[str]"], words: tuple[str, ...], said: str
) -> None:
    done = molyneux(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_wrong_setting_is_told_without_torch() -> None:
    code = "import atexit, sys\natexit.register(lambda: print([n for n in ('torch', 'numba', 'pydantic') if n in sys.modules]))\n"
    code += f"import molyneux.cli\nmolyneux.cli.main(['run', {QUICKSTART!r}, '--learn.epoch', '3'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert 'did you mean "epochs"?' in done.stderr


def test_no_name_of_a_file_of_this_package_is_refused() -> None:
    """The index must know every setting that a file may have; a wrong problem would stop a run that is right."""
    paths = sorted((ROOT / "configs").rglob("*.yaml"))
    assert len(paths) > 50
    for path in paths:
        tree = read_document(path)
        assert is_study(tree) != is_experiment(tree), path
        if is_experiment(tree):
            assert name_problems(tree) == [], path


def test_a_file_with_wrong_names_is_left_to_the_check_that_tells_all() -> None:
    tree = {"data": {"wrold": "CdSprites"}, "learn": {"model": "MVAE"}, "measure": ["coherence"]}
    assert name_problems(tree) == ['data.wrold: unknown setting; did you mean "world"?']
    assert override_problems(tree, [("learn.epoch", 3)]) == []


def test_earlier_names_and_classes_from_elsewhere_pass() -> None:
    tree = {
        "data": {"world": {"class_path": "CdSprites", "init_args": {"textures": None}}},
        "learn": {"model": {"class_path": "their.Model", "init_args": {"anything": 1}}},
    }
    assert name_problems(tree) == []


def test_the_doctor_says_in_a_terminal_what_it_says_in_python(
    molyneux: Callable[..., "subprocess.CompletedProcess[str]"],
) -> None:
    done = molyneux("doctor")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "Everything works.")
    assert len(done.stdout.splitlines()) <= 25
