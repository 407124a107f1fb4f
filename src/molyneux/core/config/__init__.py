"""Settings: a YAML file becomes checked objects, and every problem of the file is told at once.

Class signatures are the schema. A value is looked at against the type its argument is annotated with; where a class is
expected, the file names one, by a short name (`CdSprites`, `latent_probe`) or by its dotted path (`their.module.Class`),
alone or with its arguments: `{class_path: CdSprites, init_args: {level: 2}}`.
"""

from molyneux.core.config.build import Built, build, build_fields, collected
from molyneux.core.config.classes import find_class, public_path, short_names
from molyneux.core.config.document import dump_document, parse_document, parse_value, read_document
from molyneux.core.config.override import override
from molyneux.core.config.recipe import Later, Recipe

__all__ = [
    "Built",
    "Later",
    "Recipe",
    "build",
    "build_fields",
    "collected",
    "dump_document",
    "find_class",
    "override",
    "parse_document",
    "parse_value",
    "public_path",
    "read_document",
    "short_names",
]
