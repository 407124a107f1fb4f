"""Vision & Touch and Stocks: what a sample is of, and that nothing of later steps or splits is in it."""

import os
import random
from pathlib import Path

import h5py
import numpy as np
import pytest

from molyneux.core import ConfigError, DataError, StoreError
from molyneux.data import Stocks, VisionTouch, write_twin


def whole(dataset, split):
    return dataset.rows(np.arange(dataset.splits[split]), split)


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    return write_twin("VisionTouch", tmp_path_factory.mktemp("robot"), size=60, seed=1)


def test_targets_and_actions_are_of_the_next_step(robot):
    seen = 0
    for split in robot.splits:
        batch = whole(robot, split)
        for row, number in enumerate(robot._samples.rows[split]):
            path, step = sorted(robot.folder.glob("*.h5"))[number // 4], number % 4
            with h5py.File(path) as file:
                np.testing.assert_array_equal(batch.views["image"][row], file["image"][step].transpose(2, 0, 1))
                np.testing.assert_allclose(
                    batch.views["force"][row], np.tanh(file["ee_forces_continuous"][step, -32:]), rtol=1e-6
                )
                np.testing.assert_allclose(batch.views["proprio"][row], file["proprio"][step, :8], rtol=1e-6)
                np.testing.assert_array_equal(batch.views["depth"][row, 0], file["depth_data"][step, ..., 0])
                np.testing.assert_allclose(batch.views["action"][row], file["action"][step + 1], rtol=1e-6)
                np.testing.assert_allclose(batch.targets["pose"][row], file["proprio"][step + 1, :4], rtol=1e-6)
                assert batch.targets["contact"][row] == (file["contact"][step + 1].sum() > 0)
            seen += 1
    assert seen == 60


@pytest.mark.parametrize("unit", ["run", "file"])
def test_no_run_is_in_two_splits_and_no_file_twice(robot, unit):
    """The published loader drew validation files with replacement, from a generator without a seed."""
    dataset = VisionTouch(robot.folder, unit=unit, split_seed=3)
    files = sorted(robot.folder.glob("*.h5"))
    of = {split: {files[number // 4] for number in rows} for split, rows in dataset._samples.rows.items()}
    if unit == "run":
        of = {split: {path.name.split("_")[0] for path in paths} for split, paths in of.items()}
    names = [name for found in of.values() for name in found]
    assert len(names) == len(set(names))
    assert sum(dataset.splits.values()) == 60
    again = VisionTouch(robot.folder, unit=unit, split_seed=3)
    assert all(np.array_equal(rows, again._samples.rows[split]) for split, rows in dataset._samples.rows.items())
    other = VisionTouch(robot.folder, unit=unit, split_seed=4)
    assert any(not np.array_equal(rows, other._samples.rows[split]) for split, rows in dataset._samples.rows.items())


@pytest.mark.parametrize(
    ("name", "values", "complaint"),
    [
        ("proprio", np.zeros((5, 6)), "8 columns of proprio and 32 of forces, got"),
        ("ee_forces_continuous", np.zeros((5, 40, 5)), r"expected 'ee_forces_continuous' as numbers of shape \(any, any, 6\)"),
        ("contact", np.zeros((4, 3)), "expected at least 2 steps in all data sets"),
        ("action", None, "expected a data set 'action', got none"),
        ("depth_data", np.zeros((5, 64, 64)), r"expected 'depth_data' as numbers of shape \(5, 128, 128\)"),
    ],
)
def test_robot_files_that_are_something_else_are_refused(name, values, complaint, tmp_path):
    write_twin("VisionTouch", tmp_path / "robot", size=30)
    with h5py.File(tmp_path / "robot" / "run0_0_1000.h5", "r+") as file:
        del file[name]
        if values is not None:
            file[name] = values
    with pytest.raises(DataError, match=complaint):
        _ = VisionTouch(tmp_path / "robot").splits


def test_robot_settings():
    with pytest.raises(ConfigError) as caught:
        VisionTouch(fractions=(0.5, 0.5, 0.5), unit="runs")
    assert len(caught.value.problems) == 2


def prices(folder, tickers=("MCD", "SBUX", "HSY", "HRL"), days=1200, seed=0):
    rng = np.random.default_rng(seed)
    day = np.datetime64("2001-01-01") + np.arange(days)
    made = {ticker: 50 * np.exp(np.cumsum(rng.normal(0, 0.01, days))) for ticker in tickers}
    for ticker, values in made.items():
        rows = [f"{date},{value!r},1.0" for date, value in zip(day, values.tolist(), strict=True)]
        random.Random(seed).shuffle(rows)
        (folder / f"{ticker}.csv").write_text("\n".join(["Date,Open,High", *rows]))
    return made


def test_windows_returns_and_targets_are_the_published_ones(tmp_path):
    made = prices(tmp_path)
    dataset = Stocks(tmp_path, levels=None)
    returns = np.diff(np.log(np.stack(list(made.values()), 1)), axis=0)
    windows = len(returns) - 500
    train = windows * 3200 // 4717
    assert dataset.splits == {
        "train": train,
        "validation": windows * 3700 // 4717 - train,
        "test": windows - windows * 3700 // 4717,
    }
    squared = returns[500:, 0] ** 2
    scaled = returns / returns[: 500 + train].std(ddof=1)
    start = 0
    for split, size in dataset.splits.items():
        batch = whole(dataset, split)
        for row in (0, size // 2, size - 1):
            for number, ticker in enumerate(made):
                np.testing.assert_allclose(
                    batch.views[ticker][row, :, 0], scaled[start + row : start + row + 500, number], rtol=1e-4, atol=1e-6
                )
        np.testing.assert_allclose(
            batch.targets["squared return"], squared[start : start + size] / squared[:train].std(ddof=1), rtol=1e-4
        )
        start += size


def test_the_published_number_of_prices_gives_the_published_splits(tmp_path):
    prices(tmp_path, days=5218)
    assert Stocks(tmp_path).splits == {"train": 3200, "validation": 500, "test": 1017}


def test_later_prices_change_nothing_before(tmp_path):
    """Scales are those of days before the end of the training windows."""
    made = prices(tmp_path)
    before = whole(Stocks(tmp_path), "train")
    for ticker, values in made.items():
        lines = (tmp_path / f"{ticker}.csv").read_text().splitlines()
        limit = np.datetime64("2001-01-01") + 500 + before.targets["squared return"].shape[0] + 1
        later = [
            line if np.datetime64(line[:10]) < limit else f"{line[:10]},{5 * float(line.split(',')[1])},1.0" for line in lines[1:]
        ]
        (tmp_path / f"{ticker}.csv").write_text("\n".join([lines[0], *later]))
        assert len(values) == 1200
    after = whole(Stocks(tmp_path), "train")
    assert after.targets["squared return"].equal(before.targets["squared return"])
    assert all(after.views[ticker].equal(before.views[ticker]) for ticker in made)


def test_windows_are_rounded_to_levels_of_their_own(tmp_path):
    prices(tmp_path)
    plain, rounded = (whole(Stocks(tmp_path, levels=levels), "test") for levels in (None, 25))
    exact, coarse = (
        np.concatenate([batch.views[name].numpy() for name in ("MCD", "SBUX", "HSY", "HRL")], 2) for batch in (plain, rounded)
    )
    low, high = exact.min((1, 2), keepdims=True), exact.max((1, 2), keepdims=True)
    wanted = np.round((exact - low) * 25 / (high - low)) * (high - low) / 25 + low
    assert np.mean(np.abs(coarse - wanted) < 1e-5) > 0.9999
    assert len(np.unique(coarse[0].round(5))) <= 26


def test_days_without_a_price_are_left_out(tmp_path):
    made = prices(tmp_path, days=700)
    lines = (tmp_path / "HSY.csv").read_text().splitlines()
    (tmp_path / "HSY.csv").write_text(
        "\n".join([lines[0], *(f"{line[:10]},,1.0" if number < 3 else line for number, line in enumerate(lines[1:]))])
    )
    (tmp_path / "HRL.csv").write_text("\n".join((tmp_path / "HRL.csv").read_text().splitlines()[:-4]))
    left = sum(Stocks(tmp_path, length=50).splits.values())
    assert 700 - 8 - 50 <= left + 1 <= 700 - 4 - 50
    assert made


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Date,Close\n2001-01-01,3.0\n", "expected the columns Date and Open, got Date, Close without open"),
        (
            "Date,Open\n" + "\n".join(f"2001-01-{day:02},nan" for day in range(1, 30)),
            "expected prices above 0 in the column Open, got none in any row",
        ),
        (
            "Date,Open\n" + "\n".join(f"2001-01-{day:02},up" for day in range(1, 30)),
            "expected prices in the column Open, got string",
        ),
        ("Date,Open\n2001-01-01,3.0\n2001-01-01,4.0\n", "expected a row for each day, got 1 days twice"),
        ("Date,Open\n1999-01-01,3.0\n", "expected days that all shares have, written alike, got none"),
        ("", "expected a table with columns Date and Open"),
    ],
)
def test_prices_that_are_something_else_are_refused(text, complaint, tmp_path):
    prices(tmp_path, days=600)
    (tmp_path / "HSY.csv").write_text(text)
    with pytest.raises(DataError, match=complaint):
        _ = Stocks(tmp_path).splits


def test_groups_and_tickers(tmp_path):
    prices(tmp_path, days=600)
    with pytest.raises(StoreError, match=r"which lacks MRK_data.csv, .*or leave shares out by without"):
        _ = Stocks(tmp_path, group="health").splits
    two = Stocks(tmp_path, tickers=("HSY", "HRL"), target="HRL")
    assert two.spec.names == ("HSY", "HRL")
    assert two.predicted == "HRL"
    with pytest.raises(DataError, match=r"expected more than 510 days that all shares have .*got 100"):
        prices(tmp_path, days=100)
        _ = Stocks(tmp_path).splits
    with pytest.raises(ConfigError) as caught:
        Stocks(tickers=("A", "A"), target="B", length=0, levels=0)
    assert len(caught.value.problems) == 4


def test_shares_of_a_group_are_left_out(tmp_path):
    prices(tmp_path, days=600)
    (tmp_path / "HSY.csv").unlink()
    three = Stocks(tmp_path, without=("HSY",))
    assert three.spec.names == ("MCD", "SBUX", "HRL")
    assert three.predicted == "MCD"
    assert three.choices["without"] == ["HSY"]
    assert "without" not in Stocks(tmp_path).choices
    with pytest.raises(ConfigError) as caught:
        Stocks(tmp_path, without=("MCD", "HSI"))
    assert [problem.partition(";")[0] for problem in caught.value.problems] == [
        "without: no share 'HSI'",
        "without: expected other shares than MCD, which is predicted: choose another target",
    ]


@pytest.mark.realdata
@pytest.mark.skipif("MOLYNEUX_DATA" not in os.environ, reason="MOLYNEUX_DATA is not set")
@pytest.mark.parametrize(("group", "without"), [("food", ()), ("tech", ()), ("health", ("WST", "TFX"))])
def test_real_prices(group, without):
    dataset = Stocks(group=group, without=without, length=250)
    if not (Path(os.environ["MOLYNEUX_DATA"]) / "stocks").is_dir():
        pytest.skip("there are no prices")
    assert sum(dataset.splits.values()) > 900
    batch = whole(dataset, "train").check_values(dataset.spec, np.arange(dataset.splits["train"]))
    joined = np.stack([view.numpy() for view in batch.views.values()])
    assert 0.5 < joined.std() < 2
    assert 0.9 < batch.targets["squared return"].std() < 1.1
