"""The folder of a stranger: none of his code runs, no link is followed, and what he put together from several runs is refused."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from molyneux.core import ConfigError, ConflictError, MolyneuxError, StoreError, store
from molyneux.core.config import dump_document, read_document
from molyneux.core.tooling.classes import find_class, working_folder_importable
from molyneux.learn import MVAE
from molyneux.measure import evaluate
from molyneux.report import StudyRun, read_run, save_records
from molyneux.run import (
    ExportSettings,
    export_run,
    measure_again,
    open_evaluation,
    open_experiment,
    opened_export,
    read_experiment,
    report_run,
    run_experiment,
    verify_export,
)

PARTS = ("config.yaml", "samples", "model", "measure")
OPTIONAL = ("opt_einsum", "dill", "colorama", "triton", "cloudpickle", "cupy", "pandas", "pathlib", "typing", "argparse", "yaml")
"""Modules that libraries look for, and some of the standard library, which `python -m` would find in the working folder first."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two finished runs of the package's own classes that differ in the seed, and one that differs in the data alone."""
    top = tmp_path_factory.mktemp("strangers")
    learn = {"model": {"class_path": "MVAE", "init_args": {"latent_dim": 2}}, "steps": 2, "batch_size": 20, "threads": 1}
    data = {"world": {"class_path": "Letters", "init_args": {}}, "train": 40, "validation": 20, "test": 20}
    tree: dict[str, Any] = {"name": "a", "seed": 1, "data": data, "learn": {**learn, "tensorboard": False}}
    tree |= {"measure": ["likelihood"], "report": ["markdown"]}
    others = {"a": tree, "seed": {**tree, "seed": 2}, "data": {**tree, "data": {**data, "train": 60}}}
    return {name: run_experiment(read_experiment(each), top / name).folder for name, each in others.items()}


def mixed(pair: dict[str, Path], other: str, taken: tuple[str, ...], place: Path) -> Path:
    """A copy of the first run in which some parts are those of another."""
    copy = Path(shutil.copytree(pair["a"], place))
    for part in taken:
        shutil.rmtree(copy / part) if (copy / part).is_dir() else (copy / part).unlink()
        source = pair[other] / part
        shutil.copytree(source, copy / part) if source.is_dir() else shutil.copyfile(source, copy / part)
    return copy


@pytest.mark.parametrize("other", ["seed", "data"])
@pytest.mark.parametrize("taken", [each for n in range(1, 4) for each in itertools.combinations(PARTS, n)], ids="+".join)
def test_parts_of_two_runs_are_refused(pair: dict[str, Path], other: str, taken: tuple[str, ...], tmp_path: Path) -> None:
    copy = mixed(pair, other, taken, tmp_path / "copy")
    readers: tuple[Callable[[], Any], ...] = (
        lambda: report_run(copy),
        lambda: read_run(copy),
        lambda: export_run(copy, tmp_path / "out"),
        lambda: measure_again(copy),
    )
    for read in readers:
        with pytest.raises(ConflictError, match=r"is not of the run|made by another configuration"):
            read()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("missing", [("samples",), ("model",), ("samples", "model")], ids="+".join)
def test_scores_of_another_run_are_refused_where_stages_were_left_out(
    pair: dict[str, Path], missing: tuple[str, ...], tmp_path: Path
) -> None:
    for other in ("seed", "data"):
        copy = mixed(pair, other, ("measure",), tmp_path / other)
        whole = Path(shutil.copytree(pair["a"], tmp_path / f"whole-{other}"))
        for stage in missing:
            shutil.rmtree(copy / stage)
            shutil.rmtree(whole / stage)
        assert report_run(whole).scores
        with pytest.raises(ConflictError, match="is not of the run"):
            report_run(copy)


def test_a_whole_run_and_a_new_measure_belong_together(pair: dict[str, Path], tmp_path: Path) -> None:
    copy = mixed(pair, "seed", PARTS, tmp_path / "copy")
    assert report_run(copy).scores == report_run(pair["seed"]).scores
    tree = {**read_document(copy / "config.yaml"), "measure": ["reconstruction"]}
    run_experiment(read_experiment(tree), copy)
    assert {score.name.partition(".")[0] for score in report_run(copy).scores} == {"reconstruction"}
    export_run(copy, tmp_path / "out")
    with opened_export(tmp_path / "out") as folder:
        assert report_run(folder).scores


