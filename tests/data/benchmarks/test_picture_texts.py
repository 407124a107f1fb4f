"""Published pictures with texts, on small files of their layouts: every sample against the files it comes from."""

import json
import pickle
import re

import numpy as np
import pytest
import torch

from molyneux.core import ConfigError, DataError, Dataset, Spec, StoreError, views
from molyneux.data import CLEVR, CREPE, NLVR, CLEVRCoGenT, SugarCrepe, Winoground, load
from molyneux.data.benchmarks.bases.picture_texts import coded
from molyneux.data.benchmarks.sugarcrepe import KINDS
from molyneux.data.formats import json_files
from molyneux.measure import Contrasts, Evaluation

MADE = {
    "winoground": lambda foils, folder: Winoground(folder=foils.winoground(folder), image_size=(8, 8)),
    "sugarcrepe": lambda foils, folder: SugarCrepe(folder=foils.sugarcrepe(folder), image_size=(8, 8)),
    "productivity": lambda foils, folder: CREPE(folder=foils.crepe_productivity(folder), image_size=(8, 8)),
    "systematicity": lambda foils, folder: CREPE(
        part="systematicity", training="laion", folder=foils.crepe_systematicity(folder), image_size=(8, 8), negatives=4
    ),
    "nlvr": lambda foils, folder: NLVR(folder=foils.nlvr(folder), image_size=(5, 20)),
    "clevr": lambda foils, folder: CLEVR(folder=foils.clevr(folder), image_size=(4, 6)),
}


@pytest.fixture(scope="module")
def made(foils, tmp_path_factory):
    return {name: make(foils, tmp_path_factory.mktemp(name)) for name, make in MADE.items()}


def whole(dataset, split="test", seed=0):
    """All samples of a split, with its texts as strings."""
    batch = dataset.source(split, seed=seed).batch(np.arange(dataset.splits[split])).check(dataset.spec)
    return batch, views.text_strings(dataset.spec.modality("text"), batch.views["text"])


def colours(batch):
    """The colour in the middle of every picture."""
    image = batch.views["image"]
    return [tuple(row) for row in image[:, :, image.shape[2] // 2, image.shape[3] // 2].tolist()]


def sets_of(batch, texts, size):
    """The samples set by set: colours, texts and truth."""
    rows = list(zip(colours(batch), texts, batch.targets["agreement"].tolist(), strict=True))
    return [rows[start : start + size] for start in range(0, len(rows), size)]


@pytest.mark.parametrize("name", MADE)
def test_samples_are_a_function_of_their_number_and_travel_as_settings(name, made):
    dataset = made[name]
    assert isinstance(dataset, Dataset)
    source = dataset.source("test", seed=3)
    batch = source.batch(np.arange(len(source))).check_values(dataset.spec, np.arange(len(source)))
    other = pickle.loads(pickle.dumps(source))
    assert len(pickle.dumps(source)) < 3_000
    rows = np.array([len(source) - 1, 0, 2, 0])
    for key, tensor in other.batch(rows).tensors().items():
        assert torch.equal(tensor, batch.tensors()[key][rows]), key
    assert torch.equal(load(source).batch(rows).views["image"], batch.views["image"][rows])
    assert Spec.from_json(json.loads(json.dumps(dataset.spec.to_json()))) == dataset.spec
    assert json.loads(json.dumps(dict(dataset.settings))) == dataset.settings
    assert str(dataset.folder) not in json.dumps(dict(dataset.settings))
    assert batch.views["image"].shape[1:] == (3, *dataset.image_size)


@pytest.mark.parametrize(("name", "contrast"), [("winoground", (2, 2)), ("sugarcrepe", (1, 2)), ("productivity", (1, 6))])
def test_contrast_sets_stay_together_in_every_order(name, contrast, made):
    dataset, size = made[name], contrast[0] * contrast[1]
    assert dataset.spec.target("agreement").contrast == contrast
    orders = []
    for seed in (1, 2):
        batch, texts = whole(dataset, seed=seed)
        orders.append(texts)
        truth = batch.targets["agreement"].reshape(-1, *contrast)
        assert torch.equal(truth, torch.eye(*contrast, dtype=torch.int64).expand_as(truth))
        for found in sets_of(batch, texts, size):
            assert len({colour for colour, _, _ in found}) == contrast[0]
            assert len({text for _, text, _ in found}) == contrast[1]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])
    assert dataset.splits == {"test": len(orders[0])}


