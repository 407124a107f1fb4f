"""Plain settings become objects, as the annotations of classes say, each class a pydantic model made from its signature."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import inspect
import types
import typing
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

import pydantic
from pydantic import BeforeValidator, PlainValidator, ValidationError
from pydantic_core import PydanticCustomError

from molyneux.core.errors import ConfigError, MolyneuxError, nearest, suggestion
from molyneux.core.tooling.classes import (
    OMITTED,
    REQUIRED,
    Argument,
    arguments,
    class_in_words,
    find_class,
    is_foreign,
    public_path,
    without_added,
    working_folder_importable,
)
from molyneux.core.tooling.documents import require_plain
from molyneux.core.tooling.moved import with_moved

T = TypeVar("T")
Place = tuple[str | int, ...]
Problem = tuple[Place, str]
CHOICE = "x-class"
"""Key that marks, in a JSON Schema made by pydantic, where the file names a class: module, name, package, supplied arguments."""
_typing: Any = typing  # for types that are made as the program runs
_MAPPINGS = (dict, Mapping)
_UNIONS = (Union, types.UnionType)
_SCALARS = (Any, bool, int, float, str, None, type(None), Path)
_LISTS: dict[Any, Any] = {list: list, tuple: tuple, set: set, frozenset: frozenset, Collection: tuple, Iterable: tuple}
_LISTS |= {Sequence: tuple, Set: frozenset}
_STRICT = pydantic.ConfigDict(strict=True, allow_inf_nan=False, extra="forbid", arbitrary_types_allowed=True)
_WORDS = {"int_type": "an integer", "float_type": "a number", "bool_type": "true or false", "string_type": "a word or sentence"}
_WORDS |= {"none_required": "null", "greater_than_equal": "at least {ge}", "less_than_equal": "at most {le}"}
_WORDS |= {"list_type": "a list", "tuple_type": "a list", "dict_type": "`name: value` lines", "finite_number": "a finite number"}
_WORDS |= {"greater_than": "more than {gt}", "less_than": "less than {lt}"}


@dataclass(frozen=True, eq=False)
class Built:
    """What a piece of a file became: the object, and the same as plain data with every default filled in."""

    value: Any
    plain: Any


@dataclass(frozen=True)
class Supplied:
    """Says in `Annotated[Factory[Base], Supplied(("spec",), "their.package")]` which arguments only `Factory.make` can give.

    The short names of the classes are those in the `__all__` of `package`, by default of the packages that `Base` is in.
    """

    arguments: tuple[str, ...] = ()
    package: str = ""


@dataclass(frozen=True)
class Named:
    """Says in `Annotated[Any, Named("package.Class")]` which class is expected; it is imported when a setting is given."""

    path: str

    def find(self) -> type:
        """The class."""
        module, _, name = self.path.rpartition(".")
        found: type = getattr(importlib.import_module(module), name)
        return found


@dataclass(frozen=True)
class Factory(Generic[T]):
    """A class with its settings, checked but not made."""

    target: type[T]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def make(self, at: str = "", /, **supplied: Any) -> T:
        """The object, with the arguments that were missing; ConfigError, with places below `at`, where the class refuses."""
        with _reported(at):
            made: T = _constructed(self.target, {**self.settings, **supplied}, ("init_args",))
        return made


def build(kind: Any, value: Any, at: str = "") -> Built:
    """Make a value of the type `kind` from plain settings that stand at the dotted path `at`.

    >>> build(tuple[int, ...], [1, 2]).value
    (1, 2)

    Raises:
        ConfigError: with every problem found, one sentence each, with its path.
    """
    require_plain(value, at)
    with _reported(at):
        tree = _adapter(kind).validate_python(value)
    return Built(_value(tree), plain(tree))


def plain(value: Any, kind: Any = None) -> Any:
    """The plain data that stand for a setting: what is stored and hashed. A dataclass of type `kind` needs no `class_path`.

    >>> plain((1, Path("samples")))
    [1, 'samples']

    Raises:
        ConfigError: the value has no plain form.
    """
    if isinstance(value, Built):
        return value.plain
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path | enum.Enum):
        return str(value) if isinstance(value, Path) else value.name
    if isinstance(value, Mapping):
        return {plain(name): plain(item) for name, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value))
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, type):
        return public_path(value)
    if dataclasses.is_dataclass(value):
        target: Any = type(value)
        settings = {name: plain(getattr(value, name), item.kind) for name, item in arguments(target).items()}
        settings = without_added(target, settings)
        return settings if target in (kind, *get_args(kind)) else {"class_path": public_path(target), "init_args": settings}
    raise ConfigError(f"a default of type {type(value).__name__} has no plain form: make it a frozen dataclass")


@functools.cache
def typed(kind: Any) -> Any:
    """The pydantic type of an annotation: strict, lists for every kind of collection, and classes by their names."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    composite = origin in (*_LISTS, *_MAPPINGS, *_UNIONS)
    parts = tuple(part if part is Ellipsis else typed(part) for part in inner if composite)
    made: Any = kind
    if origin is Annotated:
        said = next((item for item in inner[1:] if isinstance(item, Named | Supplied)), None)
        if isinstance(said, Named):
            made = _found_later(said)
        else:
            made = _chosen(get_args(inner[0])[0], said) if said else _typing.Annotated[(typed(inner[0]), *inner[1:])]
    elif origin is Factory:
        made = _chosen(inner[0], Supplied())
    elif origin in _UNIONS:
        made = _typing.Annotated[
            Any, PlainValidator(functools.partial(_one_of, inner), json_schema_input_type=_typing.Union[parts])
        ]
    elif origin is Literal or (inspect.isclass(kind) and issubclass(kind, enum.Enum)):
        choices = inner or tuple(kind.__members__)
        numbers = (int(word) for word in choices if isinstance(word, str) and word.isdecimal())
        choose = functools.partial(_choice, choices, kind if not inner else None)
        made = _typing.Annotated[Any, PlainValidator(choose, json_schema_input_type=_typing.Literal[(*choices, *numbers)])]
    elif origin in _LISTS:
        form: Any = tuple if origin is tuple and inner else list
        listed = BeforeValidator(lambda value: form(value) if isinstance(value, list | tuple) else value)
        made = _typing.Annotated[form[parts or Any], listed, pydantic.AfterValidator(_LISTS[origin])]
    elif origin in _MAPPINGS:
        made = _typing.Dict[parts or (str, Any)]
    elif kind is Path:
        made = _typing.Annotated[str, pydantic.AfterValidator(lambda value: Path(value))]
    elif kind not in _SCALARS and inspect.isclass(kind):
        made = _chosen(kind, None)
    return made


