"""The command `check`: all that is wrong with data in files, with the lines, before anything is trained on them."""

from __future__ import annotations

from pathlib import Path

from molyneux.cli.names import is_document, values
from molyneux.cli.parser import Arguments, say, say_json, told_warnings
from molyneux.core import ConfigError
from molyneux.data import OwnDataset, check_data, guessed_data


def check(arguments: Arguments) -> int:
    """`molyneux check DATA`: status 0 if nothing is wrong, 1 if something is."""
    options, given = arguments.options, values(arguments)
    path, settings = Path(options.data), ""
    if is_document(options.data):
        from molyneux.run import judged_data

        with told_warnings():
            data = judged_data(path, given)[""]
        if not isinstance(data, OwnDataset):
            raise ConfigError(f"expected an experiment on data in files, got {data.name} in {path}: there are no files to check")
    else:
        data, settings = guessed_data(path, {name.replace("-", "_"): value for name, value in given})
    found = check_data(data, settings=settings)
    if arguments.json:
        say_json(found.to_json())
    else:
        for line in found.lines(everything=options.all):
            say(line)
    return 0 if found.clean else 1
