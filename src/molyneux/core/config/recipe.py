"""A class with its settings, checked but not yet made, because some arguments are only known later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from molyneux.core.errors import ConfigError, SpecError

T = TypeVar("T")


@dataclass(frozen=True)
class Later:
    """Annotates an argument `Annotated[Recipe[Base], Later(arguments=("spec",), room="their.package")]`.

    Args:
        arguments: the arguments of the class that come later, and that a file cannot give.
        room: the package whose `__all__` has the short names; by default the packages that `Base` is in.
    """

    arguments: tuple[str, ...] = ()
    room: str = ""


@dataclass(frozen=True)
class Recipe(Generic[T]):
    """What to make once the missing arguments are there.

    Args:
        target: the class.
        settings: its arguments so far, made.
        at: where it stands in the file; said in errors.
    """

    target: type[T]
    settings: Mapping[str, Any] = field(default_factory=dict)
    at: str = ""

    def make(self, **later: Any) -> T:
        """The object.

        Raises:
            ConfigError: the class refuses its settings; each problem has its path.
        """
        try:
            return self.target(**later, **self.settings)
        except ConfigError as error:
            raise ConfigError([located(problem, self.at, self.settings) for problem in error.problems]) from error
        except SpecError as error:
            raise ConfigError(located(str(error), self.at, self.settings)) from error


def located(problem: str, at: str, arguments: Mapping[str, Any]) -> str:
    """A problem that a constructor told, with its path; it may begin with the name of the argument.

    >>> located("level: expected 1 to 5, got 6", "data.world.init_args", {"level": 6})
    'data.world.init_args.level: expected 1 to 5, got 6'
    """
    first, colon, _ = problem.partition(":")
    if colon and first.split(".")[0] in arguments:
        return f"{at}.{problem}" if at else problem
    place = at.removesuffix(".init_args")
    return f"{place}: {problem}" if place else problem