@functools.cache
def _adapter(kind: Any) -> pydantic.TypeAdapter[Any]:
    return pydantic.TypeAdapter(typed(kind), config=_STRICT)


@functools.cache
def settings_model(target: type, supplied: tuple[str, ...] = ()) -> type[pydantic.BaseModel]:
    """The pydantic model of a constructor's arguments, except those that are supplied later; names are aliases of its fields."""
    fields: dict[str, Any] = {}
    for name, item in arguments(target).items():
        if name not in supplied:
            default: dict[str, Any] = {} if item.default is REQUIRED else {"default_factory": functools.partial(_default, item)}
            fields[f"argument_{name}"] = (typed(item.kind), pydantic.Field(alias=name, **default))
    made: type[pydantic.BaseModel] = pydantic.create_model(target.__name__, __config__=_STRICT, **fields)
    return made


def _default(item: Argument) -> Any:
    return OMITTED if item.default is OMITTED else Built(item.default, plain(item.default, item.kind))


def _settings(target: type, given: Mapping[str, Any], supplied: tuple[str, ...], whose: str = "") -> dict[str, Any]:
    """The arguments of a class, those not given filled in with their defaults."""
    known = {name: item for name, item in arguments(target).items() if name not in supplied}
    try:
        read = settings_model(target, supplied).model_validate(with_moved(target, given))
    except ConfigError as error:
        raise _error([((name,), rest) for name, _, rest in (told.partition(": ") for told in error.problems)]) from error
    except ValidationError as error:
        raise _error(_problems(error, known, whose)) from error
    found = {name: getattr(read, f"argument_{name}") for name in known}
    return {name: item for name, item in found.items() if item is not OMITTED}


