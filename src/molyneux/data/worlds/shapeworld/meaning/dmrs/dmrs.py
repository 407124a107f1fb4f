"""The meaning of captions as dependency minimal recursion semantics (DMRS), and as what PyDelphin makes of it: MRS and EDS.

DMRS (Copestake, EACL 2009) is a graph of predicates. `erg` says what each symbol adds to it. The graph has the variable
properties of the English Resource Grammar (ERG), and the scope of quantifiers is open, as in what the grammar itself gives: of
its readings the caption means the one in which quantifiers, negation and connectives have the order of the tree. Nothing is
lost: `tree_of_dmrs` reads the tree back.

>>> graph = dmrs_of(Tree.of("exists", Tree.of("both", "red", "square"), Tree.of("above", "circle")))
>>> [node.predicate for node in graph.nodes]
['_a_q', '_square_n_of', '_red_a_1', '_above_p', '_a_q', '_circle_n_of']
>>> print(tree_of_dmrs(graph))
exists(both(red, square), above(circle))
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from molyneux.core import ConfigError, DataError
from molyneux.data.worlds.shapeworld.meaning.dmrs.erg import Item, Rule, erg_rules
from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree

if TYPE_CHECKING:
    from delphin.dmrs import DMRS, Link, Node
    from delphin.eds import EDS
    from delphin.mrs import MRS

_NOTHING = -1
"""In place of a node."""

_EVENT = {"SF": "prop", "TENSE": "untensed", "MOOD": "indicative", "PROG": "-", "PERF": "-"}


def dmrs_of(tree: Tree) -> DMRS:
    """The DMRS of a statement.

    Raises:
        DataError: the tree is no statement. ConfigError: PyDelphin is not installed.
    """
    if tree.sort not in ("statement", "quantified"):
        raise DataError(f"expected a statement, got a {tree.sort}: {tree}")
    return _Writer(pydelphin("dmrs")).write(tree)


def mrs_of(tree: Tree) -> MRS:
    """The MRS of a statement, whose variables are numbered in the order in which they occur; errors as `dmrs_of`."""
    mrs = pydelphin("mrs")
    made, names = mrs.from_dmrs(dmrs_of(tree)), dict[str, str]()  # numbers of PyDelphin depend on the hashes of strings

    def named(variable: str) -> str:
        return names.setdefault(variable, f"{variable[0]}{len(names)}")

    top, index, rels = named(made.top), named(made.index), []
    for ep in made.rels:
        label = named(ep.label)
        args = {role: value if role == mrs.CONSTANT_ROLE else named(value) for role, value in ep.args.items()}
        rels.append(mrs.EP(ep.predicate, label, args))
    hcons = [mrs.HCons.qeq(named(constraint.hi), named(constraint.lo)) for constraint in made.hcons]
    properties = {named(variable): values for variable, values in made.variables.items()}
    return mrs.MRS(top, index, rels, hcons, variables=properties)


def eds_of(tree: Tree) -> EDS:
    """The elementary dependency structure (EDS) of a statement; errors as `dmrs_of`."""
    return pydelphin("eds").from_mrs(mrs_of(tree))


def tree_of_dmrs(graph: DMRS) -> Tree:
    """The statement whose DMRS a graph is, whatever its node ids and the order of its nodes and links.

    Raises:
        DataError: it is not the DMRS of a statement. ConfigError: PyDelphin is not installed.
    """
    predicates = {node.id: node.predicate for node in graph.nodes}
    if graph.top not in predicates or not all({link.start, link.end} <= set(predicates) for link in graph.links):
        raise DataError("expected a graph with a top and links between its nodes")
    found = _Reader(graph).read("statement", graph.top)
    if found is None:
        raise DataError(f"the graph with the top {predicates[graph.top]} is not that of a statement of captions")
    left = [predicate for number, predicate in predicates.items() if number not in found.used]
    if left:
        raise DataError(f"the graph is not that of a statement: beside the nodes of {found.tree}, it has {', '.join(left)}")
    mrs = pydelphin("mrs")
    if not mrs.is_isomorphic(mrs.from_dmrs(graph), mrs_of(found.tree)):
        raise DataError(f"the graph has the nodes of {found.tree}, but other links, properties or another top")
    return found.tree


def pydelphin(module: str) -> Any:
    """A module of PyDelphin by its name there; raises ConfigError where PyDelphin is not installed."""
    try:
        return importlib.import_module(f"delphin.{module}")
    except ImportError as error:
        raise ConfigError("DMRS and MRS need PyDelphin, which is not installed: pip install 'molyneux[dmrs]'") from error


class _Writer:
    """Makes the graph of a tree by the rules."""

    def __init__(self, dmrs: Any) -> None:
        self._dmrs = dmrs
        self._nodes: list[Node] = []
        self._links: list[Link] = []

    def write(self, tree: Tree) -> DMRS:
        top, index = self._add("statement", tree, None)
        return self._dmrs.DMRS(top, index, self._nodes, self._links)

    def _add(self, category: str, tree: Tree, subject: int | None) -> tuple[int, int]:
        """Add a tree that is said of a node, and return the nodes that are its top and its index."""
        rules = erg_rules()[category]
        rule = rules.get(tree.symbol) or rules[""]
        children = tree.children if tree.symbol in rules else (tree,)
        tops = {} if subject is None else {"subject": subject}
        indices = {}
        for item in rule.items:
            if not item.is_slot:
                tops[item.name] = indices[item.name] = self._node(item)
        slots = [item for item in rule.items if item.is_slot]
        for item in sorted(slots, key=lambda item: item.of != "" and item.of not in tops):
            tops[item.name], indices[item.name] = self._add(item.content, children[int(item.name)], tops.get(item.of))
        for item in rule.items:
            self._links += [self._dmrs.Link(tops[item.name], tops[end], role, post) for role, post, end in item.links]
        return tops[rule.top], indices[rule.index]

    def _node(self, item: Item) -> int:
        number: int = self._dmrs.FIRST_NODE_ID + len(self._nodes)
        self._nodes.append(self._dmrs.Node(number, item.content, *_variable(item), item.constant))
        return number


def _variable(item: Item) -> tuple[str | None, dict[str, str]]:
    """Type and properties of the variable of a node; quantifiers have none."""
    if item.content.endswith("_q"):
        return None, {}
    if "_n_" in item.content or item.content == "part_of":
        return "x", {"PERS": "3", "NUM": "pl" if item.plural else "sg", "IND": "+"}
    return "e", _EVENT | ({"TENSE": "pres"} if item.name == "e" else {})


@dataclass(frozen=True)
class _Found:
    """A tree that was read, the nodes that it covers, and the node that it is said of."""

    tree: Tree
    used: frozenset[int]
    subject: int


class _Reader:
    """Reads graphs by the rules: of all that fit at a node, the one that covers most nodes."""

    def __init__(self, graph: DMRS) -> None:
        self._nodes = {node.id: node for node in graph.nodes}
        self._predicates = {node.predicate for node in graph.nodes}
        self._ends: dict[tuple[int, str, str], list[int]] = defaultdict(list)
        self._starts: dict[tuple[int, str, str], list[int]] = defaultdict(list)
        for link in graph.links:
            both = ((link.start, link.end), (link.end, link.start))
            for start, end in both if link.role == "MOD" else both[:1]:  # MOD has no direction
                self._ends[start, link.role, link.post].append(end)
                self._starts[end, link.role, link.post].append(start)
        self._found: dict[tuple[str, int], _Found | None] = {}

    def read(self, category: str, top: int) -> _Found | None:
        """The tree of a category with its top at a node."""
        if (category, top) not in self._found:
            self._found[category, top] = None  # for graphs with circles
            possible = {name: rule for name, rule in erg_rules()[category].items() if rule.predicates <= self._predicates}
            readings = [self._match(symbol, rule, top) for symbol, rule in possible.items()]
            fitting = [found for found in readings if found is not None]
            self._found[category, top] = max(fitting, key=lambda found: len(found.used), default=None)
        return self._found[category, top]

    def _match(self, symbol: str, rule: Rule, top: int) -> _Found | None:
        """The tree of a rule with its top at a node: items are bound by their links to those that are."""
        bound, found, left = {rule.top: top}, dict[str, _Found](), list(rule.items)
        while left:
            item = next((item for item in left if self._bind(item, bound)), None)
            if item is None:
                return None
            left.remove(item)
            if not item.is_slot:
                if not self._fits(item, bound):
                    return None
                continue
            reading = self.read(item.content, bound[item.name])
            if reading is None or (item.of and bound.setdefault(item.of, reading.subject) != reading.subject):
                return None
            found[item.name] = reading
        own = [bound[item.name] for item in rule.items if not item.is_slot]
        used = frozenset(own).union(*(reading.used for reading in found.values()))
        if len(used) < len(own) + sum(len(reading.used) for reading in found.values()):
            return None  # a node would stand for two things
        children = tuple(found[name].tree for name in sorted(found))
        return _Found(Tree(symbol, children) if symbol else children[0], used, bound.get("subject", _NOTHING))

    def _bind(self, item: Item, bound: dict[str, int]) -> bool:
        """Whether an item is bound, or a node could be found for it."""
        if item.name not in bound:
            node = self._said_of(item, bound[item.of]) if item.of in bound else self._linked(item, bound)
            if node is not None:
                bound[item.name] = node
        return item.name in bound

    def _said_of(self, slot: Item, subject: int) -> int | None:
        """The top of a tree that is said of a node."""
        for (end, _, _), starts in list(self._starts.items()):
            for start in starts if end == subject else ():
                reading = self.read(slot.content, start)
                if reading is not None and reading.subject == subject:
                    return start
        return None

    def _linked(self, item: Item, bound: dict[str, int]) -> int | None:
        """The node of an item with a link that ends at a bound one."""
        link = next((link for link in item.links if link[2] in bound), None)
        starts = self._starts[bound[link[2]], link[0], link[1]] if link else []
        return next((start for start in starts if self._nodes[start].predicate == item.content), None)

    def _fits(self, item: Item, bound: dict[str, int]) -> bool:
        """Whether a bound node is that of an item; binds what its links end at."""
        node = self._nodes[bound[item.name]]
        if node.predicate != item.content or node.carg != item.constant:
            return False
        for role, post, end in item.links:
            ends = self._ends[node.id, role, post]
            if not ends or bound.setdefault(end, ends[0]) not in ends:
                return False
        return True


def realise_with_ace(tree: Tree, grammar: Path, *, executable: str | Path = "ace", arguments: Sequence[str] = ()) -> list[str]:
    """Sentences that a grammar has for a statement, best first, made by the processor ACE.

    Nothing else needs ACE or a grammar: captions are said by rules of this package.

    Args:
        tree: a statement.
        grammar: image of a grammar that ACE compiled, such as the ERG. It needs the words of the caption.
        executable: name or path of ACE.
        arguments: of the command line, such as ("-n", "1").

    Raises:
        ConfigError: PyDelphin, ACE or the grammar are missing. DataError: no statement, or the grammar has no sentence for it.
    """
    meaning = mrs_of(tree)
    problems = []
    if shutil.which(executable) is None:
        problems.append(
            f"executable: found no program {str(executable)!r}; install ACE (the Answer Constraint Engine, see "
            "sweaglesw.org/linguistics/ace), or give the path of its executable"
        )
    if not Path(grammar).is_file():
        problems.append(
            f"grammar: found no file {str(grammar)!r}; expected the image of a grammar for this version of ACE, such as one from "
            "a release of the English Resource Grammar (github.com/delph-in/erg), or `ace -g ace/config.tdl -G erg.dat` makes one"
        )
    if problems:
        raise ConfigError(problems)
    with tempfile.TemporaryFile("w+") as errors:
        ace, text = pydelphin("ace"), pydelphin("codecs.simplemrs").encode(meaning)
        try:
            with ace.ACEGenerator(grammar, list(arguments), str(executable), stderr=errors) as generator:
                answer = generator.interact(text)
            generator._p.stdout.close()  # PyDelphin 1.11 leaves it open
        except (OSError, subprocess.CalledProcessError, ace.ACEProcessError) as error:
            raise ConfigError(f"executable: {str(executable)!r} does not run as ACE does: {error}") from error
        except ValueError as error:
            raise ConfigError(f"arguments: {error}; expected options of ACE, such as '-n', '1'") from error
        errors.seek(0)
        told = [*answer["ERRORS"], *answer["WARNINGS"], *errors.read().splitlines()]
    sentences = [result.get("surface") or result["SENT"] for result in answer.results()]
    if not sentences:
        raise DataError(f"the grammar {grammar} has no sentence for {tree}" + (f"; ACE says: {'; '.join(told)}" if told else ""))
    return sentences
