"""Bad input: one clear sentence for each problem, an exit status that says so, and nothing half-written."""

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TOY = Path(__file__).parents[1] / "run"
Run = Callable[..., "subprocess.CompletedProcess[str]"]
CONFIG = TOY / "toy.yaml"


def sentences(done: "subprocess.CompletedProcess[str]", status: int) -> list[str]:
    """The problems that were told, after a check that nothing else was, but what a busy machine adds: progress, and compiling."""
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    assert "Warning" not in done.stderr
    busy = r"\w+: (done in \d|[\d,]+/[\d,]+ · )|molyneux: compiling, once"
    lines = [line for line in done.stderr.splitlines() if not re.match(busy, line)]
    assert lines
    assert all(line.startswith("molyneux: ") for line in lines), done.stderr
    return [line.removeprefix("molyneux: ") for line in lines]


def test_every_problem_of_a_file_at_once(bare: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(
        """
data:
  world: {class_path: CdSprites, init_args: {level: 6}}
  tran: 100
learn:
  model: {class_path: MMVEA, init_args: {latent_dim: 4}}
  epochs: many
  learning_rate: -1.0
measure: [coherense]
reprot: [html]
""",
        encoding="utf-8",
    )
    told = sentences(bare("run", "bad.yaml", "--learn.bacth_size", "4"), 2)
    for start in (
        "data.world.init_args.level: expected at most 5, got 6",
        'data.tran: unknown setting; did you mean "train"?',
        "learn.model.class_path: unknown class 'MMVEA'; did you mean \"MMVAE\"?",
        "learn.epochs: expected an integer, got 'many'",
        "learn.learning_rate: expected more than 0.0, got -1.0",
        'learn.bacth_size: unknown setting; did you mean "batch_size"?',
        "measure.measures.0: unknown class 'coherense'; did you mean \"Coherence\"?",
        'reprot: unknown setting; did you mean "report"?',
    ):
        assert sum(line.startswith(start) for line in told) == 1, told
    assert len(told) == 8
    assert [path.name for path in tmp_path.iterdir()] == ["bad.yaml"]


@pytest.mark.slow
def test_an_odd_latent_size_for_a_transformer_and_a_mismatch(molyneux: Run, tmp_path: Path) -> None:
    (tmp_path / "odd.yaml").write_text(
        """
data: {world: CdSprites}
learn:
  model: {class_path: MVAE, init_args: {latent_dim: 7, nets: {text: CharacterTransformer}}}
measure: [coherence]
"""
    )
    (told,) = sentences(molyneux("run", "odd.yaml"), 2)
    assert told.startswith("learn.model: CharacterTransformer: expected an even size")
    (told,) = sentences(
        molyneux("run", "odd.yaml", "--learn.model.latent_dim", "8", "--learn.model.nets.text", "Convolutional"), 2
    )
    assert told == "learn.model: Convolutional is a net for image, but modality text is text"
    assert [path.name for path in tmp_path.iterdir()] == ["odd.yaml"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run"], "the following arguments are required: CONFIG; see molyneux run --help"),
        (["rnu"], "argument COMMAND: invalid choice: 'rnu'"),
        (["run", "absent.yaml"], "cannot read the settings file absent.yaml: no such file or directory"),
        (["run", "x.yaml", "--learn.epochs"], "expected a value after --learn.epochs; see molyneux run --help"),
        (["measure", "."], "expected the folder of a run, got ., which has no config.yaml: name a folder made by molyneux run"),
        (["list", "wolrds"], "argument KIND: invalid choice: 'wolrds'"),
        (["list", "worlds", "cdsprite"], "worlds has no 'cdsprite'; did you mean \"CdSprites\"?"),
        (["list", "metrics", "migg"], "metrics has no 'migg'; did you mean \"mig\"?"),
        (
            ["data", "cdsprites-v9", "--out", "x"],
            "world: expected a version that this package has, cdsprites-v1, got",
        ),
        (["sweep", "absent.yaml"], "cannot read the settings file absent.yaml: no such file or directory"),
    ],
)
def test_command_lines(molyneux: Run, tmp_path: Path, words: list[str], told: str) -> None:
    (line,) = sentences(molyneux(*words), 1 if words[0] == "measure" else 2)
    assert line.startswith(told)
    assert not list(tmp_path.iterdir())


def test_problems_for_machines(molyneux: Run) -> None:
    done = molyneux("run", CONFIG, "--data.world.spread", "7", "--json")
    assert done.returncode == 2
    told = '{"error": "ConfigError", "problems": ["data.world.init_args.spread: expected 0 to 1, got 7.0"]}'
    assert done.stdout.strip() == told


