"""MIMIC: the published order, statistics of the training split alone, three targets."""

import pickle
import random

import numpy as np
import pytest

from molyneux.core import DataError
from molyneux.data import MIMIC


def content(count=200, seed=0):
    rng = np.random.default_rng(seed)
    return {
        "ep_tdata": rng.normal(7, 3, (count, 24, 12)),
        "adm_features_all": rng.normal(-4, 9, (count, 5)),
        "adm_labels_all": (rng.random((count, 6)) < 0.2).astype(float),
        "y_icd9": (rng.random((count, 20)) < 0.5).astype(float),
    }


def written(folder, document, **settings):
    (folder / "im.pk").write_bytes(pickle.dumps(document, 4))
    return MIMIC(folder, **settings)


def in_order(dataset, split):
    return dataset.rows(np.arange(dataset.splits[split]), split)


def published_order(count):
    order = list(range(count))
    random.seed(10)
    random.shuffle(order)
    return {"validation": order[: count // 10], "test": order[count // 10 : count // 5], "train": order[count // 5 :]}


@pytest.mark.parametrize("count", [200, 203])
def test_splits_and_targets_are_the_published_ones(count, tmp_path):
    document = content(count)
    dataset = written(tmp_path, document, standardise=False)
    for split, rows in published_order(count).items():
        batch = in_order(dataset, split)
        np.testing.assert_allclose(batch.views["series"], document["ep_tdata"][rows].astype(np.float32))
        np.testing.assert_allclose(batch.views["static"], document["adm_features_all"][rows].astype(np.float32))
        deaths = document["adm_labels_all"][rows]
        mortality = [next((column for column in range(1, 6) if row[column] > 0), 0) for row in deaths]
        assert batch.targets["mortality"].tolist() == mortality
        assert batch.targets["icd9_group_1"].tolist() == document["y_icd9"][rows, 1].tolist()
        assert batch.targets["icd9_group_7"].tolist() == document["y_icd9"][rows, 7].tolist()


def test_the_published_number_of_samples_gives_the_published_splits():
    sizes = {split: len(rows) for split, rows in published_order(36_212).items()}
    assert sizes == {"train": 28_970, "validation": 3_621, "test": 3_621}


def test_statistics_are_those_of_the_training_split(tmp_path):
    document = content()
    train = published_order(200)["train"]
    batch = in_order(written(tmp_path, document), "train")
    series = document["ep_tdata"][train]
    wanted = (series - series.mean((0, 1))) / series.std((0, 1))
    np.testing.assert_allclose(batch.views["series"], wanted, atol=1e-5)
    others = np.setdiff1d(np.arange(200), train)
    document["ep_tdata"][others] *= 100
    document["adm_features_all"][others] += 1e6
    (tmp_path / "other").mkdir()
    again = in_order(written(tmp_path / "other", document), "train")
    assert again.views["series"].equal(batch.views["series"])
    assert again.views["static"].equal(batch.views["static"])


def test_what_is_missing_is_zero_before_it_is_standardised(tmp_path):
    document = content()
    row = published_order(200)["train"][0]
    document["ep_tdata"][row, 3, 4], document["adm_features_all"][row, 1] = np.nan, np.inf
    batch = in_order(written(tmp_path, document, standardise=False), "train")
    assert batch.views["series"][0, 3, 4] == 0
    assert batch.views["static"][0, 1] == 0
    zeroed = {key: np.where(np.isfinite(values), values, 0) for key, values in document.items()}
    (tmp_path / "other").mkdir()
    assert (
        in_order(written(tmp_path, document), "test")
        .views["series"]
        .equal(in_order(written(tmp_path / "other", zeroed), "test").views["series"])
    )


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda found: found.pop("y_icd9"), "expected the keys .* without y_icd9"),
        (
            lambda found: found["ep_tdata"][..., 3].fill(np.nan),
            "ep_tdata: expected numbers in every column, got none in column 3",
        ),
        (
            lambda found: found.update(adm_features_all=found["adm_features_all"][:-1]),
            r"expected numbers of shape \(200, any\), got \(199, 5\)",
        ),
        (lambda found: found["y_icd9"][5].fill(3), r"y_icd9, column 1: expected labels 0\.\.1, got 3 in sample 5"),
        (lambda found: found.update(y_icd9=found["y_icd9"][:, :5]), r"expected at least 8 columns, got \(200, 5\)"),
        (
            lambda found: found.update(adm_labels_all=found["adm_labels_all"][:, :5]),
            r"expected at least 6 columns, got \(200, 5\)",
        ),
        (
            lambda found: found["adm_labels_all"][7].fill(np.nan),
            "adm_labels_all: expected finite numbers, got nan in sample 7, column 0",
        ),
    ],
)
def test_files_that_are_something_else_are_refused(change, complaint, tmp_path):
    document = content()
    change(document)
    with pytest.raises(DataError, match=complaint) as caught:
        _ = written(tmp_path, document).splits
    assert "physionet.org" in str(caught.value)
    assert "no redistribution" in str(caught.value)
