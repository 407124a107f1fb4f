"""The options of the command line, and what a command writes. Only the standard library is imported: `--help` answers at once.

Answers go to standard output and complaints to standard error, as they are, never wrapped.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from molyneux.cli.vocabulary import KINDS, MEANT, count, part, path, place, processes
from molyneux.version import __version__

_GOES_ON = "the same command goes on where this stopped"
_FORMATS = ("hdf5", "native", "parquet", "png", "sentences", "webdataset")
_SHELLS = ("bash", "fish", "zsh")
_OBEYED = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]")
_LONGEST = 4_000
"""Characters of a complaint that are shown."""


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


class OutputError(Exception):
    """Standard output cannot be written: its reader is gone (BrokenPipeError), or its disk is full.

    Args:
        cause: what the operating system said.
    """

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


@contextmanager
def answering() -> Iterator[None]:
    """What is written inside goes to standard output. Raises OutputError."""
    try:
        yield
    except OSError as error:
        raise OutputError(error) from error


def say(text: str) -> None:
    """One line of an answer."""
    _write(visible(text))


@contextmanager
def told_warnings() -> Iterator[None]:
    """Warnings inside are complaints: sentences without the line of the program that gave them."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(str(one.message) for one in found if issubclass(one.category, UserWarning)):
        complain(f"molyneux: {text}")


def say_json(record: Any) -> None:
    """An answer for machines."""
    _write(json.dumps(record, ensure_ascii=False, allow_nan=False))


def _write(text: str) -> None:
    with answering():
        sys.stdout.write(text + "\n")


def visible(text: str) -> str:
    r"""A text in which characters that a terminal obeys are escaped: of control, but for line ends and tabs, and of direction.

    Names in files of strangers could otherwise move the cursor, recolour what follows, or read as other names.

    >>> visible("a" + chr(27) + "[2J" + chr(0x202E) + "b") == r"a\x1b[2J\u202eb"
    True
    """
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)


def complain(text: str) -> None:
    """One line about what went wrong."""
    with suppress(OSError):  # then nobody reads it
        told = visible(text)
        sys.stderr.write((told if len(told) <= _LONGEST else f"{told[:_LONGEST]} ...") + "\n")
        sys.stderr.flush()


def parse(argv: Sequence[str]) -> Arguments:
    """Read a command line; ends the process with status 2 and a sentence where it cannot be read."""
    command = next((word for word in argv if not word.startswith("-")), "")
    parser, commands = _parser(command)
    for word in argv:
        try:
            word.encode()
        except UnicodeEncodeError:
            parser.error(f"expected words in UTF-8, got {word!a}, which is no text: name files and folders in UTF-8")
    taken: list[tuple[str, str]] = []
    rest = list(argv)
    if command in commands and commands[command].get_default("open_settings"):
        rest, taken = _split(rest, commands[command])
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what the next word may be
        from molyneux.core.tooling.extras import import_extra

        import_extra("argcomplete", extra="completion", what="completion").autocomplete(parser)
    options = parser.parse_args(rest)
    return Arguments(options.command, options, tuple(taken), options.after_stop)


_STUDIO = "Open a local page in the browser: see worlds, ask models, move codes, break senses, compare runs."


