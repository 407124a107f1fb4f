"""The page of the data sets of MultiBench has the table that the classes and their twins give."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def script():
    spec = importlib.util.spec_from_file_location("multibench_table", DOCS / "multibench_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_that_of_the_classes():
    made = script()
    shown = made.TABLE.search(made.PAGE.read_text(encoding="utf-8")).group()
    assert shown == made.table()
    assert all(f"(`{kind.__name__}`)" in shown for kind in made.twin_kinds())
