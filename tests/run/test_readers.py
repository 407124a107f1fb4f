"""Views are read by the exact reader of their world where it has one, else by a judge."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from molyneux.cli.names import values
from molyneux.cli.parser import parse
from molyneux.core import ConfigError, ConflictError, Spec, SpecError
from molyneux.data import ArrayDataset, CdSprites, write_twin
from molyneux.learn.judges import Judge, file_digest, shipped_file
from molyneux.run import judged_data, make_judge, parse_experiment, read_experiment
from molyneux.run.run import judge_training
from molyneux.run.run.folder import RunFolder
from molyneux.run.run.judge_training import constant_accuracy
from molyneux.run.run.readers import (
    feature_digests,
    find_features,
    find_readers,
    judge_digests,
    reader_versions,
)


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a judge that was hardly trained."""
    out = tmp_path_factory.mktemp("judge") / "mine.safetensors"
    worlds = {str(level): CdSprites(level=level, modalities=("image",)) for level in (1, 2)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge_training, "VALIDATED", 40)
        made = make_judge(worlds, "image", out, samples=64, seed=1)
    assert set(made.record.accuracy) == {"1", "2"}
    assert set(made.record.accuracy["2"]) == {"size", "shape"}
    assert set(made.record.abstention["2"]) == {"true", "negatives", "altered"}
    assert [path.name for path in out.parent.iterdir()] == ["mine.safetensors"]
    return out


def test_a_judge_is_written_once(judge: Path) -> None:
    record = Judge.load(judge).record
    assert (record.world, record.modality.name, record.samples) == ("cdsprites-v1", "image", 40)
    assert record.command == "molyneux judge cdsprites-v1 image --samples 64 --seed 1 --out FILE"
    with pytest.raises(ConflictError, match="exists"):
        make_judge({"1": CdSprites(level=1)}, "image", judge, samples=64, seed=1)
    with pytest.raises(SpecError, match="no modality 'sound'"):
        make_judge({"1": CdSprites(level=1)}, "sound", judge.with_name("other"), samples=128, seed=1)
    with pytest.raises(ConfigError, match=r"expected samples of at least \d+, a batch of the training, got 3"):
        make_judge({"1": CdSprites(level=1)}, "image", judge.with_name("other"), samples=3, seed=1)


def test_the_command_that_makes_a_judge_again_has_the_settings_of_its_world() -> None:
    settings = {"level": 3, "image_size": 32, "colours": ["red", "blue"], "samples": 100, "seed": 2}
    command = judge_training._command("cdsprites-v1", "image", settings)
    assert command == (
        'molyneux judge cdsprites-v1 image --level 3 --image-size 32 --colours \'["red", "blue"]\' '
        "--samples 100 --seed 2 --out FILE"
    )
    found = parse(shlex.split(command)[1:])
    assert (found.options.samples, found.options.seed) == (100, 2)
    assert dict(values(found)) == {"level": 3, "image_size": 32, "colours": ["red", "blue"]}


def test_the_world_reads_captions_and_the_judge_pictures(judge: Path) -> None:
    world = CdSprites(level=2)
    found = find_readers(world, world.spec, {"image": judge})
    assert set(found.exact) == {"text"}
    assert found.judges["image"].factors == ("size", "shape")
    assert not found.unread
    both = find_readers(world, world.spec, {})
    assert set(both.exact) == {"text", "image"}
    assert set(both.judges) == {"image"}
    alone = find_readers(world, Spec((world.spec.modality("text"),), world.spec.factors), {})
    assert (set(alone.exact), set(alone.judges)) == ({"text"}, set())


