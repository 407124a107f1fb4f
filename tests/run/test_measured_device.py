"""A run is measured on the device of its training. Where there is no CUDA device, one is pretended: see `Pretended`."""

import shutil
from contextlib import contextmanager

import pytest
import torch
from torch import nn
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils._pytree import tree_flatten

from molyneux.core import seeds, store
from molyneux.learn import MVAE
from molyneux.run import read_experiment, run_experiment
from molyneux.run.run import steps

CUDA = torch.device("cuda", 0)


def marked(value):
    return isinstance(value, torch.Tensor) and getattr(value, "pretended", False)


def mark(value, device=CUDA):
    """A tensor, and all within plain containers, as one of a device."""

    if isinstance(value, torch.Tensor):
        value.pretended = device is CUDA
    elif isinstance(value, list | tuple):
        for item in value:
            mark(item, device)
    return value


def wants(value):
    return isinstance(value, str | torch.device) and torch.device(value).type == "cuda"


class Pretended(TorchFunctionMode):
    """Tensors on the processor that behave as those of a CUDA device: they mix with no others, and have no NumPy array.

    As with CUDA, numbers (tensors without axes) of the processor mix with them, positions of the processor index them, and
    `copy_` copies from one to the other.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs, name = dict(kwargs or {}), getattr(func, "__name__", "")
        if (name == "__get__" and resolve_name(func) == "torch.Tensor.device.__get__") or func is torch.Tensor.device.__get__:
            return CUDA if marked(args[0]) else func(*args, **kwargs)
        if name in ("to", "cpu", "cuda"):
            return self._moved(func, name, args, kwargs)
        there = wants(kwargs.get("device"))
        if there:
            kwargs["device"] = "cpu"
        tensors = [item for item in tree_flatten((args, kwargs))[0] if isinstance(item, torch.Tensor)]
        some = any(map(marked, tensors))
        if some and name in ("numpy", "__array__"):
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        if some and name in ("__getitem__", "__setitem__", "index_put", "index_put_"):
            if not marked(args[0]):
                raise RuntimeError(f"{name}: positions on a device for a tensor of the processor")
        elif some and name not in ("copy_", "set_", "__set__", "new_tensor", "type_as"):
            plain = [item for item in tensors if not marked(item) and item.ndim and item.numel()]
            if plain and not func_is_attribute(func):
                raise RuntimeError(f"{resolve_name(func) or name}: expected all tensors on one device, got some on the processor")
        found = func(*args, **kwargs)
        return mark(found) if there or (some and (name != "copy_" or marked(args[0]))) else found

    def _moved(self, func, name, args, kwargs):
        others = [item for item in (*args[1:], *kwargs.values()) if isinstance(item, torch.Tensor)]
        asked = [item for item in (*args[1:], *kwargs.values()) if isinstance(item, str | torch.device)]
        kept = {"cpu": False, "cuda": True}.get(name, marked(args[0]))
        target = marked(others[0]) if others else wants(asked[0]) if asked else kept
        words = [torch.device("cpu") if wants(item) else item for item in args[1:]]
        named = {key: torch.device("cpu") if wants(item) else item for key, item in kwargs.items()}
        found = args[0] if name != "to" else func(args[0], *words, **named)
        if target is marked(args[0]):
            return mark(found, CUDA if target else None)
        return mark(found.detach().clone() if not found.requires_grad else found.clone(), CUDA if target else None)


def func_is_attribute(func):
    return getattr(func, "__name__", "") == "__get__"


@contextmanager
def pretended_device(monkeypatch):
    """Inside, modules are moved to and from the pretended device, and streams for it are drawn on the processor."""
    whole, streams = nn.Module.to, seeds.torch_generator

    def to(module, *where, **named):
        if not (where and isinstance(where[0], str | torch.device)):
            return whole(module, *where, **named)
        for tensor in (*module.parameters(), *module.buffers()):
            tensor.pretended = wants(where[0])
        return module

    with monkeypatch.context() as patch, Pretended():
        patch.setattr(nn.Module, "to", to)
        patch.setattr(seeds, "torch_generator", lambda seed, *names, device="cpu": streams(seed, *names))
        yield


def test_the_pretended_device_is_as_strict_as_a_real_one(monkeypatch):
    with pretended_device(monkeypatch):
        there, here = torch.arange(6.0, device="cuda").reshape(2, 3), torch.arange(6.0).reshape(2, 3)
        assert there.device == CUDA
        assert (there.cpu() + here).device.type == "cpu"
        assert (there[torch.tensor([1])] * torch.tensor(2.0)).sum().device == CUDA
        for wrong in (lambda: there + here, lambda: here[there[0].long() > 0], lambda: torch.cat([there, here])):
            with pytest.raises(RuntimeError):
                wrong()
        with pytest.raises(TypeError):
            there.numpy()
        assert here.to(there.device).device == CUDA


MEASURES = (
    *("coherence", "likelihood", "reconstruction", "latent_probe", "code_use", "synergy", "consistency", "clustering"),
    *("disentanglement", "galleries", "homotopy", "leakage", "posterior_gap", "projection", "robustness", "samplers"),
    *("shapley", "traversals", "fidelity"),
)


def toy_run(*measures):
    learn = {"model": {"class_path": "MVAE", "init_args": {"latent_dim": 4}}, "steps": 4, "batch_size": 50, "tensorboard": False}
    data = {"world": "toy.Toy", "train": 600, "validation": 100, "test": 120}
    return read_experiment({"seed": 3, "data": data, "learn": learn, "measure": [*measures], "report": []})


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained") / "run"
    run_experiment(toy_run("coherence"), folder, steps=("data", "learn"))
    return folder


@pytest.mark.parametrize("name", MEASURES)
def test_measures_compute_on_the_device_of_the_model(name, trained, tmp_path, monkeypatch):
    folder, devices = tmp_path / "run", set()
    shutil.copytree(trained, folder)
    monkeypatch.setattr(steps, "device_after", lambda training: "cuda")
    observe = MVAE.observe

    def watched(self, batch, names=None):
        devices.update(view.device.type for view in batch.views.values())
        return observe(self, batch, names)

    monkeypatch.setattr(MVAE, "observe", watched)
    with pretended_device(monkeypatch):
        run_experiment(toy_run(name), folder, steps=("measure",))
    assert devices <= {"cuda"}
    assert store.read_stage(folder / "measure")["details"]["device"] == "cuda"
