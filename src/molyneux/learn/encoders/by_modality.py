"""Modules by modality: names of modalities may be any printable text, names of submodules may not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar, cast
from urllib.parse import quote, unquote

from torch import nn

M = TypeVar("M", bound=nn.Module)
_RESERVED = frozenset(dir(nn.ModuleDict()))


def module_key(name: str) -> str:
    """The name of the submodule that belongs to a modality: itself, with percent signs in place of what torch does not allow.

    >>> module_key("image"), module_key("BRK.B"), module_key("values")
    ('image', 'BRK%2EB', '%76alues')
    """
    key = quote(name, safe=" ").replace(".", "%2E")
    return f"%{ord(name[0]):02X}{name[1:]}" if key in _RESERVED else key


class ModalityDict(nn.Module, Generic[M]):
    """Modules by the names of modalities, as `nn.ModuleDict` but for any name.

    Keys of the state dict are made by `module_key`.
    """

    def __setitem__(self, name: str, module: M) -> None:
        self.add_module(module_key(name), module)

    def __getitem__(self, name: str) -> M:
        return cast(M, self._modules[module_key(name)])

    def __contains__(self, name: str) -> bool:
        return module_key(name) in self._modules

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        """Names of the modalities, in the order in which they were set."""
        return [unquote(key) for key in self._modules]

    def values(self) -> list[M]:
        """The modules, in the order in which they were set."""
        return [cast(M, module) for module in self._modules.values()]

    def items(self) -> list[tuple[str, M]]:
        """Names and modules, in the order in which they were set."""
        return list(zip(self.keys(), self.values(), strict=True))
