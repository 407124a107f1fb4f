"""Streams, working folders and names that commands are given by a shell, by other programs or by mistake."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from molyneux.cli.parser import complain

Done = "subprocess.CompletedProcess[str]"
Shell = Callable[..., Done]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of classes of the package alone."""
    from molyneux.run import read_experiment, run_experiment

    learn = {"model": {"class_path": "MVAE", "init_args": {"latent_dim": 2}}, "steps": 2, "batch_size": 20, "threads": 1}
    data = {"world": {"class_path": "Letters", "init_args": {}}, "train": 40, "validation": 20, "test": 20}
    tree: dict[str, Any] = {"name": "a", "seed": 1, "data": data, "learn": {**learn, "tensorboard": False}}
    tree |= {"measure": ["likelihood"], "report": ["markdown"]}
    return run_experiment(read_experiment(tree), tmp_path_factory.mktemp("streams") / "a").folder


@pytest.fixture
def shell(tmp_path: Path, environment: dict[str, str]) -> Shell:
    """Runs a line of bash, in which `$M` is the command, in an empty folder."""

    def run(line: str) -> Done:
        variables = {**environment, "M": f"{sys.executable} -m molyneux"}
        return subprocess.run(
            ["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path, env=variables, errors="replace", check=False
        )

    return run


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(shell: Shell, finished: Path, closed: str) -> None:
    files = {path: path.read_bytes() for path in finished.rglob("*") if path.is_file()}
    done = shell(f"$M report {finished} {closed}")
    assert (done.returncode, done.stderr) == (0, "")
    assert {path: path.read_bytes() for path in finished.rglob("*") if path.is_file()} == files


def test_remarks_of_libraries_do_not_reach_standard_error(shell: Shell, finished: Path) -> None:
    calls = f"from molyneux.cli import main; main(['report', '{finished}']); logging.getLogger('a').warning('a remark')"
    done = shell(f'{sys.executable} -c "import logging; {calls}"')
    assert (done.returncode, done.stderr) == (0, "")


def test_a_problem_where_standard_output_is_closed(shell: Shell) -> None:
    done = shell("$M report absent >&-")
    assert done.returncode == 1
    assert done.stderr == "molyneux: expected the folder of a run, got absent, which is not there: " + MADE
    assert shell("$M report absent 2>&-").returncode == 1


MADE = "name a folder made by molyneux run\n"


@pytest.mark.parametrize("words", ["report {}", "report {} --json", "list models"])
def test_nobody_reads_the_answer(shell: Shell, finished: Path, words: str) -> None:
    done = shell(f"$M {words.format(finished)} | true; echo ${{PIPESTATUS[0]}}")
    assert (done.stdout, done.stderr) == ("141\n", "")


@pytest.mark.parametrize("words", ["report {}", "list models"])
def test_a_full_disk_behind_standard_output(shell: Shell, finished: Path, words: str) -> None:
    done = shell(f"$M {words.format(finished)} > /dev/full")
    assert done.returncode == 1
    assert done.stderr == "molyneux: cannot write the answer to standard output: no space left on device\n"


def test_a_working_folder_that_was_removed(shell: Shell, finished: Path) -> None:
    done = shell(f"mkdir gone; cd gone; rmdir ../gone; $M report {finished}")
    assert done.returncode == 2
    told = "molyneux: expected a working folder, got one that was removed: change to a folder that is there\n"
    assert done.stderr == told


def test_names_that_are_no_text(shell: Shell, tmp_path: Path) -> None:
    for words in ("data letters --size 4 --out", "report"):
        done = shell(f"$M {words} $'a\\xff'")
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        (line,) = done.stderr.splitlines()
        assert line.startswith("molyneux: expected words in UTF-8, got 'a\\udcff', which is no text")
    assert not list(tmp_path.iterdir())


def test_a_path_of_3900_characters(molyneux: Callable[..., Done], finished: Path, tmp_path: Path) -> None:
    """As long as a path may be, where the files inside have longer ones: all is done, or nothing is."""
    rest = 3900 - len(str(tmp_path))
    long = tmp_path.joinpath(*["x" * 99] * (rest // 100), "y" * (rest % 100 - 1 or 1))
    longer = Path(f"{long}/{'z' * (4090 - len(str(long)))}")
    for path in (long, longer):
        for words in (("report",), ("leaderboard",), ("export", finished, "--out"), ("data", "letters", "--size", 4, "--out")):
            done = molyneux(*words, path)
            assert "Traceback" not in done.stderr
            if done.returncode:
                (line,) = done.stderr.splitlines()
                assert line.startswith("molyneux: "), line
                with suppress(OSError):  # the name is too long to be looked for
                    assert not path.exists()
            shutil.rmtree(path, ignore_errors=True)


@pytest.mark.parametrize("words", ["export {} --out", "data letters --size 4 --out", "data letters --size 4 --contact-sheet"])
def test_devices_and_dangling_links_are_named(molyneux: Callable[..., Done], finished: Path, tmp_path: Path, words: str) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    for place in ("link", "/dev/full"):
        done = molyneux(*words.format(finished).split(), place)
        assert done.returncode in (1, 2)
        (line,) = done.stderr.splitlines()
        assert line.startswith((f"molyneux: cannot write {place}: ", f"molyneux: {place} exists")), line
    assert (tmp_path / "link").readlink() == Path("nowhere")
    assert Path("/dev/full").is_char_device()
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


def test_threads_that_no_machine_has_are_refused_by_name(molyneux: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "e.yaml").write_text("data: {world: Letters}\nlearn: {model: MVAE}\nmeasure: [likelihood]\n")
    done = molyneux("run", "e.yaml", "--learn.threads", "1000000000")
    assert done.returncode == 2
    assert done.stderr.startswith("molyneux: learn.threads: expected at most 1,024 or nothing, got 1,000,000,000")


@pytest.mark.slow
def test_every_file_has_the_permissions_of_new_files(tmp_path: Path, environment: dict[str, str]) -> None:
    """A umask of 007 leaves everything to the group and nothing to anybody else, whoever writes the files."""
    (tmp_path / "e.yaml").write_text(
        "data: {world: Letters, train: 40, validation: 20, test: 20, keep: true}\n"
        "learn: {model: {class_path: MVAE, init_args: {latent_dim: 2}}, steps: 4, batch_size: 20, checkpoint_seconds: 0.001}\n"
        "measure: [likelihood]\n"
    )
    (tmp_path / "s.yaml").write_text(
        "name: s\nbase: e.yaml\nsearch: random\ntrials: 1\nranges: {learn.learning_rate: {low: 1.0e-4, high: 1.0e-2}}\n"
        "goal: {score: likelihood.elbo}\n"
    )
    steps = (
        "run e.yaml --out run",
        "export run --out export --include-data",
        "leaderboard results --out board",
        *(f"data letters --size 4 --format {form} --out samples-{form}" for form in ("native", "png", "hdf5")),
        "data letters --size 4 --contact-sheet sheet.png",
        "sweep s.yaml --out sweep --results results --jobs 1",
    )
    ordered = [steps[0], steps[1], *steps[3:], steps[2]]
    code = "import sys, os; from molyneux.cli import main; os.umask(int(sys.argv[1]))\n"
    code += "for words in sys.argv[2:]: assert main([*words.split(), '--quiet']) == 0, words"
    for umask in (0o007,):
        for place in tmp_path.iterdir():
            if place.suffix != ".yaml":
                place.rename(tmp_path.with_name(f"{tmp_path.name}-{umask}-{place.name}"))
        command = [sys.executable, "-c", code, str(umask), *ordered]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        made = [path for path in tmp_path.rglob("*") if path.suffix != ".yaml" or path.parent != tmp_path]
        names = {path.name for path in made}
        assert {"search.sqlite3", "weights.safetensors", "sheet.png", "scores.jsonl", "export.json"} <= names
        for path in made:
            mode = path.stat().st_mode & 0o777
            wanted = 0o777 & ~umask if path.is_dir() else 0o666 & ~umask
            assert mode == wanted, f"{path.relative_to(tmp_path)}: {mode:o} under {umask:o}"


def test_what_a_terminal_obeys_is_escaped(shell: Shell, finished: Path, tmp_path: Path) -> None:
    name = "a\x1b[2J\x9b1m\u202eb"
    done = shell(f"$M report '{name}'")
    assert done.returncode == 1
    assert "got a\\x1b[2J\\x9b1m\\u202eb, which is not there" in done.stderr
    shutil.copytree(finished, tmp_path / name)
    done = shell(f"$M report '{name}'")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nRun: a\\x1b[2J" in f"\n{done.stdout}"
    assert json.loads(shell(f"$M report '{name}' --json").stdout)["folder"] == name


def test_a_complaint_is_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    complain("x" * 100_000)
    assert len(capsys.readouterr().err) < 5_000
