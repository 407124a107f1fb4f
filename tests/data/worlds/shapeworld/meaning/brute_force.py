"""Truth of one tree in one scene by sets of entities: written from the rules, with nothing of the evaluator."""

import math

from molyneux.data.worlds.shapeworld.meaning.trees.trees import SYMBOLS
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

GOLDEN = 0.6180339887498949
SHARES = {
    "square": 1, "rectangle": 1, "triangle": 3**0.5 / 4, "cross": 5 / 9, "circle": math.pi / 4, "semicircle": math.pi / 8,
    "ellipse": math.pi / 4, "pentagon": math.cos(math.pi / 10) * (GOLDEN**2 + GOLDEN * (1 - GOLDEN) / 2 + (1 - GOLDEN) / 2),
}  # fmt: skip


class PresuppositionError(Exception):
    """What a statement presupposes does not hold."""


def entities_of(scenes, row):
    """The entities of a scene as dictionaries."""
    found = []
    for e in range(scenes.present.shape[1]):
        if scenes.present[row, e]:
            shape, size = SHAPES[scenes.shape[row, e]], float(scenes.size[row, e])
            found.append({
                "id": e, "shape": shape, "colour": COLOURS[scenes.colour[row, e]], "x": float(scenes.centre[row, e, 0]),
                "y": float(scenes.centre[row, e, 1]), "area": SHARES[shape] * size * size / float(scenes.distortion[row, e]),
                "shade": float(scenes.shade[row, e]), "covers": [float(share) for share in scenes.overlap[row, e]],
            })  # fmt: skip
    return found


