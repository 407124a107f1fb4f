"""YAML is read strictly."""

from pathlib import Path

import pytest

from molyneux.core import ConfigError
from molyneux.core.config import dump_document, parse_document, parse_value, read_document
from molyneux.core.tooling.documents import MOST_VALUES


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E3", 1000.0),
        (".5", 0.5),
        ("-2.5e+2", -250.0),
        ("12", 12),
        ("-3", -3),
        ("yes", "yes"),
        ("off", "off"),
        ("true", True),
        ("null", None),
        ("", None),
        ("1.2.3", "1.2.3"),
        ("e5", "e5"),
        ("010", "010"),
        ("1:30", "1:30"),
        ("2026-01-31", "2026-01-31"),
        ("1_000", 1000),
        ("{a: [1, x]}", {"a": [1, "x"]}),
    ],
)
def test_values(text: str, value: object) -> None:
    read = parse_value(text)
    assert read == value
    assert type(read) is type(value)


def test_a_key_given_twice_is_an_error_with_its_lines() -> None:
    with pytest.raises(ConfigError, match=r"^x\.yaml: line 3: the key a is given twice, first in line 1: keep one of them$"):
        parse_document("a: 1\nb: 2\na: 3\n", "x.yaml")
    with pytest.raises(ConfigError, match="line 3: the key b is given twice, first in line 2"):
        parse_document("a:\n  b: 2\n  b: 3\n", "x.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1", "x: line 1, column 6: this is no YAML"),
        ("- 1", "expected settings as `name: value` lines, got a list"),
        ("", "got an empty file"),
        ("a: !!binary R0lG", "x: line 1, column 4: this is no YAML: could not determine a constructor"),
        ("a: !!int x", "x: this is no YAML: a value cannot be read: invalid literal"),
        ("a: " + "9" * 5_000, "x: this is no YAML: a value cannot be read: "),
        ("[" * 10_000, "x: expected at most 50 levels"),
        ("a: &a [*a]", "x: expected at most 50 levels"),
        ("? [1]\n: 2", "x: line 1, column 3: this is no YAML: found unhashable key"),
        ("null: 2", "x: expected words as names, got NoneType"),
        ("a: x\x07", "x: this is no YAML"),
        ("!!python/object:os.system {}", "x: line 1, column 1: this is no YAML: could not determine a constructor"),
    ],
)
def test_no_settings(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        parse_document(text, "x")


def test_merged_mappings_do_not_grow_without_bound() -> None:
    """Ten times as many pairs at each level: refused, or merged to the one key that they are (PyYAML from 6.0.4 on)."""
    levels = "".join(f", a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}" for n in range(1, 9))
    try:
        found: object = parse_document("{a0: &a0 {x: 1}" + levels + "}", "x")
    except ConfigError as error:
        found = str(error)
    assert found == {f"a{n}": {"x": 1} for n in range(9)} or "at most 20000 values" in str(found)


def test_files(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read the settings file .*absent\.yaml: no such file or directory"):
        read_document(tmp_path / "absent.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"a: \xff\xfe")
    with pytest.raises(ConfigError, match="expected text in UTF-8"):
        read_document(tmp_path / "bytes.yaml")
    tree = {"z": 1e-3, "a": {"words": "off", "e": "1e3", "date": "2026-01-31", "n": None, "f": 2.0}, "l": ["é", True]}
    (tmp_path / "good.yaml").write_text(dump_document(tree), encoding="utf-8")
    assert read_document(tmp_path / "good.yaml") == tree


def test_a_document_of_too_many_names_is_refused_before_it_is_read_to_its_end() -> None:
    names = "".join(f"k{number}: 1\n" for number in range(2 * MOST_VALUES))
    with pytest.raises(ConfigError, match="expected at most 20000 values"):
        parse_document(f"{names}]", "bomb")  # the end is no YAML
    assert len(parse_document("".join(f"k{number}: 1\n" for number in range(MOST_VALUES - 1)), "large")) == MOST_VALUES - 1
