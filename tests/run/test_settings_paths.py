"""Relative paths of an experiment file begin at its folder; bad rows stop a run all at once, and warnings are notes."""

import warnings

import pytest

from molyneux.cli import main
from molyneux.core import ConfigError
from molyneux.run import load_experiment, load_study, run_experiment
from molyneux.run.studies.study import check_points

SETTINGS = """
data:
  table: {path: items.csv, tabular: [weight], labels: [kind]}
learn:
  model: {class_path: MVAE, init_args: {latent_dim: 2}}
  steps: 1
  batch_size: 4
measure: [latent_probe]
"""


def write(folder, *, wrong=()):
    folder.mkdir(exist_ok=True)
    rows = [
        "weight,kind",
        *(f"{'bad' if row in wrong else row}{'' if row in wrong else '.5'},{'ab'[row % 2]}" for row in range(60)),
    ]
    (folder / "items.csv").write_text("\n".join(rows) + "\n")


def loaded(path):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        return load_experiment(path).data.table.path, [str(one.message) for one in told]


def test_paths_begin_at_the_folder_of_the_settings(tmp_path, monkeypatch):
    write(tmp_path / "there")
    settings = tmp_path / "there" / "items.yaml"
    settings.write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    path, told = loaded("there/items.yaml")
    assert (str(path), told) == ("there/items.csv", [])
    monkeypatch.chdir(tmp_path / "there")
    path, told = loaded("items.yaml")
    assert (str(path), told) == ("items.csv", [])


def test_what_is_in_the_working_folder_alone_is_found_and_told(tmp_path, monkeypatch, capsys):
    write(tmp_path)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "items.yaml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    path, told = loaded("configs/items.yaml")
    assert str(path) == "items.csv"
    assert "taken from the working folder" in told[0]
    assert main(["check", "configs/items.yaml"]) == 0
    assert "taken from the working folder" in capsys.readouterr().err
    write(tmp_path / "configs")
    path, told = loaded("configs/items.yaml")
    assert str(path) == "configs/items.csv"
    assert "configs/items.csv is used" in told[0]


def test_an_override_begins_at_the_working_folder(tmp_path, monkeypatch):
    write(tmp_path)
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "items.yaml").write_text(SETTINGS.replace("items.csv", "others.csv"))
    monkeypatch.chdir(tmp_path)
    assert str(load_experiment("configs/items.yaml", [("data.table.path", "items.csv")]).data.table.path) == "items.csv"


STUDY = """
base: {base}
variants:
  here: {{}}
  other: {{data.table.path: others.csv}}
grid:
  data.table.path: [items.csv]
"""


@pytest.mark.parametrize("inside", [False, True])
def test_paths_of_a_study_begin_at_its_folder(tmp_path, monkeypatch, inside):
    """Of its base, of that of another file at the folder of that file, of variants and of grids."""
    for folder in ("there", "base"):
        write(tmp_path / folder)
    (tmp_path / "base" / "items.yaml").write_text(SETTINGS)
    base = SETTINGS.replace("\n", "\n  ") if inside else "../base/items.yaml"
    text = STUDY.format(base=base)
    (tmp_path / "there" / "study.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    study = load_study("there/study.yaml")
    table = study.base_settings["data"]["table"]
    assert table["path"] == ("there/items.csv" if inside else "there/../base/items.csv")
    assert study.variants["other"] == {"data.table.path": "there/others.csv"}
    assert study.grid == {"data.table.path": ("there/items.csv",)}
    assert {str(each.data.table.path) for point in check_points(study) for each in point} == {"there/items.csv"}


def test_the_folder_of_a_benchmark_begins_at_the_folder_of_the_settings(tmp_path, monkeypatch):
    (tmp_path / "there" / "clips").mkdir(parents=True)
    settings = tmp_path / "there" / "speech.yaml"
    settings.write_text(
        SETTINGS.replace(
            "table: {path: items.csv, tabular: [weight], labels: [kind]}",
            "benchmark: {class_path: AVMNIST, init_args: {folder: clips}}",
        )
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="there/clips"):
        load_experiment("there/speech.yaml")


def test_all_bad_rows_stop_a_run_at_once_and_warnings_are_told(tmp_path):
    write(tmp_path, wrong=(3, 7, 12))
    (tmp_path / "items.yaml").write_text(SETTINGS)
    with pytest.raises(ConfigError, match=r"line 5, column 'weight'.*\(and 2 more like it\)"):
        load_experiment(tmp_path / "items.yaml")
    write(tmp_path)
    with (tmp_path / "items.csv").open("a") as stream:
        stream.write("0.5,b\n")
    notes = run_experiment(load_experiment(tmp_path / "items.yaml"), tmp_path / "run").notes
    assert len(notes) == 1
    assert "the same inputs as" in notes[0]
