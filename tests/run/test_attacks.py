"""A folder that was made to harm: whatever opens it runs nothing of it, follows no link, and says in a sentence what is wrong.

What a class or a tag would have done is told by a file that it would have left, a mark.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from molyneux import open_model
from molyneux.core import MolyneuxError, store
from molyneux.core.config import dump_document, read_document
from molyneux.report import StudyRun, load_records, save_records
from molyneux.run import (
    ExportSettings,
    export_run,
    make_leaderboard,
    measure_again,
    open_evaluation,
    open_experiment,
    opened_export,
    read_experiment,
    report_run,
    require_whole,
    run_experiment,
    verify_export,
)
from molyneux.run.sharing.whole import seal

TREE: dict[str, Any] = {
    "name": "target",
    "data": {"world": {"class_path": "Letters", "init_args": {}}, "train": 40, "validation": 20, "test": 20},
    "learn": {
        "model": {"class_path": "MVAE", "init_args": {"latent_dim": 2}},
        "steps": 2,
        "batch_size": 20,
        "threads": 1,
        "tensorboard": False,
    },
    "measure": ["likelihood"],
    "report": ["markdown", "html"],
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run, its export, and records."""
    top = tmp_path_factory.mktemp("attacks")
    run_experiment(read_experiment(TREE), top / "run")
    export_run(top / "run", top / "export", ExportSettings(licence="MIT"))
    return top


@pytest.fixture
def mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file that an attack would leave; the working folder holds modules that leave it."""
    place = tmp_path / "mark"
    (tmp_path / "work").mkdir()
    for name in ("evil_models", "molyneux_extra"):
        text = f"open({str(place)!r}, 'w')\nfrom molyneux.learn import MVAE\nclass Evil(MVAE): ...\n"
        (tmp_path / "work" / f"{name}.py").write_text(text)
    monkeypatch.chdir(tmp_path / "work")
    before = {*sys.modules}
    yield place
    assert not place.exists(), "code of the folder was run"
    assert not {"evil_models", "molyneux_extra"} & {*sys.modules} - before


def settings(folder: Path, change: Callable[[dict[str, Any]], object] | None = None, text: str = "") -> None:
    """Give a run other settings, with records that are right in themselves: only the settings are at fault."""
    tree = read_document(folder / "config.yaml")
    if change is not None:
        change(tree)
    body = text or dump_document(tree)
    store.write_text(folder / "config.yaml", f"{body}# checksum {store.fingerprint(body)}\n")
    sections = {"samples": ("seed", "data"), "model": ("seed", "learn"), "measure": ("measure",)}
    before = {"model": "samples", "measure": "model"}
    keys: dict[str, str] = {}
    for name, parts in sections.items():
        record = store.read_stage(folder / name)
        made = {**record["settings"], **{part: tree[part] for part in parts}}
        made |= {before[name]: keys[before[name]]} if name in before else {}
        stage = store.StageFolder(folder / name, made)
        stage.finish(record["details"])
        keys[name] = stage.key
    if (folder / "export.json").exists():
        (folder / "export.json").unlink()
        seal(folder, "run")


def everything(folder: Path, tmp_path: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What opens a stored folder, without trust."""
    yield "open_experiment", lambda: open_experiment(folder)
    yield "open_evaluation", lambda: open_evaluation(folder)
    yield "open_model", lambda: open_model(folder)
    yield "measure", lambda: measure_again(folder)
    yield "learn", lambda: run_experiment(open_experiment(folder), folder, steps=["learn", "measure"])
    yield "report", lambda: report_run(folder)
    yield "export", lambda: export_run(folder, tmp_path / "out")
    yield "push", lambda: require_whole(folder)
    yield "start_from", lambda: read_experiment(TREE, [("learn.start_from", str(folder))])


