"""Every kind of file of a run, damaged in every way, before every step: it is named or made again, and never used.

The table in `docs/reference/run/index.md` is made of these outcomes: `pytest tests/run/test_damage.py` says which row it lacks.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from molyneux.core import CorruptFileError, MolyneuxError, store
from molyneux.core.config import read_document
from molyneux.data import store_samples
from molyneux.report import read_run, write_run
from molyneux.run import Experiment, Study, open_experiment, read_experiment, report_run, run_experiment, run_study
from molyneux.run.studies.launch import Job, LocalLauncher, Report
from molyneux.run.studies.study import run_name

STAGES = ("samples", "model", "measure", "report")
STEPS = ("data", "learn", "measure", "report", "sweep")
SPLITS = ("train", "validation", "test")
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "run" / "index.md"

FILES = (
    "config.yaml",
    "machine.json",
    "samples/stage.json",
    "samples/spec.json",
    "samples/recipe.json",
    "samples/contact_sheet.png",
    "samples/test/stage.json",
    "samples/test/spec.json",
    "samples/test/view.point.npy",
    "samples/test/factors.npy",
    "model/stage.json",
    "model/config.yaml",
    "model/spec.json",
    "model/weights.safetensors",
    "model/history.csv",
    "model/train_views.word.npy",
    "measure/stage.json",
    "measure/scores.jsonl",
    "measure/exhibits.json",
    "report/stage.json",
    "report/report.html",
    "report/report.md",
    "stored/test/stage.json",
    "stored/test/spec.json",
    "stored/test/view.word.npy",
)
"""Of a run that keeps its samples; `stored` is the folder of `data.folder`, in a run that has one."""

DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: -max(1, path.stat().st_size // 3)]),
    "altered": lambda path: path.write_bytes(flipped(path.read_bytes())),
    "emptied": lambda path: path.write_bytes(b""),
    "deleted": lambda path: path.unlink(),
}


def flipped(content: bytes) -> bytes:
    """One bit, in a digit or a letter where the file is text, so that it can still be read."""
    place = next((at for at in range(len(content) // 2, len(content)) if chr(content[at]).isalnum()), len(content) // 2)
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.fixture(scope="module")
def tiny(settings_once: dict[str, Any]) -> dict[str, Any]:
    """The settings of the smallest run there can be."""
    small = {"world": "toy.Toy", "train": 40, "validation": 20, "test": 20}
    learn = {"model": {"class_path": "MVAE", "init_args": {"latent_dim": 2}}, "steps": 2, "batch_size": 20, "threads": 1}
    measure = [{"class_path": "Coherence", "init_args": {"joint": False}}, {"class_path": "Galleries", "init_args": {"rows": 1}}]
    return {"name": "tiny", "seed": 1, "data": small, "learn": {**learn, "tensorboard": False}, "measure": measure}


@pytest.fixture(scope="module")
def _quick() -> Iterator[None]:
    """Pages without drawings, and sweeps that need no processes and trust their experiments."""

    def write_run(folder: Path, formats: tuple[str, ...]) -> None:
        for name in ("report.md", "report.html"):
            store.write_text(folder / "report" / name, str(read_run(folder)))

    def run(launcher: LocalLauncher, job: Job, report: Report) -> str:
        try:
            run_experiment(read_experiment(read_document(job.config)), job.folder)
        except MolyneuxError as error:
            return str(error)
        return ""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("molyneux.report.write_run", write_run)
        patch.setattr("molyneux.report.write_study", lambda runs, folder, **how: [])
        patch.setattr(LocalLauncher, "run", run)
        yield


@pytest.fixture(scope="module")
def runs(tiny: dict[str, Any], _quick: None, _toy_on_the_path: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two finished runs and the samples of the second: tests copy them."""
    top = tmp_path_factory.mktemp("damage")
    kept = read_experiment(tiny, [("data.keep", True)])
    for split in SPLITS:
        store_samples(kept.data.dataset.source(split, 40, seed=1), top / "stored" / split)
    read = read_experiment(tiny, [("data.folder", str(top / "stored"))])
    folders = {
        "kept": run_experiment(kept, top / run_name(kept)).folder,
        "read": run_experiment(read, top / run_name(read)).folder,
    }
    return {**folders, "stored": top / "stored"}


def test_the_list_is_that_of_the_files(runs: dict[str, Path]) -> None:
    """Checkpoints are tested with the training; of arrays, modalities and splits, one each stands for all."""
    found = {str(path.relative_to(runs["kept"])) for path in runs["kept"].rglob("*") if path.is_file()}
    alike = ("model/checkpoints", "samples/train", "samples/validation", "report/figures")
    others = {name for name in found if not name.startswith(alike) and "/." not in f"/{name}"}
    assert set(FILES) - {name for name in FILES if name.startswith("stored")} <= others
    missing = others - set(FILES)
    assert {name for name in missing if not name.endswith(".npy")} == set()


