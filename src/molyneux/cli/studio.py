"""The command `studio`: a local web page to see, ask and break what the other commands make."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import Any

from molyneux.cli.parser import Arguments, add_trust, complain, say, say_json
from molyneux.cli.vocabulary import path
from molyneux.core.errors import ConfigError, ConflictError, StoreError


def add_studio(parser: argparse.ArgumentParser) -> None:
    """The options of `molyneux studio`."""
    parser.epilog = "molyneux studio runs/ shows the runs in a folder beside the models of the package. Ctrl-C ends it."
    parser.add_argument("folders", nargs="*", type=path, metavar="FOLDER", help="folder with runs that may be opened")
    host = "address to listen on (default: 127.0.0.1); any other one needs the token of the printed link"
    parser.add_argument("--host", default="127.0.0.1", help=host)
    parser.add_argument("--port", type=int, default=8765, help="port; 0 takes a free one (default: 8765)")
    parser.add_argument("--name", action="append", default=[], help="further name under which it is reached; may be given again")
    results = "folder of records of studies, for the leaderboard (default: studies/results, where it is there)"
    parser.add_argument("--results", type=path, action="append", default=[], help=results)
    parser.add_argument("--jobs", type=int, default=1, help="computations at the same time (default: 1)")
    parser.add_argument("--no-browser", action="store_true", help="do not open the page in the browser")
    static = "write the pages that need no computing into a new folder, for any web server, and end"
    parser.add_argument("--static", type=path, metavar="OUT", help=static)
    add_trust(parser)


def studio(arguments: Arguments) -> int:
    """`molyneux studio [FOLDER ...]`."""
    if importlib.util.find_spec("nicegui") is None:
        raise ConfigError("expected NiceGUI for the studio, which is not installed: pip install 'molyneux[studio]'")
    options = arguments.options
    for folder in options.folders:
        if not Path(folder).is_dir():
            raise StoreError(f"expected a folder with runs, got {folder}, which is none: name one made by molyneux run")
    if not 0 <= options.port <= 65535:
        raise ConfigError(f"expected a port from 0 to 65535, got {options.port}")
    if options.jobs < 1:
        raise ConfigError(f"expected at least one job, got {options.jobs}")
    usual = Path("studies/results")
    results = options.results or ([usual] if usual.is_dir() else [])
    if options.static is not None:
        return _write(arguments, results)
    _face("server").serve(
        options.folders,
        results=results,
        host=options.host,
        port=options.port,
        names=options.name,
        workers=options.jobs,
        browser=not options.no_browser,
        trust=options.trust,
        told=say,
    )
    return 0


def _write(arguments: Arguments, results: list[Path]) -> int:
    """The pages that need no computing, as files."""
    options, folder = arguments.options, arguments.options.static
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConflictError(f"expected a new or empty folder for the pages, got {folder}: choose another with --static")
    told = (lambda words: None) if options.quiet or arguments.json else (lambda words: complain(f"writing {words}"))
    written = _face("static").write_static(
        _face("library").Library(options.folders, results=results, trust=options.trust), folder, told=told
    )
    if arguments.json:
        say_json({"pages": [str(place) for place in written]})
    else:
        say(f"Pages: {written[0]} and {len(written) - 1} more files")
    return 0


def _face(module: str) -> Any:
    """A module of the other face, which is started by its name: neither face knows the code of the other."""
    return importlib.import_module(f"molyneux.studio.{module}")
