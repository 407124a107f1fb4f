"""Models from outside: their scores stand in a folder like a run's, and what cannot be done with it is said in a sentence."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from molyneux.cli import main
from molyneux.core import SpecError, StoreError
from molyneux.learn import WrappedEncoder
from molyneux.run import export_run, measure_again, measure_model, open_experiment

DATA = {
    "data": {"world": "CdSprites", "modalities": ["image"], "train": 400, "validation": 20, "test": 200},
    "measure": ["latent_probe"],
}


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], str]:
    """Names a function as `module:function`."""

    def named(load: Callable[..., Any]) -> str:
        module = type(pytest)("outside_model")
        vars(module)["load"] = load
        monkeypatch.setitem(__import__("sys").modules, "outside_model", module)
        return "outside_model:load"

    return named


def encoder(spec: Any, width: int = 3 * 64 * 64) -> nn.Module:
    return WrappedEncoder(spec, {"image": nn.Sequential(nn.Flatten(), nn.Linear(width, 4))})


def test_its_folder_is_no_run_that_can_be_exported_or_measured_again(
    tmp_path: Path, loader: Callable[[Callable[..., Any]], str]
) -> None:
    name, out = loader(encoder), tmp_path / "measured"
    assert measure_model(name, DATA, out=out).scores
    for call in (open_experiment, measure_again, lambda path: export_run(path, tmp_path / "export")):
        with pytest.raises(StoreError, match=r"scores of a model that outside_model:load loads.*cannot be exported"):
            call(out)
    assert not (tmp_path / "export").exists()


def test_a_module_that_does_not_fit_is_named_with_what_it_was_given(loader: Callable[[Callable[..., Any]], str]) -> None:
    name = loader(lambda spec: encoder(spec, width=7))
    with pytest.raises(SpecError, match=r"the encoder of image failed on \(\d+, 3, 64, 64\): RuntimeError: mat1 and mat2"):
        measure_model(name, DATA)


@pytest.mark.parametrize(
    ("load", "measures"), [(lambda spec: nn.Flatten(), ["latent_probe", "coherence"]), (encoder, ["coherence"])]
)
def test_if_nothing_can_be_measured_the_status_says_so(
    load: Callable[..., Any],
    measures: list[str],
    tmp_path: Path,
    loader: Callable[[Callable[..., Any]], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "samples.json.yaml"
    path.write_text(json.dumps({**DATA, "measure": measures}), encoding="utf-8")
    assert main(["measure", "--model", loader(load), "--data", str(path), "--quiet"]) == 1
    told = capsys.readouterr().err
    assert "nothing could be measured" in told
    assert "molyneux.learn.WrappedEncoder" in told
