"""Where there is no terminal, a line every ten seconds says how it goes, and short commands say nothing."""

import pytest

from molyneux.cli.progress import RunLines, SweepLines


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_line_every_ten_seconds_and_one_at_the_end_of_a_long_step(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    told = RunLines(clock)
    told.begin("data", "looking at the samples")
    clock.now = 2
    told.begin("learn", "loading the samples")
    told.begin("learn", "training")
    for done in range(25):
        clock.now += 1
        told.step(done + 1, 25, 1234.5, 24 - done)
        if done == 16:
            told.epoch({"epoch": 1, "train/loss": 3.14, "validation/loss": 2.72})
    told.begin("measure", "measuring")
    clock.now += 3
    told.end()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "learn: 8/25 · 1,234 samples/s · 0:17 left",
        "learn: 18/25 · 1,234 samples/s · 0:07 left · epoch 1: loss 3.1 / 2.7",
        "learn: done in 0:25",
    ]


def test_samples_are_told_with_the_time_that_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    told = RunLines(clock)
    told.begin("data", "making samples")
    for done in range(1, 4):
        clock.now += 7
        told.advance(done * 1000, 4000)
    assert capsys.readouterr().err.splitlines() == ["data: 2,000/4,000 · 0:14 left"]


def test_a_study(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    told = SweepLines(clock)
    told.plan(3)
    for second in range(1, 22):
        clock.now = second
        told.run("MVAE-seed1", "learn", second, 400)
        if second == 12:
            told.run("MVAE-seed1", "failed", 1, 1)
    told.run("DMVAE-seed1", "done", 1, 1)
    assert capsys.readouterr().err.splitlines() == [
        "study: 0/3 runs · MVAE-seed1 learn · 10/400",
        "study: 1/3 runs · 1 failed · MVAE-seed1 learn · 20/400",
    ]
