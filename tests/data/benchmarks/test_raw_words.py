"""Raw words of MUStARD, CMU-MOSI, UR-FUNNY, CMU-MOSEI and MM-IMDb: found by id, as symbols, open to typing errors."""

import json
import pickle
import re
import shutil

import h5py
import numpy as np
import pytest

from molyneux.core import ConfigError, DataError, StoreError
from molyneux.core.views import text_strings
from molyneux.data import CMUMOSEI, CMUMOSI, MMIMDb, MUStARD, RawWords, URFunny
from molyneux.data.benchmarks.texts.spoken_words import Segment, spoken_words
from molyneux.data.dataset import SPLITS
from molyneux.data.imperfections import Corrupted, Dropout, LetterSwap, StickyKeys, Substitution, Typos, WordDropout, WordSwap

SPOKEN = ("CMUMOSEI", "CMUMOSI", "MUStARD", "URFunny")
NAMES = (*SPOKEN, "MMIMDb")
PARTS = {"train": "train", "validation": "valid", "test": "test"}


def in_order(dataset, split):
    return dataset.rows(np.arange(dataset.splits[split]), split)


def shown(dataset, batch):
    """The texts of a batch, None where there is none."""
    texts = text_strings(dataset.spec.modality("text"), batch.views["text"], batch.lengths.get("text"))
    return [text if here else None for text, here in zip(texts, batch.mask("text").tolist(), strict=True)]


def said(folder, name, split):
    """The raw texts of a split of a twin, read apart from the loader, None where there is none."""
    if name == "MMIMDb":
        with h5py.File(folder / "multimodal_imdb.hdf5") as file:
            ids = [found.decode() for found in file["imdb_ids"]]
        cuts = {"train": (0, 35), "validation": (35, 41), "test": (41, 60)}
        files = [folder / "dataset" / f"{film}.json" for film in ids[slice(*cuts[split])]]
        return [max(json.loads(path.read_text())["plot"], key=len) if path.exists() else None for path in files]
    kind = {"CMUMOSI": CMUMOSI, "CMUMOSEI": CMUMOSEI}.get(name)
    file = "sarcasm" if name == "MUStARD" else "humor"
    ids = pickle.loads((folder / (kind.default_file if kind else f"{file}.pkl")).read_bytes())[PARTS[split]]["id"]
    if kind:
        with h5py.File(folder / kind.default_text_file) as found:
            words = {key: [word[0].decode() for word in group["features"]] for key, group in found["words"].items()}
    else:
        words = pickle.loads((folder / f"{file}_raw_text.pkl").read_bytes())
    return [" ".join(word for word in words[key] if word != "sp") if key in words else None for key in ids]


@pytest.fixture
def copied(twins, tmp_path):
    """Gives the folder of a copy of a twin, whose files a test may change."""

    def copy(name):
        shutil.copytree(twins[name].folder, tmp_path / name)
        return tmp_path / name

    return copy


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", ["words", "characters"])
def test_each_sample_has_its_own_text(name, unit, twins):
    dataset = twins[f"{name} in {unit}"]
    text = dataset.spec.modality("text")
    for split in SPLITS:
        wanted = said(dataset.folder, name, split)
        if unit == "words":
            cut = [None if found is None else re.findall(r"\w+|[^\w\s]", found.lower())[: text.shape[0]] for found in wanted]
            assert any(words and words[-1] == "." for words in cut) is (name == "MMIMDb")
            wanted = [words and " ".join(word if word in text.symbols else "<unk>" for word in words) for words in cut]
        else:
            wanted = [found and found[: text.shape[0]].rstrip() for found in wanted]
        assert shown(dataset, in_order(dataset, split)) == wanted
    assert sum(not in_order(dataset, split).mask("text").all() for split in SPLITS) == 1, "one sample has no text"


@pytest.mark.parametrize("name", NAMES)
def test_all_but_the_text_stays(name, twins):
    plain, raw = twins[name], twins[f"{name} in characters"]
    assert raw.splits == plain.splits
    assert [found.kind for found in raw.spec.modalities if found.name == "text"] == ["text"]
    assert raw.spec.names == plain.spec.names
    for split in SPLITS:
        before, after = in_order(plain, split), in_order(raw, split)
        for key, tensor in before.tensors().items():
            if not key.endswith(".text"):
                assert after.tensors()[key].equal(tensor), key
    assert {key: found for key, found in raw.choices.items() if key in plain.choices} == plain.choices
    assert not {"text", "words", "length", "text_file"} & plain.choices.keys(), "records without raw texts stay"


