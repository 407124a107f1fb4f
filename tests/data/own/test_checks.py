"""What a check of data finds: every bad row with its line, and nothing in files that are right."""

import json

import numpy as np
import pytest
from PIL import Image

from molyneux.cli import main
from molyneux.data import ArrayDataset, ImageFolder, TableDataset, check_data, guessed_data

TITLES = ["height", "width", "colour", "note"]


def rows_of(count=60):
    rng = np.random.default_rng(0)
    numbers = [[f"{value:.3f}" for value in row] for row in rng.normal(size=(count, 2))]
    return [[*pair, ("red", "green", "blue")[row % 3], f"note {row}"] for row, pair in enumerate(numbers)]


def write(path, rows, *, separator=",", encoding="utf-8", end="\n", titles=TITLES):
    text = end.join([separator.join(titles), *(separator.join(row) for row in rows)]) + end
    path.write_bytes(text.encode(encoding))
    return path


def table(path, **settings):
    return TableDataset(path=path, **{"tabular": ("height", "width"), "labels": ("colour",), **settings})


def kinds(check):
    return [(finding.kind, finding.place.rpartition(", line ")[2].partition(",")[0]) for finding in check.findings]


FINE = {
    "plain": {},
    "a mark": {"encoding": "utf-8-sig"},
    "UTF-16": {"encoding": "utf-16"},
    "Windows": {"end": "\r\n"},
    "old Macs": {"end": "\r"},
    "tabs": {"separator": "\t"},
}


@pytest.mark.parametrize("form", FINE)
def test_files_that_are_right_are_clean(tmp_path, form):
    check = check_data(table(write(tmp_path / "a.csv", rows_of(), **FINE[form])))
    assert check.clean, check.findings
    assert sum(check.samples.values()) == 60
    assert sum(sum(counts.values()) for counts in check.classes["colour"].values()) == 60
    assert "nothing wrong" in check.lines()[0]


def test_what_can_be_read_and_measured(tmp_path):
    path = write(tmp_path / "a.csv", [[*row[:3], f"a {row[2]} thing"] for row in rows_of()])
    check = check_data(table(path, texts=("note",), targets=("colour",)))
    assert check.readable == (
        "note is read exactly (colour): coherence can be measured of it",
        "tabular is read by a judge alone: train one with molyneux judge to measure coherence",
        "Targets: colour: prediction and downstream can be measured",
    )
    assert "no labels are named" in check_data(table(path, labels=())).readable[0]


def test_decimal_commas_are_read_where_they_are_read(tmp_path):
    rows = [[row[0].replace(".", ","), *row[1:]] for row in rows_of()]
    rows = [[row[0], row[1].replace(".", ","), *row[2:]] for row in rows]
    assert check_data(table(write(tmp_path / "a.csv", rows, separator=";"))).findings[0].kind == "data that cannot be read"
    rows = [[f'"{row[0]}"', "1.5", *row[2:]] for row in rows]
    found = check_data(table(write(tmp_path / "b.csv", rows)))
    assert len(found.errors) == 60
    assert "decimal point" in found.errors[0].text


def test_all_bad_rows_are_listed_with_the_lines_of_an_editor(tmp_path):
    rows = rows_of()
    rows[3].append("more")
    rows[7] = rows[7][:2]
    rows[10][3] = '"a note\nover three\nlines"'
    rows[12][0], rows[13][1], rows[20][0], rows[21][0] = "abc", "3 kg", "2024-05-01", "inf"
    check = check_data(table(write(tmp_path / "a.csv", rows)))
    assert kinds(check) == [
        ("a row with another number of fields", "5"),
        ("a row with another number of fields", "9"),
        ("no number", "16"),
        ("no number", "24"),
        ("a number that is infinite", "25"),
        ("no number", "17"),
    ]
    assert not check.samples
    assert "without its unit" in check.findings[-1].text
    assert "looks like a date" in check.findings[3].text


def test_labels_that_are_nearly_others_or_there_once(tmp_path):
    rows = rows_of()
    rows[4][2], rows[30][2], rows[31][2] = "gren", "Red", "violet"
    check = check_data(table(write(tmp_path / "a.csv", rows)))
    assert not check.errors
    texts = [finding.text for finding in check.warnings]
    assert any(text.startswith("'gren' (1) is one letter from 'green'") for text in texts)
    assert any(text.startswith("'Red' (1) differs in capital letters") for text in texts)
    assert any(text.startswith("'violet' is there once") for text in texts)
    rows[5][2] = "NA"
    assert [finding.kind for finding in check_data(table(write(tmp_path / "b.csv", rows))).errors] == ["a label that may be none"]
    assert not check_data(table(tmp_path / "b.csv", missing=("NA",))).errors