def _constructed(target: type, settings: Mapping[str, Any], place: Place = ()) -> Any:
    """The object. An error that begins with the name of an argument is reported at the place of that argument."""
    try:
        with working_folder_importable() if is_foreign(target.__module__ + ".") else nullcontext():
            return target(**_value(dict(settings)))
    except Exception as error:  # a class that a file names may raise anything
        strange = "" if isinstance(error, MolyneuxError) else f"{target.__name__} cannot be made: {type(error).__name__}: "
        sentences = error.problems if isinstance(error, ConfigError) else (f"{strange}{error}",)
        parts = [(sentence, *sentence.partition(": ")[::2]) for sentence in sentences]
        places = [((*place, n), rest) if n.split(".")[0] in settings else ((), whole) for whole, n, rest in parts]
        raise _error(places) from error


def _chosen(base: type, later: Supplied | None) -> Any:
    """A class that the file names; a dataclass may be written as its settings alone."""
    package, supplied = (later.package, later.arguments) if later else ("", ())

    def read(value: Any) -> Built:
        if later is None and dataclasses.is_dataclass(base) and isinstance(value, Mapping) and "class_path" not in value:
            settings = _settings(base, value, ())
            return Built(_constructed(base, settings), without_added(base, plain(settings)))
        target, given = _named(base, value, package)
        try:
            settings = _settings(target, given, supplied, f" of {target.__name__}")
        except ValidationError as error:
            raise _error([(("init_args", *place), sentence) for place, sentence in _problems(error)]) from error
        made = Factory(target, _value(settings)) if later else _constructed(target, settings, ("init_args",))
        alone = target is base and dataclasses.is_dataclass(base)
        told = without_added(target, plain(settings))
        return Built(made, told if alone else {"class_path": public_path(target), "init_args": told})

    mark = pydantic.WithJsonSchema({CHOICE: [base.__module__, base.__qualname__, package, *supplied]})
    return Annotated[Any, PlainValidator(read, json_schema_input_type=Annotated[Any, mark])]


def _found_later(named: Named) -> Any:
    """As `_chosen` of a class that is imported for the first value."""
    module, _, name = named.path.rpartition(".")
    mark = pydantic.WithJsonSchema({CHOICE: [module, name, ""]})
    read = PlainValidator(
        lambda value: _adapter(named.find()).validate_python(value), json_schema_input_type=Annotated[Any, mark]
    )
    return Annotated[Any, read]


def _named(base: type, value: Any, package: str) -> tuple[type, Mapping[str, Any]]:
    """The class that a value names, and the arguments that it gives."""
    form = {"class_path": value} if isinstance(value, str) else value
    if not isinstance(form, Mapping) or not isinstance(form.get("class_path"), str):
        words = "`name: value` lines" if dataclasses.is_dataclass(base) else class_in_words(base)
        raise _error([((), f"expected {words}, got {_shown(value)}")])
    given: Any = form.get("init_args") or {}
    beside = "unknown setting beside class_path; arguments of the class stand under init_args"
    problems: list[Problem] = [((name,), beside) for name in form if name not in ("class_path", "init_args")]
    if not isinstance(given, Mapping):
        problems.append((("init_args",), f"expected arguments as `name: value` lines, got {_shown(given)}"))
    try:
        target = find_class(form["class_path"], base, package=package)
    except ConfigError as error:
        problems += [(() if form is not value else ("class_path",), sentence) for sentence in error.problems]
    if problems:
        raise _error(problems)
    return target, given