@pytest.mark.parametrize("name", FILES)
def test_damage_is_named_or_made_again(
    name: str, runs: dict[str, Path], tiny: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overrides = ("data.folder", str(runs["stored"])) if name.startswith("stored") else ("data.keep", True)
    experiment = read_experiment(tiny, [overrides])
    original = runs["read" if name.startswith("stored") else "kept"]
    monkeypatch.setattr("molyneux.run.studies.sweep.check_points", lambda study: [[experiment]])
    cells = []
    for step in STEPS:
        outcomes = {}
        for number, damage in enumerate(DAMAGES):
            run = prepared(name, step, original, tmp_path / f"{step}{number}" / run_name(experiment))
            path = runs["stored"].parent / name if name.startswith("stored") else run / name
            outcomes[damage] = outcome(path, step, damage, run, experiment)
            for page in ("measure/scores.jsonl", "report/report.md"):
                if outcomes[damage] != "named" and page != name and (run / page).exists():
                    assert (run / page).read_bytes() == (original / page).read_bytes(), f"{name}, {damage}: {step} used it"
        cells.append(cell(outcomes))
    row = f"| `{name}` | {' | '.join(cells)} |"
    assert row in PAGE.read_text(encoding="utf-8"), f"docs/reference/run/index.md lacks the row\n{row}"


def cell(outcomes: dict[str, str]) -> str:
    """`named`, or `named; deleted: made again` where one damage ends in another way."""
    usual = max(outcomes.values(), key=list(outcomes.values()).count)
    return "; ".join([usual, *(f"{damage}: {found}" for damage, found in outcomes.items() if found != usual)])


def prepared(name: str, step: str, original: Path, run: Path) -> Path:
    """A copy of a run in which the step has to do its work, unless the file is its own or of a later step."""
    shutil.copytree(original, run)
    own = STAGES.index(name.partition("/")[0]) if name.partition("/")[0] in STAGES else -1
    for number, stage in enumerate(STAGES):
        if step != "sweep" and number > own and number >= STEPS.index(step):
            shutil.rmtree(run / stage)
    return run


def outcome(path: Path, step: str, damage: str, run: Path, experiment: Experiment) -> str:
    """Damage a file, do a step, and say what became of it; the file is as before at the end."""
    content, problem = path.read_bytes(), ""
    DAMAGES[damage](path)
    try:
        do(step, run, experiment)
    except MolyneuxError as error:
        problem = str(error)
    after = path.read_bytes() if path.exists() else None
    path.write_bytes(content)
    if not problem:
        return "made again" if after == content else "not used"
    of_folder = path.suffix == ".json" and str(path.parent) in problem  # a record tells of its folder
    assert str(path) in problem or of_folder, f"{path}, {damage}, before {step}: {problem}"
    assert "delete" not in problem or "restore it from a copy" in problem
    return "named"


def do(step: str, run: Path, experiment: Experiment) -> None:
    """A step as its command does it."""
    if step == "sweep":
        for failed in run_study(Study(base={}), run.parent, run.parent / "results", progress=Quiet()).failed:
            raise MolyneuxError(failed.error)
    elif step == "report":
        report_run(run)
    else:
        run_experiment(open_experiment(run, trust=True) if step == "measure" else experiment, run, steps=(step,))  # type: ignore[arg-type]


class Quiet:
    """Progress that nobody looks at."""

    def plan(self, runs: int) -> None: ...

    def run(self, name: str, step: str, done: int, total: int) -> None: ...


def test_a_report_needs_no_data_no_model_and_no_class_of_the_user(
    runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on another machine, to which the records of a run were copied."""
    copy = Path(shutil.copytree(runs["read"], tmp_path / runs["read"].name))
    monkeypatch.setattr("molyneux.report.write_run", write_run)
    shutil.rmtree(copy / "report")
    pages = {path.name: path.read_bytes() for path in report_run(copy).pages}
    assert pages.keys() == {"report.html", "report.md"}
    for part in ("samples/recipe.json", "model/weights.safetensors", "report/stage.json"):
        (copy / part).unlink()
    shutil.rmtree(copy / "model" / "checkpoints")

    def refuse(*arguments: Any, **settings: Any) -> None:
        raise AssertionError("a report opens records and nothing else")

    for place in (
        "steps.make_model",
        "steps.stored_model",
        "steps.find_readers",
        "under_way.StoredSource",
        "steps.provenance",
        "folder.judge_digests",
    ):
        monkeypatch.setattr(f"molyneux.run.run.{place}", refuse)
    monkeypatch.setattr("toy.Toy.__init__", refuse)
    outcome = report_run(copy)
    assert {path.name: path.read_bytes() for path in outcome.pages} == pages
    assert outcome.scores
    for part in ("samples", "model", "report"):
        shutil.rmtree(copy / part)
    assert {path.name for path in report_run(copy).pages} == set(pages)


def test_the_machine_of_every_step_is_recorded(runs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = Path(shutil.copytree(runs["kept"], tmp_path / "copy"))
    first = store.read_json(copy / "machine.json")
    assert {stage: store.read_stage(copy / stage)["details"]["machine"] for stage in STAGES} == dict.fromkeys(STAGES, first)
    later = {**first, "processor": "another one"}
    for module in ("report", "steps"):
        monkeypatch.setattr(f"molyneux.run.run.{module}.machine", lambda: later)
    for stage in ("measure", "report"):
        shutil.rmtree(copy / stage)
    run_experiment(open_experiment(copy, trust=True), copy)
    assert store.read_json(copy / "machine.json") == first
    machines = [store.read_stage(copy / stage)["details"]["machine"] for stage in STAGES]
    assert machines == [first, first, later, later]


def test_a_lost_configuration_is_not_replaced_by_another(runs: dict[str, Path], tiny: dict[str, Any], tmp_path: Path) -> None:
    copy = Path(shutil.copytree(runs["kept"], tmp_path / "copy"))
    (copy / "config.yaml").unlink()
    for settings in ([("data.keep", True)], [("learn.steps", 3)]):
        with pytest.raises(CorruptFileError, match=r"config\.yaml is missing: restore it from a copy, or choose another folder"):
            run_experiment(read_experiment(tiny, settings), copy)
    assert not (copy / "config.yaml").exists()
