"""Sounds of people become the spectrograms that data sets make of their recordings; no file of a data set is needed."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

from molyneux.core import DataError, MolyneuxError, PicturesSounds, PlaysPictures, SpecError, StoreError
from molyneux.data import AVMNIST, SpokenDigits
from molyneux.data.benchmarks.av_mnist import sounds
from molyneux.data.benchmarks.spoken_digits import mel_pictures

RNG = np.random.default_rng(0)
SPEECH = np.rint(3000 * np.sin(np.cumsum(RNG.uniform(0.1, 1.5, 5000)))).astype(np.int16)
PADDED = np.pad(SPEECH, (0, 3000))[None]
MADE = {
    "SpokenDigits": (SpokenDigits(Path("nowhere")), mel_pictures),
    "AVMNIST": (AVMNIST(Path("nowhere")), sounds.spectrograms),
}


@pytest.fixture(params=MADE)
def made(request):
    return MADE[request.param]


def test_a_recording_gives_the_picture_of_the_data_set(made, tmp_path):
    dataset, pictures = made
    assert isinstance(dataset, PicturesSounds)
    wanted = pictures(PADDED)[:, None]
    wavfile.write(tmp_path / "a.wav", 8000, SPEECH)
    wavfile.write(tmp_path / "b.wav", 8000, np.stack([SPEECH, SPEECH], 1))
    values = [
        SPEECH,
        SPEECH / 2**15,
        (SPEECH / 2**15).astype(np.float32),
        (8000, SPEECH),
        tmp_path / "a.wav",
        str(tmp_path / "b.wav"),
    ]
    for value in values:
        found = dataset.view_of_sound("audio", value)
        np.testing.assert_array_equal(found.view.numpy(), wanted)
        assert found.lengths is None
        assert found.notes == (("2 channels became their mean",) if value is values[-1] else ())
    np.testing.assert_array_equal(dataset.view_of_sound("audio", SPEECH, rate=8000).view.numpy(), wanted)


def test_other_rates_and_lengths(made):
    dataset, pictures = made
    time = np.arange(16_000) / 16_000
    fine = np.sin(2 * np.pi * 700 * time) * np.exp(-time)
    found = dataset.view_of_sound("audio", fine, rate=16_000)
    assert found.notes == ("resampled from 16,000 to 8,000 samples per second",)
    difference = np.abs(found.view.numpy().astype(int) - pictures(fine[None, ::2])[:, None].astype(int))
    assert (difference <= 8).mean() > 0.9
    long = dataset.view_of_sound("audio", np.tile(SPEECH, 4))
    assert long.notes == ("cut after 8,000 samples",)
    np.testing.assert_array_equal(long.view.numpy(), pictures(np.tile(SPEECH, 4)[None, :8000])[:, None])
    assert not dataset.view_of_sound("audio", np.zeros(100)).view.any()


def test_what_is_no_sound_is_refused(made, tmp_path):
    dataset, _ = made
    for value, said in (
        (None, "got None"),
        ("seven", "where nothing is"),
        (np.full(9, np.nan), "finite numbers"),
        (np.zeros((3, 2, 800)), "one sound, got 3"),
        ([], "at least one number|expected a sound"),
        (Path("/dev/zero"), "got a device"),
        ((-1, SPEECH), "samples per second, got -1"),
    ):
        with pytest.raises(MolyneuxError, match=said) as caught:
            dataset.view_of_sound("audio", value)
        assert isinstance(caught.value, DataError | StoreError)
    with pytest.raises(SpecError, match="modality 'image' shows no sound; known: audio"):
        dataset.view_of_sound("image", SPEECH)
    with pytest.raises(DataError, match="samples per second, got 0"):
        dataset.view_of_sound("audio", SPEECH, rate=0)


@pytest.mark.realdata
@pytest.mark.skipif("MOLYNEUX_DATA" not in os.environ, reason="MOLYNEUX_DATA is not set")
def test_recordings_of_the_data_set():
    paths = sorted(Path(os.environ["MOLYNEUX_DATA"]).rglob("recordings/*.wav"))[:200:20]
    if not paths:
        pytest.skip("the folder of MOLYNEUX_DATA has no recordings of FSDD")
    for path in paths:
        sound = np.zeros((1, 8000), np.int16)
        read = wavfile.read(path)[1][:8000]
        sound[0, : len(read)] = read
        np.testing.assert_array_equal(SpokenDigits.view_of_sound("audio", path).view[:, 0], mel_pictures(sound))
        np.testing.assert_array_equal(AVMNIST.view_of_sound("audio", path).view[:, 0], sounds.spectrograms(sound))


def test_a_sound_made_of_a_picture_has_that_picture(made):
    dataset, pictures = made
    assert isinstance(dataset, PlaysPictures)
    assert dataset.audible() == ("audio",)
    view = pictures(PADDED)
    rate, sound = dataset.sound_of_view("audio", view)
    assert rate == 8000
    assert sound.dtype == np.float32
    assert np.abs(sound).max() <= 1.0
    np.testing.assert_array_equal(dataset.sound_of_view("audio", view)[1], sound)
    again = dataset.view_of_sound("audio", (rate, sound)).view[0].numpy()
    assert np.corrcoef(again.ravel(), view.ravel())[0, 1] > 0.9
    assert not dataset.sound_of_view("audio", np.zeros_like(view))[1].any()
    for name, wrong in (("image", view), ("audio", view[:, 1:])):
        with pytest.raises(SpecError, match=r"shows no sound|one view"):
            dataset.sound_of_view(name, wrong)
