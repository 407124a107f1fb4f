"""A file becomes an experiment, or a list of everything that is wrong with it."""

from pathlib import Path
from typing import Any

import pytest
import torch

from molyneux.core import ConfigError, store
from molyneux.core.config import dump_document, parse_document
from molyneux.data import CdSprites, GeBiD, World, store_samples
from molyneux.run import Experiment, default_folder, load_experiment, make_model, parse_experiment, read_experiment
from molyneux.run.run.provenance import changed

HERE = Path(__file__).parent


def problems(settings: dict[str, Any], *overrides: tuple[str, Any]) -> set[str]:
    with pytest.raises(ConfigError) as caught:
        read_experiment(settings, overrides)
    return set(caught.value.problems)


def test_a_file_is_called_after_itself_and_filled_in(experiment: Experiment) -> None:
    loaded = load_experiment(HERE / "toy.yaml")
    assert loaded.name == "toy"
    assert loaded.resolved == experiment.resolved
    assert list(loaded.resolved) == ["name", "seed", "data", "learn", "measure", "report"]
    assert loaded.resolved["data"]["keep"] is False
    assert loaded.resolved["learn"]["learning_rate"] == 5e-3
    assert loaded.resolved["report"] == {"formats": ["markdown", "html"]}


def test_resolved_settings_read_back_to_themselves(experiment: Experiment) -> None:
    again = read_experiment(parse_document(dump_document(experiment.resolved), "config.yaml"))
    assert again.resolved == experiment.resolved
    assert store.fingerprint(again.identity) == store.fingerprint(experiment.identity)


def test_every_setting_but_the_name_is_part_of_the_identity(settings: dict[str, Any]) -> None:
    first = read_experiment(settings)
    assert read_experiment({**settings, "name": "other"}).identity == first.identity
    changes = [
        ("seed", 4),
        ("data.world.spread", 0.1),
        ("learn.epochs", 4),
        ("learn.model.latent_dim", 5),
    ]
    assert read_experiment(settings, [("measure.samples", 9)]).identity != first.identity
    for same_model in (("measure.samples", 9), ("report", ["html"])):
        assert default_folder(read_experiment(settings, [same_model])) == default_folder(first)
    folders = {default_folder(read_experiment(settings, [change])) for change in changes}
    assert len(folders | {default_folder(first)}) == len(changes) + 1
    assert str(default_folder(first)).startswith("runs/toy-")


def test_overrides(settings: dict[str, Any]) -> None:
    changed = read_experiment(
        settings,
        [
            ("data.world.spread", 0.1),
            ("learn.model.class_path", "MoPoE"),
            ("measure.samples", 7),
            ("report", ["html"]),
            ("seed", 1),
            ("seed", 9),
        ],
    )
    assert (changed.data.dataset.spread, changed.measure.samples, changed.report.formats, changed.seed) == (0.1, 7, ("html",), 9)
    assert changed.learn.model.target.__name__ == "MoPoE"
    assert changed.learn.model.settings["latent_dim"] == 4


def test_all_problems_are_told_at_once(settings: dict[str, Any]) -> None:
    found = problems(
        settings,
        ("learn.epohcs", 3),
        ("learn.model.latent_dim", "many"),
        ("measure", ["coherense"]),
        ("data.world.spread", "wide"),
        ("data.train.x", 1),
        ("sed", 3),
        ("name", "a/b"),
    )
    assert 'learn.epohcs: unknown setting; did you mean "epochs"?' in found
    assert "learn.model.init_args.latent_dim: expected an integer, got 'many'" in found
    assert "measure.measures.0: unknown class 'coherense'; did you mean \"Coherence\"?" in found
    assert "data.world.init_args.spread: expected a number, got 'wide'" in found
    assert "data.train: is 600, which has no setting 'x'" in found
    assert 'sed: unknown setting; did you mean "seed"?' in found


def test_problems_of_the_model_are_told_beside_others(settings: dict[str, Any]) -> None:
    found = problems(settings, ("learn.model.latent_dim", 0), ("measure", []))
    assert found == {
        "learn.model.init_args.latent_dim: expected at least 1, got 0",
        "measure.measures: expected at least one, got none: name one, such as coherence",
    }


def test_a_class_that_there_is_not_is_told_once(settings: dict[str, Any]) -> None:
    encoder = {"class_path": "Nosuch", "init_args": {"width": 3}}
    for change in ({"image": encoder}, {"image": "Nosuch"}):
        (found,) = problems(settings, ("learn.model.nets", change))
        assert found.startswith("learn.model.init_args.nets.image")
        assert "unknown class 'Nosuch'; known: " in found


def test_what_classes_refuse_is_told_beside_values_of_other_types(settings: dict[str, Any]) -> None:
    world = {"class_path": "CdSprites", "init_args": {"level": 9, "image_size": "big"}}
    conditions = [{"missing": ["word"], "split": "heldout"}, {"corruption": "Nose", "strengths": [1.0]}]
    changes = (("data.world", world), ("learn.model.latent_dim", "x"), ("measure.conditions", conditions))
    starts = {
        "data.world.init_args.image_size: expected an integer, got 'big'",
        "learn.model.init_args.latent_dim: expected an integer, got 'x'",
        "data.world.init_args.level: expected at most 5, got 9",
        "measure.conditions.0: expected exactly one of",
        "measure.conditions.1.corruption: unknown class 'Nose'",
    }
    found = problems(settings, *changes)
    assert len(found) == len(starts)
    assert all(any(problem.startswith(start) for problem in found) for start in starts)