def _parser(asked: str) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    about = "A laboratory for multimodal representation learning."
    parser = _Parser(prog="molyneux", description=about, allow_abbrev=False)
    parser.epilog = "molyneux COMMAND --help says more. MOLYNEUX_DEBUG=1 in the environment shows where an error comes from."
    parser.add_argument("--version", action="version", version=f"molyneux {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands: dict[str, argparse.ArgumentParser] = {}

    def add(name: str, summary: str, **defaults: object) -> argparse.ArgumentParser:
        command: argparse.ArgumentParser = subparsers.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        command.add_argument("--json", action="store_true", help="answer as JSON on standard output")
        if name not in ("list", "schema", "completion"):
            command.add_argument("--quiet", action="store_true", help="no progress on the terminal")
        command.set_defaults(**{"after_stop": _GOES_ON, "open_settings": False, **defaults})
        commands[name] = command
        return command

    _add_run(add("run", "Run an experiment: data, learn, measure, report; goes on where it stopped.", open_settings=True))
    _add_of_trained(
        asked,
        add("ask", "Ask a trained model Molyneux's question: which of two things that are seen is the one that is felt."),
    )
    _add_of_trained(
        asked,
        add(
            "check", "All that is wrong with experiments, studies or data.", open_settings=True, after_stop="nothing was changed"
        ),
    )
    _add_data(add("data", "Store samples of a world.", open_settings=True, after_stop="nothing was left behind"))
    _add_export(
        add("export", "Write a trained run, or stored samples, as a folder to share.", after_stop="nothing was left behind")
    )
    _add_of_trained(asked, add("generate", "Generate views with a trained model: a picture from a caption.", open_settings=True))
    _add_of_trained(asked, add("push", "Publish an exported run on the Hugging Face Hub.", after_stop="nothing was published"))
    _add_leaderboard(add("leaderboard", "Rank the models in records of studies, one table for each score and protocol."))
    _add_measure(add("measure", "Measure the model of a run, or a model from outside.", open_settings=True))
    for name, summary in (("learn", "Train the model"), ("report", "Write the report")):
        command = add(name, f"{summary} of a run.")
        command.add_argument("run", type=path, metavar="RUN", help="folder of a run, or the file of an experiment")
        if name == "learn":
            _add_processes(add_trust(command))
    predicted = add("predict", "Ask a trained model for its targets: classes, agreement, numbers.", open_settings=True)
    _add_of_trained(asked, predicted)
    _add_of_trained(asked, add("read", "What the readers of a world read in a picture or a caption.", open_settings=True))
    _add_of_trained(asked, add("studio", _STUDIO, after_stop="the studio is closed"), "studio")
    _add_sweep(add("sweep", "Run a study: many experiments over settings and seeds; goes on where it stopped."))
    listing = add("list", "What there is, one line each; with a name, all that can be said of it.")
    listing.add_argument("kind", nargs="?", choices=KINDS, metavar="KIND", help=f"{', '.join(KINDS)} (default: what each is)")
    one = "one of them, such as CdSprites: what it does and its settings"
    completed(listing.add_argument("name", nargs="?", metavar="NAME", help=one), names_starting)
    judged = "Train a judge: a network that reads factors in the views of a world, or labels in those of data in files."
    _add_judge(add("judge", judged, open_settings=True))
    add("doctor", "What this machine has for the package, and whether everything works here; add it to a bug report.")
    schema = add("schema", "Print the JSON Schema of experiment files, for editors that check and complete them.")
    schema.add_argument("--study", action="store_true", help="that of study files instead")
    completion = add("completion", 'Print what makes a shell complete this command: eval "$(molyneux completion bash)".')
    completion.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=", ".join(_SHELLS))
    return parser, commands


def _add_of_trained(asked: str, parser: argparse.ArgumentParser, module: str = "trained_options") -> None:
    """The options of a command of trained models, where it is the command that is asked for, or a shell completes."""
    name = parser.prog.rpartition(" ")[2]
    if name == asked or "_ARGCOMPLETE" in os.environ:
        getattr(importlib.import_module(f"molyneux.cli.{module}"), f"add_{name}")(parser)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Any setting of the file can be given too: --learn.epochs 5 --data.world.level 3"
    parser.add_argument("config", type=path, metavar="CONFIG", help="YAML file of an experiment")
    parser.add_argument("--seed", type=int, help="root of every random number; overrides the file's")
    parser.add_argument("--out", type=path, help="folder of the run (default: runs/NAME-FINGERPRINT)")
    parent = (
        "folder of a finished run, whose weights the training starts from: more steps, other data; --learn.steps 0 fits a prior"
    )
    parser.add_argument("--continue-from", type=path, metavar="RUN", help=parent)
    _add_processes(parser)


def _add_processes(parser: argparse.ArgumentParser) -> None:
    shared = "processes that share out each batch of the training; auto: one for each CUDA device (default: 1)"
    parser.add_argument("--processes", type=processes, default=1, metavar="N", help=shared)