def changed_symbols(dataset, corruption, strength):
    source = dataset.source("train", seed=1)
    size = len(source)
    before, after = source.batch(np.arange(size)), Corrupted(source, corruption, strength, seed=2).batch(np.arange(size))
    assert after.mask("text").equal(before.mask("text"))
    for key, tensor in before.tensors().items():
        if key != "view.text" and (strength == 0 or key != "length.text"):
            assert after.tensors()[key].equal(tensor), key
    return before, after


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "corruption", [Typos, LetterSwap, StickyKeys, WordDropout, Substitution, WordSwap], ids=lambda kind: kind.name
)
def test_typing_errors_apply_to_characters(name, corruption, twins):
    dataset = twins[f"{name} in characters"]
    before, after = changed_symbols(dataset, corruption(modalities=("text",)), 0.0)
    assert after.views["text"].equal(before.views["text"])
    before, after = changed_symbols(dataset, corruption(modalities=("text",)), 0.8)
    texts = list(zip(shown(dataset, before), shown(dataset, after), strict=True))
    assert all((old is None) is (new is None) for old, new in texts)
    assert sum(old != new for old, new in texts) > len(texts) // 2
    if corruption is Typos:
        assert all(old is None or len(old) == len(new) for old, new in texts), "padding stays padding"
    if corruption is LetterSwap:
        assert all(old is None or sorted(old) == sorted(new) for old, new in texts)


@pytest.mark.parametrize("name", NAMES)
def test_words_are_changed_as_a_whole(name, twins):
    dataset = twins[f"{name} in words"]
    for corruption in (Substitution, Dropout, WordSwap):
        before, after = changed_symbols(dataset, corruption(modalities=("text",)), 0.5)
        assert not after.views["text"].equal(before.views["text"])
    with pytest.raises(ConfigError, match="typos"):
        Corrupted(dataset.source("train"), Typos(modalities=("text",)), 0.5, seed=0)
    with pytest.raises(ConfigError, match="typos"):
        Corrupted(twins[name].source("train"), Typos(modalities=("text",)), 0.5, seed=0)


@pytest.mark.parametrize("name", NAMES)
def test_symbols_are_those_of_the_training_texts(name, twins):
    dataset = twins[f"{name} in words"]
    words = {word for text in said(dataset.folder, name, "train") if text for word in re.findall(r"\w+|[^\w\s]", text.lower())}
    assert {*dataset.spec.modality("text").symbols} == words | {"<pad>", "<bos>", "<eos>", "<unk>"}
    few = type(dataset)(dataset.folder, text="words", words=3, length=4)
    assert few.spec.modality("text").shape == (4,)
    assert len(few.spec.modality("text").symbols) == 7


def test_sentences_of_ur_funny_itself(copied):
    folder = copied("URFunny")
    words = pickle.loads((folder / "humor_raw_text.pkl").read_bytes())
    own = {key: {"punchline_sentence": " ".join(found), "context_sentences": ["so"]} for key, found in words.items()}
    (folder / "language_sdk.pkl").write_bytes(pickle.dumps(own, 2))
    (folder / "humor_raw_text.pkl").unlink()
    dataset = URFunny(folder, text="characters", text_file="language_sdk.pkl")
    assert shown(dataset, in_order(dataset, "test"))[0].split()[:-1] == words[[*words][-12]][:-1]
    with pytest.raises(StoreError, match=r"expected humor.pkl, humor_raw_text.pkl in .* which lacks humor_raw_text.pkl"):
        _ = URFunny(folder, text="characters").splits


def test_ids_as_numbers_are_those_of_the_words(copied):
    """The ids of `humor.pkl` are an array of one number in each row, those of its raw words are integers."""
    folder = copied("URFunny")
    wanted = in_order(URFunny(folder, text="words"), "test")
    document = pickle.loads((folder / "humor.pkl").read_bytes())
    numbers = {key: n for n, key in enumerate(key for part in document.values() for key in part["id"])}
    for part in document.values():
        part["id"] = np.array([[float(numbers[key])] for key in part["id"]])
    words = pickle.loads((folder / "humor_raw_text.pkl").read_bytes())
    (folder / "humor.pkl").write_bytes(pickle.dumps(document, 4))
    (folder / "humor_raw_text.pkl").write_bytes(pickle.dumps({numbers[key]: found for key, found in words.items()}, 4))
    assert in_order(URFunny(folder, text="words"), "test").views["text"].equal(wanted.views["text"])


def sequence(path, root, entries):
    """A computational sequence as the SDK writes it."""
    with h5py.File(path, "w") as file:
        file[f"{root}/metadata/root name"] = "x"
        for name, (values, times) in entries.items():
            file[f"{root}/data/{name}/features"] = np.array(values).reshape(len(values), -1)
            file[f"{root}/data/{name}/intervals"] = np.array(times, float).reshape(-1, 2)


