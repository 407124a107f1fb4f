"""Graphs of meanings: well-formed, the same in every format, different for different meanings, and read back."""

import runpy
import sys
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from delphin import dmrs, eds, mrs
from delphin.codecs import dmrsjson, dmrspenman, dmrx, edsjson, mrsjson, mrx, simpledmrs, simplemrs
from delphin.codecs import eds as native_eds

from molyneux.core import ConfigError, DataError
from molyneux.data import Tree, dmrs_of, eds_of, mrs_of, tree_of_dmrs
from molyneux.data.worlds.shapeworld.meaning.dmrs import dmrs as module
from molyneux.data.worlds.shapeworld.meaning.dmrs.erg import erg_rules
from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

NARROWER = {
    "type": ("type", "colour", "shape"),
    "noun": ("type", "colour", "shape", "selector"),
    "deniable": ("type", "colour", "shape", "relation"),
    "predicate": ("type", "colour", "shape", "relation", "predicate"),
    "statement": ("statement", "quantified"),
}
EXAMPLES = {"colour": "red", "shape": "square", "type": "any", "noun": "circle", "deniable": "red", "predicate": "blue"}
SAMPLE = ("exists", ("both", "red", "square"), ("left", "circle"))


def tree(value):
    """A tree from nested tuples."""
    return Tree.of(value) if isinstance(value, str) else Tree.of(value[0], *map(tree, value[1:]))


def simple(sort):
    """A small tree of a sort."""
    if sort in EXAMPLES:
        return tree(EXAMPLES[sort])
    return tree(("bare-most", "square", "red") if sort == "quantified" else ("there-is", "square"))


def around(symbol):
    """A small statement with a symbol."""
    made = Tree(symbol.name, tuple(map(simple, symbol.arguments)))
    if symbol.sort in ("statement", "quantified"):
        return made
    return Tree.of("exists", "triangle", made) if symbol.sort in ("relation", "predicate") else Tree.of("exists", made, "green")


def drawn(rng, sort, connectives=2):
    """A tree of a sort at random: families of symbols are equally likely."""
    fitting = [symbol for symbol in SYMBOLS.values() if symbol.sort in NARROWER.get(sort, (sort,))]
    if sort == "statement" and not connectives:
        fitting = [symbol for symbol in fitting if "statement" not in symbol.arguments]
    kinds = sorted({symbol.kind for symbol in fitting})
    family = [symbol for symbol in fitting if symbol.kind == kinds[rng.integers(len(kinds))]]
    symbol = family[rng.integers(len(family))] if family else fitting[0]
    return Tree(symbol.name, tuple(drawn(rng, argument, connectives - 1) for argument in symbol.arguments))


def trees():
    rng = np.random.default_rng(18)
    return list(dict.fromkeys([*map(around, SYMBOLS.values()), *(drawn(rng, "statement") for _ in range(300))]))


TREES = trees()


@pytest.fixture(scope="module")
def graphs():
    return [dmrs_of(one) for one in TREES]


@pytest.fixture(scope="module")
def meanings():
    return [mrs_of(one) for one in TREES]


def node_of(graph, predicate):
    found = [node.id for node in graph.nodes if node.predicate == predicate]
    assert len(found) == 1, predicate
    return found[0]


def ends(graph, start, role, post):
    return [link.end for link in graph.links if (link.start, link.role, link.post) == (start, role, post)]


def test_every_symbol_has_a_statement_and_a_rule():
    assert {name for one in TREES for name in one.polish} == set(SYMBOLS)
    named = {name for rules in erg_rules().values() for name in rules} - {""}
    assert named <= set(SYMBOLS)
    assert set(SYMBOLS) - named == set()


def test_links_of_rules_end_at_their_items_and_all_arguments_are_written():
    for rules in erg_rules().values():
        for name, rule in rules.items():
            items = {item.name for item in rule.items}
            assert len(items) == len(rule.items), name
            assert {end for item in rule.items for _, _, end in item.links} | {rule.index} <= items | {"subject"}, name
            slots = sorted(item.name for item in rule.items if item.is_slot)
            assert slots == [str(place) for place in range(len(SYMBOLS[name].arguments) if name else 1)], name
            assert all(not item.is_slot or item.content in erg_rules() for item in rule.items), name