def test_all_conditions_that_do_not_fit_are_told(settings: dict[str, Any]) -> None:
    wrong = [{"missing": ["wrod"]}, {"split": "heldout"}, {"missing": ["point"]}, {"missing": ["point"]}]
    found = sorted(problems(settings, ("measure.conditions", wrong)))
    assert [problem.partition(": ")[0].removeprefix("measure.") for problem in found] == [
        *("conditions.0", "conditions.1", "conditions"),
    ]


def test_values_out_of_range_are_told_at_once_in_all_sections(settings: dict[str, Any]) -> None:
    changes = [("seed", -1), ("data.train", 0), ("learn.epochs", 0), ("learn.model.latent_dim", 0)]
    assert problems(settings, *changes, ("measure.samples", 0)) == {
        "seed: expected at least 0, got -1",
        "data.train: expected at least 1 or null, got 0",
        "learn.epochs: expected at least 1, got 0",
        "learn.model.init_args.latent_dim: expected at least 1, got 0",
        "measure.samples: expected at least 1, got 0",
    }


def test_settings_that_do_not_go_together(settings: dict[str, Any]) -> None:
    found = problems(settings, ("learn.batch_size", 601), ("data.modalities", ["point", "wrod"]))
    assert len(found) == 2
    assert any(problem.startswith("learn.batch_size: expected at most the 600 samples") for problem in found)
    assert any("no modality 'wrod'" in problem for problem in found)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            ("data.world", None),
            "data.world: is missing: name a world such as CdSprites, a benchmark, or a folder of stored samples",
        ),
        (("data.missing", {"piont": 0.5}), "data: unknown modality 'piont'; did you mean \"point\"?"),
        (("data.folder", "nowhere"), "data: expected stored samples in nowhere/train"),
        (("data.test", 0), "data.test: expected at least 1 or null, got 0"),
        (("data.test", None), "data.test: expected a number, for a world is endless, got null"),
        (("data.benchmark", "molyneux.data.AGNews"), "data.benchmark: "),
        (("data.train", 10**13), "data.train: expected at most 1000000000000 or null, got 10000000000000"),
        (("data.train", 10**20), "data.train: expected an integer of at most 64 bits"),
        (("measure.measures", ["coherence", "coherence"]), "measure.measures: expected different ones, got coherence twice"),
        (("measure.conditions", [{"missing": ["word"]}] * 2), "measure.conditions: expected conditions that differ, got two of"),
        (("learn.device", "mps"), "learn.device: expected one that torch can use here"),
        (("measure.conditions", [{}]), "measure.conditions.0: expected exactly one of corruption, missing, split and world"),
        (("measure.conditions", [{"missing": ["word"], "split": "heldout"}]), "measure.conditions.0: expected exactly one of"),
        (("measure.conditions", [{"split": "heldout", "strengths": [0.5]}]), "measure.conditions.0.strengths: expected"),
        (("measure.conditions", [{"corruption": "Nose"}]), "measure.conditions.0.corruption: unknown class 'Nose'"),
        (("learn.model", "Coherence"), "learn.model: unknown class 'Coherence'"),
        (
            ("learn.model", "toy.Toy"),
            "learn.model: expected the name of a class that has a training loss (`loss(batch, progress, generator)`), got toy.",
        ),
        (("seed", -1), "seed: expected at least 0, got -1"),
        (("name", "../x"), "name: expected at most 100 letters, digits, - and _, got '../x'"),
    ],
)
def test_single_problems(settings: dict[str, Any], change: tuple[str, Any], problem: str) -> None:
    assert any(found.startswith(problem) for found in problems(settings, change))


@pytest.mark.parametrize(
    ("setting", "value", "problem"),
    [
        ("latent_dim", 10**9, "expected a model that fits into the "),
        ("prior", {"components": 10**9}, "expected a model that fits into the "),
        (
            "nets",
            {"word": {"class_path": "CausalTransformer", "init_args": {"layers": 10**9}}},
            "expected a model made by at most ",
        ),
    ],
)
def test_models_that_are_too_large_are_refused_at_once(settings: dict[str, Any], setting: str, value: Any, problem: str) -> None:
    (found,) = problems(settings, (f"learn.model.{setting}", value))
    assert found.startswith(f"learn.model: {problem}")


def test_stored_samples(settings: dict[str, Any], experiment: Experiment, tmp_path: Path) -> None:
    for split in ("train", "validation", "test"):
        store_samples(experiment.data.dataset.source(split, 100, seed=1), tmp_path / split)
    data = {"folder": str(tmp_path), "train": 100, "validation": 100, "test": 60}
    stored = read_experiment({**settings, "data": data})
    assert len(stored.samples.source("test")) == 60
    assert stored.samples.check() == experiment.samples.check()
    found = problems({**settings, "data": {**data, "train": 101}})
    stored_there = f"data.train: expected at most the 100 samples stored in {tmp_path / 'train'}, got 101"
    assert found == {f"{stored_there}: name a smaller number, or null for all of them"}


