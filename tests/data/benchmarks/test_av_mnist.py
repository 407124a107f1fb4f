"""AV-MNIST: pictures, sounds and their mixture against independent computation, and the bytes of the real data."""

import gzip
import hashlib
import os
import pickle
import struct
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import soundfile
import torch
from scipy.io import wavfile
from scipy.signal import spectrogram
from sklearn.decomposition import PCA

from molyneux.core import ConfigError, CorruptFileError, StoreError
from molyneux.data import AVMNIST, store_samples
from molyneux.data.benchmarks.av_mnist import sounds
from molyneux.data.benchmarks.digits import images as digits
from molyneux.data.benchmarks.digits.images import FILES

SPEAKERS = ("anna", "ben", "carl")
CLIPS = ("001-dog_bark", "002-rain")
REAL = {
    "train view.image": "bc3a4440b6cda9bd",
    "train view.audio": "f5d99ead1cd8ba9c",
    "train target.label": "3264c6a4953bfe3e",
    "train factors": "fd36454ce532f765",
    "validation view.image": "3ecf3758bef34161",
    "validation view.audio": "d45c7f49922def33",
    "validation target.label": "df8f66d09f5ed639",
    "validation factors": "201a0d34a7375e56",
    "test view.image": "689a42add1e69762",
    "test view.audio": "40efa83e746dcf0e",
    "test target.label": "ea0659c4f334c2d3",
    "test factors": "d4144f3d552b0004",
}
"""Checksums of 200 samples of each split of the real data, by tensor."""


def write_idx(path, array):
    head = struct.pack(f">{1 + array.ndim}I", 0x0800 + array.ndim, *array.shape)
    path.write_bytes(gzip.compress(head + array.astype(np.uint8).tobytes()))