class Evaluator:
    """Evaluates statements on entities.

    Sets are pairs: the entities of which a predicate holds (`yes`), and of which it may hold (`maybe`, a superset).
    """

    def __init__(self, entities, rules):
        self.all, self.rules = entities, rules

    def statement(self, tree):
        try:
            return self._statement(tree)
        except PresuppositionError:
            return 0

    def _statement(self, tree):
        kind, name = SYMBOLS[tree.symbol].kind, tree.symbol
        if kind == "connective":
            first, second = map(self.statement, tree.children)
            if name in ("and", "or"):
                return (min if name == "and" else max)(first, second)
            if name == "if":
                return max(first, -second)
            if 0 in (first, second):
                return 0
            same = first == second
            return 1 if same == (name == "iff") else -1
        if name == "not-true":
            return -self.statement(tree.children[0])
        if kind == "existential":
            yes, maybe = self.together(*tree.children)
            return 1 if yes else (0 if maybe else -1)
        if kind == "bound":
            quantified, number = tree.children[0], int(SYMBOLS[name].quantity)
            yes, maybe = self.predicate(quantified.children[0])
            body = self.predicate(quantified.children[1])  # its presuppositions
            assert body is not None
            if len(maybe) < number or len(yes) > number:
                return -1
            value = self._statement(quantified)
            return value if len(yes) == len(maybe) == number else min(value, 0)
        if kind in ("difference", "quotient"):
            return self.compared(tree)
        return self.quantified(tree)

    def together(self, *trees):
        sets = [self.predicate(tree) for tree in trees]
        ids = [({e["id"] for e in yes}, {e["id"] for e in maybe}) for yes, maybe in sets]
        yes, maybe = set.intersection(*(one for one, _ in ids)), set.intersection(*(one for _, one in ids))
        return [e for e in self.all if e["id"] in yes], [e for e in self.all if e["id"] in maybe]

    def quantified(self, tree):
        symbol = SYMBOLS[tree.symbol]
        noun_yes, noun_maybe = self.predicate(tree.children[0])
        yes, maybe = self.together(*tree.children)
        low, high = len(yes), len(maybe)
        if symbol.kind == "count":
            return against(low, high, symbol.comparator, symbol.quantity, 0)
        if symbol.name in ("bare-the", "bare-two"):
            comparator, quantity = {"bare-the": ("eq", 1), "bare-two": ("geq", 2)}[symbol.name]
            return against(low, high, comparator, quantity, 0)
        if symbol.kind == "ratio" and symbol.quantity == 0:
            return against(low, high, symbol.comparator, 0, 0)
        if not noun_maybe and self.rules.vacuous != "published":
            return 0
        low = low / len(noun_maybe) if noun_maybe else 0
        high = high / len(noun_yes) if noun_yes else (math.inf if high else 0)
        if symbol.name == "bare-most":
            return 1 if low >= 0.6 else (-1 if high < 0.5 else 0)
        margin = 0 if float(symbol.quantity).is_integer() else self.rules.quantifier
        return against(low, high, symbol.comparator, symbol.quantity, margin)

    def compared(self, tree):
        symbol = SYMBOLS[tree.symbol]
        (a, b), (c, d) = (tuple(map(len, self.together(noun, tree.children[2]))) for noun in tree.children[:2])
        if symbol.kind == "difference":
            return against(a - d, b - c, "eq", symbol.quantity, 0)
        if symbol.quantity == 1 and self.rules.vacuous != "published":
            return against(a - d, b - c, symbol.comparator, 0, 0)
        if d == 0 and self.rules.vacuous != "published":
            return 0
        low = a / d if d else (math.inf if a else 0)
        high = b / c if c else (math.inf if b else 0)
        margin = 0 if float(symbol.quantity).is_integer() else self.rules.quantifier
        return against(low, high, symbol.comparator, symbol.quantity, margin)

    def predicate(self, tree):
        kind, name = SYMBOLS[tree.symbol].kind, tree.symbol
        if name == "any":
            return self.all, self.all
        if kind in ("colour", "shape"):
            fitting = [e for e in self.all if e[kind] == name]
            return fitting, fitting
        if name == "both":
            return self.together(*tree.children)
        if name == "not":
            yes, maybe = ([e["id"] for e in side] for side in self.predicate(tree.children[0]))
            return [e for e in self.all if e["id"] not in maybe], [e for e in self.all if e["id"] not in yes]
        if kind == "selector":
            return self.selector(tree)
        references = [self.predicate(child) for child in tree.children]
        values = [self.related(e, name, *references) for e in self.all]
        pairs = list(zip(self.all, values, strict=True))
        return [e for e, value in pairs if value > 0], [e for e, value in pairs if value >= 0]

    def related(self, e, name, reference, comparison=None):
        yes = [r for r in reference[0] if r["id"] != e["id"]]
        maybe = [r for r in reference[1] if r["id"] != e["id"]]
        rules = self.rules
        if name in ("closer", "farther"):
            sign = 1 if name == "farther" else -1
            pairs = [(r, c) for r in maybe for c in comparison[1] if len({r["id"], c["id"], e["id"]}) == 3]
            if not reference[1] or not comparison[1]:
                return -1
            if not pairs:
                return 0
            certain = {e["id"] for e in reference[0]}, {e["id"] for e in comparison[0]}
            gaps = [(sign * (distance(e, c) - distance(r, c)), r["id"] in certain[0] and c["id"] in certain[1]) for r, c in pairs]
            if any(gap > rules.distance and sure for gap, sure in gaps):
                return 1
            return -1 if all(-gap >= rules.distance for gap, _ in gaps) else 0
        if not reference[1]:
            return -1
        if not maybe:
            two_valued = name == "besides" or (rules.cone and name in ("left", "right", "above", "below"))
            return -1 if two_valued else 0
        if any(accepts(name, e, r, rules) for r in yes):
            return 1
        return -1 if all(rejects(name, e, r, rules) for r in maybe) else 0

    def selector(self, tree):
        name, two = tree.symbol, tree.symbol.endswith("-of-two")
        scope, _ = self.predicate(tree.children[0])
        point = None
        if len(tree.children) == 2:
            yes, maybe = self.predicate(tree.children[1])
            if len(yes) != 1 or len(maybe) != 1:
                return self.nothing()
            point = yes[0]
            scope = [e for e in scope if e["id"] != point["id"]]
        if (name == "unique") != (len(scope) == 1) or (two and len(scope) != 2) or not scope:
            return self.nothing()
        if name == "unique":
            return scope, scope
        yes, maybe = [], []
        for e in scope:
            others = [o for o in scope if o["id"] != e["id"]]
            ahead = [beats(name, e, o, point, self.rules, two) for o in others]
            behind = [beats(name, o, e, point, self.rules, False, alike=False) for o in others]
            if all(ahead):
                yes.append(e)
            if all(ahead) or not any(behind):
                maybe.append(e)
        return yes, maybe

    def nothing(self):
        if self.rules.vacuous == "published":
            return [], []
        raise PresuppositionError


