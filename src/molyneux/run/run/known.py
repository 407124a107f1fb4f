"""Parts of experiments that were built and checked before: the experiments of a study have most of their settings in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from molyneux.core import store
from molyneux.core.config import Built, build


class KnownParts:
    """Sections of settings that were built, and checks that were passed; what fails is not kept, and fails again.

    Experiments with the same section `data` get one object, so that their data set is made, and its files are read, once.
    """

    def __init__(self) -> None:
        self._sections: dict[tuple[str, str], Built] = {}
        self._data: dict[str, Built] = {}
        self._passed: set[Hashable] = set()

    def section(self, name: str, kind: type, settings: Any) -> Built:
        """A section that stands in a file as these settings do; ConfigError as `build`."""
        key = name, repr(settings)
        if key not in self._sections:
            built = build(kind, settings, name)
            same = self._data.setdefault(store.fingerprint(built.plain), built) if name == "data" else built
            self._sections[key] = same
        return self._sections[key]

    def once(self, check: Callable[[], Any], *about: Hashable) -> Any:
        """Do a check, unless it was passed before: what it gives, or None. `about` names it and all that it depends on."""
        if about in self._passed:
            return None
        found = check()
        self._passed.add(about)
        return found
