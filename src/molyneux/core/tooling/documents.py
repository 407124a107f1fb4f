"""YAML documents as plain data, single settings replaced in them, and where two of them differ.

Stricter than PyYAML where it surprises, as YAML 1.2 has it: a key given twice is an error, `1e-3` is a number, only `true`
and `false` are truth values (`off` and `no` stay words), and dates, `010` and `1:30` are words. What would take long to
read or to check is refused, such as 10,000 nested lists or aliases that stand for billions of values.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from molyneux.core.errors import ConfigError, StoreError, short
from molyneux.core.files import read_plain

MOST_CHARACTERS, MOST_VALUES, MOST_LEVELS, LARGEST_INTEGER = 1_000_000, 20_000, 50, 2**63 - 1
_SURROGATES = re.compile("[\ud800-\udfff]")
_SHOWN = 500  # characters of a path, a place or a value in a message
_TOO_DEEP = f"expected at most {MOST_LEVELS} levels of lists and names in each other, got more"
_TOO_MANY = f"expected at most {MOST_VALUES} values, aliases counted as what they stand for, got more"
_WORDS = {
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?(?:0|[1-9][0-9_]*)|0x[0-9a-fA-F]+",
    "float": r"[-+]?(?:(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN",
}


class _Loader(yaml.SafeLoader):
    """Safe YAML with the rules of this module."""

    depth = count = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """A node, unless it lies too deep or comes after too many: names and values are nodes."""
        self.depth += 1
        self.count += 1
        if self.count > 2 * MOST_VALUES:
            raise ConfigError(_TOO_MANY)
        if self.depth > MOST_LEVELS:
            raise ConfigError(_TOO_DEEP)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        """A mapping whose keys differ."""
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            line = key.start_mark.line + 1
            if key.value in lines:
                first = lines[key.value]
                raise ConfigError(f"line {line}: the key {key.value} is given twice, first in line {first}: keep one of them")
            lines[key.value] = line
        return node

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge the mappings that `<<` names, unless they grow beyond measure."""
        super().flatten_mapping(node)
        if len(node.value) > MOST_VALUES:
            raise ConfigError(_TOO_MANY)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in entries if tag.rpartition(":")[2] not in (*_WORDS, "timestamp")]
    for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_OTHER_TAGS = (":binary", ":timestamp", ":set", ":omap", ":pairs")
_Loader.yaml_constructors = {
    tag: made for tag, made in yaml.SafeLoader.yaml_constructors.items() if not str(tag).endswith(_OTHER_TAGS)
}


class _Dumper(yaml.SafeDumper):
    """Quotes every word that the loader would take for something else."""


for _kind, _pattern in _WORDS.items():
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(f"^(?:{_pattern})$"), list("tTfF-+.0123456789"))


def parse_value(text: str) -> Any:
    """The value of a piece of YAML, as on the command line.

    >>> parse_value("1e-3"), parse_value("[1, 2]"), parse_value("off")
    (0.001, [1, 2], 'off')

    Raises:
        ConfigError: it is no YAML, has a key twice, or is refused by `require_plain`.
    """
    if len(text) > MOST_CHARACTERS:
        raise ConfigError(f"expected at most {MOST_CHARACTERS} characters, got {len(text)}")
    try:  # the loader is a safe one
        value = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        reason = getattr(error, "problem", None) or " ".join(str(error).split())
        raise ConfigError(f"{place}this is no YAML: {reason}") from error
    except (ValueError, LookupError) as error:  # of a scalar with an explicit tag, or an integer of thousands of digits
        raise ConfigError(f"this is no YAML: a value cannot be read: {error}") from error
    require_plain(value)
    return value


def parse_document(text: str, name: str) -> dict[str, Any]:
    """The mapping a YAML text holds; `name` is said in errors.

    Raises:
        ConfigError: as `parse_value`, or it is no mapping.
    """
    try:
        tree = parse_value(text)
    except ConfigError as error:
        raise ConfigError([f"{name}: {problem}" for problem in error.problems]) from error
    if not isinstance(tree, dict):
        kind = {type(None): "an empty file", list: "a list", str: "one word or sentence"}.get(type(tree), type(tree).__name__)
        raise ConfigError(f"{name}: expected settings as `name: value` lines, got {kind}")
    return tree


