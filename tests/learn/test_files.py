import pytest
import torch
from torch import nn

from molyneux.core import CorruptFileError, SpecError, StoreError
from molyneux.learn import load_batch, load_config, load_spec, load_weights, save_batch, save_model

WEIGHTS = "weights.safetensors"


def test_round_trip(make_model, source, tmp_path):
    model, other = make_model(), make_model(seed=1)
    model.to(memory_format=torch.channels_last)
    save_model(model, tmp_path, {"class_path": "Tiny", "width": 6})
    load_weights(other, tmp_path)
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), other.state_dict().values(), strict=True))
    assert load_config(tmp_path) == {"class_path": "Tiny", "width": 6}
    assert load_spec(tmp_path) == source.spec


def test_tied_weights_are_saved(source, tmp_path):
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    model.spec = source.spec
    save_model(model, tmp_path, {})
    load_weights(model, tmp_path)


def test_other_shapes_and_names(make_model, tmp_path):
    save_model(make_model(), tmp_path, {})
    with pytest.raises(SpecError, match=r"convolution\.weight is \(5, 3, 3, 3\) in the model and \(6, 3, 3, 3\) in the file"):
        load_weights(make_model(width=5), tmp_path)
    with pytest.raises(SpecError, match=r"the model has bias, weight that the file lacks.*convolution\.weight"):
        load_weights(nn.Linear(2, 2), tmp_path)


@pytest.mark.parametrize("place", [0, 5, 100, -1, -200])
def test_any_altered_byte_is_noticed(make_model, tmp_path, place):
    save_model(make_model(), tmp_path, {})
    content = bytearray((tmp_path / WEIGHTS).read_bytes())
    content[place] ^= 1
    (tmp_path / WEIGHTS).write_bytes(content)
    with pytest.raises(CorruptFileError, match=WEIGHTS):
        load_weights(make_model(), tmp_path)


@pytest.mark.parametrize("length", [0, 4, 500])
def test_truncated(make_model, tmp_path, length):
    save_model(make_model(), tmp_path, {})
    (tmp_path / WEIGHTS).write_bytes((tmp_path / WEIGHTS).read_bytes()[:length])
    with pytest.raises(CorruptFileError, match=WEIGHTS):
        load_weights(make_model(), tmp_path)


def test_absent(make_model, tmp_path):
    for load in (lambda: load_weights(make_model(), tmp_path), lambda: load_config(tmp_path), lambda: load_spec(tmp_path)):
        with pytest.raises(StoreError, match="not there"):
            load()


def test_model_without_spec(tmp_path):
    with pytest.raises(SpecError, match="Linear"):
        save_model(nn.Linear(2, 2), tmp_path, {})


def test_batch_round_trip(source, tmp_path):
    source.present = {"touch": torch.arange(96) % 2 == 0}
    batch = source.batch(range(7))
    save_batch(batch, tmp_path / "batch.safetensors")
    again = load_batch(tmp_path / "batch.safetensors")
    assert torch.equal(again.views["image"], batch.views["image"])
    assert torch.equal(again.present["touch"], batch.present["touch"])
    assert torch.equal(again.factors, batch.factors)
