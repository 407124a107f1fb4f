"""The command `check`: all that is wrong with an experiment, a study or data in files, before anything is trained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from molyneux.cli.names import is_document, values
from molyneux.cli.parser import Arguments, say, say_json, told_warnings

if TYPE_CHECKING:
    from molyneux.data import DataCheck


def check(arguments: Arguments) -> int:
    """`molyneux check FILE`: status 0 if nothing is wrong, 1 if something is."""
    options, given = arguments.options, values(arguments)
    path, told = Path(options.data), list[str]()
    if is_document(options.data):
        with told_warnings():
            found, told = _checked_document(path, given)
    else:
        from molyneux.data import check_data, guessed_data

        data, settings = guessed_data(path, {name.replace("-", "_"): value for name, value in given})
        found = check_data(data, settings=settings)
    if arguments.json:
        say_json({"clean": True, "name": path.name} if found is None else found.to_json())
        return 0 if found is None or found.clean else 1
    for line in [*(found.lines(everything=options.all) if found is not None else []), *told]:
        say(line)
    return 0 if found is None or found.clean else 1


def _checked_document(path: Path, given: list[tuple[str, Any]]) -> tuple[DataCheck | None, list[str]]:
    """What is found in the data of a file, if they are the user's own, and what else there is to say.

    Raises:
        ConfigError: settings that cannot be used.
    """
    from molyneux.cli.experiment_names import is_study
    from molyneux.core import ConfigError
    from molyneux.core.tooling.documents import read_document
    from molyneux.data import OwnDataset, check_data
    from molyneux.run import check_study, judged_data, load_experiment

    tree = read_document(path)
    if is_study(tree):
        if given:
            settings = ", ".join(f"--{name}" for name, _ in given)
            raise ConfigError(f"expected the settings of a study in its file, got {settings}: change {path}")
        runs = check_study(path)
        return None, [f"{path.name}: nothing wrong was found in a study of {runs:,} run{'s' * (runs != 1)}"]
    whole, data = "learn" in tree, None
    try:
        data = judged_data(path, given)[""]
    except ConfigError:
        if not whole:
            raise
    found = check_data(data) if isinstance(data, OwnDataset) else None
    if not whole:
        return found, [f"{path.name}: nothing wrong was found in the data"] * (found is None)
    if found is not None and found.errors:
        return found, []
    load_experiment(path, given)
    if found is not None:
        return found, ["The model and what is measured fit the data."]
    return None, [f"{path.name}: nothing wrong was found; the model and what is measured fit the data"]
