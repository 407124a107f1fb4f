"""What each command does, and what it says."""

import contextlib
import inspect
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from molyneux.cli import index, main
from molyneux.core import Trainable
from molyneux.core.config import arguments, short_names
from molyneux.data import Benchmark, StoredSource, World
from molyneux.learn.encoders.nets import Net
from molyneux.learn.objectives import Objective
from molyneux.learn.predictors import AuxiliaryObjective
from molyneux.measure import Measure
from molyneux.run import DataSettings, Experiment, LearnSettings, MeasureSettings, ReportSettings, Study

TOY = Path(__file__).parents[1] / "run"
CONFIG = TOY / "toy.yaml"
Run = Callable[..., "subprocess.CompletedProcess[str]"]
QUICK = ("--learn.steps", "4")


def test_a_run_ends_with_the_table_and_the_page(molyneux: Run, tmp_path: Path) -> None:
    done = molyneux("run", CONFIG, *QUICK, "--seed", "5", "--out", "mine", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[-3:] == ["Run: mine", "Report: mine/report/report.html", "Report: mine/report/report.md"]
    assert any("Strict" in line for line in lines)
    assert any("word" in line and "→" in line for line in lines), done.stdout
    assert (tmp_path / "mine" / "config.yaml").read_text().startswith("name: toy\nseed: 5\n")
    assert (tmp_path / "mine" / "report" / "report.html").exists()


def test_a_run_in_two_processes(molyneux: Run, tmp_path: Path) -> None:
    """Nothing is said that one process would not say, and the folder is the same run's."""
    words = ("run", CONFIG, *QUICK, "--out", "mine", "--quiet")
    done = molyneux(*words, "--processes", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert molyneux(*words).stdout == done.stdout
    done = molyneux("learn", "mine", "--processes", "some")
    assert done.returncode == 2
    assert "--processes: expected a whole number" in done.stderr


def test_a_run_has_a_folder_of_its_own_by_default(molyneux: Run, tmp_path: Path) -> None:
    first, again = (json.loads(molyneux("run", CONFIG, *QUICK, "--json").stdout) for _ in range(2))
    assert first == again
    assert first["folder"].startswith("runs/toy-")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [Path(first["folder"]).name]
    assert {score["name"] for score in first["scores"]} >= {"coherence.strict"}


def test_steps_one_by_one(molyneux: Run, tmp_path: Path) -> None:
    small = tmp_path / "small.yaml"
    small.write_text(CONFIG.read_text().replace("epochs: 3", "epochs: 1"))
    folder = json.loads(molyneux("learn", small, "--json").stdout)["folder"]
    assert not (tmp_path / folder / "measure").exists()
    assert json.loads(molyneux("measure", folder, "--trust", "--json").stdout)["pages"] == []
    assert molyneux("report", folder).stdout.endswith("report.md\n")
    assert molyneux("run", small).returncode == 0
    again = molyneux("run", small, "--measure.split", "validation").stdout
    assert f"Measured on the split: validation\nRun: {folder}\n" in again


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("worlds", {"CdSprites", "GeBiD"}),
        (
            "benchmarks",
            {"PublishedAVMNIST", "CMUMOSI", "ENRICO", "KineticsSmall", "MIMIC", "MMIMDb", "MuJoCoPush", "Stocks", "VisionTouch"},
        ),
        ("models", {"AE", "HSVAE", "VAE", "MVAE", "MMVAE", "MoPoE", "DMVAE"}),
        ("objectives", {"BetaTCVAE", "BetaVAE", "CCI", "DIP", "ELBO", "FactorVAE", "IWAE", "MAT"}),
        ("measures", {"Coherence", "LatentProbe", "PosteriorGap", "Reconstruction"}),
        ("metrics", {"mig", "dci", "sap"}),
        ("auxiliary-objectives", {"Contrastive", "MFM", "RefNet", "SupervisedMVAE", "UnimodalHeads"}),
        ("nets", {"CharacterTransformer", "Convolutional"}),
    ],
)
def test_lists(molyneux: Run, kind: str, names: set[str]) -> None:
    done = molyneux("list", kind)
    assert done.returncode == 0
    lines = done.stdout.partition("\n\nStart with")[0].splitlines()
    found = dict(line.split(maxsplit=1) for line in lines if line[-1:] != ":")
    assert names <= set(found)
    assert all(len(summary) > 20 for summary in found.values())
    assert set(json.loads(molyneux("list", kind, "--json").stdout)) == set(found)


