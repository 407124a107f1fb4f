"""Trees of the same meaning in other words: the simplest of them, and a key that they share.

>>> tree = Tree.from_polish(["count-eq-2", "both", "red", "square", "any"])
>>> str(simplified(tree))
'count-eq-2(any, both(red, square))'
"""

from __future__ import annotations

from collections.abc import Hashable

from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS, Tree, fits_sort

_JOINED = ("and", "or")


def simplified(tree: Tree) -> Tree:
    """A tree that is true of the same scenes, in which "two red squares are shapes" is "two shapes are red squares"."""
    children = tuple(simplified(child) for child in tree.children)
    if _counts(tree.symbol) and children[1] == Tree("any") and children[0] != Tree("any"):
        children = children[::-1]
    return Tree(tree.symbol, children)


def alternatives(tree: Tree) -> list[Tree]:
    """The tree, and for "there is a red square" also "a square is red" and "a shape is a red square", and the other way round."""
    found = [tree]
    if tree.symbol in ("there-is", "exists") and all(fits_sort("type", child.sort) for child in tree.children):
        parts = [part for child in tree.children for part in (child.children if child.symbol == "both" else (child,))]
        by_sort = {part.sort: part for part in parts if part.symbol != "any"}
        if len(by_sort) == len(set(parts) - {Tree("any")}):
            colour, shape = by_sort.get("colour"), by_sort.get("shape")
            joined = Tree("both", (colour, shape)) if colour and shape else colour or shape or Tree("any")
            found += [Tree("there-is", (joined,)), Tree("exists", (Tree("any"), joined))]
            found += [Tree("exists", (shape, colour)), Tree("exists", (colour, shape))] if colour and shape else []
    return list(dict.fromkeys(found))


def meaning_key(tree: Tree) -> Hashable:
    """A key that trees share if they are true of the same scenes for reasons of their form alone."""
    if tree.symbol in _JOINED:
        return tree.symbol, frozenset(map(meaning_key, _flat(tree, tree.symbol)))
    if tree.symbol == "there-is" or tree.symbol == "exists":
        return "some", _parts(tree.children)
    if tree.symbol in ("ratio-neq-0", "count-geq-1", "count-gt-0"):
        return "some", _parts(tree.children)
    if tree.symbol in ("ratio-eq-0", "count-eq-0", "count-leq-0"):
        return "no", _parts(tree.children)
    if tree.symbol == "not-true" and tree.children[0].symbol in ("there-is", "exists"):
        return "no", _parts(tree.children[0].children)
    if tree.symbol in ("bare-two", "count-geq-2", "count-gt-1"):
        return "two", _parts(tree.children)
    if _counts(tree.symbol):
        return tree.symbol, _parts(tree.children)
    return tree.symbol, *map(meaning_key, tree.children)


def _counts(symbol: str) -> bool:
    """Whether a symbol counts entities that are both of its noun and of its predicate."""
    return SYMBOLS[symbol].kind == "count" or symbol in ("bare-two", "bare-the", "ratio-eq-0", "ratio-neq-0")


def _parts(trees: tuple[Tree, ...]) -> frozenset[Hashable]:
    """What is said of the same entities, without "shape"."""
    found: set[Hashable] = set()
    for tree in trees:
        if tree.symbol == "both":
            found |= {(child.symbol,) for child in tree.children}
        elif tree.symbol != "any":
            found.add(meaning_key(tree) if not fits_sort("type", tree.sort) else (tree.symbol,))
    return frozenset(found)


def _flat(tree: Tree, symbol: str) -> list[Tree]:
    return [one for child in tree.children for one in _flat(child, symbol)] if tree.symbol == symbol else [tree]