def test_a_known_graph():
    """The eight nodes of "a red square is to the left of a circle"."""
    event = {"SF": "prop", "TENSE": "untensed", "MOOD": "indicative", "PROG": "-", "PERF": "-"}
    thing = {"PERS": "3", "NUM": "sg", "IND": "+"}
    nodes = [
        dmrs.Node(1, "_a_q"),
        dmrs.Node(2, "_red_a_1", "e", event),
        dmrs.Node(3, "_square_n_of", "x", thing),
        dmrs.Node(4, "_to_p", "e", event | {"TENSE": "pres"}),
        dmrs.Node(5, "_the_q"),
        dmrs.Node(6, "_left_n_of", "x", thing),
        dmrs.Node(7, "_a_q"),
        dmrs.Node(8, "_circle_n_of", "x", thing),
    ]
    links = [
        dmrs.Link(1, 3, "RSTR", "H"),
        dmrs.Link(2, 3, "ARG1", "EQ"),
        dmrs.Link(4, 3, "ARG1", "NEQ"),
        dmrs.Link(4, 6, "ARG2", "NEQ"),
        dmrs.Link(5, 6, "RSTR", "H"),
        dmrs.Link(6, 8, "ARG1", "NEQ"),
        dmrs.Link(7, 8, "RSTR", "H"),
    ]
    known = dmrs.DMRS(4, 4, nodes, links)
    assert mrs.is_isomorphic(mrs.from_dmrs(known), mrs_of(tree(SAMPLE)))
    assert tree_of_dmrs(known) == tree(SAMPLE)


def test_a_known_mrs():
    """The meaning of "exactly two squares are not red", written by hand with the structures that the ERG documents."""
    text = """
      [ TOP: h0 INDEX: e2 [ e SF: prop TENSE: pres MOOD: indicative PROG: - PERF: - ]
        RELS: < [ udef_q LBL: h4 ARG0: x3 [ x PERS: 3 NUM: pl IND: + ] RSTR: h5 BODY: h6 ]
                [ _exactly_x_deg LBL: h7 ARG0: e8 [ e SF: prop TENSE: untensed MOOD: indicative PROG: - PERF: - ] ARG1: e9 ]
                [ card LBL: h7 ARG0: e9 [ e SF: prop TENSE: untensed MOOD: indicative PROG: - PERF: - ] ARG1: x3 CARG: "2" ]
                [ _square_n_of LBL: h7 ARG0: x3 ]
                [ neg LBL: h1 ARG0: e10 [ e SF: prop TENSE: untensed MOOD: indicative PROG: - PERF: - ] ARG1: h11 ]
                [ _red_a_1 LBL: h12 ARG0: e2 ARG1: x3 ] >
        HCONS: < h0 qeq h1 h5 qeq h7 h11 qeq h12 > ]"""
    made = mrs_of(tree(("count-eq-2", "square", ("not", "red"))))
    assert mrs.is_isomorphic(simplemrs.decode(text), made)
    assert made.variables[made.index]["TENSE"] == "pres"


def test_mrs_are_well_formed_and_survive_conversion(meanings):
    for one, meaning in zip(TREES, meanings, strict=True):
        assert mrs.is_well_formed(meaning), one
        again = mrs.from_dmrs(dmrs.from_mrs(meaning))
        assert mrs.is_isomorphic(again, meaning), one


def test_variables_are_numbered_as_they_occur(meanings):
    for meaning in meanings:
        names = [meaning.top, meaning.index]
        for ep in meaning.rels:
            names += [ep.label, *(value for role, value in ep.args.items() if role != "CARG")]
        assert list(dict.fromkeys(int(name[1:]) for name in names)) == list(range(len(meaning.variables)))


def test_nodes_are_connected_and_variables_are_quantified(graphs):
    for one, graph in zip(TREES, graphs, strict=True):
        kinds = {node.id: node.type for node in graph.nodes}
        neighbours = defaultdict(set)
        for link in graph.links:
            neighbours[link.start].add(link.end)
            neighbours[link.end].add(link.start)
        reached, open_ones = set(), {graph.top}
        while open_ones:
            reached |= open_ones
            open_ones = {end for start in open_ones for end in neighbours[start]} - reached
        assert reached == set(kinds), one
        bound = Counter(link.end for link in graph.links if link.role == "RSTR")
        assert bound == Counter(number for number, kind in kinds.items() if kind == "x"), one
        quantifiers = Counter(link.start for link in graph.links if link.role == "RSTR")
        assert quantifiers == Counter(number for number, kind in kinds.items() if kind is None), one
        assert kinds[graph.top] == kinds[graph.index] == "e", one


