"""Opening a trained model, whatever it came from: one that comes with the package, a folder of a run or an export, a module."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from torch import nn

from molyneux.core import Dataset, MolyneuxError, Spec, SpecError, StoreError, files, nearest, store
from molyneux.core.config import package_alone
from molyneux.learn import load_spec
from molyneux.run.run.folder import open_experiment
from molyneux.run.run.making import stored_model
from molyneux.run.run.stored import has_run, remedy
from molyneux.run.sharing.whole import opened_export
from molyneux.run.trained.model import TrainedModel
from molyneux.run.trained.shipped import shipped_folder, shipped_names


def open_model(
    model: str | Path | nn.Module, *, data: Dataset | None = None, name: str = "", trust: bool = False
) -> TrainedModel:
    """A trained model, to generate, predict, encode, decode and score with.

    Nothing but the model is read: no samples, no judges, and no data set until a text is to be understood or a view read. Paths
    of the user's own data begin at the folder of an export, and at the working folder in a run.

    Args:
        model: the name of a model that comes with the package (`molyneux list pretrained`), the folder of a run or of an export,
            an address `hf://user/name@revision`, or a module that was just trained, with its Spec as `spec`.
        data: the world or data set of a module, which understands texts and has readers; a folder names its own.
        name: what it is called in results; by default that of the folder, or of the class.
        trust: whether classes that are not of this package are imported, which runs the code of whoever made the folder.

    Raises:
        StoreError: there is no such model, or the folder has none yet. CorruptFileError: a file of it was altered.
        ConfigError: its settings are no longer valid, or name a class that is not of this package, without `trust`.
        SpecError: a module without Spec.

    >>> open_model("cdsprites-level5").generate("image", text="small red heart at top left on light", seed=1)  # doctest: +SKIP
    Generated(1 of image from text 'small red heart at top left on light'; cdsprites-level5, seed 1)
    """
    if isinstance(model, nn.Module):
        return _of_module(model, data, name)
    with opened_export(_folder(model)) as folder:
        return _opened(folder, name, trust=trust)


def _opened(folder: Path, name: str, *, trust: bool) -> TrainedModel:
    experiment, stage = open_experiment(folder, trust=trust), folder / "model"
    if not store.is_file(stage / "stage.json"):
        raise StoreError(f"expected a trained model in {folder}, got none: run molyneux learn {folder} first")
    store.verify(stage, ("config.yaml", "spec.json", "weights.safetensors"), remedy=remedy(stage))
    spec = load_spec(stage)
    with package_alone(trust=trust):
        module = stored_model(experiment.learn, spec, experiment.seed, stage)
    module.eval()
    factory = experiment.data.benchmark or experiment.data.world
    world = "" if factory is None else str(getattr(factory.target, "name", ""))
    exported, judges = store.is_file(folder / "export.json"), experiment.measure.judges
    judges = {name: files.inside(folder, path) if exported else folder / path for name, path in judges.items()}
    own = name or (experiment.name if experiment.name != "experiment" else folder.resolve().name)
    place = folder.resolve() if exported else None
    return TrainedModel(own, module, spec, world, _once(lambda: _placed(experiment.data.dataset, place)), judges)


def _of_module(module: nn.Module, data: Dataset | None, name: str) -> TrainedModel:
    spec = getattr(module, "spec", None)
    if not isinstance(spec, Spec):
        raise SpecError(f"expected a model with the Spec it was built for in `spec`, got a {type(module).__name__} without")
    module.eval()
    return TrainedModel(name or type(module).__name__, module, spec, "" if data is None else data.name, lambda: data)


def _placed(dataset: Dataset | None, folder: Path | None) -> Dataset | None:
    """The user's own data of an export, whose paths begin at its folder wherever the process is when they are read."""
    if folder is None or dataset is None:
        return dataset
    from molyneux.data import OwnDataset  # many files, which a model of a world does without

    if not isinstance(dataset, OwnDataset):
        return dataset
    paths = {name: getattr(dataset, name, None) for name in ("path", "root")}
    moved: dict[str, Any] = {name: folder / path for name, path in paths.items() if isinstance(path, Path)}
    return replace(dataset, **moved)


def _once(make: Callable[[], Dataset | None]) -> Callable[[], Dataset | None]:
    """The data set of a run; None where it refuses its settings here, such as a benchmark whose files are not there."""

    @cache
    def made() -> Dataset | None:
        with suppress(MolyneuxError):
            return make()
        return None

    return made


def _folder(model: str | Path) -> Path:
    """The folder of a model by its name, path or address."""
    if isinstance(model, str) and model.startswith("hf://"):
        from molyneux.run.sharing.hub import fetched

        return fetched(model)
    if isinstance(model, str) and (shipped := shipped_folder(model)) is not None:
        return shipped
    folder = Path(model)
    if store.is_file(folder / "weights.safetensors"):
        raise StoreError(
            f"expected the folder of a run, got {folder}, which holds a model alone: name the folder of the run above it; "
            "what save_model wrote is made again by the class of the model, load_spec and load_weights, and given as a module"
        )
    if store.is_folder(folder) and has_run(folder):
        return folder
    known = shipped_names()
    if store.is_folder(folder):
        raise StoreError(f"expected the folder of a run, got {folder}, which has no config.yaml: name one made by molyneux run")
    raise StoreError(
        f"expected the name of a model or the folder of a run, got {str(model)!r}, which is neither; {nearest(str(model), known)}"
    )