def test_errors_can_be_looked_into(molyneux: Run) -> None:
    done = molyneux("run", "absent.yaml", MOLYNEUX_DEBUG="1")
    assert done.returncode == 1
    assert "Traceback" in done.stderr


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that kept its samples."""
    from molyneux.core.config import read_document
    from molyneux.run import read_experiment, run_experiment

    folder = tmp_path_factory.mktemp("finished") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOY))
        experiment = read_experiment({"name": "toy", **read_document(CONFIG)}, [("data.keep", True), ("learn.epochs", 1)])
        run_experiment(experiment, folder)
    return folder


def test_a_folder_of_another_configuration(molyneux: Run, finished: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in finished.rglob("*")}
    (told,) = sentences(molyneux("run", CONFIG, "--out", finished, "--data.keep", "true", "--learn.epochs", "2"), 2)
    assert told == f"{finished} was made by another configuration (learn.epochs: 1 -> 2): choose another folder with --out"
    assert {path: path.stat().st_mtime_ns for path in finished.rglob("*")} == before


@pytest.mark.parametrize(
    ("name", "cut"),
    [("samples/train/view.point.npy", True), ("samples/test/view.word.npy", False), ("model/weights.safetensors", False)],
)
def test_damaged_files_are_named(molyneux: Run, finished: Path, tmp_path: Path, name: str, cut: bool) -> None:
    folder = Path(shutil.copytree(finished, tmp_path / "copy"))
    content = bytearray((folder / name).read_bytes())
    content[-1] ^= 1
    (folder / name).write_bytes(content[:-1] if cut else content)
    shutil.rmtree(folder / "measure")
    (told,) = sentences(molyneux("measure" if "model" in name else "learn", folder, "--trust"), 1)
    assert str(folder / name) in told
    assert "truncated or altered" in told


@contextlib.contextmanager
def small_disk(folder: Path, size: str, *options: str) -> Iterator[None]:
    """A file system of its own in a folder; skips where it cannot be had."""
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("needs the right to mount a file system")
    done = subprocess.run([mount, "-t", "tmpfs", "-o", ",".join([f"size={size}", *options]), "tmpfs", str(folder)], check=False)
    if done.returncode:
        pytest.skip("this machine does not let us mount a file system")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk(molyneux: Run, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    with small_disk(folder, "256k"):
        (told,) = sentences(molyneux("run", CONFIG, "--out", folder / "run"), 1)
        assert told.startswith(f"cannot write {folder}")
        assert told.endswith("the disk is full: free some space and run the same command again")
        assert not (folder / "run" / "model" / "stage.json").exists()
        assert not [path for path in folder.rglob("*.part") if path.is_file()]
        done = molyneux("data", "toy.Toy", "--size", 100_000, "--out", folder / "samples")
        (told,) = sentences(done, 1)
        assert "bytes and the disk has " in told
        assert not (folder / "samples").exists()


def test_a_limit_on_the_size_of_files(molyneux: Run, tmp_path: Path) -> None:
    (told,) = sentences(molyneux("data", "toy.Toy", "--size", 100_000, "--out", tmp_path / "samples", largest_file=100_000), 1)
    assert told.startswith(f"cannot write {tmp_path / 'samples'}")
    assert not (tmp_path / "samples").exists()


def test_no_permission_to_write(molyneux: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sealed"
    folder.mkdir()
    if os.geteuid() != 0:
        folder.chmod(0o555)
        (told,) = sentences(molyneux("run", CONFIG, "--out", folder / "run"), 1)
        assert told == f"cannot write {folder / 'run'}: no permission to write there: " + OTHER
        return
    with small_disk(folder, "256k", "ro"):
        (told,) = sentences(molyneux("run", CONFIG, "--out", folder / "run"), 1)
        assert told == f"cannot write {folder / 'run'}: the file system is read-only: choose another folder with --out"


OTHER = "choose another folder with --out or change its permissions"


def test_a_place_that_cannot_be_looked_at(molyneux: Run, tmp_path: Path) -> None:
    """As a folder that may not be entered, but also for those who may enter all."""
    name = "x" * 300
    (told,) = sentences(molyneux("run", CONFIG, "--out", name), 1)
    assert told == f"cannot look at {name}: file name too long: name another place, or change its permissions"
    (told,) = sentences(molyneux("data", "toy.Toy", "--size", 4, "--contact-sheet", name), 1)
    assert told.startswith(f"cannot look at {name}: file name too long")
    (told,) = sentences(molyneux("data", "cdsprites", "--textures", name, "--contact-sheet", "x.png"), 2)
    assert told.startswith("world: CdSprites cannot be made: OSError: ")
    assert "File name too long" in told
    assert not list(tmp_path.iterdir())


def test_a_class_in_a_module_with_a_mistake(molyneux: Run, tmp_path: Path) -> None:
    (tmp_path / "mistaken.py").write_text("class World:\n    def batch(self:\n")
    (told,) = sentences(molyneux("run", CONFIG, "--data.world", "mistaken.World"), 2)
    assert told.startswith("data.world: cannot import 'mistaken.World': ")
    assert "mistaken.py, line 2" in told


def test_a_file_where_a_folder_is_needed(molyneux: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (told,) = sentences(molyneux("run", CONFIG, "--out", tmp_path / "file" / "run"), 1)
    assert told.endswith("a file stands where a folder is needed: choose another folder with --out")
    assert (tmp_path / "file").read_text() == "mine"


def test_nan_in_the_samples(molyneux: Run, tmp_path: Path) -> None:
    (told,) = sentences(molyneux("run", CONFIG, "--out", tmp_path / "run", "--data.world.nan_at", "17"), 2)
    assert told.startswith("modality point: expected finite numbers, got NaN or infinity in sample 17")
    assert not (tmp_path / "run" / "model").exists()
    (told,) = sentences(molyneux("data", "toy.Toy", "--nan-at", "17", "--size", "50", "--out", tmp_path / "samples"), 2)
    assert told.startswith("modality point: expected finite numbers, got NaN or infinity in sample 17")
    assert not (tmp_path / "samples").exists()


def test_the_folder_one_is_in_is_no_name_for_samples(molyneux: Run, tmp_path: Path) -> None:
    (line,) = sentences(molyneux("data", "cdsprites", "--level", "1", "--size", "4", "--out", "."), 2)
    assert line == "expected the name of something new, got '.': name it with --out"
    assert not list(tmp_path.iterdir())


def test_samples_are_not_overwritten(molyneux: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    for form in ("native", "png"):
        (told,) = sentences(molyneux("data", "cdsprites", "--size", "20", "--format", form, "--out", tmp_path / "mine"), 2)
        assert told == f"{tmp_path / 'mine'} exists: choose another place with --out, or move it away"
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]