def test_properties_and_ends_of_links_have_their_types(graphs):
    for graph in graphs:
        for node in graph.nodes:
            wanted = {"e": {"SF", "TENSE", "MOOD", "PROG", "PERF"}, "x": {"PERS", "NUM", "IND"}, None: set()}[node.type]
            assert set(node.properties) == wanted
            assert (node.type is None) == node.predicate.endswith("_q")
            assert (node.carg is not None) == (node.predicate == "card")
        assert {(link.role, link.post) for link in graph.links} <= {
            *(("ARG1", post) for post in ("EQ", "NEQ", "H")),
            *(("ARG2", post) for post in ("NEQ", "H")),
            ("RSTR", "H"),
            ("MOD", "EQ"),
        }


@pytest.mark.parametrize("codec", [simpledmrs, dmrsjson, dmrx], ids=lambda codec: codec.__name__)
def test_formats_of_dmrs(codec, graphs):
    for graph in graphs:
        again = codec.decode(codec.encode(graph))
        assert (again.top, again.index, len(again.links)) == (graph.top, graph.index, len(graph.links))
        assert mrs.is_isomorphic(mrs.from_dmrs(again), mrs.from_dmrs(graph))


def test_penman_notation(graphs):
    """PyDelphin cannot read the empty alignment to a text that it writes, and the notation has other numbers and no index."""
    for one, graph in zip(TREES, graphs, strict=True):
        again = dmrspenman.decode(dmrspenman.encode(graph, lnk=False))
        assert mrs.is_isomorphic(mrs.from_dmrs(again), mrs.from_dmrs(graph)), one


@pytest.mark.parametrize("codec", [simplemrs, mrsjson, mrx], ids=lambda codec: codec.__name__)
def test_formats_of_mrs(codec, meanings):
    for meaning in meanings:
        again = codec.decode(codec.encode(meaning))
        assert (again.top, again.index) == (meaning.top, meaning.index)
        assert mrs.is_isomorphic(again, meaning)


@pytest.mark.parametrize("codec", [native_eds, edsjson], ids=lambda codec: codec.__name__)
def test_formats_of_eds(codec, meanings):
    for one, meaning in zip(TREES, meanings, strict=True):
        structure = eds_of(one)
        assert len(structure.nodes) == len(meaning.rels)
        assert structure.top in {node.id for node in structure.nodes}
        assert codec.decode(codec.encode(structure)) == structure


def test_negation_is_above_what_it_denies():
    graph = dmrs_of(tree(("exists", "square", ("not", ("besides", "circle")))))
    neg, exist = node_of(graph, "neg"), node_of(graph, "_exist_v_1")
    assert (graph.top, graph.index) == (neg, exist)
    assert ends(graph, neg, "ARG1", "H") == [exist]
    graph = dmrs_of(tree(("not-true", ("there-is", "square"))))
    neg, true = node_of(graph, "neg"), node_of(graph, "_true_a_of")
    assert (graph.top, graph.index) == (neg, true)
    assert ends(graph, neg, "ARG1", "H") == [true]
    assert ends(graph, true, "ARG1", "H") == [node_of(graph, "_be_v_there")]


@pytest.mark.parametrize(
    ("name", "predicate"),
    [("and", "_and_c"), ("or", "_or_c"), ("either", "_or_c"), ("if", "_if_x_then"), ("iff", "_if+and+only+if_x_1")],
)
def test_connectives_are_above_their_clauses(name, predicate):
    """`if` has the consequent first, as the ERG has."""
    graph = dmrs_of(tree((name, ("there-is", "square"), ("exists", "circle", ("not", "red")))))
    assert graph.top == node_of(graph, predicate)
    assert ends(graph, graph.top, "ARG1", "H") == [node_of(graph, "_be_v_there")]
    assert ends(graph, graph.top, "ARG2", "H") == [node_of(graph, "neg")]
    assert graph.index == (graph.top if name in ("and", "or", "either") else node_of(graph, "_be_v_there"))


