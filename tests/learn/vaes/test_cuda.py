"""Every model is trained on a CUDA device, where there is one."""

import math

import pytest
import torch

from molyneux.data import ArraySource
from molyneux.learn import Training, fit
from molyneux.learn.vaes import MVAE

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


def trained(model, source, folder):
    settings = Training(steps=6, batch_size=16, device="cuda", tensorboard=False, keep="last")
    return fit(model, source, None, settings, folder, seed=1)


@pytest.mark.parametrize("count", [1, 3])
def test_a_model_is_trained_on_the_device_and_ends_on_the_processor(any_model, count, build, batch_of, tmp_path):
    model = build(any_model, count)
    batch = batch_of(model.spec, 48, missing=0.3 if count == 3 else 0.0)
    if count == 3:
        batch.present["image"][:] = True  # no sample without any
        batch.views["image"].copy_(batch_of(model.spec, 48).views["image"])
    before = {name: value.clone() for name, value in model.state_dict().items()}
    history = trained(model, ArraySource(model.spec, batch), tmp_path)
    assert all(math.isfinite(value) for name, value in history.rows[-1].items() if name.startswith("train/"))
    assert all(value.device.type == "cpu" for value in model.state_dict().values())
    assert any(not torch.equal(value, before[name]) for name, value in model.state_dict().items())
    codes = model.represent(batch_of(model.spec, 4))
    assert all(code.isfinite().all() for code in codes.values())


def test_the_step_after_the_training_is_done_on_the_device(build, batch_of, tmp_path, monkeypatch):
    devices = []

    def watched(self, source, *, seed, kept=None):
        devices.append(next(self.parameters()).device.type)

    monkeypatch.setattr(MVAE, "post_fit", watched)
    model = build(MVAE, 2)
    trained(model, ArraySource(model.spec, batch_of(model.spec, 48)), tmp_path)
    assert devices == ["cuda"]