def tone(digit, take, speaker):
    """A recording whose pitch is its digit, take and speaker."""
    length = 3000 + 40 * take + 100 * speaker
    wave = np.sin(2 * np.pi * (300 + 300 * digit + take) * np.arange(length) / 8000) * (1000 + 500 * speaker)
    return np.rint(wave).astype(np.int16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of all parts in their published layout: 6,000 pictures to train and validate, 200 to test."""
    root, rng = tmp_path_factory.mktemp("parts"), np.random.default_rng(0)
    for part in ("mnist", "fsdd/recordings", *(f"esc-10/{name}" for name in CLIPS)):
        (root / part).mkdir(parents=True)
    for names, count in ((FILES[:2], 6000), (FILES[2:], 200)):
        labels = rng.integers(0, 10, count)
        waves = np.sin(np.arange(28)[:, None] * (labels[:, None, None] + 1) / 7 + np.arange(28) / 5)
        write_idx(
            root / "mnist" / names[0], np.clip(127 + 90 * waves + rng.normal(0, 20, (count, 28, 28)), 0, 255).astype(np.uint8)
        )
        write_idx(root / "mnist" / names[1], labels)
    for digit in range(10):
        for place, speaker in enumerate(SPEAKERS):
            for take in (0, 20, 36, 39, 40, 49):
                wavfile.write(root / "fsdd/recordings" / f"{digit}_{speaker}_{take}.wav", 8000, tone(digit, take, place))
    for name in CLIPS:
        for fold in range(1, 6):
            sound = np.concatenate([rng.normal(0, 0.1, 30_000), np.zeros(20_000), rng.normal(0, 0.1, 80_000)])
            soundfile.write(root / "esc-10" / name / f"{fold}-{fold}00-A.ogg", sound, 44_100, format="OGG", subtype="VORBIS")
    return root


@pytest.fixture(scope="module")
def made(folder):
    """Data sets by their settings, each made once."""
    found = {}

    def make(**settings):
        return found.setdefault(tuple(sorted(settings.items())), AVMNIST(folder, **settings))

    return make


def heard(data, split, count=None):
    """Digit, speaker and take of the recording of each sample of a split, in the order of the pictures."""
    chosen = data._pairings[split].recordings[:count]
    found = data._recordings
    return found.digits[chosen], found.speakers[chosen], found.numbers[chosen]


@pytest.mark.parametrize(("energy", "reaching"), [(0.25, True), (0.25, False), (0.7, True), (0.999, True), (1.0, True)])
def test_pictures_keep_the_components_that_scikit_learn_finds(energy, reaching):
    rng = np.random.default_rng(1)
    images = np.clip(rng.normal(0, 1, (400, 6)) @ rng.normal(0, 30, (6, 40)) + 128 + rng.normal(0, 5, (400, 40)), 0, 255)
    images = images.astype(np.uint8)
    training = images[:300]
    found = digits.without_energy(images, digits.principal_components(training, energy, reaching=reaching))
    if energy == 1.0:
        assert (found == images).all()
        return
    model = PCA(svd_solver="full").fit(training.astype(float))
    shares = model.explained_variance_ratio_.cumsum()
    count = int((shares < energy).sum()) + int(reaching)
    codes = model.transform(images.astype(float))
    codes[:, count:] = 0
    expected = np.clip(np.rint(model.inverse_transform(codes)), 0, 255)
    assert (np.abs(found - expected) <= 1).all()
    assert (found == expected).mean() > 0.999
    assert not reaching or shares[count - 1] >= energy


def test_spectrograms_are_those_of_scipy():
    rng = np.random.default_rng(0)
    waves = rng.normal(0, 1, (70, 8000)) + 5 * np.sin(2 * np.pi * 1000 * np.arange(8000) / 8000)
    found = sounds.spectrograms(waves)
    assert found.shape == (70, 112, 112)
    _, _, power = spectrogram(waves, nperseg=222, noverlap=152, window="hann", detrend=False, scaling="spectrum", mode="psd")
    power = power * np.r_[1, np.full(110, 0.5), 1][:, None]  # SciPy counts negative frequencies of a real signal in positive ones
    power = power[..., :112]
    level = (10 * np.log10(power / power.max((1, 2), keepdims=True))).clip(-60, 0)
    expected = np.rint(255 * (1 + level / 60))[:, ::-1]
    assert np.abs(found - expected).max() <= 1
    assert (found == expected).mean() > 0.999
    row = found.mean((0, 2)).argmax()
    assert (111 - row) * 8000 / 222 == pytest.approx(1000, abs=20)  # high frequencies are above
    assert not sounds.spectrograms(np.zeros((1, 8000))).any()


@pytest.mark.parametrize("ratio", [-20.0, -3.0, 0.0, 12.0])
def test_noise_has_the_stated_power_in_every_sound(ratio):
    rng = np.random.default_rng(2)
    lengths = np.array([8000, 2000, 500])
    speech = (rng.normal(0, 900, (3, 8000)) * (np.arange(8000) < lengths[:, None])).astype(np.int16)
    noise = rng.normal(0, [[50], [400], [3000]], (3, 8000)).astype(np.int16)
    mixture = sounds.mixed(speech, lengths, noise, ratio).astype(float)
    for row, length in enumerate(lengths):
        parts = np.stack([speech[row], noise[row]], 1).astype(float)
        gains, rest, *_ = np.linalg.lstsq(parts, mixture[row], rcond=None)
        spoken = ((gains[0] * parts[:length, 0]) ** 2).mean()
        added = ((gains[1] * parts[:, 1]) ** 2).mean()
        assert spoken == pytest.approx(1, rel=1e-4)
        assert 10 * np.log10(spoken / added) == pytest.approx(ratio, abs=1e-3)
        assert rest < 1e-4


@pytest.mark.parametrize("division", ["published", "separate", "speakers"])
def test_sound_and_picture_are_of_one_digit_and_splits_share_no_test_recording(made, division):
    data = made(recordings=division)
    assert data.splits == {"train": 1000, "validation": 5000, "test": 200}
    takes = {}
    for split, size in data.splits.items():
        batch = data.rows(np.arange(min(size, 200)), split)
        said, speakers, numbers = heard(data, split)
        assert (said == data._pairings[split].labels).all()
        assert torch.equal(batch.targets["label"], batch.factors[:, 0])
        assert (batch.factors[:, 0].numpy() == said[:200]).all()
        assert (batch.factors[:, 1].numpy() == speakers[:200]).all()
        takes[split] = set(zip(said, speakers, numbers, strict=True))
    assert not takes["test"] & (takes["train"] | takes["validation"])
    if division == "published":
        assert {take for *_, take in takes["train"]} == {take for *_, take in takes["validation"]} == {0, 20, 36, 39}
        assert {take for *_, take in takes["test"]} == {40, 49}
    elif division == "separate":
        assert {take for *_, take in takes["validation"]} == {36, 39}
        assert not takes["train"] & takes["validation"]
    else:
        assert [{speaker for _, speaker, _ in takes[split]} for split in takes] == [{0}, {1}, {2}]


def test_recordings_of_a_digit_are_dealt_out_in_turn(made):
    data = made()
    said, speakers, numbers = heard(data, "validation")
    for digit in range(10):
        used = np.flatnonzero(said == digit)
        pairs = list(zip(speakers[used], numbers[used], strict=True))
        counts = [pairs.count(pair) for pair in set(pairs)]
        assert len(counts) == 12  # 3 speakers, 4 takes
        assert max(counts) - min(counts) <= 1
    other = heard(made(pairing_seed=1), "validation")
    assert (other[2] != numbers).any()


def test_noise_of_the_test_split_is_of_another_fold(made):
    data = made(snr=-60.0, recordings="separate")
    clips, folds = data._clips, {"train": {1, 2, 3}, "validation": {4}, "test": {5}}
    for split, expected in folds.items():
        waves = data.waves(np.arange(20), split)
        used = set()
        for wave in waves:  # which clip holds the stretch that is all but heard alone
            place = [
                np.corrcoef(wave, part)[0, 1]
                for number in range(len(clips.paths))
                for part in [best_stretch(clips.sound(number), wave)]
            ]
            used.add(int(clips.folds[int(np.argmax(place))]))
            assert max(place) > 0.99
        assert used <= expected
    assert min(len(clips.sound(number)) for number in range(len(clips.paths))) >= 8000


def best_stretch(clip, wave):
    """The 8,000 samples of a clip that are most like a sound."""
    match = np.fft.irfft(np.fft.rfft(clip, 1 << 16) * np.conj(np.fft.rfft(wave, 1 << 16)))
    start = int(match[: len(clip) - 7999].argmax())
    return clip[start : start + 8000]


def test_silent_stretches_of_a_clip_are_left_out(made):
    clips = made()._clips
    assert clips.names == CLIPS
    seconds = np.array([len(clips.sound(number)) for number in range(len(clips.paths))]) / 8000
    assert seconds == pytest.approx(110_000 / 44_100, abs=0.06)


def test_without_noise_a_sound_is_its_recording(made):
    data = made(snr="published")
    assert [factor.name for factor in data.spec.factors] == ["digit", "speaker"]
    said, speakers, takes = (part[:5] for part in heard(data, "test"))
    for wave, *which in zip(data.waves(np.arange(5), "test"), said, takes, speakers, strict=True):
        expected = tone(*which)
        assert (wave[: len(expected)] == expected).all()
        assert not wave[len(expected) :].any()
    published = made(energy="published")._pairings["test"].images
    reaching = made()._pairings["test"].images
    assert np.linalg.matrix_rank(published - published.mean(0), tol=400) < np.linalg.matrix_rank(
        reaching - reaching.mean(0), tol=400
    )


def test_any_order_and_process_gives_the_same_bytes(made):
    data = made()
    rows = np.random.default_rng(0).permutation(150)
    whole = data.source("test", 150, seed=2).batch(np.arange(150)).check(data.spec)
    other = pickle.loads(pickle.dumps(data)).source("test", 150, seed=2).batch(rows)
    for name, tensor in whole.tensors().items():
        assert torch.equal(other.tensors()[name], tensor[torch.from_numpy(rows)]), name
    seeds = [data.source("test", seed=seed).batch(np.arange(200)).targets["label"] for seed in (2, 3)]
    assert not torch.equal(*seeds)
    assert torch.equal(seeds[0].sort().values, seeds[1].sort().values)


def test_it_can_be_stored(made, tmp_path):
    source = made().source("test", 40, seed=0)
    stored = store_samples(source, tmp_path / "stored", chunk=16)
    assert torch.equal(stored.batch(np.arange(40)).views["audio"], source.batch(np.arange(40)).views["audio"])
    assert dict(stored.origin)["settings"]["files"].keys() == {"mnist", "fsdd", "esc-10"}


def test_settings_that_cannot_be_used_are_told_at_once(tmp_path):
    with pytest.raises(ConfigError) as caught:
        AVMNIST(tmp_path, energy=0.0, snr="loud", recordings="speaker")
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["recordings", "energy", "snr"]


def test_missing_and_damaged_files_are_named(folder, tmp_path):
    with pytest.raises(StoreError, match=r"expected mnist/train-images-idx3-ubyte\.gz.* nothing is downloaded"):
        _ = AVMNIST(tmp_path).splits
    for name in FILES:
        (tmp_path / "mnist").mkdir(exist_ok=True)
        (tmp_path / "mnist" / name).write_bytes((folder / "mnist" / name).read_bytes())
    with pytest.raises(StoreError, match=r"expected \{digit\}_\{speaker\}_\{n\}\.wav in .*got none"):
        _ = AVMNIST(tmp_path).splits
    (tmp_path / "fsdd").symlink_to(folder / "fsdd")
    with pytest.raises(StoreError, match=r"in .*esc-10, got none"):
        AVMNIST(tmp_path).source("test", 3).batch(np.arange(3))
    assert len(AVMNIST(tmp_path, snr="published").source("test", 3).batch(np.arange(3))) == 3
    labels = tmp_path / "mnist" / FILES[1]
    labels.write_bytes(labels.read_bytes()[:-20])
    with pytest.raises(CorruptFileError, match=r"train-labels.*: expected an IDX file of 1 axes"):
        _ = AVMNIST(tmp_path).splits
    write_idx(labels, np.zeros((2, 2)))
    with pytest.raises(CorruptFileError, match="its first number is 2050"):
        _ = AVMNIST(tmp_path).splits
    write_idx(labels, np.zeros(7))
    with pytest.raises(CorruptFileError, match=r"a class 0\.\.9 for each, got"):
        _ = AVMNIST(tmp_path).splits
    labels.write_bytes(b"no archive")
    with pytest.raises(CorruptFileError, match="expected a file compressed by gzip"):
        _ = AVMNIST(tmp_path).splits


def test_sounds_that_cannot_be_used_are_named(tmp_path):
    path = tmp_path / "3_anna_0.wav"
    wavfile.write(path, 16_000, np.zeros(100, np.int16))
    with pytest.raises(CorruptFileError, match="expected one channel of 16 bits at 8000 Hz, got int16"):
        sounds.read_recordings([path])
    path.write_bytes(b"noise")
    with pytest.raises(CorruptFileError, match="expected a recording as WAV"):
        sounds.read_recordings([path])
    (tmp_path / "rain").mkdir()
    clip = tmp_path / "rain" / "1-1-A.ogg"
    clip.write_bytes(b"noise")
    with pytest.raises(CorruptFileError, match="expected a sound as Ogg Vorbis"):
        sounds.Clips([clip]).sound(0)
    soundfile.write(clip, np.zeros(44_100), 44_100, format="OGG", subtype="VORBIS")
    with pytest.raises(CorruptFileError, match=r"1-1-A\.ogg: expected a clip with sound in it"):
        sounds.Clips([clip]).sound(0)


@pytest.mark.kernels
@pytest.mark.realdata
@pytest.mark.skipif("MOLYNEUX_DATA" not in os.environ, reason="MOLYNEUX_DATA is not set")
def test_the_bytes_of_the_real_data_stay_as_they_are():
    """A change of bytes is a new version of the data set."""
    data = AVMNIST()
    assert data.splits == {"train": 55_000, "validation": 5_000, "test": 10_000}
    assert data.settings["files"] == {"mnist": "f72ea1f492452635", "fsdd": "63b4d63c57b3590c", "esc-10": "74d3197c631e581f"}
    assert data.spec.factor("speaker").values == ("george", "jackson", "lucas", "nicolas", "theo", "yweweler")
    found = {}
    for split in data.splits:
        batch = data.rows(np.arange(0, 5000, 25), split)
        for name, tensor in batch.tensors().items():
            digest = hashlib.blake2b(tensor.contiguous().numpy().tobytes(), digest_size=8)
            found[f"{split} {name}"] = digest.hexdigest()
    assert found == REAL


@pytest.mark.kernels
@pytest.mark.realdata
@pytest.mark.skipif("MOLYNEUX_DATA" not in os.environ, reason="MOLYNEUX_DATA is not set")
@pytest.mark.parametrize(("energy", "reaching"), [(0.25, True), (0.25, False), (0.9, True)])
def test_no_pixel_lies_near_a_border_of_rounding(energy, reaching):
    """Processors differ in the last bits of components, as two algorithms do: by far less than any pixel is from a border."""
    folder = Path(os.environ["MOLYNEUX_DATA"]) / "mnist"
    train, test = (
        digits.read_digits(*(folder / name for name in digits.idx_files(folder, part))) for part in (FILES[:2], FILES[2:])
    )
    mean, kept = digits.principal_components(train.images[:55_000], energy, reaching=reaching)
    covariance = np.cov(train.images[:55_000].T.astype(np.float64), bias=True)
    other = scipy.linalg.eigh(covariance, driver="ev")[1][:, ::-1][:, : kept.shape[1]]
    nearest, error = 1.0, 0.0
    for images in (train.images, test.images):
        for start in range(0, len(images), 4096):
            pixels = (images[start : start + 4096] - mean) @ kept @ kept.T + mean
            shown = (pixels > -0.6) & (pixels < 255.6)
            nearest = min(nearest, np.abs(pixels - np.floor(pixels) - 0.5)[shown].min())
            error = max(error, np.abs((images[start : start + 64] - mean) @ other @ other.T + mean - pixels[:64]).max())
    assert error < 1e-10
    assert nearest > 1e-9