def _add_data(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Settings of the world are given by their names: --level 5 --image-size 128; molyneux list worlds WORLD tells them. "
        "One that has the name of an option is told apart by the word world: --world.split published."
    )
    completed(parser.add_argument("world", metavar="WORLD", help="name of a world, as in molyneux list worlds"), worlds_starting)
    parser.add_argument("--size", type=count, default=10_000, help="number of samples, such as 1e6 (default: 10000)")
    parser.add_argument(
        "--split",
        default="train",
        help="train, validation, test, or another one of the world, such as heldout or iid (default: train)",
    )
    parser.add_argument("--seed", type=int, default=1, help="root of every random number (default: 1)")
    parser.add_argument("--out", type=place, help="folder or file to write; of shards, also an address such as s3://bucket/name")
    formats = "native, hdf5, parquet, png, webdataset or, for all splits of a world of sentences, sentences (default: native)"
    parser.add_argument("--format", default="native", choices=_FORMATS, metavar="FORMAT", help=formats)
    jobs = "threads that make samples (default: 1), or processes on a cluster (default: as many as it has processors)"
    parser.add_argument("--jobs", type=int, help=jobs)
    where = "with --shards, where they are made: local, ray, or the address of a Ray cluster that reaches --out (default: local)"
    parser.add_argument("--on", default="local", metavar="PLACE", help=where)
    shards = "native, parquet or webdataset: in so many files, which several machines write and read; goes on where it stopped"
    parser.add_argument("--shards", type=count, metavar="N", help=shards)
    parts = "write one part of the shards, such as 2/8 on the second of eight machines (default: all)"
    parser.add_argument("--part", type=part, metavar="I/N", default=(1, 1), help=parts)
    parser.add_argument("--contact-sheet", type=path, metavar="FILE", help="also, or only, write a picture of the first samples")


def _add_measure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "With --model, any setting of the file can be given too: --measure.split validation --data.test 1000. Settings of a "
        "model in a folder begin with model: --model.batch-size 8 --model.threshold 0."
    )
    parser.add_argument(
        "run", type=path, nargs="?", metavar="RUN", help="folder of a run or an export, or the file of an experiment"
    )
    parser.add_argument("--again", action="store_true", help="measure a second time and compare with the stored scores")
    where = "where a run is measured: local, ray, or the address of a Ray cluster that shares its file system (default: local)"
    parser.add_argument("--on", default="local", metavar="PLACE", help=where)
    parser.add_argument("--jobs", type=int, help="processes on the cluster (default: as many as it has processors)")
    model = "a function that gets the Spec of the samples and returns a model, or a folder of a model of transformers"
    parser.add_argument("--model", metavar="MODULE:FUNCTION|FOLDER", help=model)
    add_trust(parser)
    data = "with --model: a file with the sections data and measure, as of an experiment, or the name of a world"
    parser.add_argument("--data", metavar="FILE", help=data)
    parser.add_argument("--out", type=path, help="with --model: a new folder for scores and report (default: none is written)")


def _add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=path, metavar="FOLDER", help="folder of a run that was measured, or stored samples")
    parser.add_argument("--out", type=path, required=True, help="folder to write")
    licence = "licence of what is exported, as an SPDX identifier such as CC-BY-4.0, for its card (default: none is stated)"
    parser.add_argument("--licence", default="", help=licence)
    included = "include the samples of a run that come from files of your own"
    parser.add_argument("--include-data", action="store_true", help=included)
    bits = "bits of the matrices of weights: 32, 16 or 8; with fewer, scores change a little (default: 32)"
    parser.add_argument("--bits", type=int, choices=(8, 16, 32), default=32, metavar="BITS", help=bits)
    parser.add_argument("--about", default="", metavar="SENTENCE", help="what the model is, for its card")