def read_document(path: Path) -> dict[str, Any]:
    """The settings in a YAML file.

    Raises:
        ConfigError: it is not there or unreadable, or as `parse_document`.
    """
    try:
        text = read_plain(path, most=4 * MOST_CHARACTERS).decode()
    except StoreError as error:  # a pipe, a device or a file too large
        raise ConfigError(f"cannot read the settings file {str(path)[:_SHOWN]}: {error}") from error
    except OSError as error:
        raise ConfigError(
            f"cannot read the settings file {str(path)[:_SHOWN]}: {(error.strerror or str(error)).lower()}"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: expected text in UTF-8, got bytes that are not: {error.reason}") from error
    return parse_document(text, str(path))


def dump_document(tree: Mapping[str, Any]) -> str:
    """Plain settings as YAML, in the order given, which `parse_document` reads back."""
    return yaml.dump(dict(tree), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def dump_sections(tree: Mapping[str, Any], known: dict[tuple[str, str], str]) -> str:
    """As `dump_document`, of a document whose sections mostly stood in others.

    Args:
        tree: the document.
        known: texts of sections by their names and contents, to which those of new ones are added.
    """
    parts = [((name, repr(section)), {name: section}) for name, section in tree.items()]
    for key, part in parts:
        if key not in known:
            known[key] = dump_document(part)
    return "".join(known[key] for key, _ in parts) or dump_document(tree)


def require_plain(tree: Any, at: str = "") -> None:
    """Refuse settings that no file can hold, or that would take long to check.

    Raises:
        ConfigError: names that are no words, text that is no Unicode, integers beyond 64 bits, too many values or levels.
    """
    problems, left, count = [], [(tree, at, 1)], 0
    while left:
        value, place, level = left.pop()
        count += 1
        if count > MOST_VALUES or level > MOST_LEVELS:
            raise ConfigError(f"{at}: {_TOO_MANY if count > MOST_VALUES else _TOO_DEEP}".removeprefix(": "))
        sentence = ""
        if isinstance(value, Mapping):
            odd = [name for name in value if not isinstance(name, str)]
            sentence = f"expected words as names, got {type(odd[0]).__name__}: quote it" if odd else ""
            left += [(item, f"{place}.{name}".removeprefix("."), level + 1) for name, item in value.items() if not odd]
        elif isinstance(value, list | tuple):
            left += [(item, f"{place}.{number}".removeprefix("."), level + 1) for number, item in enumerate(value)]
        elif isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            sentence = f"expected an integer of at most 64 bits, got one of {value.bit_length()}"
        elif isinstance(value, str) and ("\0" in value or (not value.isascii() and _SURROGATES.search(value))):
            sentence = "expected text, got characters that no file can hold"
        if sentence:
            problems.append(f"{place}: {sentence}".removeprefix(": "))
    if problems:
        raise ConfigError(problems[::-1])


def override(tree: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of plain settings with the one at a dotted path replaced.

    `init_args` may be left out: arguments of a named class are found by their names. Positions in a list are numbers.

    >>> override({"world": "CdSprites"}, "world.level", 3)
    {'world': {'class_path': 'CdSprites', 'init_args': {'level': 3}}}

    Raises:
        ConfigError: the path leads through a value that has no settings of its own.
    """
    return overridden(tree, {path: value})


def overridden(tree: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """As `override`, of several settings by their dotted paths, one after the other."""
    require_plain(tree)
    out: dict[str, Any] = copy.deepcopy(dict(tree))
    for path, value in values.items():
        require_plain(value, path)
        names = path.split(".")
        if not all(names):
            raise ConfigError(f"expected a dotted path of settings such as learn.epochs, got {path!r}")
        node: Any = out
        for depth, name in enumerate(names[:-1]):
            node = _step(node, name, names[depth + 1], ".".join(names[: depth + 1]))
        node[_position(node, names[-1], path) if isinstance(node, list) else names[-1]] = copy.deepcopy(value)
    return out


def _step(node: Any, name: str, following: str, path: str) -> Any:
    """The container below `node[name]` that `following` is a key of, made where it is not there."""
    place: Any = _position(node, name, path) if isinstance(node, list) else name
    below = node[place] if isinstance(node, list) else node.get(name)
    below = {} if below is None else {"class_path": below} if isinstance(below, str) else below
    if not isinstance(below, dict | list):
        raise ConfigError(f"{path}: is {short(below)}, which has no setting {following!r}")
    node[place] = below
    if isinstance(below, dict) and "class_path" in below and following not in ("class_path", "init_args"):
        arguments = below.get("init_args") or {}
        if not isinstance(arguments, dict):
            raise ConfigError(f"{path}.init_args: is {short(arguments)}, which has no setting {following!r}")
        below["init_args"] = arguments
        return arguments
    return below


def _position(items: list[Any], name: str, path: str) -> int:
    if not name.isdecimal() or int(name) >= len(items):
        raise ConfigError(f"{path}: expected a position from 0 to {len(items) - 1} in a list, got {name!r}")
    return int(name)


def differences(old: Any, new: Any, at: str = "") -> str:
    """The first few places where two plain records differ, as `path: old -> new`; long values are cut."""
    found = places(old, new, at)
    return "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")


def places(old: Any, new: Any, at: str = "") -> list[str]:
    """All places where two plain records differ, told as in `differences`."""
    found, missing = list[str](), object()

    def walk(a: Any, b: Any, path: str) -> None:
        if isinstance(a, dict) and isinstance(b, dict):
            for name in sorted({*a, *b}):
                walk(a.get(name, missing), b.get(name, missing), f"{path}.{name}" if path else str(name))
        elif a != b:
            shown = ["not there" if value is missing else _brief(value) for value in (a, b)]
            found.append(f"{path[:_SHOWN]}: {shown[0]} -> {shown[1]}")

    walk(old, new, at)
    return found


def _brief(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= _SHOWN else f"{told[:_SHOWN]}..."
