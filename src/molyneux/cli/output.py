"""What a command says: answers on standard output, complaints on standard error, as they are, never wrapped."""

from __future__ import annotations

import json
import sys
from typing import Any


def say(text: str) -> None:
    """One line of an answer."""
    sys.stdout.write(text + "\n")


def say_json(record: Any) -> None:
    """An answer for machines."""
    say(json.dumps(record, ensure_ascii=False, allow_nan=False))


def complain(text: str) -> None:
    """One line about what went wrong."""
    sys.stderr.write(text + "\n")
