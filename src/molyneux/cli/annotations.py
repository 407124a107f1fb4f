"""Types of settings, from annotations in the source files of this package, without importing the classes they belong to.

A value on the command line is checked by `core.config` against such a type, with the sentence that the class itself would get.
What cannot be made of plain types, such as settings that are classes, has no type here and is checked later.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Annotated, Any, Literal, Union

from molyneux.cli.index import Annotation, ClassEntry, assigned
from molyneux.core.errors import ConfigError

_PLAIN: dict[str, Any] = {
    **{kind.__name__: kind for kind in (bool, int, float, str, list, tuple, dict, set, frozenset, Path)},
    **{kind.__name__: kind for kind in (Collection, Iterable, Mapping, Sequence)},
    "AbstractSet": AbstractSet,
    "Annotated": Annotated,
    "Any": Any,
    "Literal": Literal,
}
"""What a name in an annotation stands for."""
_LIMITS = {"ge", "gt", "le", "lt"}


def wrong_values(entry: ClassEntry, given: Mapping[str, Any], at: str) -> list[str]:
    """Problems of the values of settings of a class, each with its path below `at`; settings without a type here pass."""
    problems = list[str]()
    for name, value in given.items():
        annotation = entry.annotations.get(name)
        try:
            kind = type_of(annotation) if annotation else Any
        except LookupError:
            continue
        from molyneux.core.config import build  # imports pydantic, which a wrong name does not need

        try:
            build(kind, value, f"{at}.{name}" if at else name)
        except ConfigError as error:
            problems += error.problems
    return problems


def type_of(annotation: Annotation) -> Any:
    """The type that an annotation stands for.

    Raises:
        LookupError: it is of more than plain types and limits of numbers.
    """
    module, node = annotation

    def part(node: ast.expr) -> Any:
        return ... if isinstance(node, ast.Constant) and node.value is ... else type_of((module, node))

    match node:
        case ast.Constant(value=None):
            return None
        case ast.Constant(value=str(text)):
            return type_of((module, ast.parse(text, mode="eval").body))
        case ast.Name(id=name) if name in _PLAIN:
            return _PLAIN[name]
        case ast.Name(id=name):
            return type_of(assigned(module, name))
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return Union[part(left), part(right)]  # noqa: UP007 - of values, not of types that are known
        case ast.Subscript(value=value, slice=inner):
            origin, parts = part(value), inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if origin is Literal:
                return Literal[tuple(map(ast.literal_eval, parts))]
            if origin is Annotated:
                return Annotated[(part(parts[0]), *map(_limits, parts[1:]))]
            return origin[tuple(map(part, parts))]
    raise LookupError(ast.unparse(node) if node else module)


def _limits(node: ast.expr) -> Any:
    """`Field(ge=1, le=10**12)`: limits of a number."""
    from pydantic import Field

    match node:
        case ast.Call(func=ast.Name(id="Field"), args=[], keywords=keywords) if {word.arg for word in keywords} <= _LIMITS:
            return Field(**{str(word.arg): _number(word.value) for word in keywords})
    raise LookupError(ast.unparse(node))


def _number(node: ast.expr) -> Any:
    match node:
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return ast.literal_eval(left) ** ast.literal_eval(right)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _number(left) - _number(right)
    return ast.literal_eval(node)