def test_winoground_pairs_pictures_and_captions(made, foils):
    batch, texts = whole(made["winoground"])
    found = sets_of(batch, texts, 4)
    for colour, text, true in (row for rows in found for row in rows):
        words = text.split()
        number, first = int(words[2]), words[0] == "old"
        assert true == (colour == foils.colour_of(2 * number + (not first)))
        assert " ".join(words) == f"{'old' if first else 'young'} dog {number} , {'young' if first else 'old'} cat"
    spec = made["winoground"].spec
    assert [factor.name for factor in spec.factors] == ["collapsed_tag", "secondary_tag", "tag", "num_main_preds"]
    assert spec.factor("collapsed_tag").values == ("Both", "Object", "Relation")
    numbers = [int(text.split()[2]) for text in texts]
    expected = [{0: -1, 1: 1, 2: 0}[number % 3] for number in numbers]
    assert batch.factors[:, spec.factor_index("secondary_tag")].tolist() == expected
    assert batch.factors[:, spec.factor_index("num_main_preds")].tolist() == [number % 2 for number in numbers]
    assert "<unk>" not in " ".join(texts)


def test_sugarcrepe_knows_the_kind_of_its_foils(made):
    batch, texts = whole(made["sugarcrepe"])
    assert made["sugarcrepe"].spec.factor("kind").values == KINDS
    for text, true, (kind,) in zip(texts, batch.targets["agreement"].tolist(), batch.factors.tolist(), strict=True):
        words = KINDS[kind].replace("_", " _ ")
        assert re.fullmatch(rf"a {words} \d \." if true else rf"a foil of {words} \d !", text)
    assert len(set(colours(batch))) == 21


def test_the_same_scores_as_on_any_other_contrast_sets(made):
    class Sure:
        def predict(self, batch, observed):
            from torch.distributions import Bernoulli

            truth = batch.targets["agreement"].float() if len(observed) == 2 else torch.zeros(len(batch))
            return {"agreement": Bernoulli(logits=10 * truth)}

    for name in ("winoground", "sugarcrepe", "productivity"):
        found = Contrasts(least=1)(Evaluation(Sure(), made[name].source("test", seed=1))).scores
        assert {score.value for score in found} == {100.0}
        assert {control for score in found for control in score.controls.values()} == {0.0, 50.0}


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_crepe_shows_the_region_of_the_caption(suffix, tmp_path, foils):
    dataset = CREPE(folder=foils.crepe_productivity(tmp_path, suffix), image_size=(8, 8))
    batch, texts = whole(dataset)
    assert len(texts) == 3 * 9 * 2 * 6
    kinds, complexities = (dataset.spec.factor(name).values for name in ("kind", "complexity"))
    assert (kinds, complexities) == (("atom", "negate", "swap"), tuple(map(str, range(4, 13))))
    for found, (kind, complexity) in zip(sets_of(batch, texts, 6), batch.factors[::6].tolist(), strict=True):
        name, number = f"{kinds[kind]}{complexities[complexity]}", int(found[0][1].split()[-1])
        assert [text for _, text, _ in found] == [
            f"{name} caption {number}",
            *(f"{name} foil {place} of {number}" for place in range(5)),
        ]
        assert np.abs(np.array(found[0][0]) - (255, 0, number)).max() <= 3  # jpeg
        assert [true for _, _, true in found] == [1, 0, 0, 0, 0, 0]