def accepts(name, e, r, rules):
    if name in ("left", "right", "above", "below"):
        axis, other, sign = {"left": ("x", "y", -1), "right": ("x", "y", 1), "above": ("y", "x", -1), "below": ("y", "x", 1)}[
            name
        ]
        return sign * (e[axis] - r[axis]) > max(rules.axis_distance, abs(e[other] - r[other]))
    if name in ("behind", "in-front"):
        side = e["id"] > r["id"] if name == "in-front" else e["id"] < r["id"]
        return min(e["covers"][r["id"]], r["covers"][e["id"]]) > rules.overlap and side
    if name in ("smaller", "bigger"):
        more = e["area"] - r["area"] if name == "bigger" else r["area"] - e["area"]
        return e["shape"] == r["shape"] and more > rules.area
    if name in ("darker", "lighter"):
        more = e["shade"] - r["shade"] if name == "lighter" else r["shade"] - e["shade"]
        return e["colour"] == r["colour"] and more > rules.shade
    if name == "besides":
        return True
    what = name.partition("-")[2]
    return (e[what] == r[what]) == name.startswith("same")


def rejects(name, e, r, rules):
    if name in ("left", "right", "above", "below"):
        if rules.cone:
            return not accepts(name, e, r, rules)
        axis, sign = {"left": ("x", 1), "right": ("x", -1), "above": ("y", 1), "below": ("y", -1)}[name]
        return sign * (e[axis] - r[axis]) > rules.axis_distance
    if name in ("behind", "in-front"):
        share = min(e["covers"][r["id"]], r["covers"][e["id"]])
        side = e["id"] > r["id"] if name == "in-front" else e["id"] < r["id"]
        return not (share > 0 and (share <= rules.overlap or side))
    if name in ("smaller", "bigger"):
        return (r["area"] - e["area"] if name == "bigger" else e["area"] - r["area"]) > rules.area
    if name in ("darker", "lighter"):
        return (r["shade"] - e["shade"] if name == "lighter" else e["shade"] - r["shade"]) > rules.shade
    return name != "besides" and not accepts(name, e, r, rules)


def beats(name, e, o, point, rules, two, alike=True):
    """Whether e is, say, farther left than o by the margin; `alike`: and may be compared with it."""
    words = {"left": ("x", -1), "right": ("x", 1), "upper": ("y", -1), "lower": ("y", 1)}
    start = next((word for word in words if name.startswith(word)), "low" if name == "lowermost" else None)
    if start is not None or name in ("uppermost", "lowermost"):
        axis, sign = words.get(start, ("y", 1 if name == "lowermost" else -1))
        other = "y" if axis == "x" else "x"
        gap = sign * (e[axis] - o[axis])
        return gap > rules.axis_distance and not (two and gap <= abs(e[other] - o[other]))
    if name.startswith(("small", "big")):
        gap = (e["area"] - o["area"]) * (1 if name.startswith("big") else -1)
        return gap > rules.area and (not alike or e["shape"] == o["shape"])
    if name.startswith(("dark", "light")):
        gap = (e["shade"] - o["shade"]) * (1 if name.startswith("light") else -1)
        return gap > rules.shade and (not alike or e["colour"] == o["colour"])
    gap = (distance(e, point) - distance(o, point)) * (1 if name.startswith("far") else -1)
    return gap > rules.distance


def distance(a, b):
    return math.hypot(a["x"] - b["x"], a["y"] - b["y"])


def against(low, high, comparator, q, t):
    if comparator == "neq":
        return -against(low, high, "eq", q, t)
    true = {
        "lt": high < q - t, "leq": high <= q + t, "eq": max(high - q, q - low) <= t, "geq": low >= q - t, "gt": low > q + t,
    }  # fmt: skip
    false = {
        "lt": low >= q - t, "leq": low > q + t, "eq": max(q - high, low - q) > t, "geq": high < q - t, "gt": high <= q + t,
    }  # fmt: skip
    return 1 if true[comparator] else (-1 if false[comparator] else 0)
