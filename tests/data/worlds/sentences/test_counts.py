"""The languages have the sizes, vocabularies, values and entropies that the published ones have."""

import hashlib
import math

import numpy as np
import pytest

from molyneux.core import ConfigError, DataError
from molyneux.core.views import text_strings
from molyneux.data import Letters, PartsOfSpeech, Ynoc
from molyneux.data.worlds.sentences.parts_of_speech import KINDS, structures

SIMPLE = [200, 1000, 1000, 5000, 1000, 5000, 5000, 25000, 1000, 4000, 5000, 20000, 5000, 20000, 25000, 100000]
"""Sentences of the simple structures: Zhang et al. (2021), Table 2."""

# Factor: test sentences that have it, share of sentences by number of its words, entropy of its value where it is there (nats),
# accuracy of the most frequent value.
TABLE = {
    "n.": (574_560, {2: 0.0290, 4: 0.9710}, 4.86671, 0.0081),
    "v.": (574_560, {1: 0.0290, 2: 0.9710}, 3.08670, 0.0486),
    "adv.": (317_200, {1: 0.4790, 2: 0.0731}, 2.18393, 0.1735),
    "adj.": (483_200, {1: 0.4741, 2: 0.3251, 3: 0.0418}, 3.10844, 0.1127),
    "prep.": (317_200, {1: 0.4790, 2: 0.0731}, 2.18393, 0.1735),
    "conj1.": (372_000, {1: 0.64745}, 1.60944, 0.2),
    "conj2.": (185_920, {1: 0.32359}, 0.69315, 0.5),
    "end-punc.": (574_560, {1: 1.0}, 0.69315, 0.5),
}


@pytest.fixture(scope="module")
def pos():
    return PartsOfSpeech(nuisances=["structure", "kind"])