def test_crepe_of_all_complexities_in_one_file(tmp_path, foils):
    for kind in ("atom", "negate", "swap"):
        rows = [{**row, "n": 4 + number} for number, row in enumerate(foils.crepe_rows(kind, "hard_negs", 3))]
        foils.table(tmp_path / f"prod_hard_negatives/prod_vg_hard_negs_{kind}_all.csv", rows)
    foils.crepe_pictures(tmp_path, 3)
    dataset = CREPE(folder=tmp_path, image_size=(4, 4))
    batch, _ = whole(dataset)
    assert dataset.spec.factor("complexity").values == ("4", "5", "6")
    assert len(batch) == 3 * 3 * 6


def test_crepe_leaves_sets_with_fewer_foils_out(made):
    batch, texts = whole(made["systematicity"])
    spec = made["systematicity"].spec
    kinds, compounds = spec.factor("kind").values, spec.factor("compounds").values
    assert (kinds, compounds) == (("atom", "comp"), ("seen", "unseen"))
    counts = np.bincount(batch.factors[::5, 0].numpy()).tolist()
    assert counts == [2 * 4, 2 * 3]  # of four captions, the first has three composed foils
    assert len(texts) == 5 * sum(counts)


def test_nlvr_has_six_pictures_of_every_sentence(made, foils):
    dataset = made["nlvr"]
    assert dataset.splits == {"train": 48, "validation": 18, "test": 24}
    for split, name in (("train", "train"), ("validation", "dev"), ("test", "test")):
        batch, _ = whole(dataset, split)
        records = [json.loads(line) for line in (dataset.folder / name / f"{name}.json").read_text().splitlines()]
        expected = {}
        for number, record in enumerate(records):
            for place in range(6):
                items = sum(map(len, record["structured_rep"]))
                about = ("tower" if number % 2 == 0 else "scatter", str(items), record["label"] == "true")
                expected[foils.colour_of(10 * number + place)] = about
        layouts, counts = (dataset.spec.factor(key).values for key in ("layout", "items"))
        for colour, (layout, items), true in zip(
            colours(batch), batch.factors.tolist(), batch.targets["agreement"].tolist(), strict=True
        ):
            assert (layouts[layout], counts[items], bool(true)) == expected[colour]
        assert len(set(colours(batch))) == len(batch)
    test = whole(dataset, "test")[1]
    assert all("<unk>" in text for text in test)  # words of the training sentences alone have symbols
    assert NLVR(folder=dataset.folder, permutations=2).splits == {"train": 16, "validation": 6, "test": 8}


def test_clevr_divides_by_pictures(made, foils):
    dataset = made["clevr"]
    assert dataset.splits == {"train": 18 * 3, "validation": 2 * 3, "test": 6 * 3}
    answers, kinds = dataset.spec.target("answer").symbols, dataset.spec.factor("kind").values
    assert answers == ("2", "no", "red", "yes")
    assert kinds == ("compare attribute", "compare numbers", "count", "exist", "query attribute")
    assert dataset.spec.factor("family").values == ("0", "10", "20", "30", "40", "50")
    shown = {}
    for split in ("train", "validation", "test"):
        batch, texts = whole(dataset, split)
        shown[split] = set(colours(batch))
        assert all(text.endswith("a cube ; what then ?") for text in texts)
        for answer, (kind, family, _) in zip(batch.targets["answer"].tolist(), batch.factors.tolist(), strict=True):
            assert answers[answer] == foils.ANSWERS[family]
            assert kinds[kind].split()[0] in {"count": "count", "exist": "exist", "query": "query"}.get(
                foils.PROGRAMS[family].split("_")[0], "compare"
            )
    assert shown["train"] == {foils.colour_of(image) for image in range(18)}
    assert shown["validation"] == {foils.colour_of(image) for image in (18, 19)}
    assert "<unk>" in " ".join(whole(dataset, "test")[1])