def test_another_judge_is_another_key_of_the_measures(judge: Path, tmp_path: Path, settings: dict[str, Any]) -> None:
    """Measures are made again with another judge; samples and model stay."""
    world, other = CdSprites(level=2, anti_alias=True), tmp_path / "other.safetensors"
    digest = judge_digests(world, {"image": judge})["image"]
    assert set(judge_digests(world, {})) == {"image"}  # there are no judges of captions
    assert digest == find_readers(world, world.spec, {"image": judge}).judges["image"].origin["digest"]  # type: ignore[attr-defined]
    assert digest != judge_digests(world, {})["image"]
    assert judge_digests(None, {}) == judge_digests(world, {"image": other}) == {}
    folders = []
    measured = {"measures": settings["measure"], "judges": {"point": str(other)}}
    for content in (b"one", b"another"):
        other.write_bytes(content)
        folders.append(RunFolder(tmp_path / "run", parse_experiment({**settings, "measure": measured})))
    one, another = folders
    assert (one.samples.key, one.model.key) == (another.samples.key, another.model.key)
    assert one.measure.key != another.measure.key


def test_a_modality_without_a_reader_has_a_reason(judge: Path) -> None:
    strange = CdSprites(level=5, colours={"mauve": (200, 100, 200), "red": (255, 0, 0)}, dark_background="published")
    found = find_readers(strange, strange.spec, {})
    assert "image" in found.unread
    assert found.unread["image"]
    assert find_readers(None, strange.spec, {}).unread.keys() == {"image", "text"}
    with pytest.raises(ConfigError, match=r"judges\.image: .*mauve|judges\.image: .*colour"):
        find_readers(strange, strange.spec, {"image": judge})


@pytest.mark.parametrize("content", [None, b"no judge"])
def test_a_judge_that_cannot_be_used_is_told_with_the_rest(
    settings: dict[str, Any], tmp_path: Path, content: bytes | None
) -> None:
    path = tmp_path / "judge.safetensors"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_experiment(settings, [("measure.judges", {"point": str(path)})])
    (problem,) = caught.value.problems
    assert problem.startswith("measure.judges.point: ")
    assert str(path) in problem


def test_readers_are_part_of_where_a_score_comes_from(finished: Any) -> None:
    origin: Mapping[str, Any] = finished.scores[0].origin
    assert (origin["world"], origin["split"], origin["model"], origin["settings"]["spread"]) == ("toy-v1", "test", "MVAE", 0.2)
    assert "unread" not in origin


def test_judges_of_a_benchmark_learn_from_its_labels(tmp_path: Path) -> None:
    data = write_twin("SpokenDigits", tmp_path / "twin", size=200)
    found = find_readers(data, data.spec, {})
    assert (set(found.exact), set(found.judges), found.unread) == (
        {"text"},
        {"image", "audio"},
        {},
    )  # these come with the package
    without = write_twin("MNISTSVHN", tmp_path / "without", size=60)
    unread = find_readers(without, without.spec, {}).unread
    assert set(unread) == {"mnist", "svhn"}
    assert unread["svhn"].startswith("no judge was named: train one with `molyneux judge EXPERIMENT.yaml svhn --out FILE`")
    out = tmp_path / "judge.safetensors"
    made = make_judge({"": data}, "audio", out, samples=300, seed=1, named="digits.yaml")
    assert made.record.world == data.name
    assert made.record.samples == data.splits["test"]
    assert made.record.command.startswith("molyneux judge digits.yaml audio --samples 300 --seed 1")
    read = find_readers(data, data.spec, {"audio": out})
    assert read.judges["audio"].factors == ("label",)  # who speaks is a factor that no other modality shows
    assert read.judges["audio"].origin != found.judges["audio"].origin
    plain = write_twin("MIMIC", tmp_path / "mimic")
    with pytest.raises(ConfigError, match="labels: expected labels to train a judge from, got none: judges read factors alone"):
        make_judge({"": plain}, "series", tmp_path / "other", samples=10, seed=1)


def test_the_data_of_an_experiment_may_be_a_benchmark(tmp_path: Path) -> None:
    data = write_twin("FashionMNIST", tmp_path / "twin", size=60)
    path = tmp_path / "fashion.yaml"
    path.write_text(f"data:\n  benchmark: {{class_path: FashionMNIST, init_args: {{folder: '{data.folder}'}}}}\n")
    (found,) = judged_data(path).values()
    assert found.settings == data.settings
    assert found.judge_material("image", "test", 5, seed=1).views.spec.names == ("image",)