def test_rows_that_contradict_each_other_repeat_or_are_in_two_splits(tmp_path):
    rows = [[*row, ("train", "train", "test")[number % 3]] for number, row in enumerate(rows_of())]
    rows[1] = rows[0][:]
    rows[4] = [*rows[0][:2], "blue", "other", "train"]
    rows[8] = [*rows[0][:4], "test"]
    check = check_data(table(write(tmp_path / "a.csv", rows, titles=[*TITLES, "split"]), split="split"))
    assert kinds(check) == [
        ("rows that contradict each other", "6"),
        ("a row in two splits", "10"),
        ("a row that is there twice", "3"),
    ]
    rows[9][4] = "tset"
    found = check_data(table(write(tmp_path / "b.csv", rows, titles=[*TITLES, "split"]), split="split"))
    assert [finding.kind for finding in found.errors] == ["no split"]


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "data that cannot be read"),
        (b"height,width,colour,note\n", "data that cannot be read"),
        (b"height,height,colour,note\n" + b"1,2,red,a\n" * 9, "a title that is there twice"),
        (b"height,width,note\n" + b"1,2,a\n" * 9, "a column that is missing"),
        (b"height,width,colour,note\n" + b"1,2,red,fen\xeatre\n" * 9, "text that is not in UTF-8"),
        (b'height,width,colour,note\n1,2,red,"never closed\n' + b"1,2,red,a\n" * 9, "a quote that is not closed"),
        ("height,width,colour\n1,2,red\n".encode("utf-16-le"), "a file that cannot be read"),
        (b"\xff\xfeheight,width,colour\n1,2,red\n\n", "a file that cannot be read"),
    ],
)
def test_broken_tables(tmp_path, content, kind):
    (tmp_path / "a.csv").write_bytes(content)
    check = check_data(table(tmp_path / "a.csv"))
    assert check.errors[0].kind == kind, check.findings
    assert check_data(table(tmp_path / "nowhere.csv")).errors[0].kind == "data that cannot be read"


def test_a_large_field_is_read(tmp_path):
    rows = rows_of()
    rows[8][3] = "x" * 3_000_000
    assert check_data(table(write(tmp_path / "a.csv", rows))).clean


def picture(path, size=(8, 8), seed=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.random.default_rng(seed).integers(0, 255, (*size, 3), np.uint8)).save(path)


def test_images_that_are_missing_surplus_or_none(tmp_path):
    rows = [[f"sub dir/{number}.png", ("cat", "dog")[number % 2]] for number in range(12)]
    for number in range(12):
        picture(tmp_path / "sub dir" / f"{number}.png", seed=number)
    picture(tmp_path / "UPPER.PNG", seed=20)
    picture(tmp_path / "more.png", seed=21)
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "bad.png").write_text("no image")
    (tmp_path / "link.png").symlink_to("nowhere.png")
    rows += [[name, "cat"] for name in ("upper.png", "folder.png", "bad.png", "link.png", "gone.png", " sub dir/1.png")]
    rows.append([str(tmp_path / "UPPER.PNG"), "dog"])
    path = write(tmp_path / "items.csv", rows, titles=["file", "animal"])
    check = check_data(TableDataset(path=path, images=("file",), labels=("animal",)))
    found = {finding.place.partition(", line ")[2].partition(",")[0]: finding for finding in check.findings}
    assert "'UPPER.PNG', in other letters" in found["14"].text
    assert found["15"].kind == "a folder in place of a file"
    assert found["16"].kind == "an image that cannot be read"
    assert "a link to 'nowhere.png'" in found["17"].text
    assert "not there" in found["18"].text
    assert "blanks around" in found["19"].text
    assert found["20"].kind == "a path of this machine alone"
    assert [finding.place for finding in check.findings if finding.kind == "a file that no row names"] == [
        str(tmp_path / "more.png")
    ]


def test_folders_of_images(tmp_path):
    for number in range(12):
        picture(tmp_path / ("cat", "dog")[number % 2] / f"{number}.png", seed=number)
    assert check_data(ImageFolder(path=tmp_path)).clean
    picture(tmp_path / "dog" / "again.png", seed=0)
    picture(tmp_path / "dog" / "large.png", size=(9, 8), seed=3)
    check = check_data(ImageFolder(path=tmp_path))
    assert [finding.kind for finding in check.findings] == ["an image of another size", "rows that contradict each other"]
    assert "the folder cat" in check.warnings[0].text


def test_arrays(tmp_path):
    rng = np.random.default_rng(0)
    image, digit = rng.integers(0, 255, (30, 8, 8), np.uint8), np.arange(30) % 3
    image[7] = image[2]
    np.savez(tmp_path / "a.npz", image=image, digit=digit)
    check = check_data(ArrayDataset(path=tmp_path / "a.npz", labels=("digit",)))
    assert [finding.kind for finding in check.findings] == ["rows that contradict each other"]
    assert check.readable[0].startswith("image is read by a judge alone")
    found, said = guessed_data(tmp_path / "a.npz")
    assert (found.labels, said) == (("digit",), "labels: digit")


def test_the_command_answers_first_and_in_few_lines(tmp_path, capsys):
    rows = rows_of(500)
    for number in range(0, 500, 5):
        rows[number][0] = "bad"
    path = write(tmp_path / "a.csv", rows)
    assert main(["check", str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("100 errors; the data cannot be used as they are")
    assert len(lines) <= 25
    assert main(["check", str(path), "--all"]) == 1
    assert len(capsys.readouterr().out.splitlines()) > 100
    assert main(["check", str(path), "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["errors"]) == 100
    assert main(["check", str(write(tmp_path / "b.csv", rows_of()))]) == 0
    assert "Read as tabular: height, width" in capsys.readouterr().out
    (tmp_path / "a.yaml").write_text("data:\n  table: {path: b.csv, texts: [note], labels: [colour]}\n")
    assert main(["check", str(tmp_path / "a.yaml")]) == 0
    assert main(["check", "CdSprites"]) == 1