def test_null_stands_for_all_stored_samples(settings: dict[str, Any], experiment: Experiment, tmp_path: Path) -> None:
    for split, size in (("train", 100), ("validation", 20), ("test", 30)):
        store_samples(experiment.data.dataset.source(split, size, seed=1), tmp_path / split)
    data = {"folder": str(tmp_path), "train": None, "validation": None, "test": None}
    stored = read_experiment({**settings, "data": data})
    assert [len(stored.samples.source(split)) for split in ("train", "validation", "test")] == [100, 20, 30]
    (problem,) = problems({**settings, "data": data}, ("learn.batch_size", 101))
    assert problem.startswith("learn.batch_size: expected at most the 100 samples")


def test_a_stored_run_is_parsed_without_its_data(settings: dict[str, Any], tmp_path: Path) -> None:
    world = {"class_path": "CdSprites", "init_args": {"level": 2, "textures": str(tmp_path / "gone")}}
    settings["data"] = {"world": world, "train": 600}
    settings["measure"] = {"measures": ["coherence"], "judges": {"image": str(tmp_path / "gone.safetensors")}}
    assert any(problem.startswith("data.world") for problem in problems(settings))
    parsed = parse_experiment(settings)
    assert parsed.data.world.target is CdSprites
    assert parse_experiment(parsed.resolved).resolved == parsed.resolved
    settings["data"] = {"folder": str(tmp_path / "gone"), "train": None}
    assert parse_experiment(settings).data.dataset is None


def test_conditions(settings: dict[str, Any]) -> None:
    conditions = [{"missing": ["word"]}, {"split": "validation"}]
    found = read_experiment(
        settings, [("measure.conditions", conditions), ("measure.measures", ["coherence"])]
    ).measure.conditions
    assert [(item.missing, item.split, item.corruption, item.strengths) for item in found] == [
        (("word",), None, None, ()),
        ((), "validation", None, ()),
    ]


def test_a_split_to_measure_on_that_is_not_there(settings: dict[str, Any]) -> None:
    settings["data"] |= {"world": {"class_path": "CdSprites", "init_args": {"level": 2}}}
    (problem,) = problems(settings, ("measure.split", "heldout"))
    assert problem.startswith("measure.split: ")
    held = [("measure.split", "heldout"), ("data.world.held_out", [{"shape": "heart", "size": "small"}])]
    assert read_experiment(settings, held).measure.split == "heldout"


def test_a_measure_that_cannot_work_on_the_samples_is_refused_before_training(settings: dict[str, Any]) -> None:
    settings["data"] |= {"world": {"class_path": "CdSprites", "init_args": {"level": 2}}}
    measures = [
        "coherence",
        {"class_path": "TwoWayChoice", "init_args": {"factor": "shap", "by": "siz", "pairs": [["image", "txt"]]}},
        {"class_path": "Breakdown", "init_args": {"factors": ["shpe"]}},
    ]
    assert problems(settings, ("measure.measures", measures)) == {
        "measure.measures.1: two_way_choice: pairs: no modality 'txt'; did you mean \"text\"?",
        "measure.measures.1: two_way_choice: by: no factor 'siz'; did you mean \"size\"?",
        "measure.measures.1: two_way_choice: factor: no factor 'shap'; did you mean \"shape\"?",
        "measure.measures.2: breakdown: no factor 'shpe'; did you mean \"shape\"?",
    }


def test_starting_weights_depend_on_the_seed_alone(experiment: Experiment) -> None:
    spec = experiment.samples.check()
    state = torch.get_rng_state()
    first = make_model(experiment.learn, spec, 1).state_dict()
    assert torch.equal(torch.get_rng_state(), state)
    with torch.random.fork_rng():
        torch.manual_seed(99)
        again, other = make_model(experiment.learn, spec, 1).state_dict(), make_model(experiment.learn, spec, 2).state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        (CdSprites(level=3), []),
        (CdSprites(level=3, threads=2, modalities=["image", "text"]), []),
        (CdSprites(level=3, caption_level=2, image_size=32), ["caption_level", "image_size"]),
        (GeBiD(level=1), []),
    ],
    ids=["level", "threads", "imbalanced", "gebid"],
)
def test_changed_settings_of_a_world_are_known(world: World, expected: list[str]) -> None:
    assert changed(world) == expected


def test_epochs_that_are_asked_for_win_over_the_steps_of_a_file(settings: dict[str, Any]) -> None:
    settings["learn"]["steps"] = 7
    assert read_experiment(settings).learn.steps == 7
    asked = read_experiment(settings, [("learn.epochs", 5)]).learn
    assert (asked.steps, asked.epochs) == (None, 5)
    assert read_experiment(settings, [("learn.epochs", 5), ("learn.steps", 9)]).learn.steps == 9
