"""A local web page beside the command line: see worlds, ask models, move codes, break senses, compare runs."""

from typing import TYPE_CHECKING

from molyneux.core.lazy import lazy_names

if TYPE_CHECKING:
    from molyneux.studio.server import serve

__all__ = ["serve"]

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__)