def test_clevr_counts_objects_where_there_are_scenes(made, tmp_path, foils):
    batch, _ = whole(made["clevr"])
    counts = made["clevr"].spec.factor("objects").values
    assert counts == tuple(map(str, range(3, 11)))
    objects = {foils.colour_of(image): str(3 + image % 8) for image in range(20)}
    column = made["clevr"].spec.factor_index("objects")
    assert [counts[code] for code in batch.factors[:, column].tolist()] == [objects[colour] for colour in colours(batch)]
    bare = CLEVR(folder=foils.clevr(tmp_path, scenes=False))
    assert [factor.name for factor in bare.spec.factors] == ["kind", "family"]


def test_cogent_holds_condition_b_out(tmp_path, foils):
    dataset = CLEVRCoGenT(folder=foils.clevr(tmp_path, (("trainA", 10), ("valA", 4), ("valB", 5))), image_size=(4, 4))
    assert dataset.splits == {"train": 27, "validation": 3, "test": 12, "heldout": 15}
    assert len(whole(dataset, "heldout")[0]) == 15


def test_numbers_are_sorted_by_size():
    factor, codes = coded("n", ["10", "4", None, "9", "4"])
    assert factor.values == ("4", "9", "10")
    assert codes.tolist() == [2, 0, -1, 1, 0]
    assert coded("n", [None, ""]) is None


def test_pictures_may_lie_elsewhere_and_are_read_when_they_are_asked_for(tmp_path, foils):
    foils.sugarcrepe(tmp_path / "data")
    (tmp_path / "data" / "val2017").rename(tmp_path / "coco")
    here = SugarCrepe(folder=tmp_path / "data")
    assert here.splits == {"test": 42}
    with pytest.raises(
        StoreError, match=r"expected the picture \d+\.jpg in .*val2017, .* the pictures val2017 of cocodataset\.org"
    ):
        here.source("test").batch(np.arange(2))
    there = SugarCrepe(folder=tmp_path / "data", images=tmp_path / "coco", image_size=(4, 4))
    assert there.source("test").batch(np.arange(2)).views["image"].shape == (2, 3, 4, 4)
    (tmp_path / "coco" / "000000000000.jpg").write_bytes(b"no image")
    with pytest.raises(DataError, match=r"000000000000\.jpg: expected an image \(BMP"):
        whole(there)


def test_files_that_are_missing_are_named_with_their_publishers(tmp_path):
    for dataset, file, words in (
        (Winoground(folder=tmp_path), "examples.jsonl", "facebook/winoground on Hugging Face"),
        (SugarCrepe(folder=tmp_path), "swap_obj.json", "RAIVNLab/sugar-crepe on GitHub"),
        (CREPE(folder=tmp_path), "prod_vg_hard_negs_swap_complexity_12.csv", "RAIVNLab/CREPE on GitHub"),
        (CREPE(folder=tmp_path, part="systematicity"), "seen_compounds_in_cc12m.csv", "RAIVNLab/CREPE on GitHub"),
        (NLVR(folder=tmp_path), "dev/dev.json", "lil-lab/nlvr on GitHub"),
        (CLEVR(folder=tmp_path), "questions/CLEVR_val_questions.json", "CLEVR_v1.0"),
        (CLEVRCoGenT(folder=tmp_path), "questions/CLEVR_valB_questions.json", "CLEVR_CoGenT_v1.0"),
    ):
        with pytest.raises(StoreError, match=rf"which lacks .*{re.escape(file)}.*{re.escape(words)}.*nothing is downloaded"):
            _ = dataset.spec
        assert dataset.licence


def test_only_the_test_split_is_there_of_sets_that_only_test(made):
    with pytest.raises(ConfigError, match=r"winoground-v1 has only test, got train"):
        made["winoground"].source("train", 4)
    with pytest.raises(ConfigError, match="unknown split 'tets'; did you mean"):
        made["winoground"].source("tets")