def test_without_a_kind_the_kinds_are_listed(molyneux: Run) -> None:
    done = molyneux("list")
    assert (done.returncode, done.stderr) == (0, "")
    found = dict(line.split(maxsplit=1) for line in done.stdout.partition("\n\n")[0].splitlines())
    assert found["datasets"] == "your own data: arrays, tables, folders of images"
    assert "molyneux list KIND NAME" in done.stdout
    told = json.loads(molyneux("list", "--json").stdout)
    assert set(told) == set(found)
    assert told["datasets"] == ["ArrayDataset", "ImageFolder", "TableDataset"]


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("worlds", "pos", "PartsOfSpeech: Sentences such as"),
        ("benchmarks", "mujoco-push", "MuJoCoPush: A simulated arm pushing a puck"),
        ("worlds", "pos-v1", "cap: 10000\nlimit: 9\n"),
        ("objectives", "cci", "CCI: "),
        ("nets", "Slots", "  class_path: molyneux.learn.nets.Recurrent\n"),
        ("models", "mvae", "\nDefaults:\nsubsets: sampled\n"),
        ("metrics", "mig", "mig: One dimension has more information about a factor than any other. Variants: "),
    ],
)
def test_all_of_one_thing(molyneux: Run, kind: str, name: str, said: str) -> None:
    done = molyneux("list", kind, name)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout
    assert "spec," not in done.stdout.partition("Required:")[2]
    told = json.loads(molyneux("list", kind, name, "--json").stdout)
    assert done.stdout.startswith(f"{told['name']}: {told['says']}\n")


def test_lists_and_settings_are_what_can_be_imported() -> None:
    """The index reads source files, so that a list needs no torch; it must say what an import says."""
    families = {
        "auxiliary-objectives": AuxiliaryObjective,
        "benchmarks": Benchmark,
        "measures": Measure,
        "models": Trainable,
        "nets": Net,
        "objectives": Objective,
        "worlds": World,
    }
    for kind, base in families.items():
        known = short_names(base, package=index.FAMILIES[kind][0])
        entries = index.classes(kind)
        assert {name: entry.summary for name, entry in entries.items()} == {
            name: (inspect.getdoc(found) or "").partition("\n")[0] for name, found in known.items()
        }
        assert {name: entry.settings for name, entry in entries.items()} == {
            name: set(arguments(found)) for name, found in known.items()
        }
    for found in (Experiment, Study, DataSettings, LearnSettings, MeasureSettings, ReportSettings):
        entry = index.find(f"{found.__module__}.{found.__name__}")
        assert entry is not None
        assert entry.settings == set(arguments(found))


@pytest.mark.parametrize(
    "words",
    [
        ["list", "models"],
        ["list", "worlds", "cdsprite"],
        ["data", "nosuch", "--out", "x"],
        ["run", "absent.yaml"],
        ["measure", "absent"],
        ["sweep", "bad.yaml"],
    ],
)
def test_lists_and_wrong_names_need_no_torch(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "bad.yaml").write_text("base: [\n")
    code = f"import sys; from molyneux.cli import main; main({words}); print({{'torch', 'numpy'}} & set(sys.modules))"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout.splitlines()[-1] == "set()"
    assert after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime < 1.5


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("molyneux swe", ["sweep"]),
        ("molyneux list mod", ["models"]),
        ("molyneux list models MVT", ["MVTCAE"]),
        ("molyneux data cdspr", ["cdsprites"]),
        ("molyneux sweep --jo", ["--jobs"]),
    ],
)
def test_words_are_completed(tmp_path: Path, line: str, offers: list[str]) -> None:
    asked = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9"}
    asked |= {"_ARGCOMPLETE_COMP_WORDBREAKS": " ", "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "offers")}
    command = [sys.executable, "-m", "molyneux"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **asked}, check=False)
    assert done.returncode == 0, done.stderr
    assert [offer.strip() for offer in (tmp_path / "offers").read_text().split("\n") if offer] == offers


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_code_for_shells(molyneux: Run, shell: str) -> None:
    done = molyneux("completion", shell)
    assert done.returncode == 0
    assert "molyneux" in done.stdout


def test_list_of_configs(molyneux: Run, tmp_path: Path) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "a.yaml").write_text("# What it is.\nseed: 1\n")
    assert molyneux("list", "configs").stdout == "configs/a.yaml  What it is.\n"


@pytest.mark.parametrize(("form", "name"), [("native", "s"), ("hdf5", "s.h5"), ("parquet", "s.parquet"), ("png", "s")])
def test_samples_in_every_format(molyneux: Run, tmp_path: Path, form: str, name: str) -> None:
    done = molyneux(
        "data",
        "cdsprites",
        "--level",
        2,
        "--image-size=32",
        "--size",
        30,
        "--out",
        name,
        "--format",
        form,
        "--jobs",
        1,
        "--quiet",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"30 train samples of cdsprites-v1 (seed 1) in {name}: ")
    assert (tmp_path / name).exists()
    if form == "native":
        assert StoredSource(tmp_path / name).spec.modality("image").shape == (3, 32, 32)


