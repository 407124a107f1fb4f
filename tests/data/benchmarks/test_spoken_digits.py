"""Spoken digits: sound, image and word are of one digit, recordings stay apart; spectrograms against a loop; real bytes."""

import hashlib
import os
import shutil

import numpy as np
import pytest
import torch
from scipy.signal import spectrogram

from molyneux.core import ConfigError, DataError, Factor, StoreError, views
from molyneux.data import SpokenDigits
from molyneux.data.benchmarks import spoken_digits
from molyneux.data.benchmarks.av_mnist import sounds
from molyneux.data.benchmarks.digits import samples as words

REAL = {"train": "bc34cdc58dba5bd2", "validation": "88c3b7e196d0684a", "test": "79176c906a1218d9"}
"""Checksums of all tensors of 100 samples of the real data."""


def test_mel_spectrograms_are_those_of_scipy_and_of_triangles():
    rng = np.random.default_rng(0)
    waves = rng.normal(0, 1, (3, 8000)) + 6 * np.sin(2 * np.pi * 1000 * np.arange(8000) / 8000)
    frequencies, _, power = spectrogram(
        waves[:, :6000], fs=8000, nperseg=256, noverlap=256 - 185, window="hann", detrend=False, scaling="spectrum", mode="psd"
    )
    power = power[..., :32] * np.r_[1, np.full(127, 0.5), 1][:, None]  # SciPy counts negative frequencies in positive ones
    corners = [700 * (10 ** (mels / 2595) - 1) for mels in np.linspace(0, 2595 * np.log10(1 + 4000 / 700), 34)]
    triangles = [np.interp(frequencies, corners[band : band + 3], [0, 1, 0]) for band in range(32)]
    bands = np.stack([(power * weights[:, None]).sum(1) for weights in triangles], 1)
    level = (10 * np.log10(bands / bands.max((1, 2), keepdims=True))).clip(-60, 0)
    expected = np.rint(255 * (1 + level / 60))[:, ::-1]
    found = spoken_digits.mel_pictures(waves)
    assert found.shape == (3, 32, 32)
    assert np.abs(found - expected).max() <= 1
    assert (found == expected).mean() > 0.99
    peak = 31 - found.mean((0, 2)).argmax()
    assert corners[peak] < 1000 < corners[peak + 2]
    assert not spoken_digits.mel_pictures(np.zeros((1, 8000))).any()
    assert (spoken_digits.mel_filters().max(1) > 0.5).all()


@pytest.mark.parametrize("division", ["takes", "speakers"])
def test_the_senses_are_of_one_digit_and_no_recording_is_in_two_splits(twin, whole, division):
    dataset = SpokenDigits(twin("SpokenDigits").folder, recordings=division)
    spoken = sounds.read_recordings(dataset.many())
    pictures = [picture.tobytes() for picture in spoken_digits.mel_pictures(spoken.sounds)]
    assert len(set(pictures)) == len(pictures)
    heard = {}
    for split in dataset.splits:
        batch = whole(dataset, split)
        label, speaker = batch.factors.T.numpy()
        rows = np.array([pictures.index(picture.tobytes()) for picture in batch.views["audio"].numpy()])
        assert (spoken.digits[rows] == label).all()
        assert (spoken.speakers[rows] == speaker).all()
        text = dataset.spec.modality("text")
        assert views.text_strings(text, batch.views["text"]) == [words.WORDS[code] for code in label]
        assert torch.equal(batch.targets["label"], batch.factors[:, 0])
        heard[split] = set(rows.tolist())
        if division == "takes":
            taken = {"train": {10, 11}, "validation": {5}, "test": {0}}[split]
            assert set(spoken.numbers[rows].tolist()) == taken
        else:
            assert set(speaker.tolist()) == {{"train": 0, "validation": 1, "test": 2}[split]}
    assert not heard["train"] & heard["validation"]
    assert not heard["test"] & (heard["train"] | heard["validation"])


def test_words_are_read_exactly_wherever_they_stand():
    reader = words.word_reader(8, Factor("label", words.DIGITS))
    labels = np.repeat(np.arange(10), 4)
    starts = np.tile(np.arange(4), 10)
    texts = torch.from_numpy(words.placed_words(labels, starts, 8))
    shown = ["".join(words.SYMBOLS[symbol] for symbol in text) for text in texts.tolist()]
    assert shown == [f"{' ' * start}{words.WORDS[label]}".ljust(8) for label, start in zip(labels, starts, strict=True)]
    assert (reader.read(texts).codes[:, 0].numpy() == labels).all()
    texts[:, 0], texts[:, 7] = words.SYMBOLS.index("z"), words.SYMBOLS.index("z")
    wrong = reader.read(texts[1:])
    assert (wrong.codes == -1).all()
    assert len(wrong.reasons) == 39
    assert reader.accuracy == {"label": 1.0}


def test_readers_and_what_modalities_show(twin, whole):
    dataset = twin("SpokenDigits")
    batch = whole(dataset, "test")
    ((name, reader),) = dataset.readers().items()
    assert (name, reader.modality) == ("text", "text")
    assert torch.equal(reader.read(batch.views["text"]).codes[:, 0], batch.factors[:, 0])
    assert {dataset.visible(name) for name in dataset.spec.names} == {("label",)}
    material = dataset.judge_material("audio", "train", 1_000, seed=1).views
    assert (material.spec.names, len(material)) == (("audio",), dataset.splits["train"])


def test_missing_recordings_are_named(twin, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(twin("SpokenDigits").folder, folder)
    for path in folder.glob("fsdd/recordings/7_*_5.wav"):
        path.unlink()
    with pytest.raises(DataError, match=r"recordings of the split validation: expected at least one of class 7, got none"):
        _ = SpokenDigits(folder).spec
    shutil.rmtree(folder / "fsdd")
    with pytest.raises(StoreError, match=r"expected files fsdd/recordings/\*\.wav in .* nothing is downloaded"):
        _ = SpokenDigits(folder).spec
    with pytest.raises(ConfigError, match='did you mean "takes"'):
        SpokenDigits(folder, recordings="take")


@pytest.mark.kernels
@pytest.mark.realdata
@pytest.mark.skipif("MOLYNEUX_DATA" not in os.environ, reason="MOLYNEUX_DATA is not set")
def test_the_bytes_of_the_real_data_stay_as_they_are():
    """A change of bytes is a new version of the data set."""
    dataset, found = SpokenDigits(), {}
    assert dataset.splits == {"train": 55_000, "validation": 5_000, "test": 10_000}
    assert dataset.spec.factor("speaker").values == ("george", "jackson", "lucas", "nicolas", "theo", "yweweler")
    for split in dataset.splits:
        digest = hashlib.blake2b(digest_size=8)
        for tensor in dataset.rows(np.arange(0, 5_000, 50), split).tensors().values():
            digest.update(tensor.contiguous().numpy().tobytes())
        found[split] = digest.hexdigest()
    assert found == REAL
