"""MUStARD, CMU-MOSI, UR-FUNNY and CMU-MOSEI: what of the file is served, and where its labels go."""

import pickle
import re

import numpy as np
import pytest

from molyneux.core import ConfigError, DataError, StoreError
from molyneux.data import CMUMOSEI, CMUMOSI, MUStARD, URFunny

STEPS = 50


def part(count, *, seed=0, labels=None, widths=(35, 74, 300)):
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 40, count)
    made = {"labels": rng.uniform(-3, 3, (count, 1, 1)) if labels is None else labels, "id": list(range(count))}
    for name, width in zip(("vision", "audio", "text"), widths, strict=True):
        made[name] = rng.normal(size=(count, STEPS, width)) * (np.arange(STEPS) >= first[:, None])[..., None]
    return made


def content(**changes):
    found = {name: part(count, seed=seed) for seed, (name, count) in enumerate({"train": 20, "valid": 6, "test": 8}.items())}
    for place, change in changes.items():
        name, _, key = place.partition("_")
        if change is None:
            del found[name][key]
        elif key:
            found[name][key] = change(found[name][key])
        else:
            found[name] = change
    return found


def written(folder, kind=CMUMOSI, *, document=None, **settings):
    (folder / kind.default_file).write_bytes(pickle.dumps(content() if document is None else document, 4))
    return kind(folder, **settings)


def in_order(dataset, split):
    """The samples of a split in the order of the file."""
    return dataset.rows(np.arange(dataset.splits[split]), split)


def test_what_comes_before_the_first_word_is_cut(tmp_path):
    document = content()
    dataset = written(tmp_path, document=document)
    for split, name in {"train": "train", "validation": "valid", "test": "test"}.items():
        batch = in_order(dataset, split)
        for row in range(dataset.splits[split]):
            start = np.flatnonzero((document[name]["text"][row] != 0).any(1))[0]
            for sense in ("vision", "audio", "text"):
                shown, length = batch.views[sense][row].numpy(), int(batch.lengths[sense][row])
                assert length == STEPS - start
                np.testing.assert_array_equal(shown[:length], document[name][sense][row][start:].astype(np.float32))
                assert not shown[length:].any()


def test_samples_without_a_word_are_left_out_and_no_others(tmp_path):
    document = content()
    document["test"]["text"][3] = 0
    document["train"]["text"][0] = np.where(np.arange(STEPS)[:, None] % 2 == 0, 1.0, -1.0)  # a sum of 0, as published
    dataset = written(tmp_path, document=document)
    assert dataset.splits == {"train": 19, "validation": 6, "test": 7}
    kept = [row for row in range(8) if row != 3]
    sentiments = in_order(dataset, "test").targets["sentiment"]
    np.testing.assert_allclose(sentiments, document["test"]["labels"][kept, 0, 0].astype(np.float32))


def test_negative_infinity_in_the_audio_is_zero(tmp_path):
    document = content()
    document["train"]["audio"][2, -1, 5] = -np.inf
    batch = in_order(written(tmp_path, document=document), "train")
    last = int(batch.lengths["audio"][2]) - 1
    assert batch.views["audio"][2, last, 5] == 0
    assert batch.views["audio"][2, last, 6] != 0


def test_sentiment_and_sign(tmp_path):
    document = content()
    document["test"]["labels"] = np.array([-3, -0.2, 0, 0.2, 3, 0, 1, -1.0]).reshape(8, 1)
    batch = in_order(written(tmp_path, document=document), "test")
    assert batch.targets["sign"].tolist() == [0, 0, 0, 1, 1, 0, 1, 0]
    assert batch.known_mask("sign").tolist() == [True, True, False, True, True, False, True, True]
    assert batch.targets["sentiment"][4] == 3
    other = CMUMOSI(tmp_path, neutral="negative")
    assert in_order(other, "test").known_mask("sign").all()
    assert other.settings != CMUMOSI(tmp_path).settings


