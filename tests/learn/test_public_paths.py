"""Classes whose files moved keep the paths by which settings, runs and records name them."""

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

from molyneux.core.config import Factory, build, plain
from molyneux.core.tooling.classes import find_class, public_path
from molyneux.learn import PUBLIC_PATHS
from molyneux.learn.encoders import PaperCNN, ViewEncoder
from molyneux.learn.encoders.nets import Net, Patches

RESULTS = Path(__file__).parents[2] / "studies" / "results"


@pytest.mark.parametrize(("kept", "place"), PUBLIC_PATHS.items())
def test_a_kept_path_leads_to_the_class_and_back(kept, place):
    module, _, name = place.rpartition(".")
    is_module = importlib.util.find_spec(module) is not None and importlib.util.find_spec(f"{module}.{name}") is not None
    found = importlib.import_module(place) if is_module else getattr(importlib.import_module(module), name)
    classes = [(kept, found)] if isinstance(found, type) else [(f"{kept}.{name}", getattr(found, name)) for name in found.__all__]
    classes = [(path, item) for path, item in classes if isinstance(item, type) and item.__module__.startswith("molyneux.learn")]
    assert classes
    for path, item in classes:
        assert public_path(item) == PUBLIC_PATHS_OF_CLASSES.get(item, path)
        assert find_class(path, item) is item


PUBLIC_PATHS_OF_CLASSES = {
    getattr(importlib.import_module(place.rpartition(".")[0]), place.rpartition(".")[2]): kept
    for kept, place in PUBLIC_PATHS.items()
    if place.rpartition(".")[2][0].isupper()
}
"""Classes with a path of their own, which goes before that of their package."""


@pytest.mark.parametrize("path", ["Patches", "molyneux.learn.nets.Patches", "molyneux.learn.encoders.nets.Patches"])
def test_each_path_of_a_class_is_one_setting(path):
    built = build(Factory[Net], {"class_path": path}, "net")
    assert built.value.target is Patches
    assert built.plain["class_path"] == plain(Patches())["class_path"] == "molyneux.learn.nets.Patches"
    assert find_class("molyneux.learn.predictors.PaperCNN", ViewEncoder) is PaperCNN


def test_records_name_no_class_by_another_path():
    names = {
        name for path in RESULTS.rglob("records.jsonl") for name in re.findall(r'"(molyneux\.learn\.[\w.]+)"', path.read_text())
    }
    assert len(names) > 50
    for name in sorted(names):
        found = find_class(name, object)
        assert public_path(found) == name
