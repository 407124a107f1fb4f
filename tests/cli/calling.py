"""What a forked process does to be `molyneux WORDS` in a folder of its own."""

import os
import resource
import sys
from collections.abc import Mapping, Sequence

from molyneux.cli import main


def call(
    words: Sequence[str], folder: str, variables: Mapping[str, str], output: tuple[str, str], largest_file: int | None
) -> None:
    """Run the command with its output in two files and end with its status."""
    for number, path in enumerate(output, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    os.environ.update(variables)
    os.chdir(folder)
    if largest_file is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    try:
        status = main(list(words))
    except SystemExit as error:
        status = int(error.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)
