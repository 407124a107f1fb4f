"""Exports measure themselves wherever they are copied to, and appear whole or not at all."""

import contextlib
import io
import json
import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

from molyneux.core import ConfigError, ConflictError, CorruptFileError, SpecError, StoreError, store
from molyneux.data import CdSprites, export_webdataset, store_samples
from molyneux.run import (
    ExportSettings,
    Outcome,
    export_run,
    export_samples,
    measure_again,
    open_experiment,
    open_model,
    opened_export,
    read_experiment,
    run_experiment,
    verify_export,
)
from molyneux.run.run.report import read_scores


@pytest.fixture(scope="module")
def shared(finished: Outcome, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The toy run exported, copied elsewhere, and its first place removed."""
    place = tmp_path_factory.mktemp("exports")
    export_run(finished.folder, place / "first", ExportSettings(licence="MIT"))
    shutil.copytree(place / "first", place / "elsewhere")
    shutil.rmtree(place / "first")
    return place / "elsewhere"


def values(scores: Any) -> list[Any]:
    return [(score.name, score.about, score.value, score.interval, score.n, score.chance) for score in scores]


def test_an_export_gives_its_scores_again(shared: Path, finished: Outcome) -> None:
    with opened_export(shared) as folder:
        repeated = measure_again(folder, trust=True)
    assert repeated.changed == ()
    assert values(repeated.outcome.scores) == values(finished.scores)


def test_an_export_is_measured_without_its_scores(shared: Path, finished: Outcome, tmp_path: Path) -> None:
    shutil.copytree(shared, tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "measure")
    with opened_export(tmp_path / "copy") as folder:
        outcome = run_experiment(open_experiment(folder, trust=True), folder, steps=["measure"])
    assert values(outcome.scores) == values(finished.scores)


def test_an_export_is_opened_as_a_model_by_those_who_trust_it(shared: Path, finished: Outcome) -> None:
    with pytest.raises(ConfigError, match="trust"):
        open_model(shared)
    model, same = open_model(shared, trust=True), open_model(finished.folder, trust=True)
    targets = list(model.modalities)
    one, other = (item.generate(targets, count=3, seed=1) for item in (model, same))
    assert all(np.array_equal(one.arrays(name), other.arrays(name)) for name in targets)


@pytest.mark.parametrize("bits", [8, 16])
def test_weights_of_fewer_bits_give_nearly_the_same(finished: Outcome, tmp_path: Path, bits: Literal[8, 16]) -> None:
    export_run(finished.folder, tmp_path / "half", ExportSettings(bits=bits, about="A toy."))
    whole, half = (folder / "model" / "weights.safetensors" for folder in (finished.folder, tmp_path / "half"))
    assert half.stat().st_size < (0.7 if bits == 16 else 0.5) * whole.stat().st_size
    assert "A toy." in (tmp_path / "half" / "README.md").read_text()
    model, same = open_model(tmp_path / "half", trust=True), open_model(finished.folder, trust=True)
    for name, weight in model.module.state_dict().items():
        assert torch.allclose(weight, same.module.state_dict()[name], rtol=1e-2, atol=1e-2)


def test_what_is_in_an_export(shared: Path) -> None:
    names = {path.relative_to(shared).as_posix() for path in shared.rglob("*") if path.is_file()}
    assert {"README.md", "config.yaml", "export.json", "toy.py", "model/weights.safetensors", "measure/scores.jsonl"} <= names
    assert not [name for name in names if "checkpoint" in name or "tensorboard" in name or name.endswith(".lock")]
    card = (shared / "README.md").read_text()
    assert card.startswith("---\nlicense: mit\n")
    assert "# toy\n" in card
    assert "`MVAE` on `toy-v1`" in card
    assert "## What it does" in card
    assert "chance" in card
    assert 'molyneux.open_model("' in card
    assert "molyneux run config.yaml --continue-from ." in card
    assert "PATH/TO" not in card
    places = [card.index(f"## {part}") for part in ("What it does", "Licence", "Use", "Files", "Training data", "Scores")]
    assert places == sorted(places)


@pytest.mark.parametrize("name", ["config.yaml", "model/weights.safetensors", "toy.py", "export.json", "measure/scores.jsonl"])
def test_tampering_is_noticed(shared: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(shared, tmp_path / "copy")
    path = tmp_path / "copy" / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(CorruptFileError, match=path.name), opened_export(tmp_path / "copy") as folder:
        measure_again(folder, trust=True)
    path.unlink()
    with pytest.raises((CorruptFileError, StoreError)):
        verify_export(tmp_path / "copy")
        read_scores(tmp_path / "copy")


def test_an_export_appears_whole_or_not_at_all(finished: Outcome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConflictError, match="exists: choose another place"):
        (tmp_path / "taken").mkdir()
        (tmp_path / "taken" / "file").touch()
        export_run(finished.folder, tmp_path / "taken")
    with pytest.raises(ConflictError, match="expected a place outside"):
        export_run(finished.folder, finished.folder / "export")
    with pytest.raises(StoreError, match="expected the folder of a run"):
        export_run(tmp_path / "taken", tmp_path / "out")

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("molyneux.run.sharing.export.model_card", stopped)
    with pytest.raises(KeyboardInterrupt):
        export_run(finished.folder, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


@pytest.fixture
def own(tmp_path: Path) -> Mapping[str, Any]:
    """An experiment on arrays of the user's own."""
    rng = np.random.default_rng(0)
    digit = rng.integers(0, 3, 120)
    point = (np.eye(3)[digit] + 0.1 * rng.normal(size=(120, 3))).astype(np.float32)
    (tmp_path / "my-files").mkdir()
    np.savez(tmp_path / "my-files" / "points.npz", point=point, word=np.array(["aa", "ab", "ba"])[digit], digit=digit)
    return {
        "data": {"arrays": {"path": str(tmp_path / "my-files" / "points.npz"), "labels": ["digit"]}},
        "learn": {"model": {"class_path": "MVAE", "init_args": {"latent_dim": 2}}, "steps": 4, "batch_size": 16},
        "measure": ["coherence"],
        "report": ["markdown"],
    }


def test_own_data_know_their_sizes_and_travel_only_when_asked(own: Mapping[str, Any], tmp_path: Path) -> None:
    experiment = read_experiment(own)
    assert [experiment.resolved["data"][name] for name in ("train", "validation", "test")] == [None] * 3
    outcome = run_experiment(experiment, tmp_path / "run")
    strict = [score for score in outcome.scores if score.name == "coherence.strict"]
    assert {(score.about["source"], score.about["target"], score.n) for score in strict} >= {("point", "word", 12)}
    export_run(outcome.folder, tmp_path / "closed")
    export_run(outcome.folder, tmp_path / "open", ExportSettings(include_data=True))
    for folder in ("closed", "open"):
        texts = "".join(path.read_text() for path in (tmp_path / folder).rglob("*.yaml"))
        assert str(tmp_path) not in texts
    assert "The data are not included" in (tmp_path / "closed" / "README.md").read_text()
    assert not (tmp_path / "closed" / "files").exists()
    shutil.rmtree(tmp_path / "my-files")
    with opened_export(tmp_path / "open") as folder:
        assert measure_again(folder, trust=True).changed == ()
    elsewhere = open_model(tmp_path / "open").dataset()  # its relative paths begin at its folder, wherever the process is
    assert elsewhere is not None
    assert elsewhere.source("test", seed=1).spec.names == ("point", "word")
    with pytest.raises(StoreError, match=r"points.npz") as missing:
        measure_again(outcome.folder)
    assert "--include-data" not in str(missing.value)  # a run that is no export has left nothing out
    with pytest.raises(StoreError, match=r"files.points.npz.*--include-data"), opened_export(tmp_path / "closed") as folder:
        measure_again(folder, trust=True)
    assert pq.read_table(tmp_path / "open" / "data" / "parquet" / "test.parquet").num_rows == 12
    assert "factor `digit`: 0, 1, 2" in (tmp_path / "open" / "data" / "README.md").read_text()


def test_stored_samples_become_parquet_and_shards_with_a_card(tmp_path: Path) -> None:
    source = CdSprites(level=2).source("train", 25, seed=1)
    store_samples(source, tmp_path / "samples")
    export_samples(tmp_path / "samples", tmp_path / "out", ExportSettings(licence="CC-BY-4.0"))
    card = (tmp_path / "out" / "README.md").read_text()
    assert "license: cc-by-4.0" in card
    assert "# cdsprites-v1" in card
    assert "| train | 25 |" in card
    verify_export(tmp_path / "out")
    assert pq.read_table(tmp_path / "out" / "parquet" / "train.parquet").num_rows == 25
    batch = source.batch(np.arange(25))
    with tarfile.open(tmp_path / "out" / "webdataset" / "train" / "train-000000.tar") as archive:
        content = {item.name: archive.extractfile(item).read() for item in archive}  # type: ignore[union-attr]
    assert len(content) == 75
    with Image.open(io.BytesIO(content["000000007.image.png"])) as image:
        assert np.array_equal(np.asarray(image).transpose(2, 0, 1), batch.views["image"][7].numpy())
    facts = json.loads(content["000000007.json"])
    assert batch.factors is not None
    code = batch.factors[7, source.spec.factor_index("shape")]
    assert facts["factors"]["shape"] == source.spec.factor("shape").values[int(code)]
    with pytest.raises(StoreError, match="expected a run or stored samples"):
        export_samples(tmp_path, tmp_path / "other")


def test_shards_have_a_size_and_the_same_bytes(tmp_path: Path) -> None:
    source = CdSprites(level=1, modalities=("text",)).source("train", 25, seed=1)
    for name, chunk in (("a", 4), ("b", 100)):
        export_webdataset(source, tmp_path / name, shard=10, chunk=chunk)
    shards = sorted(path.name for path in (tmp_path / "a").glob("*.tar"))
    assert shards == [f"samples-{number:06d}.tar" for number in range(3)]
    assert all(store.checksum(tmp_path / "a" / name) == store.checksum(tmp_path / "b" / name) for name in shards)
    with tarfile.open(tmp_path / "a" / "samples-000002.tar") as archive:
        assert archive.getnames()[0].startswith("000000020.")
    with contextlib.suppress(SpecError), pytest.raises(ConflictError):
        export_webdataset(source, tmp_path / "a")
