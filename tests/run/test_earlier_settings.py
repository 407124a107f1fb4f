"""Runs that were made when settings had other names are opened and continued."""

from pathlib import Path
from typing import Any

from molyneux.core import store
from molyneux.core.config import read_document
from molyneux.core.config.earlier import same_settings
from molyneux.run import open_evaluation, read_experiment, report_run, run_experiment
from molyneux.run.run.stored import write_settings

QUICKSTART = Path(__file__).parents[2] / "configs" / "quickstart.yaml"
SMALL = {"train": 64, "validation": 8, "test": 40}
FLAT = {
    "colours": None,
    "sizes": None,
    "shapes": None,
    "anti_alias": False,
    "touch_noise": 0.02,
    "threads": 1,
    "dark_background": "clean",
    "textures": "procedural",
    "dsprites": None,
}
"""Settings of CdSprites that are in groups today."""


def earlier(settings: dict[str, Any]) -> dict[str, Any]:
    """Resolved settings of a run as they were."""
    world = settings["data"]["world"]
    others = {name: value for name, value in world["init_args"].items() if name not in ("attributes", "rendering")}
    return {**settings, "data": {**settings["data"], "world": {**world, "init_args": {**others, **FLAT}}}}


def made_earlier(folder: Path, settings: dict[str, Any]) -> None:
    """Rewrite the folder of a run as an earlier version would have made it."""
    write_settings(folder, earlier(settings))
    keys = {}
    for name, before in (("samples", ""), ("model", "samples"), ("measure", "model"), ("report", "measure")):
        record = dict(store.read_stage(folder / name))
        made = {**record["settings"], **({before: keys[before]} if before else {})}
        made = earlier(made) if name == "samples" else made
        keys[name] = store.fingerprint(made)
        record |= {"settings": made, "key": keys[name]}
        store.write_json(folder / name / "stage.json", {**record, "checksum": store.fingerprint(record)})


def test_a_run_of_earlier_names_is_opened_and_nothing_is_made_again(tmp_path: Path) -> None:
    tree = read_document(QUICKSTART)
    learn = {**tree["learn"], "steps": 2, "batch_size": 8, "threads": 1}
    learn.pop("epochs", None)
    settings = {**tree, "data": {**tree["data"], **SMALL}, "learn": learn, "measure": ["reconstruction"], "report": ["markdown"]}
    experiment = read_experiment({"name": "small", **settings})
    folder = tmp_path / "run"
    run_experiment(experiment, folder)
    made_earlier(folder, experiment.resolved)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}
    assert open_evaluation(folder).model is not None
    assert report_run(folder).scores
    run_experiment(experiment, folder)
    after = {path: path.stat().st_mtime_ns for path in before}
    changed = {path.relative_to(folder).parts[0] for path, when in before.items() if after[path] != when}
    assert changed <= {"report"}
    more = read_experiment({"name": "small", **settings, "measure": ["reconstruction", "likelihood"]})
    assert {score.name.partition(".")[0] for score in run_experiment(more, folder).scores} == {"reconstruction", "likelihood"}
    assert report_run(folder).scores


def test_what_means_the_same_under_other_names() -> None:
    flat = {"class_path": "molyneux.data.CdSprites", "init_args": {"level": 2, "threads": 1, "textures": None}}
    group = {"rendering": {"threads": 1, "textures": None}}
    assert same_settings(flat, {"class_path": "molyneux.data.CdSprites", "init_args": {"level": 2, **group}})
    assert not same_settings(flat, {"class_path": "molyneux.data.CdSprites", "init_args": {"level": 3, **group}})
    strange = {"class_path": "their.module.World", "init_args": {"threads": 1}}
    assert same_settings([strange], [dict(strange)])
    assert not same_settings(strange, flat)


def test_a_setting_that_was_not_there_yet_is_its_default() -> None:
    """What a new version adds is, by default, what was done before: folders of earlier versions stay what they are."""
    diffusion = {"given_share": 0.3, "after": {"steps": 5}}
    rate = {"class_path": "molyneux.learn.MLD", "init_args": {"rate": 0.1, "diffusion": diffusion}}
    new = {"class_path": "molyneux.learn.MLD", "init_args": {"rate": 0.1, "scales": "none", "diffusion": dict(diffusion)}}
    new["init_args"]["diffusion"] |= {"solver": "dpm-solver++"}  # in a group
    assert same_settings(rate, new)
    assert same_settings([rate, None], [new, None])
    new["init_args"]["diffusion"] |= {"solver": "unipc"}
    assert not same_settings(rate, new)
    needed = {"class_path": "molyneux.learn.MLD", "init_args": {"spec": [], **rate["init_args"]}}
    assert not same_settings(rate, needed)  # has no default: nothing stands for it
