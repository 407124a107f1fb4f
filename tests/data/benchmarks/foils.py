"""Small files in the layouts of the publishers of pictures with texts."""

import csv
import json

import numpy as np
from PIL import Image


def picture(path, colour, size=(20, 16)):
    """A picture of one colour, of another width and height."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, tuple(colour)).save(path)


def colour_of(number):
    """A colour for each number, all different."""
    return (number * 40 % 256, number * 90 % 256, number * 17 % 256)


def winoground(folder, sets=6):
    folder.mkdir(parents=True, exist_ok=True)
    tags = (("Object", ""), ("Relation", "Series"), ("Both", "Pragmatics"))
    with (folder / "examples.jsonl").open("w") as stream:
        for number in range(sets):
            names = {f"image_{side}": f"ex_{number}_img_{side}" for side in (0, 1)}
            said = {"caption_0": f"old dog {number}, young cat", "caption_1": f"young dog {number}, old cat"}
            collapsed, secondary = tags[number % 3]
            rest = {"tag": f"Noun-{number % 2}", "secondary_tag": secondary, "num_main_preds": 1 + number % 2}
            stream.write(json.dumps({"id": number, **names, **said, **rest, "collapsed_tag": collapsed}) + "\n")
            for side in (0, 1):
                picture(folder / "images" / f"ex_{number}_img_{side}.png", colour_of(2 * number + side))
    return folder


def sugarcrepe(folder, each=3):
    from molyneux.data.benchmarks.sugarcrepe import KINDS

    folder.mkdir(parents=True, exist_ok=True)
    for code, kind in enumerate(KINDS):
        found = {}
        for number in range(each):
            name = f"{code:04}{number:08}.jpg"
            found[str(number)] = {
                "filename": name,
                "caption": f"A {kind} {number}.",
                "negative_caption": f"A foil of {kind} {number}!",
            }
            picture(folder / "val2017" / name, colour_of(each * code + number), size=(64, 48))
        (folder / f"{kind}.json").write_text(json.dumps(found))
    return folder


def crepe_rows(kind, column, count, foils=5):
    """Rows of a table; the box is the right half of the picture, which has a colour of its own."""
    return [
        {
            "region_id": number,
            "image_id": 10 + number,
            "x": 20,
            "y": 4,
            "width": 20,
            "height": 10,
            "caption": f"{kind} caption {number}",
            column: [f"{kind} foil {place} of {number}" for place in range(foils)],
        }
        for number in range(count)
    ]


def table(path, rows):
    """Rows in CSV with lists as Python writes them, or in JSON with numbers as texts, by the suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        path.write_text(
            json.dumps([{key: value if isinstance(value, list) else str(value) for key, value in row.items()} for row in rows])
        )
        return
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def crepe_pictures(folder, count):
    for number in range(count):
        pixels = np.zeros((20, 40, 3), np.uint8)
        pixels[:, :20], pixels[:, 20:] = colour_of(number), (255, 0, number)
        where = folder / ("VG_100K" if number % 2 else "VG_100K_2")
        where.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(where / f"{10 + number}.jpg", quality=100, subsampling=0)


def crepe_productivity(folder, suffix=".csv", count=2):
    for kind in ("atom", "negate", "swap"):
        for number in range(4, 13):
            name = f"prod_hard_negatives/{kind}/prod_vg_hard_negs_{kind}_complexity_{number}{suffix}"
            table(folder / name, crepe_rows(f"{kind}{number}", "hard_negs", count))
    crepe_pictures(folder, count)
    return folder


def crepe_systematicity(folder, suffix=".json", count=4):
    for seen in ("seen", "unseen"):
        rows = crepe_rows(f"{seen} atom", "valid_hard_negs_atom", count, foils=6)
        for number, row in enumerate(rows):
            row["valid_hard_negs_comp"] = [f"{seen} comp foil {place} of {number}" for place in range(number + 3)]
        table(folder / f"syst_hard_negatives/syst_vg_hard_negs_{seen}_compounds_in_laion{suffix}", rows)
    crepe_pictures(folder, count)
    return folder


def nlvr(folder, sizes=(8, 3, 4)):
    for name, size in zip(("train", "dev", "test"), sizes, strict=True):
        (folder / name).mkdir(parents=True, exist_ok=True)
        with (folder / name / f"{name}.json").open("w") as stream:
            for number in range(size):
                tower = number % 2 == 0
                item = {"type": "square", "size": 20, "x_loc": 40} if tower else {"type": "circle", "size": 30, "x_loc": 7}
                boxes = [[{**item, "color": "Black", "y_loc": 80}] * count for count in (1, 2, number)]
                record = {
                    "sentence": f"There is {'a Tower' if tower else 'one box'} with {name if name != 'dev' else number} items.",
                    "label": "true" if number % 3 else "false",
                    "identifier": f"{100 + number}-0",
                    "directory": str(number % 2),
                    "evals": {"r0": "true"},
                    "structured_rep": boxes,
                }
                stream.write(json.dumps(record) + "\n")
                for place in range(6):
                    path = folder / name / "images" / str(number % 2) / f"{name}-{100 + number}-0-{place}.png"
                    picture(path, colour_of(10 * number + place), size=(400, 100))
    return folder


PROGRAMS = ("count", "exist", "query_color", "equal_integer", "less_than", "equal_shape")
ANSWERS = ("2", "yes", "red", "no", "yes", "no")


def clevr(folder, parts=(("train", 20), ("val", 6)), each=3, scenes=True):
    for part, size in parts:
        questions, described = [], []
        for image in range(size):
            name = f"CLEVR_{part}_{image:06}.png"
            picture(folder / "images" / part / name, colour_of(image), size=(48, 32))
            described.append({"image_filename": name, "image_index": image, "objects": [{"shape": "cube"}] * (3 + image % 8)})
            for number in range(each):
                last = (each * image + number) % len(PROGRAMS)
                program = [{"function": "scene", "inputs": [], "value_inputs": []}, {"function": PROGRAMS[last], "inputs": [0]}]
                text = f"Is the {part if number == 0 else 'thing'} {image % 3} a cube; what then?"
                rest = {"image_filename": name, "question_index": number, "split": part, "question_family_index": last * 10}
                questions.append({"question": text, "answer": ANSWERS[last], "program": program, **rest})
        for kind, items in (("questions", questions), ("scenes", described)):
            if kind == "questions" or scenes:
                path = folder / kind / f"CLEVR_{part}_{kind}.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps({"info": {"license": "CC BY 4.0", "split": part}, kind: items}))
    return folder