def _add_leaderboard(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Records of different protocols, judges, versions or samples never stand in one table."
    what = "folders of records, such as studies/results/ynoc or studies/results, or files of records"
    parser.add_argument("results", type=path, nargs="+", metavar="RESULTS", help=what)
    score = "a score to rank, such as coherence.letters; may be given several times (default: the headlines of each world)"
    parser.add_argument("--score", action="append", default=[], metavar="NAME", help=score)
    added = "records from elsewhere, one JSON object a line with name, score, value and origin; marked as such"
    parser.add_argument("--add", type=path, action="append", default=[], metavar="FILE", help=added)
    parser.add_argument("--out", type=path, help="folder for leaderboard.md, .html and .json (default: none is written)")


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", type=path, metavar="STUDY", help="YAML file of a study")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time (default: 1)")
    where = "where to run: local, ray, or the address of a Ray cluster that shares this file system (default: local)"
    parser.add_argument("--on", default="local", metavar="PLACE", help=where)
    gpus = "of a cluster, part of a GPU for each run, such as 0.25 (default: its GPUs are shared out among --jobs)"
    parser.add_argument("--gpus", type=float, metavar="PART", help=gpus)
    parts = "run one part of the grid, such as 2/8 as the second of eight jobs; without it, the records of parts are taken in"
    parser.add_argument("--part", type=part, metavar="I/N", default=(1, 1), help=parts)
    stacked = "trainings of small models that are alike are computed at once in this process, so many (default: 1)"
    parser.add_argument("--stack", type=int, default=1, metavar="N", help=stacked)
    database = "database for the trials of a search, such as postgresql://user@host/name (default: an SQLite file in --out)"
    parser.add_argument("--storage", default="", metavar="URL", help=database)
    parser.add_argument("--out", type=path, help="folder of the runs (default: runs/NAME)")
    parser.add_argument("--results", type=path, help="folder of the records and pages (default: studies/results/NAME)")


def _add_judge(parser: argparse.ArgumentParser) -> None:
    parser.epilog = (
        "Settings of the world are given by their names, such as --level 5. Without it, the judge learns all five levels of a "
        "world that has levels."
    )
    data = "name of a world, as in molyneux list worlds, or an experiment file whose data have labels"
    completed(parser.add_argument("world", metavar="DATA", help=data), worlds_starting)
    parser.add_argument("modality", metavar="MODALITY", help="what it reads, such as image")
    parser.add_argument("--out", type=path, required=True, help="file to write")
    samples = "true views of the last level to learn from; fewer of easier ones (default: 60000)"
    parser.add_argument("--samples", type=int, default=60_000, help=samples)
    parser.add_argument("--seed", type=int, default=1, help="root of every random number (default: 1)")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence; the usage is what `--help` is for."""

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Offer the nearest choice for one that does not exist."""
        choices = [str(choice) for choice in action.choices or ()]
        if choices and str(value) not in choices:
            if action.dest == "kind" and (kind := _kind_of(str(value))):
                raise argparse.ArgumentError(action, f"{value!r} is one of the {kind}: molyneux list {kind} {value}")
            meant = MEANT.get(str(value).lower(), "") if action.dest == "command" else ""
            close = [meant] if meant else difflib.get_close_matches(str(value).lower(), choices, n=1)
            offer = f'did you mean "{close[0]}"?' if close else f"choose from {', '.join(choices)}"
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}; {offer}")

    def error(self, message: str) -> NoReturn:
        """End with status 2."""
        if message.startswith("unrecognized arguments: --") and self.prog == "molyneux":
            message += "; settings of an experiment are given to molyneux run, as in molyneux run FILE --learn.epochs 5"
        self.exit(2, f"molyneux: {message}{'' if message.endswith('?') else ';'} see {self.prog} --help\n")


def _kind_of(name: str) -> str:
    """The kind of things that a name is of, for who left it out of `molyneux list KIND NAME`; empty for another word."""
    from molyneux.cli import index
    from molyneux.run.trained.shipped import shipped_names

    if name in shipped_names():
        return "pretrained"
    return next((kind for kind in index.FAMILIES if index.find_class(kind, name) is not None), "")


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


def completed(action: argparse.Action, names: Callable[..., Iterable[str]]) -> None:
    """Have a shell complete an argument by these names."""
    action.completer = names  # type: ignore[attr-defined]


def add_trust(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """The same parser, with the option `--trust`."""
    trust = "run the code of classes that a stored folder names and that are not of this package"
    parser.add_argument("--trust", action="store_true", help=trust)
    return parser


def names_starting(prefix: str, parsed_args: argparse.Namespace, **_: object) -> Iterable[str]:
    """The names of a kind, for a shell."""
    from molyneux.cli import index

    known = index.classes(parsed_args.kind) if parsed_args.kind in index.FAMILIES else {}
    return [name for name in known if name.startswith(prefix)]


def worlds_starting(prefix: str, **_: object) -> Iterable[str]:
    """The names that worlds have on the command line, for a shell."""
    from molyneux.cli import index

    return [name for name in index.world_names() if name.startswith(prefix)]