def _one_of(members: tuple[Any, ...], value: Any) -> Any:
    """What the first member of a union makes of a value, or the errors of the member that it was meant for."""
    if value is None and type(None) in members:
        return None
    errors = list[ValidationError]()
    for member in sorted(members, key=lambda member: member is float):
        try:
            return _adapter(member).validate_python(value)
        except ValidationError as error:
            errors.append(error)
    inner = [error for error in errors if all(place for place, _ in _problems(error))]
    if inner and not isinstance(value, str):  # it has the form of this member
        raise min(inner, key=_distance)
    sentences = list(dict.fromkeys(sentence for error in errors for place, sentence in _problems(error) if not place))
    special = [sentence for sentence in sentences if not sentence.startswith("expected ")]
    expected = dict.fromkeys(text.partition(", got ")[0].removeprefix("expected ") for text in sentences if text not in special)
    joined = f"expected {' or '.join(expected)}, got {_shown(value)}"
    raise _error([((), special[0] if len(special) == 1 or not expected else joined)])


def _distance(error: ValidationError) -> tuple[int, int]:
    """How far a value is from a member of a union: settings that the member does not have, then all problems."""
    sentences = [sentence for _, sentence in _problems(error)]
    return sum(sentence.startswith("unknown setting") for sentence in sentences), len(sentences)


def _choice(choices: tuple[Any, ...], kind: type[enum.Enum] | None, value: Any) -> Any:
    """One of the choices, or the enum member of that name. A file may have the number 1 where the choice is the word `1`."""
    value = str(value) if type(value) is int and str(value) in choices else value
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        offer = suggestion(value, map(str, choices)) if isinstance(value, str) else ""
        expected = f"{'one of ' * (len(choices) > 1)}{', '.join(map(str, choices))}"
        raise _error([((), f"expected {expected}, got {_shown(value)}{offer}")])
    return kind[value] if kind else value


def _value(tree: Any) -> Any:
    """The objects in a tree of validated settings."""
    if isinstance(tree, Built):
        return tree.value
    if type(tree) is dict:
        return {name: _value(item) for name, item in tree.items()}
    return type(tree)(map(_value, tree)) if type(tree) in (list, tuple, set, frozenset) else tree


def _error(problems: Iterable[Problem]) -> ValidationError:
    """The error that a validator raises for sentences at places within its value."""
    kinds = [(place, PydanticCustomError("problem", "{sentence}", {"sentence": text})) for place, text in problems]
    return ValidationError.from_exception_data("settings", [{"type": kind, "loc": place, "input": None} for place, kind in kinds])


def _problems(error: ValidationError, known: Mapping[Any, Argument] | None = None, whose: str = "") -> list[Problem]:
    """The errors of pydantic as places and sentences."""
    found = list[Problem]()
    for item in error.errors(include_url=False):
        error_type, context, place = item["type"], item.get("ctx", {}), item["loc"]
        words = _WORDS[error_type].format(**context) if error_type in _WORDS else item["msg"].removeprefix("Input should be ")
        sentence = f"expected {words}, got {_shown(item['input'])}"
        if error_type == "problem":
            sentence = context["sentence"]
        elif error_type == "extra_forbidden":
            sentence = f"unknown setting{whose}; {nearest(str(place[-1]), known or ())}"
        elif error_type == "missing":
            kind: Any = known[place[-1]].kind if known and place[-1] in known else None
            is_class = inspect.isclass(kind) and kind not in _SCALARS
            sentence = f"is missing: expected {class_in_words(kind) if is_class else getattr(kind, '__name__', 'a value')}"
        found.append((place, sentence))
    return found


@contextmanager
def _reported(at: str) -> Iterator[None]:
    """Errors of pydantic as one ConfigError, with dotted paths."""
    try:
        yield
    except ValidationError as error:
        found = [([at, *map(str, place)], text) for place, text in _problems(error)]
        paths = [(".".join(name for name in names if name not in ("", "[key]")), text) for names, text in found]
        raise ConfigError([f"{path}: {text}" if path else text for path, text in paths]) from error.__cause__ or error


def _shown(value: Any) -> str:
    return text if len(text := repr(value)) <= 100 else f"{text[:97]}..."