def test_a_contact_sheet_alone(molyneux: Run, tmp_path: Path) -> None:
    done = molyneux("data", "gebid-v1", "--level", 5, "--contact-sheet", "sheet.png", "--split", "test", "--json")
    told = json.loads(done.stdout)
    told.pop("compiling_seconds", None)  # of the first process that draws these
    assert told == {"world": "gebid-v1", "split": "test", "seed": 1, "samples": 10000, "contact_sheet": "sheet.png"}
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")
    before = (tmp_path / "sheet.png").read_bytes()
    assert molyneux("data", "gebid", "--contact-sheet", "sheet.png").returncode == 0  # its own is replaced
    assert (tmp_path / "sheet.png").read_bytes() != before
    for taken in (b"a picture of somebody's cat", None):
        (tmp_path / "sheet.png").unlink() if taken else (tmp_path / "sheet.png").rename(tmp_path / "cat")
        (tmp_path / "sheet.png").write_bytes(taken) if taken else (tmp_path / "sheet.png").mkdir()
        assert molyneux("data", "gebid", "--contact-sheet", "sheet.png").returncode == 2
    assert (tmp_path / "cat").read_bytes() == b"a picture of somebody's cat"


def until(condition: Callable[[], bool], seconds: float = 600) -> None:
    """Wait for a condition; what is renamed while it looks is not there yet."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(FileNotFoundError):
            if condition():
                return
        time.sleep(0.01)
    raise AssertionError(f"it did not come true in {seconds:.0f} seconds")


def command_lines() -> Iterator[bytes]:
    """Of the processes that run."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_bytes()


def start(folder: Path, environment: dict[str, str], *words: object) -> "subprocess.Popen[str]":
    """The command in the background; it hears Ctrl-C even where the tests themselves are run in the background."""
    return subprocess.Popen(
        [sys.executable, "-m", "molyneux", *map(str, words)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status", "says"),
    [
        (signal.SIGINT, 130, "molyneux: stopped; the same command goes on where this stopped"),
        (signal.SIGTERM, -signal.SIGTERM, "molyneux: stopped; the same command goes on where this stopped"),
    ],
)
def test_a_stopped_run_goes_on(
    molyneux: Run, environment: dict[str, str], tmp_path: Path, number: signal.Signals, status: int, says: str
) -> None:
    settings = ("--learn.epochs", "25", "--learn.checkpoint_seconds", "0.1", "--learn.model.latent_dim", "2")
    words = ("run", CONFIG, *settings, "--out", "run", "--quiet")
    with start(tmp_path, environment, *words) as process:
        until(lambda: any((tmp_path / "run" / "model").rglob("checkpoint-*/stage.json")))
        process.send_signal(number)
        _, told = process.communicate(timeout=600)
    assert process.returncode == status
    assert told.strip() == says
    assert not (tmp_path / "run" / "model" / "stage.json").exists()
    assert molyneux(*words).returncode == 0


@pytest.mark.slow
def test_a_sweep_and_ctrl_c(environment: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        f"base: {CONFIG}\nseeds: [1]\ngrid: {{learn.epochs: [1000]}}\nvariants: {{quick: {{learn.steps: 5}}, slow: {{}}}}\n"
    )
    with start(tmp_path, environment, "sweep", "study.yaml", "--jobs", 2, "--quiet") as process:
        until(lambda: len(list((tmp_path / "runs").rglob("report/stage.json"))) == 1)
        until(lambda: any((tmp_path / "runs").glob("study/slow-*/model")))
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=600)
    assert process.returncode == 130
    assert told.strip() == "molyneux: stopped; the same command goes on where this stopped"
    until(lambda: not any(str(tmp_path).encode() in line or b"study/experiments" in line for line in command_lines()))


@pytest.mark.slow
def test_a_sweep_that_fails_somewhere(bare: Run, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(f"base: {CONFIG}\ngrid: {{learn.steps: [2], data.world.nan_at: [null, 17]}}\n")
    done = bare("sweep", "study.yaml", "--jobs", 2)
    assert done.returncode == 1
    assert "failed: modality point: expected finite numbers, got NaN or infinity in sample 17" in done.stderr
    assert done.stdout.startswith("Runs: 1 done, 1 failed\n")
    assert (tmp_path / "studies" / "results" / "study" / "records.jsonl").exists()
    assert (tmp_path / "studies" / "results" / "study" / "study.html").exists()


def test_output_into_a_closed_pipe(environment: dict[str, str], tmp_path: Path) -> None:
    line = f"{sys.executable} -m molyneux list measures | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, cwd=tmp_path, check=False)
    assert done.returncode in (0, 141)
    assert done.stderr == ""


def test_models_are_listed_by_groups_and_each_once(molyneux: Run) -> None:
    lines = molyneux("list", "models").stdout.splitlines()
    assert [line for line in lines if line.endswith(":") and not line.startswith(" ")] == [
        f"{title}:" for title in index.GROUPS["models"]
    ]
    named = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(named) == sorted(index.classes("models"))
    assert lines[-1].startswith("Start with ")


@pytest.mark.parametrize("kind", ["models", "pretrained", "configs"])
def test_in_a_narrow_terminal_a_list_is_whole_and_fits(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    monkeypatch.setenv("COLUMNS", "60")
    main(["list", kind])
    piped = capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    main(["list", kind])
    shown = capsys.readouterr().out
    assert len(piped.splitlines()) < len(shown.splitlines())
    assert max(map(len, shown.splitlines())) <= max(60, max(len(word) for word in shown.split()))
    assert piped.split() == shown.split()