TIMED = {"a": ([b"sp", b"one", b"two", b"three", b"four"], [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]), "b": ([b"else"], [(0, 9)])}


def test_words_of_whole_videos_are_cut_by_the_labels(tmp_path):
    words, labels = tmp_path / "words.csd", tmp_path / "labels.csd"
    sequence(words, "words", TIMED)
    sequence(labels, "Opinion Segment Labels", {"a": ([1.0, -2.0], [(0.5, 2.0), (2.5, 4.0)]), "b": ([0.0], [(20, 30)])})
    ids = [Segment("a[1]"), Segment("a[0]"), Segment("a[2]"), Segment("b[0]"), Segment("c[0]")]
    assert spoken_words(words, ids, segments=labels) == ["two three", "one", None, "", None]
    with pytest.raises(DataError, match=r"expected words by segment, such as 'a\[1\]', got those of the whole video"):
        spoken_words(words, ids)


def test_words_between_the_seconds_of_an_id(tmp_path):
    """Overlapping segments of a video hold the same word twice; it is said once."""
    path = tmp_path / "mosei.hdf5"
    with h5py.File(path, "w") as file:
        for name, part in {"a[0]": slice(0, 3), "a[1]": slice(2, 5)}.items():
            file[f"words/{name}/features"] = np.array([[word] for word in TIMED["a"][0][part]])
            file[f"words/{name}/intervals"] = np.array(TIMED["a"][1][part], float)
        file["COVAREP/a[0]/features"] = np.zeros((3, 74))
    found = spoken_words(path, [Segment("a", (1.5, 4.0)), Segment("a", (4.0, 9.0)), Segment("z", (0.0, 9.0)), Segment("a[1]")])
    assert found == ["one two three", "four", None, "two three four"]
    sequence(tmp_path / "words.csd", "words", TIMED)
    assert spoken_words(tmp_path / "words.csd", [Segment("a", (1.5, 4.0))]) == ["one two three"]


def test_texts_of_any_length_are_read_too(tmp_path):
    with h5py.File(tmp_path / "words.hdf5", "w") as file:
        words = [f"wörd{number}" for number in range(200)]
        file.create_dataset("words/a[0]/features", data=words, dtype=h5py.string_dtype())
    assert spoken_words(tmp_path / "words.hdf5", [Segment("a[0]")]) == [" ".join(words)]


def test_ids_of_a_video_a_start_and_an_end(twins, copied):
    """As in the older packs; a segment alone in its video says all of its words."""
    folder = copied("CMUMOSI")
    document = pickle.loads((folder / "mosi_raw.pkl").read_bytes())
    for part in document.values():
        part["id"] = np.array([[key.replace("[", "<"), "0.0", "99.0"] for key in part["id"]])
    (folder / "mosi_raw.pkl").write_bytes(pickle.dumps(document, 4))
    with h5py.File(folder / "mosi.hdf5", "r+") as file:
        for key in list(file["words"]):
            file.move(f"words/{key}", f"words/{key.replace('[', '<')}")
    wanted = in_order(twins["CMUMOSI in words"], "test")
    assert in_order(CMUMOSI(folder, text="words"), "test").views["text"].equal(wanted.views["text"])


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda words: [words], "expected a dictionary of words by id, got list"),
        (
            lambda words: {f"x{key}": found for key, found in words.items()},
            r"expected words of segments such as 'train0\[0\]', got those of 'xtrain",
        ),
        (
            lambda words: {key: [1, 2] for key in words},
            "expected a list of words, or a dictionary with 'punchline_sentence', got list",
        ),
        (lambda words: {key: {"context_sentences": "so"} for key in words}, "expected a list of words, or a dictionary"),
        (
            lambda words: {key: found for key, found in words.items() if "train" not in key},
            "expected words of at least one training",
        ),
    ],
)
def test_word_files_that_are_something_else_are_refused(change, complaint, copied):
    folder = copied("URFunny")
    words = pickle.loads((folder / "humor_raw_text.pkl").read_bytes())
    (folder / "humor_raw_text.pkl").write_bytes(pickle.dumps(change(words), 4))
    with pytest.raises(DataError, match=complaint) as caught:
        _ = URFunny(folder, text="words").splits
    assert "humor_raw_text.pkl" in str(caught.value)
    assert URFunny(folder).splits["train"] == 36, "features need no words"


def test_code_in_a_file_of_words_is_refused(copied):
    class Evil:
        def __reduce__(self):
            return print, ("read",)

    folder = copied("URFunny")
    (folder / "humor_raw_text.pkl").write_bytes(pickle.dumps({"train0[0]": Evil()}))
    with pytest.raises(StoreError, match=r"names builtins\.print"):
        _ = URFunny(folder, text="words").splits


