"""The JSON Schema of experiment and study files: what editors need to complete and check them."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from molyneux.core.config import CHOICE, OMITTED, REQUIRED, arguments, plain, public_path, settings_model, short_names
from molyneux.run.run.experiment import LISTS, Experiment
from molyneux.run.studies.study import Study

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_OWN_CLASS = {"type": "string", "pattern": r"^(?!molyneux\.).*\."}
"""The dotted path of a class from outside this package, whose arguments the schema does not know."""


def experiment_schema() -> dict[str, Any]:
    """The JSON Schema of an experiment file, with the classes of this package and their arguments."""
    schema = _document(Experiment, "An experiment of Molyneux")
    for section, setting in LISTS.items():
        kind = schema["$defs"][f"{section.capitalize()}Settings"]["anyOf"][0]["properties"][setting]
        schema["properties"][section] = {
            "anyOf": [schema["properties"][section], {"$ref": kind["$ref"]} if "$ref" in kind else kind]
        }
        schema["properties"][section]["anyOf"].append(kind["items"])
    return schema


def study_schema() -> dict[str, Any]:
    """The JSON Schema of a study file."""
    return _document(Study, "A study of Molyneux: one experiment, and what is varied in it")


def _document(kind: type, title: str) -> dict[str, Any]:
    choices = dict[str, list[str]]()
    root = _settings(kind, (), choices)
    definitions = dict[str, Any]()
    while missing := [name for name in choices if name not in definitions]:
        definitions |= {name: _choice(choices[name], choices) for name in missing}
    return {"$schema": _DIALECT, "title": title, **root, "$defs": dict(sorted(definitions.items()))}


def _settings(target: type, supplied: tuple[str, ...], choices: dict[str, list[str]]) -> dict[str, Any]:
    """The arguments of a class, with their defaults."""
    schema = settings_model(target, supplied).model_json_schema()
    properties = {name: _tidy(item, choices) for name, item in schema.get("properties", {}).items()}
    for name, item in arguments(target).items():
        if name in properties and item.default is not REQUIRED and item.default is not OMITTED:
            properties[name] = {**properties[name], "default": plain(item.default, item.kind)}
    required = {"required": schema["required"]} if "required" in schema else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _choice(choice: list[str], choices: dict[str, list[str]]) -> dict[str, Any]:
    """Everything that may stand where a class is named: its settings, its name, or its name with arguments."""
    module, name, package, *supplied = choice
    base = getattr(importlib.import_module(module), name)
    named = dict(_names(short_names(base, package=package)))
    forms = [_settings(base, (), choices)] if hasattr(base, "__dataclass_fields__") and not supplied else []
    if named or not forms:
        forms += [{"enum": [name for names, _ in named.values() for name in names]}, _OWN_CLASS] if named else [_OWN_CLASS]
        forms += [_form({"enum": names}, _settings(kind, tuple(supplied), choices), kind) for names, kind in named.values()]
        forms.append(_form(_OWN_CLASS, {"type": "object"}))
    return {"anyOf": forms}


def _form(name: dict[str, Any], settings: dict[str, Any], kind: type | None = None) -> dict[str, Any]:
    described = {"description": (kind.__doc__ or "").partition("\n")[0]} if kind is not None else {}
    properties = {"class_path": name, "init_args": {"anyOf": [settings, {"type": "null"}]}}
    return {"type": "object", **described, "properties": properties, "required": ["class_path"], "additionalProperties": False}


def _names(found: Mapping[str, type]) -> Iterator[tuple[str, tuple[list[str], type]]]:
    """By short name, all names of a class: short, in lower case with underscores, and dotted."""
    for short, kind in found.items():
        lower = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", short).lower()
        yield short, (list(dict.fromkeys([short, lower, public_path(kind)])), kind)


def _tidy(schema: Any, choices: dict[str, list[str]]) -> Any:
    """Without the titles that pydantic makes up, and with a reference for every class that a file names."""
    if isinstance(schema, list):
        return [_tidy(item, choices) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if CHOICE in schema:
        name = schema[CHOICE][1]
        if choices.setdefault(name, schema[CHOICE]) != schema[CHOICE]:
            name = ".".join(schema[CHOICE])
            choices[name] = schema[CHOICE]
        return {"$ref": f"#/$defs/{name}"}
    return {name: _tidy(item, choices) for name, item in schema.items() if not (name == "title" and isinstance(item, str))}


def write_schemas(folder: Path) -> None:
    """Write `schema.json` for the experiments in a folder, and one for the studies in its sub-folder `studies`."""
    for place, schema in ((folder, experiment_schema()), (folder / "studies", study_schema())):
        place.mkdir(parents=True, exist_ok=True)
        (place / "schema.json").write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