def attacked(folder: Path, tmp_path: Path, only: Sequence[str] = ()) -> dict[str, str]:
    """What each of them, or those named, said; nothing where it did its work."""
    told = {}
    for name, ask in everything(folder, tmp_path):
        if only and name not in only:
            continue
        try:
            ask()
            told[name] = ""
        except MolyneuxError as error:
            told[name] = str(error)
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
    return told


MODEL_OPENED = ("open_evaluation", "open_model", "measure", "learn")
PATHS = ("os.system", "subprocess.Popen", "evil_models.Evil", "molyneux_extra.Evil", "builtins.exec", "importlib.import_module")
INSIDE = ("molyneux.__main__.X", "molyneux.core.files.os", "molyneux.run.studies.launch.subprocess.Popen", "molyneux.cli.main")
PLACES: dict[str, Callable[[dict[str, Any], Any], object]] = {
    "model": lambda tree, form: tree["learn"].update(model=form),
    "net": lambda tree, form: tree["learn"]["model"]["init_args"].update(nets={"letters": form}),
    "prior": lambda tree, form: tree["learn"]["model"]["init_args"].update(prior=form),
    "world": lambda tree, form: tree["data"].update(world=form),
    "stage": lambda tree, form: tree["data"].update(stages={"first": form}),
    "benchmark": lambda tree, form: tree["data"].update(world=None, benchmark=form),
    "measure": lambda tree, form: tree["measure"].update(measures=[form]),
    "condition": lambda tree, form: tree["measure"].update(conditions=[{"corruption": form, "strengths": [1.0]}]),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_class_of_another_package_is_named_and_runs_nothing(whole: Path, mark: Path, tmp_path: Path, place: str) -> None:
    for number, path in enumerate((*PATHS, *INSIDE)):
        copy = Path(shutil.copytree(whole / ("run" if number else "export"), tmp_path / f"copy{number}"))
        form = {"class_path": path, "init_args": {"command": f"touch {mark}", "args": ["touch", str(mark)]}}
        settings(copy, lambda tree, form=form: PLACES[place](tree, form))  # type: ignore[misc]
        told = attacked(copy, tmp_path, () if number < 2 else ("open_experiment",))
        assert all(told[name] for name in ("open_experiment", *(MODEL_OPENED if number < 2 else ())))
        assert path in told["open_experiment"] or "class" in told["open_experiment"], told
        shutil.rmtree(copy)


TAGS = (
    "!!python/object/apply:os.system ['touch {mark}']",
    "!!python/object/new:os.system ['touch {mark}']",
    "!!python/name:os.system",
    "!!python/module:evil_models",
    "!!python/object:evil_models.Evil {{}}",
    "!evil {{}}",
    "!!binary aGVsbG8=",
)


@pytest.mark.parametrize("file", ["config.yaml", "model/config.yaml"])
def test_a_yaml_tag_runs_nothing(whole: Path, mark: Path, tmp_path: Path, file: str) -> None:
    for number, tag in enumerate(TAGS):
        copy = Path(shutil.copytree(whole / "run", tmp_path / f"copy{number}"))
        value = tag.format(mark=mark)
        if file == "config.yaml":
            settings(copy, text=f"{dump_document(read_document(copy / 'config.yaml'))}more: {value}\n")
        else:
            (copy / file).write_text(f"class_path: {value}\n")
            settings(copy)
        told = attacked(copy, tmp_path, () if number == 0 else ("open_experiment", "report", "export", "start_from"))
        assert all(told[name] for name in (("open_experiment", "report", "export") if file == "config.yaml" else ("start_from",)))


def test_modules_beside_a_run_are_not_imported(whole: Path, mark: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = Path(shutil.copytree(whole / "export", tmp_path / "copy"))
    for name in ("numpy", "torch", "yaml", "evil_models", "sitecustomize", "usercustomize", "conftest", "molyneux"):
        (copy / f"{name}.py").write_text(f"open({str(mark)!r}, 'w')\n")
    monkeypatch.chdir(copy)
    with opened_export(copy) as folder:
        assert measure_again(folder).changed == ()
    assert "remove what is not of it" in attacked(copy, tmp_path, ("push",))["push"]
    words = [sys.executable, "-P", "-c", "import sys; from molyneux.cli import main; sys.exit(main(sys.argv[1:]))"]
    done = subprocess.run([*words, "report", "."], cwd=copy, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_plain_file_is_refused(whole: Path, mark: Path, tmp_path: Path, kind: str) -> None:
    names = [path.relative_to(whole / "export").as_posix() for path in (whole / "export").rglob("*") if path.is_file()]
    for number, name in enumerate(sorted(names)):
        copy = Path(shutil.copytree(whole / "export", tmp_path / f"copy{number}"))
        (copy / name).rename(tmp_path / "moved")
        if kind == "link":
            (copy / name).symlink_to(tmp_path / "moved")
        elif kind == "pipe":
            os.mkfifo(copy / name)
        else:
            (copy / name).mkdir()
        if name != "README.md" or kind != "folder":  # an empty folder is nothing
            with pytest.raises(MolyneuxError):
                require_whole(copy)
        if name != "README.md" and not name.startswith(("measure/", "samples/")):
            with pytest.raises(MolyneuxError):
                verify_export(copy)
        shutil.rmtree(copy)


def test_arrays_of_objects_are_not_unpickled(whole: Path, mark: Path, tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.system, (f"touch {mark}",)

    for number, path in enumerate(sorted((whole / "run").rglob("*.npy"))):
        copy = Path(shutil.copytree(whole / "run", tmp_path / f"copy{number}"))
        np.save(copy / path.relative_to(whole / "run"), np.array([Evil()], object), allow_pickle=True)
        settings(copy)
        attacked(copy, tmp_path)


def test_names_in_records_do_not_become_code_of_a_page(whole: Path, mark: Path, tmp_path: Path) -> None:
    attack = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    copy = Path(shutil.copytree(whole / "run", tmp_path / "copy"))
    records = [json.loads(line) for line in (copy / "measure" / "scores.jsonl").read_text().splitlines()]
    for record in records:
        record["note"] = attack
        record["origin"] = {**record["origin"], "world": record["origin"]["world"], "unread": {attack: attack}}
        record["about"] = {**record["about"], "condition": attack}
    plain = [{**record, "about": {}} for record in records[:1]]
    store.write_lines(copy / "measure" / "scores.jsonl", [*plain, *records])
    store.write_json(copy / "machine.json", {"system": attack, "versions": {attack: attack}})
    spec = (copy / "samples" / "spec.json").read_text()
    history = (copy / "model" / "history.csv").read_text()
    for stage in ("samples", "model"):
        (copy / stage / "spec.json").write_text(spec)
    (copy / "model" / "history.csv").write_text(history.replace("train/loss", f"train/{attack}"))
    parent = {"name": "x", "run": "0" * 16, "weights": "0" * 64}
    settings(copy, lambda tree: (tree.update(name=attack), tree["learn"].update(start_from={**parent, "name": attack})))
    report_run(copy)
    page = (copy / "report" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "onerror=alert(1)>" not in page.replace("onerror=alert(1)&gt;", "")


def test_records_of_strangers_run_nothing(whole: Path, mark: Path, tmp_path: Path) -> None:
    flat = {"seed": 1, "learn.model.class_path": "os.system", "learn.model.init_args.command": f"touch {mark}"}
    (tmp_path / "records").mkdir()
    save_records(tmp_path / "records" / "records.jsonl", [StudyRun(flat, ())])
    assert load_records(tmp_path / "records")[0].settings["learn.model.class_path"] == "os.system"
    with suppress(MolyneuxError):
        make_leaderboard([tmp_path / "records"])


def test_an_export_takes_no_module_of_the_standard_library(whole: Path, mark: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(whole / "run", tmp_path / "copy"))
    settings(copy, lambda tree: tree["learn"].update(model={"class_path": "os.system", "init_args": {}}))
    export_run(copy, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("*.py"))