def trap(folder: Path, names: tuple[str, ...] = OPTIONAL) -> Path:
    """A folder of modules that leave a mark when they are imported; the path of the mark."""
    mark = folder.with_name(f"{folder.name}-mark")
    for name in names:
        (folder / f"{name}.py").write_text(f"open({str(mark)!r}, 'a').write({name!r} + chr(10))\nraise ImportError({name!r})\n")
    return mark


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("report", "a"),
    ("list", "models", "MVAE"),
    ("schema",),
    ("leaderboard", "records"),
    ("export", "a", "--out", "out"),
    ("measure", "a"),
    ("run", "a/config.yaml", "--out", "a"),
    ("data", "letters", "--size", "5", "--out", "samples"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "way"), [*((words, "script") for words in COMMANDS), (COMMANDS[1], "module")])
def test_no_command_imports_a_module_of_the_working_folder(
    pair: dict[str, Path], words: tuple[str, ...], way: str, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    shutil.copytree(pair["a"], folder / "a")
    (folder / "records").mkdir()
    save_records(folder / "records" / "records.jsonl", [StudyRun({"seed": 1}, ())])
    mark = trap(folder)
    (folder / ".numba_config.yaml").write_text("{")
    (folder / "matplotlibrc").write_text("stranger.setting: 3\n")
    script = [sys.executable, "-P", "-c", "import sys; from molyneux.cli import main; sys.exit(main())"]
    begin = script if way == "script" else [sys.executable, "-m", "molyneux"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([*begin, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert not mark.exists(), f"{mark.read_text()} was imported"
    assert "Traceback" not in done.stderr
    assert "stranger" not in done.stderr
    assert done.returncode == 0 or words[0] == "leaderboard", done.stderr


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working folder has a module with a model that leaves a mark; the mark."""
    mark = tmp_path / "mark"
    (tmp_path / "evil_models.py").write_text(
        f"import pathlib\npathlib.Path({str(mark)!r}).touch()\nfrom molyneux.learn import MVAE\nclass Evil(MVAE):\n    pass\n"
    )
    monkeypatch.chdir(tmp_path)
    yield mark
    sys.modules.pop("evil_models", None)


def forged(folder: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The folder with other settings, whose checksum is right."""
    tree = read_document(folder / "config.yaml")
    change(tree)
    text = dump_document(tree)
    store.write_text(folder / "config.yaml", f"{text}# checksum {store.fingerprint(text)}\n")
    return folder


@pytest.mark.parametrize("form", ["evil_models.Evil", {"class_path": "evil_models.Evil"}])
def test_a_stored_class_of_somebody_else_is_not_imported_unless_trusted(
    pair: dict[str, Path], evil: Path, form: Any, tmp_path: Path
) -> None:
    copy = forged(Path(shutil.copytree(pair["a"], tmp_path / "copy")), lambda tree: tree["learn"].update(model=form))
    for read in (open_experiment, open_evaluation, measure_again):
        with pytest.raises(ConfigError, match=r"expected a class of this package, got evil_models\.Evil.*--trust"):
            read(copy)
    for ask in (report_run, lambda folder: export_run(folder, tmp_path / "out")):
        with pytest.raises(MolyneuxError):
            ask(copy)
    assert not evil.exists()
    path = list(sys.path)
    assert open_experiment(copy, trust=True).learn.model.target.__name__ == "Evil"
    assert evil.exists()
    assert sys.path == path


@pytest.mark.parametrize("setting", ["mlflow", "wandb"])
def test_a_training_of_a_stored_run_logs_nowhere_else_unless_trusted(pair: dict[str, Path], setting: str, tmp_path: Path) -> None:
    """The address of a tracking server in the settings of a stranger gets what is trained, and from where."""
    copy = forged(
        Path(shutil.copytree(pair["a"], tmp_path / "copy")), lambda tree: tree["learn"].update({setting: str(tmp_path / "log")})
    )
    for part in ("model", "measure", "report"):
        shutil.rmtree(copy / part)
    with pytest.raises(
        ConfigError, match=rf"learn\.{setting}: expected a stored run that logs into its own folder, got .*--trust"
    ):
        run_experiment(open_experiment(copy), copy, steps=("learn",))
    assert not (tmp_path / "log").exists()
    assert not (copy / "model" / "stage.json").exists()
    assert open_experiment(copy, trust=True).trusted


def test_a_name_that_only_begins_like_the_package_is_foreign(evil: Path) -> None:
    Path("molyneux_extra.py").write_text("raise SystemExit(7)\n")
    with pytest.raises(ConfigError, match="SystemExit"):
        find_class("molyneux_extra.Class", MVAE)


def test_an_experiment_of_the_user_finds_his_classes_and_the_path_is_as_before(evil: Path) -> None:
    path = list(sys.path)
    assert find_class("evil_models.Evil", MVAE).__name__ == "Evil"
    assert sys.path == path
    with pytest.raises(KeyError), working_folder_importable():
        assert sys.path == [*path, str(Path.cwd())]
        raise KeyError
    assert sys.path == path


def test_an_own_run_is_reported_and_exported_without_its_class(evil: Path, tmp_path: Path, pair: dict[str, Path]) -> None:
    tree = read_document(pair["a"] / "config.yaml")
    tree["learn"]["model"]["class_path"] = "evil_models.Evil"
    outcome = run_experiment(read_experiment(tree), tmp_path / "own")
    evil.unlink()
    sys.modules.pop("evil_models")
    assert report_run(outcome.folder).scores
    export_run(outcome.folder, tmp_path / "out")
    assert (tmp_path / "out" / "evil_models.py").is_file()
    assert not evil.exists()
    with opened_export(tmp_path / "out") as folder:
        with pytest.raises(ConfigError, match="--trust"):
            measure_again(folder)
        assert measure_again(folder, trust=True).changed == ()


def test_a_run_is_measured_again_with_its_threads(pair: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    before, found = torch.get_num_threads(), list[int]()

    def counted(*args: Any, **settings: Any) -> Any:
        found.append(torch.get_num_threads())
        return evaluate(*args, **settings)

    recorded = store.read_stage(pair["a"] / "measure")["details"]["machine"]["threads"]
    monkeypatch.setattr("molyneux.run.run.again.evaluate", counted)
    torch.set_num_threads(recorded + 1)
    try:
        assert measure_again(pair["a"]).changed == ()
        assert torch.get_num_threads() == recorded + 1
    finally:
        torch.set_num_threads(before)
    assert found == [recorded]


LINKED = ("config.yaml", "machine.json", "samples", "samples/spec.json", "samples/contact_sheet.png", "model", "model/spec.json")
LINKED += ("model/history.csv", "model/weights.safetensors", "model/stage.json", "measure", "measure/scores.jsonl")
LINKED += ("measure/stage.json", "measure/exhibits.json")


@pytest.mark.parametrize("name", LINKED)
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_links_and_pipes_in_a_run_are_refused(pair: dict[str, Path], name: str, kind: str, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(pair["a"], tmp_path / "copy"))
    (copy / name).rename(tmp_path / "moved")
    (copy / name).symlink_to(tmp_path / "moved") if kind == "link" else os.mkfifo(copy / name)
    used = [lambda: export_run(copy, tmp_path / "out")]
    if not name.endswith(("weights.safetensors", "machine.json")):  # a report does not read the one and replaces the other
        used.append(lambda: report_run(copy))
    for use in used:
        with pytest.raises((StoreError, ConflictError)):
            use()
    assert not (tmp_path / "out").exists()


def test_what_is_beside_the_record_of_a_stage_is_not_exported(pair: dict[str, Path], tmp_path: Path) -> None:
    copy = Path(shutil.copytree(pair["a"], tmp_path / "copy"))
    for stage in ("measure", "model"):
        (copy / stage / "train_views.x.npy").symlink_to("/etc/passwd")
    export_run(copy, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("train_views.x.npy"))


def test_a_judge_that_the_run_was_not_measured_with_is_not_exported(pair: dict[str, Path], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    for kind in ("judges", "features"):
        copy = Path(shutil.copytree(pair["a"], tmp_path / kind))
        forged(copy, lambda tree: tree["measure"].update({kind: {"letters": str(secret)}}))  # noqa: B023
        measured = store.read_stage(copy / "measure")
        measured["settings"]["measure"] = read_document(copy / "config.yaml")["measure"]
        measured["key"] = store.fingerprint(measured["settings"])
        store.write_json(copy / "measure" / "stage.json", {**measured, "checksum": store.fingerprint(measured)})
        with pytest.raises(StoreError, match=rf"measure\.{kind}\.letters"):
            export_run(copy, tmp_path / "out", ExportSettings(include_data=True))


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "link"])
def test_an_export_that_names_something_else_is_refused(pair: dict[str, Path], name: str, tmp_path: Path) -> None:
    export_run(pair["a"], tmp_path / "out")
    (tmp_path / "outside").write_text("x")
    (tmp_path / "out" / "link").symlink_to("/etc/passwd")
    record = json.loads((tmp_path / "out" / "export.json").read_text())
    record["files"][name] = store.checksum(Path("/etc/passwd"))
    record["checksum"] = ""
    store.write_json(tmp_path / "out" / "export.json", {**record, "checksum": store.fingerprint(record)})
    with pytest.raises(StoreError, match=r"inside of|got a link"):
        verify_export(tmp_path / "out")