def test_settings_that_cannot_be_used_are_told_at_once(foils):
    with pytest.raises(ConfigError) as caught:
        CREPE(part="product", negatives=0, image_size=(0, 4), words=0)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["part", "negatives", "image_size", "words"]
    with pytest.raises(ConfigError, match="permutations: expected 1 to 6, got 7"):
        NLVR(permutations=7)


@pytest.mark.parametrize("size", [8, "ab", (2.5, 3), (True, 3), None])
def test_sizes_of_a_wrong_type(size):
    with pytest.raises(
        ConfigError, match=r"(?s)permutations: expected 1 to 6, got 2.5.*image_size: expected a height and a width"
    ):
        NLVR(permutations=2.5, image_size=size)


@pytest.mark.parametrize("name", ["/etc/passwd", "../outside.png"])
def test_pictures_outside_of_the_folder_are_never_read(name, tmp_path, foils):
    data = Winoground(folder=foils.winoground(tmp_path / "data"), image_size=(8, 8))
    foils.picture(tmp_path / "data" / "outside.png", (1, 2, 3))
    path = tmp_path / "data" / "examples.jsonl"
    path.write_text(path.read_text().replace("ex_0_img_0", name))
    with pytest.raises(DataError, match="expected pictures within their folder"):
        data.source("test", seed=0).batch(np.arange(data.splits["test"]))


def test_a_mark_of_the_encoding_at_the_begin_of_a_file_is_no_content(tmp_path, foils):
    path = foils.winoground(tmp_path) / "examples.jsonl"
    path.write_text(path.read_text(), encoding="utf-8-sig")
    assert Winoground(folder=tmp_path).splits == {"test": 24}


SAME = json.dumps({"image_0": "a", "image_1": "b", "caption_0": "a dog", "caption_1": "a dog"})
FOIL = json.dumps({"0": {"filename": "a.jpg", "caption": "A dog.", "negative_caption": "A dog."}})
ASKED = {"question": "Is it?", "answer": "maybe", "image_filename": "a.png", "question_family_index": 1}
QUESTION = json.dumps({"questions": [{**ASKED, "program": [{"function": "exist"}]}]})

BROKEN = [
    (Winoground, "winoground", "examples.jsonl", '{"image_0": 3}', r"line 1: expected 'image_0' as str, got int '3'"),
    (Winoground, "winoground", "examples.jsonl", "[1]", "line 1: expected an object, got list"),
    (Winoground, "winoground", "examples.jsonl", '{"image_0": ', "line 1: expected an object in JSON"),
    (Winoground, "winoground", "examples.jsonl", "", "expected samples of the split test, got none"),
    (SugarCrepe, "sugarcrepe", "add_att.json", "[]", "expected an object of captions by number, got list"),
    (
        SugarCrepe,
        "sugarcrepe",
        "add_att.json",
        '{"0": {"filename": "a.jpg"}}',
        "add_att.json, 0: expected 'caption' as str, got none",
    ),
    (
        NLVR,
        "nlvr",
        "dev/dev.json",
        '{"sentence": "a", "label": "maybe", "identifier": "1-0"}',
        "label true or false, got 'maybe'",
    ),
    (Winoground, "winoground", "examples.jsonl", "[" * 100_000, "too deep to read"),
    (SugarCrepe, "sugarcrepe", "add_att.json", "[" * 100_000, "too deep to read"),
    (Winoground, "winoground", "examples.jsonl", SAME, "line 1: expected two pictures and two captions, got one twice"),
    (
        Winoground,
        "winoground",
        "examples.jsonl",
        SAME.replace("a dog", " "),
        "line 1: expected 'caption_0' as a text, got an empty",
    ),
    (SugarCrepe, "sugarcrepe", "add_att.json", "{}", "add_att.json: expected captions, got none"),
    (SugarCrepe, "sugarcrepe", "add_att.json", FOIL, "add_att.json, 0: expected a foil that differs from its caption"),
    (
        CLEVR,
        "clevr",
        "questions/CLEVR_val_questions.json",
        QUESTION,
        "CLEVR_val_questions.json, questions 0: .* got 'maybe' to 'Is it",
    ),
    (CLEVR, "clevr", "questions/CLEVR_val_questions.json", '{"info": {}}', "expected a list 'questions', got none"),
    (
        CLEVR,
        "clevr",
        "questions/CLEVR_val_questions.json",
        '{"questions": [{"question": "a"',
        "questions 0: expected an object in JSON",
    ),
    (
        CLEVR,
        "clevr",
        "questions/CLEVR_val_questions.json",
        '{"questions": [{}]}',
        "questions 0: expected 'question' as str, got none",
    ),
]


