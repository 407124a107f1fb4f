"""YAML documents as plain data.

Stricter than PyYAML where it surprises: a key given twice is an error, `1e-3` is a number, and only `true` and `false` are
truth values (`off` and `no` stay words), as YAML 1.2 has it.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from molyneux.core.errors import ConfigError


class _Loader(yaml.SafeLoader):
    """Safe YAML with the rules of this module."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """A mapping whose keys differ."""
        seen: dict[Any, int] = {}
        for key, _ in node.value:
            name, line = getattr(key, "value", None), key.start_mark.line + 1
            if isinstance(name, str) and name in seen:
                raise ConfigError(f"line {line}: the key {name} is given twice, first in line {seen[name]}: keep one of them")
            seen[name if isinstance(name, str) else id(key)] = line
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in entries if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:float")]
    for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_FLOAT = r"^[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.(?:inf|Inf|INF))$|^\.(?:nan|NaN|NAN)$"
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(_FLOAT), list("-+.0123456789"))


def parse_value(text: str) -> Any:
    """The value of a piece of YAML, as on the command line.

    >>> parse_value("1e-3"), parse_value("[1, 2]"), parse_value("off")
    (0.001, [1, 2], 'off')

    Raises:
        ConfigError: it is no YAML, or has a key twice.
    """
    try:  # the loader is a safe one
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ConfigError(_sentence(error)) from error


def parse_document(text: str, name: str) -> dict[str, Any]:
    """The mapping a YAML text holds; `name` is said in errors.

    Raises:
        ConfigError: it is no YAML, no mapping, or has a key twice.
    """
    try:
        tree = parse_value(text)
    except ConfigError as error:
        raise ConfigError([f"{name}: {problem}" for problem in error.problems]) from error
    if not isinstance(tree, dict):
        raise ConfigError(f"{name}: expected settings as `name: value` lines, got {_kind(tree)}")
    return tree


def read_document(path: Path) -> dict[str, Any]:
    """The settings in a YAML file.

    Raises:
        ConfigError: it is not there, unreadable, no YAML, no mapping, or has a key twice.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot read the settings file {path}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: expected text in UTF-8, got bytes that are not: {error.reason}") from error
    return parse_document(text, str(path))


def dump_document(tree: Mapping[str, Any]) -> str:
    """Plain settings as YAML, in the order given, which `parse_document` reads back."""
    return yaml.safe_dump(dict(tree), sort_keys=False, allow_unicode=True, width=120)


def _sentence(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return f"{place}this is no YAML: {getattr(error, 'problem', None) or error}"


def _kind(tree: Any) -> str:
    return {type(None): "an empty file", list: "a list", str: "one word or sentence"}.get(type(tree), type(tree).__name__)
