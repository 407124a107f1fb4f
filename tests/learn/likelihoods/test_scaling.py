import pytest

from molyneux.core import ConfigError, Modality, Spec
from molyneux.learn.likelihoods import likelihood_scales

LETTERS = tuple(" abcdefghijklmnopqrstuvwxyz")
CDSPRITES = Spec(
    (Modality("image", "image", (3, 64, 64), "uint8"), Modality("text", "text", (45,), "uint8", LETTERS, 0)),
)
DIGITS = Spec((Modality("mnist", "image", (1, 28, 28), "uint8"), Modality("svhn", "image", (3, 32, 32), "uint8")))


def test_automatic_scales():
    assert likelihood_scales(CDSPRITES, "auto") == {"image": pytest.approx(0.098877, abs=1e-6), "text": 1.0}
    assert likelihood_scales(DIGITS, "auto") == {"mnist": 1.0, "svhn": pytest.approx(0.255208, abs=1e-6)}


def test_no_scales_and_numbers():
    assert likelihood_scales(CDSPRITES, "none") == {"image": 1.0, "text": 1.0}
    assert likelihood_scales(CDSPRITES, {"text": 5}) == {"image": 1.0, "text": 5.0}


def test_all_problems_at_once():
    with pytest.raises(ConfigError) as caught:
        likelihood_scales(CDSPRITES, {"imag": 1.0, "text": -1.0})
    assert len(caught.value.problems) == 2
    assert 'did you mean "image"?' in str(caught.value)
    with pytest.raises(ConfigError, match="automatic"):
        likelihood_scales(CDSPRITES, "automatic")
