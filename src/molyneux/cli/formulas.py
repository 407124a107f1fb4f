"""The formula of a metric, model, objective or measure from `formulas.md`, as text for a terminal.

`formulas.md` is also the body of a page of the documentation. It has a section for each kind and, below it, one for each name,
with formulas in LaTeX between `$$`. `readable` knows the commands that the file uses, and no others.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from unicodedata import lookup

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)
_GREEK = {
    rf"\{name}": lookup(f"GREEK {case} LETTER {name.replace('lambda', 'lamda')}".upper())
    for case, names in (("small", "alpha beta gamma epsilon lambda mu phi psi sigma"), ("capital", "Delta Sigma"))
    for name in names.split()
}
_SIGNS = {
    r"\int": "∫",
    r"\sum": "∑",
    r"\prod": "∏",
    r"\in": "∈",
    r"\le": "≤",
    r"\ge": "≥",
    r"\ne": "≠",
    r"\sim": "~",
    r"\propto": "∝",
    r"\cdot": "·",
    r"\mid": "|",
    r"\|": "‖",
    r"\emptyset": "∅",
    r"\dots": "…",
    r"\top": "T",
}
_SPACES = dict.fromkeys((r"\,", r"\;", "\\ "), " ") | {r"\quad": "\n"}
_NAMES = {r"\log", r"\exp", r"\max", r"\min", r"\det", r"\cos"}
_SIZES = {r"\left", r"\right"}
_LETTERS = {
    r"\mathcal": {"L": "\N{SCRIPT CAPITAL L}", "N": "\N{MATHEMATICAL SCRIPT CAPITAL N}"},
    r"\mathbb": {"E": "\N{MATHEMATICAL DOUBLE-STRUCK CAPITAL E}"},
    r"\mathrm": {},
}
_ACCENTS = {r"\hat": "\N{COMBINING CIRCUMFLEX ACCENT}", r"\bar": "\N{COMBINING MACRON}"}
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_WIDTH = 110


def formula(kind: str, name: str) -> str:
    """How something of a kind is computed, as text; empty where the file has no section of that name.

    Args:
        kind: `auxiliary-objectives`, `fusions`, `metrics`, `models`, `objectives`, `measures` or `posteriors`.
        name: as the lists have it.
    """
    parts = []
    for block in _sections().get((kind, name), "").split("\n\n"):
        text = _plain(block)
        parts.append(text if block.startswith("$$") else textwrap.fill(text, _WIDTH))
    return textwrap.indent("\n".join(parts), "  ").rstrip()


def readable(latex: str) -> str:
    r"""A formula in LaTeX as text; `\quad` begins a line.

    >>> readable(r"\frac{1}{N} \sum_{i=1}^{N} \log p(x_i \mid z)")
    '1/N ∑_(i=1)^N log p(x_i | z)'

    Raises:
        ValueError: a command that is not known here.
    """
    text = "".join(_pieces(iter(_TOKEN.findall(latex))))
    text = re.sub(r"(?<=[(\[]) +| +(?=[)\],])", "", re.sub(",? *\n *", "\n", text))
    return re.sub(" +", " ", text).strip()


@cache
def _sections() -> dict[tuple[str, str], str]:
    """The text below each heading of names, by kind and name."""
    found: dict[tuple[str, str], str] = {}
    kind = ""
    text = files("molyneux.cli").joinpath("formulas.md").read_text(encoding="utf-8")
    for part in re.split(r"^(?=###? )", text, flags=re.MULTILINE):
        heading, _, body = part.partition("\n")
        if heading.startswith("## "):
            kind = heading[3:].lower().replace(" ", "-")
        elif heading:
            found[kind, heading[4:]] = body.strip()
    return found


def _plain(block: str) -> str:
    """A paragraph with its formulas as text; the lines of a paragraph are joined."""
    if block.startswith("$$"):
        return readable(block.strip("$\n"))
    return re.sub(r"\$(.+?)\$", lambda match: readable(match[1]), " ".join(block.split()))


def _pieces(tokens: Iterator[str]) -> Iterator[str]:
    for token in tokens:
        if token == "}":
            return
        yield _piece(token, tokens)


def _piece(token: str, tokens: Iterator[str]) -> str:
    """One token with its arguments, which it takes from those that follow."""
    if token == "{":
        return "".join(_pieces(tokens))
    if token in "^_":
        return _index(token, _argument(tokens))
    if token == r"\frac":
        return f"{_grouped(_argument(tokens))}/{_grouped(_argument(tokens))}"
    if token == r"\sqrt":
        return f"√{_grouped(_argument(tokens))}"
    if token in _LETTERS:
        letters = _argument(tokens)
        return _LETTERS[token].get(letters, letters)
    if token in _ACCENTS:
        return _argument(tokens) + _ACCENTS[token]
    if token in _SIZES:
        return ""
    if token in _NAMES:
        return token[1:]
    known = _GREEK | _SIGNS | _SPACES
    if token.startswith("\\") and token not in known:
        raise ValueError(f"{token} is no command that formulas.md may use: add it here or write the formula without it")
    return " " if token.isspace() else known.get(token, token)


def _argument(tokens: Iterator[str]) -> str:
    """The next group or single token."""
    token = next(tokens)
    return _piece(next(tokens) if token.isspace() else token, tokens).strip()


def _index(sign: str, text: str) -> str:
    if sign == "^" and not text.strip("0123456789-"):
        return text.translate(_RAISED)
    return f"{sign}{text if text.isalnum() or len(text) == 1 else f'({text})'}"


def _grouped(text: str) -> str:
    """In parentheses where it has several terms; a function of something is one."""
    return text if re.fullmatch(r"\w*(\(([^()]|\([^()]*\))*\))?|[^ /+-]*", text) else f"({text})"
