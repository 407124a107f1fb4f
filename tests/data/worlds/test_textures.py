from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image

from molyneux.core import DataError, StoreError
from molyneux.data.worlds import textures
from molyneux.data.worlds.textures import PARAMETERS, PATTERNS, _pattern


@pytest.fixture(scope="module")
def bank():
    return textures.procedural(64).all()


def test_thousands_of_distinct_textures(bank):
    assert bank.shape == (4096, 64, 64)
    assert len({texture.tobytes() for texture in bank}) == 4096
    small = bank.reshape(4096, 8, 8, 8, 8).mean((2, 4)).reshape(4096, 64)
    some = small[:1000] - small[:1000].mean(1, keepdims=True)
    norm = np.linalg.norm(some, axis=1)
    alike = (some @ some.T) / np.maximum(np.outer(norm, norm), 1e-9)
    assert np.median(np.abs(alike[~np.eye(1000, dtype=bool)])) < 0.2


def test_every_texture_is_stretched(bank):
    assert (bank.min((1, 2)) == 0).all()
    assert (bank.max((1, 2)) == 255).all()


def test_textures_vary_in_scale_and_brightness(bank):
    mean = bank.mean((1, 2))
    steps = np.abs(np.diff(bank.astype(float), axis=2)).mean((1, 2))
    assert mean.std() > 20
    assert np.quantile(steps, 0.95) > 5 * np.quantile(steps, 0.05)


def test_the_bank_is_always_the_same(bank):
    textures.procedural.cache_clear()
    assert np.array_equal(bank, textures.procedural(64).all())
    with pytest.raises(ValueError, match="read-only"):
        bank[0, 0, 0] = 1


def test_textures_are_drawn_when_they_are_needed(bank, monkeypatch):
    made, draw = [], textures.draw_patterns
    monkeypatch.setattr(textures, "draw_patterns", lambda family, *rest: made.append(len(family)) or draw(family, *rest))
    some = textures.ProceduralBank(64)
    numbers = np.array([7, 3, 4095, 7])
    assert np.array_equal(some.having(numbers)[numbers], bank[numbers])
    assert np.array_equal(some.having(np.array([3, 8]))[[3, 8]], bank[[3, 8]])
    assert made == [3, 1]


def test_threads_that_need_the_same_textures_draw_them_once(bank, monkeypatch):
    made, draw = [], textures.draw_patterns
    monkeypatch.setattr(textures, "draw_patterns", lambda family, *rest: made.append(len(family)) or draw(family, *rest))
    some, numbers = textures.ProceduralBank(64), np.arange(100, 400)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(some.having, [numbers] * 8):
            assert np.array_equal(found[numbers], bank[numbers])
    assert sum(made) == 300


def test_large_pictures_have_a_smaller_bank(monkeypatch):
    whole = textures.procedural(28).all()
    monkeypatch.setattr(textures, "MEMORY", 28 * 28 * 100)
    textures.procedural.cache_clear()
    some = textures.procedural(28).all()
    textures.procedural.cache_clear()
    assert len(whole) == 4096
    assert np.array_equal(some, whole[:100])


@pytest.mark.parametrize("family", range(len(PATTERNS)))
def test_patterns_have_no_seam(family):
    """Patterns live on the torus: a whole turn along either axis comes back to the same value."""
    rng = np.random.default_rng(family)
    for _ in range(20):
        numbers, key = rng.random(PARAMETERS), np.uint64(rng.integers(0, 1 << 62))
        for x, y in rng.random((20, 2)):
            value = _pattern(family, x, y, numbers, key)
            assert _pattern(family, x + 1.0, y, numbers, key) == pytest.approx(value, abs=1e-9)
            assert _pattern(family, x, y - 1.0, numbers, key) == pytest.approx(value, abs=1e-9)


def test_a_folder_of_pictures(tmp_path):
    ramp = np.tile(np.linspace(50, 150, 80).astype(np.uint8), (40, 1))
    (tmp_path / "b").mkdir()
    Image.fromarray(ramp).save(tmp_path / "b" / "ramp.png")
    Image.fromarray(np.stack([ramp] * 3, -1)[:, ::-1]).save(tmp_path / "a.jpg", quality=95)
    (tmp_path / "notes.txt").write_text("no picture")
    bank = textures.folder(tmp_path, 32)
    assert bank.shape == (2, 32, 32)
    assert (bank.min((1, 2)) == 0).all()
    assert (bank.max((1, 2)) == 255).all()
    assert (np.diff(bank[1].astype(int), axis=1) >= 0).all()
    digest = textures.folder_digest(tmp_path)
    (tmp_path / "b" / "ramp.png").rename(tmp_path / "c.png")
    assert textures.folder_digest(tmp_path) != digest


def test_a_digest_is_of_the_content(tmp_path):
    """Textures of the same names and sizes are others, too."""
    digests = set()
    for shade in (10, 20, 10):
        Image.fromarray(np.full((8, 8), shade, np.uint8)).save(tmp_path / "a.bmp")
        digests.add(textures.folder_digest(tmp_path))
    assert len(digests) == 2


def test_a_small_texture_is_as_bright_as_a_large_one(tmp_path):
    """Resizing softens the extremes, so pictures are stretched after it."""
    fine = np.full((64, 64), 100, np.uint8)
    fine[::7, ::5] = 250
    Image.fromarray(fine).save(tmp_path / "fine.png")
    small = textures.folder(tmp_path, 8)
    assert (small.min(), small.max()) == (0, 255)


def test_folders_that_cannot_be_used(tmp_path):
    with pytest.raises(StoreError, match="pictures"):
        textures.folder(tmp_path, 32)
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    with pytest.raises(DataError, match=r"broken\.png"):
        textures.folder(tmp_path, 32)
