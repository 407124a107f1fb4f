"""The pages of data sets in published layouts have the tables that the classes and their twins give."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def script():
    spec = importlib.util.spec_from_file_location("multibench_table", DOCS / "multibench_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("family", ["multibench", "generative"])
def test_the_table_is_that_of_the_classes(family):
    made = script()
    shown = made.TABLE.search(made.PAGES[family].read_text(encoding="utf-8")).group()
    assert shown == made.table(family)
    assert all(f"(`{kind.__name__}`)" in shown for kind in made.twin_kinds(family))
