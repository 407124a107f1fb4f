"""The first face: one thin function per command. Nothing heavy is imported before a command is known."""

from molyneux.cli.main import main

__all__ = ["main"]