@pytest.mark.parametrize(
    ("statement", "predicates"),
    [
        (("bare-most", "square", "red"), "_red_a_1 _most_q _square_n_of"),
        (("ratio-eq-0", "cross", "cyan"), "_cyan_a_1 _no_q _cross_n_1"),
        (("ratio-neq-1", "cross", "green"), "_green_a_2 _not+all_q _cross_n_1"),
        (("ratio-lt-1", "red", "square"), "_be_v_id udef_q _square_n_of _all_q _less+than_x_deg _shape_n_1 _red_a_1"),
        (("ratio-gt-half", "square", "red"), "_red_a_1 _half_q part_of _more+than_x_deg _the_q _square_n_of"),
        (
            ("of-4", ("count-geq-1", "square", "red")),
            "_red_a_1 udef_q part_of card(1) _at+least_x_deg _the_q _square_n_of card(4)",
        ),
        (
            ("2-fewer-than", "square", "cross", "red"),
            "_red_a_1 udef_q _square_n_of card(2) more_comp little-few_a udef_q _cross_n_1",
        ),
        (("times-eq-equal", "square", "cross", "red"), "_red_a_1 udef_q _square_n_of comp_equal much-many_a udef_q _cross_n_1"),
        (
            ("exists", "any", ("same-colour", "cross")),
            "_be_v_id _a_q _shape_n_1 _the_q _color_n_1 _same_a_as comp_equal _a_q _cross_n_1",
        ),
        (("exists", ("closest", "any", "cross"), "red"), "_red_a_1 _the_q _shape_n_1 superl _close_a_to _a_q _cross_n_1"),
        (("exists", "any", ("in-front", ("unique", "cross"))), "_in+front+of_p _a_q _shape_n_1 _the_q _only_a_1 _cross_n_1"),
    ],
)
def test_predicates(statement, predicates):
    made = [node.predicate + (f"({node.carg})" if node.carg else "") for node in dmrs_of(tree(statement)).nodes]
    assert sorted(made) == sorted(predicates.split())


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        (("count-eq-1", "square", "circle"), "sg"),
        (("count-eq-2", "square", "circle"), "pl"),
        (("exists", "square", "circle"), "sg"),
    ],
)
def test_number_agrees(statement, number):
    graph = dmrs_of(tree(statement))
    assert {node.properties["NUM"] for node in graph.nodes if node.type == "x"} == {number}


def test_colours_and_shapes_have_predicates_of_their_own():
    made = [
        Counter(node.predicate for node in dmrs_of(tree(("there-is", ("both", c, s)))).nodes) for c in COLOURS for s in SHAPES
    ]
    assert len({tuple(sorted(one)) for one in made}) == len(COLOURS) * len(SHAPES)


def test_different_meanings_have_different_mrs(meanings):
    """Without exception: where two meanings coincide, such as "at least one" and "more than zero", their words do not."""
    alike = defaultdict(dict)
    for one, meaning in zip(TREES, meanings, strict=True):
        words = tuple(sorted((ep.predicate, ep.carg or "") for ep in meaning.rels))
        alike[words][one.normal()] = meaning
    swapped = [
        (("closer", "square", "circle"), ("closer", "circle", "square")),
        (("not", ("left", "square")), ("not", ("left", ("leftmost", "square")))),
    ]
    for first, second in swapped:
        alike["swapped", first] = {one: mrs_of(tree(("exists", "any", one))) for one in (first, second)}
    both = [("if", ("there-is", "square"), ("there-is", "circle")), ("if", ("there-is", "circle"), ("there-is", "square"))]
    alike["clauses"] = {one: mrs_of(tree(one)) for one in both}
    scopes = [("not-true", ("and", *both)), ("and", ("not-true", both[0]), both[1]), ("and", both[0], ("not-true", both[1]))]
    alike["scopes"] = {one: mrs_of(tree(one)) for one in scopes}
    pairs = [pair for group in alike.values() for pair in combinations(group.items(), 2)]
    assert len(pairs) > 5
    for (first, one), (second, other) in pairs:
        assert not mrs.is_isomorphic(one, other), f"{first} and {second}"


def test_trees_are_read_back(graphs):
    for one, graph in zip(TREES, graphs, strict=True):
        assert tree_of_dmrs(graph) == one


