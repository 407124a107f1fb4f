import importlib.util
import socket
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*given, **named):
        raise AssertionError("the network was asked for")

    for name in ("create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(scope="session")
def tiny():
    """The module that makes tiny models."""
    pytest.importorskip("transformers")
    spec = importlib.util.spec_from_file_location("tiny_models", Path(__file__).with_name("tiny_models.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def folder(tiny, tmp_path_factory):
    """Gives the folder of a tiny model by its name, made once."""
    root = tmp_path_factory.mktemp("pretrained")

    def find(name):
        return root / name if (root / name).exists() else getattr(tiny, name)(root / name)

    return find
