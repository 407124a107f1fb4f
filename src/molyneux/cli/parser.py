"""What can be said on the command line. Only the standard library is imported here, so that `--help` answers at once."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from molyneux.version import __version__

_GOES_ON = "the same command goes on where this stopped"
_KINDS = ("configs", "judges", "measures", "metrics", "models", "nets", "objectives", "worlds")


@dataclass(frozen=True)
class Arguments:
    """A command and what was said with it.

    Args:
        command: its name.
        options: the values of its own options.
        settings: further `--name value` pairs, as words, in order: settings of an experiment or a world.
        after_stop: what to say after Ctrl-C.
    """

    command: str
    options: argparse.Namespace
    settings: tuple[tuple[str, str], ...] = field(default=())
    after_stop: str = _GOES_ON

    @property
    def json(self) -> bool:
        """Whether the answer is read by a machine."""
        return bool(getattr(self.options, "json", False))


def parse(argv: Sequence[str]) -> Arguments:
    """Read a command line; ends the process with status 2 and a sentence where it cannot be read."""
    parser, commands = _parser()
    command = next((word for word in argv if not word.startswith("-")), "")
    taken: list[tuple[str, str]] = []
    rest = list(argv)
    if command in commands and commands[command].get_default("open_settings"):
        rest, taken = _split(rest, commands[command])
    options = parser.parse_args(rest)
    return Arguments(options.command, options, tuple(taken), options.after_stop)


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    about = "A laboratory for multimodal representation learning."
    parser = _Parser(prog="molyneux", description=about, allow_abbrev=False)
    parser.epilog = "molyneux COMMAND --help says more. MOLYNEUX_DEBUG=1 in the environment shows where an error comes from."
    parser.add_argument("--version", action="version", version=f"molyneux {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands: dict[str, argparse.ArgumentParser] = {}

    def add(name: str, summary: str, **defaults: object) -> argparse.ArgumentParser:
        command: argparse.ArgumentParser = subparsers.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        command.add_argument("--json", action="store_true", help="answer as JSON on standard output")
        command.set_defaults(after_stop=_GOES_ON, open_settings=False)
        command.set_defaults(**defaults)
        commands[name] = command
        return command

    _add_run(add("run", "Run an experiment: data, learn, measure, report; goes on where it stopped.", open_settings=True))
    _add_data(add("data", "Store samples of a world.", open_settings=True, after_stop="nothing was left behind"))
    for name, summary in (("learn", "Train the model"), ("measure", "Measure the model"), ("report", "Write the report")):
        command = add(name, f"{summary} of a run.")
        command.add_argument("run", type=Path, metavar="RUN", help="folder of a run, or the file of an experiment")
        command.add_argument("--quiet", action="store_true", help="no progress on the terminal")
    _add_sweep(add("sweep", "Run a study: many experiments over settings and seeds; goes on where it stopped."))
    listing = add("list", "What there is, one line each; with a name, all that can be said of it.")
    listing.add_argument("kind", choices=_KINDS, metavar="KIND", help=", ".join(_KINDS))
    listing.add_argument("name", nargs="?", metavar="NAME", help="one of them, such as CdSprites: what it does and its settings")
    _add_judge(add("judge", "Train a judge: a network that reads factors in the views of a world.", open_settings=True))
    return parser, commands


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Any setting of the file can be given too: --learn.epochs 5 --data.world.level 3"
    parser.add_argument("config", type=Path, metavar="CONFIG", help="YAML file of an experiment")
    parser.add_argument("--seed", type=int, help="root of every random number; overrides the file's")
    parser.add_argument("--out", type=Path, help="folder of the run (default: runs/NAME-FINGERPRINT)")
    parser.add_argument("--quiet", action="store_true", help="no progress on the terminal")


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Settings of the world are given by their names: --level 5 --image-size 128; molyneux list worlds WORLD tells them. "
        "One that has the name of an option is told apart by the word world: --world.split published."
    )
    parser.add_argument("world", metavar="WORLD", help="name of a world, as in molyneux list worlds")
    parser.add_argument("--size", type=int, default=10_000, help="number of samples (default: 10000)")
    parser.add_argument("--split", default="train", help="train, validation, test or heldout (default: train)")
    parser.add_argument("--seed", type=int, default=1, help="root of every random number (default: 1)")
    parser.add_argument("--out", type=Path, help="folder or file to write")
    formats = "native, hdf5, parquet, png or, for all splits of a world of sentences, sentences (default: native)"
    parser.add_argument("--format", default="native", help=formats)
    parser.add_argument("--jobs", type=int, default=1, help="threads that make samples (default: 1)")
    parser.add_argument("--contact-sheet", type=Path, metavar="FILE", help="also, or only, write a picture of the first samples")
    parser.add_argument("--quiet", action="store_true", help="no progress on the terminal")


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", type=Path, metavar="STUDY", help="YAML file of a study")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time (default: 1)")
    parser.add_argument("--out", type=Path, help="folder of the runs (default: runs/NAME)")
    parser.add_argument("--results", type=Path, help="folder of the records and pages (default: studies/results/NAME)")
    parser.add_argument("--quiet", action="store_true", help="no progress on the terminal")


def _add_judge(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Without --level it learns all five levels of a world that has levels."
    parser.add_argument("world", metavar="WORLD", help="name of a world, as in molyneux list worlds")
    parser.add_argument("modality", metavar="MODALITY", help="what it reads, such as image")
    parser.add_argument("--out", type=Path, required=True, help="file to write")
    parser.add_argument("--samples", type=int, default=120_000, help="training samples of each level (default: 120000)")
    parser.add_argument("--seed", type=int, default=1, help="root of every random number (default: 1)")
    parser.add_argument("--quiet", action="store_true", help="no progress on the terminal")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence; the usage is what `--help` is for."""

    def error(self, message: str) -> NoReturn:
        """End with status 2."""
        self.exit(2, f"molyneux: {message}; see {self.prog} --help\n")


def _split(argv: Sequence[str], parser: argparse.ArgumentParser) -> tuple[list[str], list[tuple[str, str]]]:
    """Take the options out that a parser does not know: `--learn.epochs 5` or `--learn.epochs=5`."""
    known = {option for action in parser._actions for option in action.option_strings}
    rest, taken, words = list[str](), list[tuple[str, str]](), iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        if not name.startswith("--") or name in known or name == "--":
            rest.append(word)
            continue
        if not equals:
            value = next(words, "--")
            if value.startswith("--"):
                parser.error(f"expected a value after {name}")
        taken.append((name.removeprefix("--").replace("-", "_"), value))
    return rest, taken