def test_trees_are_read_back_from_other_numbers_and_orders(graphs, meanings):
    rng = np.random.default_rng(3)
    for one, graph, meaning in list(zip(TREES, graphs, meanings, strict=True))[::4]:
        assert tree_of_dmrs(dmrs.from_mrs(meaning)) == one
        numbers = dict(zip((node.id for node in graph.nodes), rng.permutation(len(graph.nodes)) + 1, strict=True))
        nodes = [dmrs.Node(numbers[n.id], n.predicate, n.type, n.properties, n.carg) for n in graph.nodes]
        links = [dmrs.Link(numbers[link.start], numbers[link.end], link.role, link.post) for link in graph.links]
        order = rng.permutation(len(nodes))
        mixed = dmrs.DMRS(numbers[graph.top], numbers[graph.index], [nodes[i] for i in order], links[::-1])
        assert tree_of_dmrs(mixed) == one


def changed(graph, *, top=None, nodes=(), links=(), without=None):
    kept = [link for link in graph.links if link != without]
    return dmrs.DMRS(top or graph.top, graph.index, [*graph.nodes, *nodes], [*kept, *links])


def test_other_graphs_are_refused():
    graph = dmrs_of(tree(SAMPLE))
    rain = dmrs.DMRS(1, 1, [dmrs.Node(1, "_rain_v_1", "e")])
    with pytest.raises(DataError, match="the graph with the top _rain_v_1 is not that of a statement"):
        tree_of_dmrs(rain)
    slow = {"nodes": [dmrs.Node(7, "_slow_a_1", "e")], "links": [dmrs.Link(7, graph.top, "ARG1", "EQ")]}
    with pytest.raises(DataError, match=r"beside the nodes of exists\(both\(red, square\), left\(circle\)\), it has _slow_a_1"):
        tree_of_dmrs(changed(graph, **slow))
    square, circle = node_of(graph, "_square_n_of"), node_of(graph, "_circle_n_of")
    with pytest.raises(DataError, match="but other links"):
        tree_of_dmrs(changed(graph, links=[dmrs.Link(square, circle, "ARG1", "NEQ")]))
    with pytest.raises(DataError, match="is not that of a statement"):
        tree_of_dmrs(changed(graph, without=next(link for link in graph.links if link.end == circle)))
    with pytest.raises(DataError, match="is not that of a statement"):
        tree_of_dmrs(changed(graph, top=square))
    nodes = [dmrs.Node(n.id, n.predicate, n.type, n.properties | ({"NUM": "pl"} if n.type == "x" else {})) for n in graph.nodes]
    with pytest.raises(DataError, match="properties"):
        tree_of_dmrs(dmrs.DMRS(graph.top, graph.index, nodes, graph.links))
    for wrong in (dmrs.DMRS(), changed(graph, links=[dmrs.Link(square, 99, "ARG1", "NEQ")])):
        with pytest.raises(DataError, match="expected a graph with a top and links between its nodes"):
            tree_of_dmrs(wrong)


def test_a_graph_in_a_circle_ends():
    nodes = [dmrs.Node(1, "neg", "e"), dmrs.Node(2, "_true_a_of", "e")]
    with pytest.raises(DataError, match="with the top neg"):
        tree_of_dmrs(dmrs.DMRS(1, 2, nodes, [dmrs.Link(1, 2, "ARG1", "H"), dmrs.Link(2, 1, "ARG1", "H")]))


@pytest.mark.parametrize("make", [dmrs_of, mrs_of, eds_of])
def test_only_statements_have_graphs(make):
    with pytest.raises(DataError, match="expected a statement, got a relation: left"):
        make(tree(("left", "circle")))


def test_without_pydelphin(monkeypatch):
    for name in [name for name in sys.modules if name == "delphin" or name.startswith("delphin.")]:
        monkeypatch.setitem(sys.modules, name, None)
    runpy.run_path(module.__file__)  # imports nothing of it
    for make in (dmrs_of, mrs_of, eds_of):
        with pytest.raises(ConfigError, match=r"need PyDelphin, which is not installed: pip install 'molyneux\[dmrs\]'"):
            make(tree(SAMPLE))


def test_eds_has_the_arguments(meanings):
    structure = eds_of(tree(SAMPLE))
    by_predicate = {node.predicate: node for node in structure.nodes}
    assert by_predicate["_to_p"].edges == {"ARG1": by_predicate["_square_n_of"].id, "ARG2": by_predicate["_left_n_of"].id}
    assert structure == eds.from_mrs(mrs_of(tree(SAMPLE)))