@pytest.mark.parametrize("kind", [MUStARD, URFunny])
def test_classes(kind, tmp_path):
    document = {
        name: part(9, labels=np.arange(9).reshape(-1, 1) % 2, widths=(371, 81, 300)) for name in ("train", "valid", "test")
    }
    dataset = written(tmp_path, kind, document=document)
    (target,) = dataset.spec.targets
    assert in_order(dataset, "validation").targets[target.name].tolist() == (np.arange(9) % 2).tolist()
    document["valid"]["labels"] = np.full((9, 1), 2)
    with pytest.raises(DataError, match=r"valid, labels: expected labels 0\.\.1, got 2 in sample 0: restore the file from https"):
        _ = written(tmp_path, kind, document=document).splits


def test_statistics_are_those_of_the_training_split(tmp_path):
    document = content()
    dataset = written(tmp_path, document=document, standardise=True)
    batch = in_order(dataset, "train")
    counted = batch.positions("vision", dataset.spec).numpy()
    for sense in ("vision", "audio"):
        values = batch.views[sense].numpy()[counted]
        np.testing.assert_allclose(values.mean(0), 0, atol=1e-5)
        np.testing.assert_allclose(values.std(0), 1, atol=1e-4)
        assert not batch.views[sense].numpy()[~counted].any()
    np.testing.assert_array_equal(batch.views["text"], in_order(CMUMOSI(tmp_path), "train").views["text"])
    (tmp_path / "other").mkdir()
    document["test"]["vision"] += 1000.0
    other = written(tmp_path / "other", document=document, standardise=True)
    assert in_order(other, "train").views["vision"].equal(batch.views["vision"])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"train_vision": None}, "train: expected the keys vision, audio, text, labels, got .* without vision"),
        ({"valid": [1, 2]}, "valid: expected a dictionary with vision, audio, text, labels, got list"),
        (
            {"test_vision": lambda found: found[:, :, :20]},
            r"expected vision with the same steps and columns in all parts, got \(50, 35\) in train",
        ),
        ({"train_audio": lambda found: found[:-1]}, "expected as many samples and steps in all modalities"),
        ({"train_labels": lambda found: found[:-1]}, "expected as many samples and steps in all modalities, and a label"),
        ({"train_text": lambda found: found[..., 0]}, r"expected numbers of shape \(any, any, any\), got \(20, 50\)"),
        ({"train_text": lambda found: found[:, :1, :1].astype(str)}, "expected numbers of shape .*, got ndarray of <U"),
        ({"test_labels": lambda found: found + 9}, "test, labels: expected sentiments from -3 to 3, got"),
        ({"test_labels": lambda found: found * np.nan}, "test, labels: expected finite numbers, got nan in sample 0"),
        ({"train_text": lambda found: found * 0}, "expected samples of the split train, got none"),
    ],
)
def test_files_that_are_something_else_are_refused(change, complaint, tmp_path):
    dataset = written(tmp_path, document=content(**change))
    with pytest.raises(DataError, match=complaint) as caught:
        _ = dataset.splits
    assert "\n" not in str(caught.value)
    assert dataset.page in str(caught.value)


def test_a_column_that_is_no_number_is_named(tmp_path):
    document = content()
    document["valid"]["vision"][:, :, 7] = np.nan
    dataset = written(tmp_path, CMUMOSEI, document=document)
    in_order(dataset, "train")
    with pytest.raises(DataError, match="valid, vision: expected finite numbers, got nan in sample 0, column 7"):
        in_order(dataset, "validation")


def test_code_in_the_file_is_refused_and_named(tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("read",)

    with pytest.raises(StoreError, match=r"mosi_raw.pkl: expected a pickle of arrays .*names builtins\.print"):
        (tmp_path / "mosi_raw.pkl").write_bytes(pickle.dumps({**content(), "more": Evil()}))
        _ = CMUMOSI(tmp_path).splits


def test_other_names_and_settings(tmp_path):
    (tmp_path / "mine.pkl").write_bytes(pickle.dumps(content(), 2))
    assert CMUMOSI(tmp_path, file="mine.pkl").splits["train"] == 20
    with pytest.raises(StoreError, match=re.escape(f"expected mosi_raw.pkl in {tmp_path}, which lacks mosi_raw.pkl")):
        _ = CMUMOSI(tmp_path).splits
    with pytest.raises(ConfigError, match="neutral: expected one of unknown, negative, got 'unknwn'; did you mean \"unknown\""):
        CMUMOSI(neutral="unknwn")