def test_a_long_word_in_many_places_does_not_fill_the_memory(copied):
    folder = copied("URFunny")
    word = "a" * (1 << 20)
    words = {key: [word] * 4000 for key in pickle.loads((folder / "humor_raw_text.pkl").read_bytes())}
    (folder / "humor_raw_text.pkl").write_bytes(pickle.dumps(words, 4))
    with pytest.raises(DataError, match="expected a file that unpacks to at most"):
        _ = URFunny(folder, text="characters").splits


@pytest.mark.parametrize(
    ("ids", "complaint"),
    [
        (None, "valid, id: expected an id for each of the 12 samples, by which their words are found, got NoneType"),
        (["a"], "valid, id: expected an id for each of the 12 samples, by which their words are found, got 1"),
        ([["a", "b"]] * 12, "valid, id 0: expected a name, or the name of a video, a start and an end, got"),
        ([["a", "b", "c"]] * 12, "valid, id 0: expected a start and an end in seconds"),
        ([{}] * 12, "valid, id 0: expected a name or a number, got dict"),
    ],
)
def test_ids_that_are_something_else_are_refused(ids, complaint, copied):
    folder = copied("MUStARD")
    document = pickle.loads((folder / "sarcasm.pkl").read_bytes())
    document["valid"]["id"] = ids
    (folder / "sarcasm.pkl").write_bytes(pickle.dumps(document, 4))
    with pytest.raises(DataError, match=complaint):
        _ = MUStARD(folder, text="words").splits
    assert MUStARD(folder).splits["validation"] == 12


@pytest.mark.parametrize(
    ("name", "values", "complaint"),
    [
        ("features", np.zeros((3, 1)), r"'train0\[1\]': expected 'features' as texts of shape .* got float64 \(3, 1\)"),
        ("features", np.array([[b"a", b"b"]]), r"expected 'features' as texts of shape"),
        ("features", np.array([[b"\xff\xfe"]]), "expected 'features' as text in UTF-8"),
        ("features", None, "expected a data set 'features', got none"),
    ],
)
def test_computational_sequences_that_are_something_else_are_refused(name, values, complaint, copied):
    folder = copied("CMUMOSI")
    with h5py.File(folder / "mosi.hdf5", "r+") as file:
        del file[f"words/train0[1]/{name}"]
        if values is not None:
            file[f"words/train0[1]/{name}"] = values
    with pytest.raises(DataError, match=complaint):
        _ = CMUMOSI(folder, text="words").splits


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"plot": "one"}', "expected an object with a list of texts 'plot'"),
        ("[1]", "expected an object with a list of texts 'plot', got list"),
        ("{", "expected JSON"),
    ],
)
def test_plots_that_are_something_else_are_refused(content, complaint, copied):
    folder = copied("MMIMDb")
    (folder / "dataset" / "0000005.json").write_text(content)
    with pytest.raises(DataError, match=complaint) as caught:
        _ = MMIMDb(folder, text="words").splits
    assert "0000005.json" in str(caught.value)
    assert MMIMDb(folder).splits["train"] == 35


def test_films_without_plots_lack_the_text(copied):
    folder = copied("MMIMDb")
    (folder / "dataset" / "0000005.json").write_text('{"genres": ["Drama"]}')
    (folder / "dataset" / "0000006.json").write_text('{"plot": [" ", ""]}')
    (folder / "dataset" / "0000007.json").unlink()
    batch = in_order(MMIMDb(folder, text="words"), "train")
    assert np.flatnonzero(~batch.mask("text").numpy()).tolist() == [0, 5, 6, 7]
    shutil.rmtree(folder / "dataset")
    with pytest.raises(StoreError, match=r"expected files dataset/\*\.json in"):
        _ = MMIMDb(folder, text="words").splits
    assert MMIMDb(folder).settings == {key: found for key, found in MMIMDb(folder).settings.items() if key != "many"}


def test_settings_that_do_not_go_together():
    with pytest.raises(ConfigError) as caught:
        CMUMOSI(text="features", words=5, length=0, text_file="a", segments_file="b", neutral="x")
    assert sorted(problem.partition(":")[0] for problem in caught.value.problems) == [
        "neutral", "raw.length", "raw.length", "raw.segments_file", "raw.text_file", "raw.words",
    ]  # fmt: skip
    with pytest.raises(ConfigError, match=r"raw\.segments_file: words of mustard-v1 are not cut by seconds"):
        MUStARD(text="words", raw=RawWords(segments_file="labels.csd"))
    with pytest.raises(
        ConfigError, match="text: expected one of features, words, characters, got 'word'; did you mean \"words\""
    ):
        MMIMDb(text="word")
    with pytest.raises(ConfigError, match="words: is of texts in words, got 9 with text 'characters': leave it out"):
        MMIMDb(text="characters", words=9)