def labelled(folder: Path, **labels: np.ndarray) -> ArrayDataset:
    """100 images for training and 20 for testing, with these labels."""
    images = np.random.default_rng(0).integers(0, 256, (120, 8, 8), dtype=np.uint8)
    split = np.where(np.arange(120) < 100, "train", "test")
    np.savez(folder / "mine.npz", image=images, split=split, **labels)
    return ArrayDataset(path=folder / "mine.npz", labels=tuple(labels), split="split")


def test_the_accuracy_of_a_judge_stands_beside_that_of_the_commonest_value(tmp_path: Path) -> None:
    data = labelled(tmp_path, kind=np.arange(120) % 2, rare=(np.arange(120) % 4 == 0).astype(int))
    assert constant_accuracy({"": data}, seed=1) == {"": {"kind": 0.5, "rare": 0.75}}
    shares = constant_accuracy({"1": CdSprites(level=1)}, seed=1)["1"]
    assert round(shares["shape"], 1) == 0.3


@pytest.mark.parametrize("kind", ["own", "world"])
def test_the_commonest_values_are_counted_without_a_view(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = labelled(tmp_path, kind=np.arange(120) % 2) if kind == "own" else CdSprites(level=3)
    numbers = np.arange(7)
    codes, batch = data.factor_codes(numbers, split="test", seed=3), data.batch(numbers, split="test", seed=3)
    assert np.array_equal(codes, batch.factors.numpy())

    def refuse(*arguments: Any, **settings: Any) -> None:
        raise AssertionError("labels are known without views")

    monkeypatch.setattr(type(data), "batch", refuse)
    monkeypatch.setattr(judge_training, "VALIDATED", 20)
    assert constant_accuracy({"": data}, seed=1)[""].keys() == {factor.name for factor in data.spec.factors}


def test_a_judge_does_not_count_what_was_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = labelled(tmp_path, kind=np.arange(120) % 2)
    known = constant_accuracy({"": data}, seed=1)
    monkeypatch.setattr(judge_training, "constant_accuracy", lambda *_, **__: pytest.fail("it is counted again"))
    make_judge({"": data}, "image", tmp_path / "judge.safetensors", samples=100, seed=1, constant=known)


def test_a_label_that_no_test_sample_has_is_told_before_a_judge_is_trained(tmp_path: Path) -> None:
    data = labelled(tmp_path, kind=np.arange(120) % 2, late=np.where(np.arange(120) < 90, np.arange(120) % 2, -1))
    with pytest.raises(ConfigError, match="labels: expected test samples with a label 'late' to validate the judge on, got none"):
        make_judge({"": data}, "image", tmp_path / "judge.safetensors", samples=100, seed=1)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.npz"]


def test_features_come_from_files(tmp_path: Path) -> None:
    spec = CdSprites(level=1).spec
    path = shipped_file("cdsprites-v1", "image")
    assert find_features(spec, {"image": path})["image"].modality == "image"
    assert feature_digests({"image": path, "text": tmp_path / "none"}) == {"image": file_digest(path)}
    with pytest.raises(ConfigError) as error:
        find_features(spec, {"image": tmp_path / "none", "sound": path})
    assert [problem.partition(":")[0] for problem in error.value.problems] == ["features.image", "features.sound"]


def test_another_version_of_an_exact_reader_is_another_key_of_the_measures(
    settings: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an earlier reader read is read again; samples and model stay."""
    experiment = parse_experiment(settings)
    assert experiment.data.dataset is not None
    first = RunFolder(tmp_path, experiment)
    monkeypatch.setattr(type(experiment.data.dataset.readers()["point"]), "version", "2")
    second = RunFolder(tmp_path, experiment)
    assert reader_versions(experiment.data.dataset) == {"point": "ToyReader 2", "word": "ToyReader 2"}
    assert (first.samples.key, first.model.key) == (second.samples.key, second.model.key)
    assert first.measure.key != second.measure.key
    assert reader_versions(None) == {}
