"""Tests against the best group of a study, checked against SciPy and by hand; and the cost beside them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from molyneux.core import Score, store
from molyneux.report import StudyRun, load_records, save_records, variant_difference
from molyneux.report.study.groups import divide
from molyneux.report.study.pages import study_page
from molyneux.report.study.significance import against_best, compared_table, difference_p, holm

KEY = ("prediction.accuracy", (("target", "label"),))


def run(name, seed, value, cost=None, **fields):
    origin = {"experiment": f"{name}{seed}abcdefgh"}
    score = Score(*KEY[:1], value, dict(KEY[1]), unit="%", bounds=(0.0, 100.0), n=100, origin=origin, **fields)
    return StudyRun({"name": name, "seed": seed, "x": name}, (score,), cost or {})


def values(rng, mean, seeds):
    return {str(seed): float(mean + rng.normal()) for seed in seeds}


def test_common_seeds_are_paired_and_others_are_not():
    rng = np.random.default_rng(1)
    first, second = values(rng, 3.0, range(5)), values(rng, 4.0, range(2, 8))
    common = ["2", "3", "4"]
    paired = stats.ttest_rel([first[seed] for seed in common], [second[seed] for seed in common]).pvalue
    assert difference_p(first, second) == pytest.approx(paired, rel=1e-10)
    apart = values(rng, 4.0, range(20, 24))
    welch = stats.ttest_ind(list(first.values()), list(apart.values()), equal_var=False).pvalue
    assert difference_p(first, apart) == pytest.approx(welch, rel=1e-10)


@pytest.mark.parametrize(
    ("first", "second"),
    [({"1": 1.0}, {"1": 9.0}), ({"1": 1.0}, {"2": 9.0}), ({"1": 1.0, "2": 2.0}, {"1": 2.0, "2": 3.0}), ({"1": 1.0}, {})],
)
def test_nothing_is_claimed_of_a_single_seed_or_of_differences_that_do_not_vary(first, second):
    assert difference_p(first, second) is None


def test_equal_values_are_no_difference():
    assert difference_p({"1": 1.0, "2": 2.0}, {"1": 1.0, "2": 2.0}) == 1.0


def test_holm_rejects_what_the_step_down_procedure_rejects():
    rng = np.random.default_rng(2)
    for _ in range(50):
        raw = list(rng.uniform(0, 0.1, 6))
        adjusted = holm(raw)
        for level in (0.01, 0.05, 0.2):
            rejected = set()
            for step, place in enumerate(np.argsort(raw)):
                if raw[place] > level / (6 - step):
                    break
                rejected.add(int(place))
            assert {place for place, value in enumerate(adjusted) if value <= level} == rejected


@pytest.mark.parametrize("higher", [True, False])
def test_the_best_group_is_compared_with_all_others_whatever_the_order(higher):
    levels = {"a": 50.0, "b": 60.0, "c": 80.0} if higher else {"a": 80.0, "b": 60.0, "c": 50.0}
    noise = {"a": (0, 3, 1), "b": (2, 0, 1), "c": (0, 1, 0)}
    runs = [
        run(name, seed, level + noise[name][seed], higher_is_better=higher) for name, level in levels.items() for seed in range(3)
    ]
    (part,) = divide(runs)
    found = dict(zip([group.values["name"] for group in part.groups], against_best(part, KEY), strict=True))
    raw = [
        stats.ttest_rel(*[[levels[name] + noise[name][seed] for seed in range(3)] for name in (name, "c")]).pvalue
        for name in "ab"
    ]
    assert found["c"] is None
    assert [found["a"], found["b"]] == pytest.approx(holm(raw), rel=1e-9)
    (turned,) = divide(runs[::-1])
    again = dict(zip([group.values["name"] for group in turned.groups], against_best(turned, KEY), strict=True))
    assert again["c"] is None
    assert [again["a"], again["b"]] == pytest.approx([found["a"], found["b"]], rel=1e-9)


def test_the_table_says_seeds_test_and_cost():
    cost = {"steps": 100, "seconds": 20.0, "threads": 2, "processor": "one"}
    runs = [run(name, seed, level + seed**2, cost) for name, level in (("a", 1.0), ("b", 70.0)) for seed in (1, 2, 3)]
    runs[3] = replace(runs[3], cost={**cost, "seconds": 80.0})
    (part,) = divide(runs)
    table = compared_table(part, [KEY], "t", "t")
    rows = {row[0].text: [entry.text for entry in row[1:]] for row in table.rows}
    assert rows["a"][2:] == ["3", "100", "20", "40"]
    assert rows["b"][2:] == ["3", "100", "40", "80"]
    assert "Holm" in table.notes[0]
    assert "paired" in table.notes[0]
    assert "upper limit" in table.notes[1]
    assert any(section.name == "significance" for section in study_page(runs, "x").filled)


def test_a_single_seed_has_no_significance():
    (part,) = divide([run("a", 1, 10.0), run("b", 1, 90.0)])
    assert against_best(part, KEY) == [None, None]
    assert compared_table(divide([run("a", 1, 10.0)])[0], [KEY], "t", "t") is None


def test_costs_are_read_beside_their_records(tmp_path):
    runs = [run("a", 1, 10.0), run("b", 2, 20.0)]
    save_records(tmp_path / "records.jsonl", runs)
    row = {"run": "my-name-seed2-b2abcdef", "steps": 5, "seconds": 1.5, "threads": 1}
    store.write_lines(tmp_path / "costs.jsonl", [row])
    found = {loaded.settings["name"]: loaded.cost for loaded in load_records(tmp_path)}
    assert found == {"a": {}, "b": row}


def test_two_variants_are_compared_as_scipy_does():
    rng = np.random.default_rng(2)
    first, second = values(rng, 80.0, range(4)), values(rng, 78.0, range(6))
    runs = [run(name, seed, value) for name, each in (("A", first), ("B", second)) for seed, value in each.items()]
    found = variant_difference(runs, "A", "B", KEY[0], dict(KEY[1]))
    test = stats.ttest_ind(list(first.values()), list(second.values()), equal_var=False)
    assert found.mean == pytest.approx(np.mean(list(first.values())) - np.mean(list(second.values())))
    assert found.interval == pytest.approx(tuple(test.confidence_interval(0.95)), rel=1e-9)
    assert found.p == pytest.approx(test.pvalue, rel=1e-9)
    assert found.runs == (4, 6)
    alone = variant_difference([runs[0], *runs[4:]], "A", "B", KEY[0], dict(KEY[1]))
    assert (alone.interval, alone.p, alone.runs) == (None, None, (1, 6))
    assert variant_difference(runs, "A", "C", KEY[0], dict(KEY[1])) is None
    assert variant_difference(runs, "A", "B", KEY[0], {}) is None