@pytest.fixture(scope="module")
def test_codes(pos):
    size = pos.splits["test"]
    return np.concatenate(
        [pos.sentences(np.arange(start, start + size // 8), split="test", seed=0).codes for start in range(0, size, size // 8)]
    )


@pytest.mark.parametrize(
    ("world", "size", "sizes", "symbols", "length", "values"),
    [
        (Ynoc(), 720_000, [432_000, 144_000, 144_000], 109, 11, [10, 40, 20, 30]),
        (Ynoc(vocabulary="realistic"), 720_000, [432_000, 144_000, 144_000], 110, 11, [10, 40, 20, 30]),
        (Letters(), 160_000, [96_000, 32_000, 32_000], 83, 5, [20] * 4),
        (PartsOfSpeech(), 376_984_800, [1_723_680, 574_560, 574_560], 38, 13, [140, 25, 25, 85, 25, 5, 2, 2]),
        (PartsOfSpeech(factors="positions"), 376_984_800, [1_723_680, 574_560, 574_560], 38, 13, [5] * 14 + [2, 2]),
        (PartsOfSpeech(split="published"), 376_984_800, [1_723_680, 574_560, 574_560], 38, 13, [140, 25, 25, 85, 25, 5, 2, 2]),
    ],
    ids=["ynoc", "realistic", "letters", "pos", "positions", "published"],
)
def test_sizes(world, size, sizes, symbols, length, values):
    assert world.language.size == size
    assert list(world.splits.values()) == sizes
    modality = world.spec.modality("text")
    assert modality.symbols[:3] == ("<pad>", "<bos>", "<eos>")
    assert len(set(modality.symbols)) == symbols
    assert modality.shape == (length,)
    assert [len(factor.values) for factor in world.spec.factors] == values


def test_structures_are_made_by_rule(pos):
    forms = pos.language.forms
    kinds = [form.labels["kind"] for form in forms]
    assert [kinds.count(kind) for kind in KINDS] == [16, 93, 93, 93]
    assert len({form.labels["structure"] for form in forms}) == 295
    assert [len(structures(limit)) - 16 for limit in range(6, 13)] == [3, 27, 111, 279, 489, 657, 741]
    assert [size for size, kind in zip(pos.language.blocks, kinds, strict=True) if kind == "simple"] == SIMPLE
    assert max(pos.language.blocks) == 3_000_000
    small = [i for i, kind in enumerate(kinds) if kind != "simple" and pos.language.blocks[i] < 10_000]
    assert [(forms[i].labels["structure"], pos.language.blocks[i]) for i in small] == [
        ("n.+v.+n.+comma+conj2.+n.+v.+n.+end-punc.", 9_600)
    ]
    capped = np.minimum(pos.language.blocks, 10_000)
    assert [int(capped[np.array(kinds) == kind].sum()) for kind in KINDS] == [83_200, 930_000, 930_000, 929_600]
    # The published file has Windows line ends and 15,302 bytes.
    assert sum(len(form.labels["structure"]) + 2 for form in forms) == 15_302


def test_entropies_that_bound_every_model(pos):
    shares = np.minimum(pos.language.blocks, 10_000) / 2_872_800
    structure, words = -(shares * np.log(shares)).sum(), (shares * np.log(pos.language.blocks)).sum()
    assert f"{structure:.6f} {words:.6f} {structure + words:.6f}" == "5.671380 13.538422 19.209802"
    assert f"{math.log(Ynoc().language.size):.6f} {math.log(Letters().language.size):.6f}" == "13.487006 11.982929"
    assert f"{(shares * [len(form.places) + 1 for form in pos.language.forms]).sum():.3f}" == "12.031"


@pytest.mark.parametrize("name", TABLE)
def test_presence_and_entropy(pos, test_codes, name):
    present, lengths, entropy, majority = TABLE[name]
    words = len(next(group for group in pos.language.groups if group.name == name).words)
    shares = np.minimum(pos.language.blocks, 10_000) / 2_872_800
    counts = np.array([form.occurrences(name) for form in pos.language.forms])
    found = {count: shares[counts == count].sum() for count in set(counts.tolist()) - {0}}
    assert found == {count: pytest.approx(share, abs=5e-5) for count, share in lengths.items()}
    total = sum(found.values())
    assert f"{total:.5f}" == f"{present / 574_560:.5f}"
    exact = sum(share / total * math.log(math.perm(words, count) * total / share) for count, share in found.items())
    assert f"{exact:.5f}" == f"{entropy:.5f}"
    assert round(max(share / total / math.perm(words, count) for count, share in found.items()), 4) == majority

    codes = test_codes[:, pos.spec.factor_index(name)]
    codes = codes[codes >= 0]
    assert len(codes) == present
    drawn = np.bincount(codes, minlength=len(pos.spec.factor(name).values)) / len(codes)
    assert (drawn > 0).all()
    assert -(drawn * np.log(drawn)).sum() == pytest.approx(entropy, abs=1e-3)


def test_each_structure_has_its_share(pos, test_codes):
    drawn = np.bincount(test_codes[:, pos.spec.factor_index("structure")])
    np.testing.assert_array_equal(drawn, np.minimum(pos.language.blocks, 10_000) // 5)


def test_sentences_are_those_of_the_grammar():
    for world in (Ynoc(vocabulary="realistic", nuisances=["template"]), PartsOfSpeech(factors="positions", nuisances=["kind"])):
        batch = world.batch(np.arange(500), split="validation", seed=2)
        factors = world.spec.factors
        for text, codes in zip(
            text_strings(world.spec.modality("text"), batch.views["text"]), batch.factors.tolist(), strict=True
        ):
            values = {factor.name: factor.values[code] for factor, code in zip(factors, codes, strict=True) if code >= 0}
            assert (plain_ynoc if isinstance(world, Ynoc) else plain_pos)(text, values), (text, values)


def plain_ynoc(text, found):
    year, name, city = found["year"], found["name"], found["city"]
    work = ("an " if found["occupation"][0] in "aeiou" else "a ") + found["occupation"]
    return (
        text
        == {
            "I": f"in {year} , {name} was {work} in {city} .",
            "II": f"in {year} 's {city} , {name} was {work} .",
            "III": f"{name} was {work} in {city} in {year} .",
        }[found["template"]]
    )


def plain_pos(text, found):
    words = text.split(" ")
    fits = sorted(words) == sorted([*(value for name, value in found.items() if name != "kind"), *[","] * words.count(",")])
    in_order = all(words.index(found[a]) < words.index(found[b]) for a in found for b in found if a[:-1] == b[:-1] and a < b)
    kind = "I" if words[0] == found.get("conj1.") else "II" if "conj1." in found else "III" if "conj2." in found else "simple"
    return fits and in_order and len(set(words)) == len(words) and kind == found["kind"]


# What the first sentences of a version are. A change of these is a new version.
@pytest.mark.parametrize(
    ("world", "digest"),
    [
        (Ynoc(), "2733aaa82791961e"),
        (Letters(), "5c65c1ec1f99454e"),
        (PartsOfSpeech(), "d393ef990853ec81"),
        (PartsOfSpeech(factors="positions", cap=None, limit=12), "95f93073763ae9d9"),
    ],
    ids=["ynoc", "letters", "pos", "positions"],
)
def test_bytes_of_the_version(world, digest):
    batch = world.batch(np.arange(1000), split="train", seed=1)
    content = batch.views["text"].numpy().tobytes() + batch.factors.numpy().astype("<i8").tobytes()
    assert hashlib.sha256(content).hexdigest()[:16] == digest


@pytest.mark.parametrize("cap", ["5", 7.5, 4])
def test_a_cap_is_a_whole_number(cap):
    with pytest.raises(ConfigError) as caught:
        PartsOfSpeech(cap=cap)
    (problem,) = caught.value.problems
    words = "of at least 5, which gives each split a sentence, or null, " if cap == 4 else ", "
    assert f"a whole number{' ' * (cap == 4)}{words}got {cap!r}" in problem


def test_numbers_of_sentences_are_integers_in_a_row():
    world = Letters()
    assert (world.language.write([1, 2]).ids == world.language.write(np.array([1, 2])).ids).all()
    assert (
        world.sentences([3, 0], split="test", seed=1).ids == world.sentences(np.array([3, 0]), split="test", seed=1).ids
    ).all()
    assert len(world.language.write([]).ids) == len(world.sentences([], split="test", seed=1).ids) == 0
    for numbers, got in (
        ([[0, 1], [2, 3]], r"int64 \(2, 2\)"),
        ([0.7], r"float64 \(1,\)"),
        (3, r"int64 \(\)"),
        ([[1], [1, 2]], "what makes"),
    ):
        with pytest.raises(DataError, match=f"^expected numbers of sentences as one row of integers, got {got}"):
            world.language.write(numbers)
        with pytest.raises(DataError, match=f"^expected numbers of samples as one row of integers, got {got}"):
            world.sentences(numbers, split="test", seed=1)
