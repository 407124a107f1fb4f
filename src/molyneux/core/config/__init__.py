"""Settings: a YAML file becomes checked objects, and every problem of the file is reported at once.

Class signatures are the schema; pydantic checks every value against the annotation of its argument. Where a class is expected,
the file names one, by a short name (`CdSprites`, `latent_probe`) or by its dotted path (`their.module.Class`), alone or with
its arguments: `{class_path: CdSprites, init_args: {level: 2}}`.
"""

from molyneux.core.config.build import CHOICE, Built, Factory, Named, Supplied, build, plain, settings_model
from molyneux.core.errors import collected
from molyneux.core.tooling.classes import (
    OMITTED,
    REQUIRED,
    Argument,
    arguments,
    class_paths,
    find_class,
    is_foreign,
    package_alone,
    public_path,
    short_names,
    working_folder_importable,
)
from molyneux.core.tooling.documents import (
    dump_document,
    dump_sections,
    overridden,
    override,
    parse_document,
    parse_value,
    read_document,
)

__all__ = [
    "CHOICE",
    "OMITTED",
    "REQUIRED",
    "Argument",
    "Built",
    "Factory",
    "Named",
    "Supplied",
    "arguments",
    "build",
    "class_paths",
    "collected",
    "dump_document",
    "dump_sections",
    "find_class",
    "is_foreign",
    "overridden",
    "override",
    "package_alone",
    "parse_document",
    "parse_value",
    "plain",
    "public_path",
    "read_document",
    "settings_model",
    "short_names",
    "working_folder_importable",
]