@pytest.mark.parametrize(("kind", "make", "file", "content", "complaint"), BROKEN)
def test_files_that_hold_something_else_are_refused(kind, make, file, content, complaint, tmp_path, foils):
    getattr(foils, make)(tmp_path)
    (tmp_path / file).write_text(content)
    with pytest.raises(DataError, match=complaint):
        _ = kind(folder=tmp_path).splits


def test_tables_of_crepe_that_hold_something_else_are_refused(tmp_path, foils):
    foils.crepe_productivity(tmp_path)
    path = tmp_path / "prod_hard_negatives/swap/prod_vg_hard_negs_swap_complexity_4.csv"
    (row,) = foils.crepe_rows("swap", "hard_negs", 1)
    for change, complaint in (
        ({"hard_negs": "no list"}, r"row 1: expected 'hard_negs' as a list of texts, got 'no list'"),
        ({"x": "left"}, "row 1: expected 'x' as a whole number, got 'left'"),
        ({"caption": ""}, "row 1: expected a 'caption', got ''"),
        ({"x": "9" * 20}, "row 1: expected a box within a picture, got x 9"),
        ({"width": 0}, "row 1: expected a box within a picture, got x 20, y 4, width 0"),
    ):
        foils.table(path, [{**row, **change}])
        with pytest.raises(DataError, match=complaint):
            _ = CREPE(folder=tmp_path).splits
    path.write_text("image_id,x,y,width,height,caption,hard_negs\n")
    with pytest.raises(DataError, match=r"swap_complexity_4.csv: expected rows, got none"):
        _ = CREPE(folder=tmp_path).splits
    foils.table(path, [{**row, "hard_negs": [" ", row["caption"], *row["hard_negs"][:3]]}])
    assert CREPE(folder=tmp_path, negatives=3).splits == {"test": 4 * 53}
    foils.table(path, [{**row, "x": 2000}])
    data = CREPE(folder=tmp_path)
    with pytest.raises(DataError, match="which lies outside of it"):
        data.source("test", seed=0).batch(np.arange(data.splits["test"]))
    foils.table(path, [{"image_id": 1}])
    with pytest.raises(DataError, match="expected foils in hard_negs, got none"):
        _ = CREPE(folder=tmp_path).splits
    with pytest.raises(DataError, match="at least 9 foils, got none: lower negatives"):
        _ = CREPE(folder=foils.crepe_productivity(tmp_path), negatives=9).splits


def test_a_list_is_read_in_parts(tmp_path, monkeypatch):
    items = [{"text": f'brackets ] }} and "quotes" {number}', "numbers": list(range(number % 7))} for number in range(200)]
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"info": {"questions": 3}, "questions": items}, indent=1))
    for block in (7, 100, 1 << 20):
        monkeypatch.setattr(json_files, "_BLOCK", block)
        assert [record for _, record in json_files.read_items(path, "questions")] == items
    path.write_text(json.dumps({"questions": []}))
    assert list(json_files.read_items(path, "questions")) == []
