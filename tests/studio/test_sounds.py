"""Sounds of views, as files that a browser plays."""

import io
import wave

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, Modality
from molyneux.data import AVMNIST, CdSprites, SpokenDigits
from molyneux.studio.sounds import hears, wav_given, wav_of

TONE = np.sin(2 * np.pi * 700 * np.arange(8000) / 8000)


def opened(content):
    with wave.open(io.BytesIO(content)) as read:
        samples = np.frombuffer(read.readframes(read.getnframes()), "<i2").reshape(-1, read.getnchannels())
        return read.getframerate(), samples


def test_a_sound_of_known_rate_is_a_file():
    rate, samples = opened(wav_of(Modality("sound", "audio", (2, 100), rate=16_000), torch.rand(2, 100) - 0.5, None))
    assert (rate, samples.shape) == (16_000, (100, 2))


def test_a_sound_of_unknown_rate_is_refused():
    with pytest.raises(ConfigError, match="how many samples a second"):
        wav_of(Modality("sound", "audio", (1, 100)), torch.zeros(1, 100), None)


@pytest.mark.parametrize("dataset", [SpokenDigits(), AVMNIST()])
def test_a_picture_of_a_sound_is_played_as_what_it_shows(dataset):
    view = dataset.view_of_sound("audio", TONE, rate=8000).view[0]
    rate, samples = opened(wav_of(Modality("audio", "image", tuple(view.shape), "uint8"), view, dataset))
    assert rate == 8000
    found = np.abs(np.fft.rfft(samples[:5000, 0]))
    assert abs(found.argmax() * 8000 / 5000 - 700) < 60


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint8, np.float32])
def test_recordings_of_every_type_keep_their_form(dtype):
    scaled = TONE if dtype == np.float32 else (TONE * 127 + 128 if dtype == np.uint8 else TONE * np.iinfo(dtype).max)
    rate, samples = opened(wav_given(8000, scaled.astype(dtype)))
    assert rate == 8000
    np.testing.assert_allclose(samples[:, 0] / 32767, TONE, atol=0.02)


def test_who_hears():
    picture = Modality("image", "image", (1, 28, 28), "uint8")
    assert hears(Modality("audio", "image", (1, 32, 32), "uint8"), SpokenDigits())
    assert not hears(picture, SpokenDigits())
    assert not hears(picture, CdSprites())
    assert hears(Modality("sound", "audio", (1, 8)), None)
