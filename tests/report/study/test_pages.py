import csv
import io
import re
from dataclasses import replace

import pytest

from molyneux.core import ConfigError, CorruptFileError, DataError, Score, StoreError
from molyneux.report import (
    StudyRun,
    chosen_tables,
    load_records,
    save_records,
    study_findings,
    study_run,
    study_tables,
    to_markdown,
    write_study,
)
from molyneux.report.study import study_page
from molyneux.report.study.seeds import over_seeds
from molyneux.report.study.tables import entry_of


@pytest.fixture
def runs(study_of):
    """Two levels, two models, two seeds; DMVAE is good, MVAE lies at chance in joint draws."""
    values = {"MVAE": (50.0, 93.0, 3.3), "DMVAE": (80.0, 97.0, 30.0)}
    return [
        study_of(
            seed,
            tuple(value + 0.2 * seed for value in values[model]),
            learn__model__class_path=model,
            data__world__init_args__level=level,
        )
        for level in (1, 3)
        for model in values
        for seed in (1, 2)
    ]


def rows(table) -> dict[str, list[str]]:
    return {row[0].text: [entry.text for entry in row[1:]] for row in table.rows}


def test_one_table_a_level_with_published_rows_chance_and_ceiling(runs):
    first, second = study_tables(runs)
    assert (first.title, second.title) == ("Level 1: results", "Level 3: results")
    assert [row[0].text for row in second.rows] == [
        "MVAE",
        "MVAE, published",
        "DMVAE",
        "DMVAE, published",
        "chance",
        "best constant",
        "judge ceiling",
    ]
    assert rows(second)["MVAE, published"][0] == "8 (2)"
    assert rows(first)["MVAE, published"][0] == "52 (3)"
    assert second.columns[1].title == "text → image: Strict, %"


def test_what_all_columns_are_about_stands_in_the_title_once(runs):
    about = {"source": "text", "target": "image"}
    alike, other = chosen_tables(runs, [("coherence.strict", about), ("coherence.features", about)])[0], study_tables(runs)[0]
    assert alike.title == "Level 1: chosen scores: text → image"
    assert [column.title for column in alike.columns] == ["", "Strict, %", "Features, of 3"]
    assert other.title == "Level 1: results"


def test_a_chosen_score_that_no_run_has_is_refused(runs):
    with pytest.raises(DataError, match=r"no run has the score coherence.strict about .*'size'.*did you mean"):
        chosen_tables(runs, [("coherence.strict", {"source": "text", "target": "image", "factor": "size"})])
    with pytest.raises(DataError, match=r"no run has the score coherence.stric about .*measure it, or leave it out"):
        chosen_tables(runs, [("coherence.stric", {})])


def test_findings_name_the_best_model_beside_the_best_published_one_and_guessing(runs):
    found = rows(study_findings(runs))
    assert found["Level 1: text → image"] == ["80.3 ▲", "DMVAE", "\u2013", "52 (3) % (MVAE)", "3.3"]
    assert found["Level 3: image → text"] == ["97.3 ▲", "DMVAE", "\u2013", "59 (4) % (MVAE)", "3.3"]
    assert set(found) == {f"Level {n}: {way}" for n in (1, 3) for way in ("image → text", "text → image", "prior → image + text")}


def test_without_intervals_no_mean_is_called_apart_from_others():
    means = {"A": 0.2, "B": 0.9}
    runs = [
        StudyRun({"name": name, "seed": 1, "model": name}, (Score("ranking.agreement", mean, {"code": "shared"}, n=100),))
        for name, mean in means.items()
    ]
    (table,) = chosen_tables(runs, [("ranking.agreement", {"code": "shared"})])
    assert [row[1].tone for row in table.rows[:2]] == ["", ""]
    known = [replace(run.scores[0], interval=(run.scores[0].value - 0.1, run.scores[0].value + 0.1)) for run in runs]
    sure = [replace(run, scores=(score,)) for run, score in zip(runs, known, strict=True)]
    (table,) = chosen_tables(sure, [("ranking.agreement", {"code": "shared"})])
    assert [row[1].tone for row in table.rows[:2]] == ["", "strong"]


def test_what_is_not_above_guessing_is_never_the_best():
    def best(chance):
        scores = [
            Score("ranking.agreement", mean, {"code": "shared"}, interval=(mean - 0.1, mean + 0.1), n=100, chance=chance)
            for mean in (0.2, 0.9)
        ]
        runs = [StudyRun({"name": name, "seed": 1, "model": name}, (score,)) for name, score in zip("AB", scores, strict=True)]
        (table,) = chosen_tables(runs, [("ranking.agreement", {"code": "shared"})])
        return [(row[1].tone, row[1].text[-1]) for row in table.rows[:2]]

    assert best(0.5) == [("", "\u2205"), ("strong", "0")]
    assert best(0.85) == [("", "\u2205"), ("", "\u2205")]


def test_a_headline_says_what_is_not_above_guessing(study_of):
    drawings = {"A": 0.5, "B": 3.4}
    runs = [
        study_of(1, (drawn, 90.0, 12.0), name=name, learn__rate=number) for number, (name, drawn) in enumerate(drawings.items())
    ]
    said = {headline.about: headline.sentence for headline in study_page(runs, "guesses").headlines}
    (drawn,) = [sentence for about, sentence in said.items() if "text \u2192 image" in about]
    assert drawn.startswith("Highest is B with 3.4 %")
    assert "this is not above guessing; guessing gives" in drawn
    assert not any("above guessing" in sentence for sentence in said.values() if sentence != drawn)


def test_ties_are_told_as_ties(study_of, tmp_path):
    values = {"A": (50.0, 93.0, 12.0), "B": (50.0, 97.0, 12.4), "C": (20.0, 93.0, 3.3)}
    runs = [study_of(1, values[name], name=name, learn__rate=number) for number, name in enumerate(values)]
    found = rows(study_findings(runs))
    assert found["text → image"][1:3] == ["A, B", "\u2013"]
    assert found["image → text"][1:3] == ["B", "\u2013"]
    assert found["prior → image + text"][1:3] == ["B", "A"]
    (table,) = study_tables(runs)
    bold = {row[0].text: [entry.tone == "strong" for entry in row[1:]] for row in table.rows[:3]}
    titles = [column.title for column in table.columns[1:]]
    strict = {name: titles.index(f"{name}: Strict, %") for name in ("text → image", "image → text", "prior → image + text")}
    assert [bold["A"][place] for place in strict.values()] == [False, False, False]
    assert [bold["B"][place] for place in strict.values()] == [False, True, False]
    write_study(runs, tmp_path, formats=("markdown",))
    text = (tmp_path / "study.md").read_text()
    assert "**text → image** A and B are equal with 50.0 %" in text
    told = "B has the highest mean, 12.4 % (11.8\u201313.0 over 1 seed); not apart from it: A;"
    assert f"**prior → image + text** {told}" in text


def test_a_page_is_called_by_the_name_of_runs_without_variants_and_else_by_its_folder(study_of, tmp_path):
    write_study([study_of(seed, name="my-grid") for seed in (1, 2)], tmp_path / "results", formats=("markdown",))
    assert (tmp_path / "results" / "study.md").read_text().startswith("# my-grid\n")
    write_study([study_of(1, name="a"), study_of(1, name="b", rate=1)], tmp_path / "cdsprites", formats=("markdown",))
    assert (tmp_path / "cdsprites" / "study.md").read_text().startswith("# cdsprites\n")


def test_short_trainings_are_not_set_beside_published_numbers(runs):
    short = [replace(run, settings={**run.settings, "learn.steps": 2000}) for run in runs]
    first = study_tables(short)[0]
    assert "MVAE, published" not in rows(first)
    assert "Published results are left out: this is a training of 2,000 optimiser steps, fewer than 5,000." in first.notes
    whole = [replace(run, settings={**run.settings, "learn.steps": 5000}) for run in runs]
    assert "MVAE, published" in rows(study_tables(whole)[0])


def test_one_run_on_another_task_takes_the_published_rows_away(runs):
    odd = [replace(score, origin={**score.origin, "changed": ["modalities"]}) for score in runs[-1].scores]
    first, second = study_tables([*runs[:-1], replace(runs[-1], scores=tuple(odd))])
    assert "MVAE, published" in rows(first)
    assert "MVAE, published" not in rows(second)


def test_what_was_seen_in_training_stands_below_the_table(runs):
    def told(run, share):
        scores = [
            replace(score, origin={**score.origin, "train_overlap": {"image": share, "text": 100.0}}) for score in run.scores
        ]
        return replace(run, scores=tuple(scores))

    first, second = study_tables([told(run, 24.0 + number / 10) for number, run in enumerate(runs)])
    assert "Measured views that also occur in training: image 24.0 to 24.3 %, text 100.0 %." in first.notes
    assert "Measured views that also occur in training: image 24.4 to 24.7 %, text 100.0 %." in second.notes
    assert not any("training:" in note for note in study_tables(runs)[0].notes)
    page = study_page([told(run, 24.0) for run in runs], "seen")
    assert page.headlines[0].note == "Measured views that also occur in training: image 24.0 %, text 100.0 %."
    assert page.headlines[2].note == ""  # views that are drawn from the prior


def test_marks_say_what_is_above_and_what_is_at_chance(runs):
    first, second = study_tables(runs)
    assert rows(second)["DMVAE"][0] == "80.3 \u25b2"
    assert rows(second)["MVAE"][5].endswith("\u2205")
    assert rows(first)["MVAE"][0].endswith("\u2248")
    assert any("\u2205 not above guessing" in note for note in second.notes)
    assert second.rows[2][1].tone == "strong"
    assert second.rows[0][1].tone == ""


@pytest.mark.parametrize(
    ("value", "interval", "better", "at_chance"),
    [
        (60.0, (55.0, 65.0), True, False),
        (51.0, (45.0, 57.0), True, True),
        (0.2, (0.1, 0.3), False, False),
        (1.1, (1.05, 1.2), False, True),
        (0.9, (0.7, 1.05), False, True),
    ],
)
def test_an_error_is_at_chance_where_it_is_not_lower(value, interval, better, at_chance):
    score = Score("prediction.x", value, {}, interval=interval, n=100, higher_is_better=better, chance=50.0 if better else 1.0)
    over = over_seeds([score])
    assert over.score.is_guessed == at_chance
    assert entry_of(over, None).text.endswith("\u2205" if better else "\u2298") == at_chance


def test_the_best_constant_answer_is_guessing_too():
    score = Score("coherence.strict", 18.8, {}, interval=(17.1, 20.5), n=2000, higher_is_better=True, chance=16.7)
    assert not over_seeds([score]).score.is_guessed
    assert over_seeds([replace(score, controls={"constant": 17.9})]).score.is_guessed
    assert not over_seeds([replace(score, controls={"constant": 16.0})]).score.is_guessed


def test_a_gap_is_never_at_chance():
    score = Score("systematicity.gap", 1.0, {}, interval=(0.5, 1.5), n=100, higher_is_better=False, chance=0.0)
    assert not over_seeds([score]).score.is_guessed


def test_the_notes_on_published_numbers_stand_in_full_once(runs):
    first, second = study_tables(runs)
    assert any("no like-for-like comparison" in note for note in first.notes)
    assert not any("no like-for-like comparison" in note for note in second.notes)
    assert any("another protocol" in note for note in second.notes)


def test_every_format_is_written(runs, tmp_path):
    written = {str(path.relative_to(tmp_path)) for path in write_study(runs, tmp_path, name="Two models")}
    assert {
        "study.md",
        "study.html",
        "tables/results-level-1.csv",
        "tables/results-level-3.tex",
        "tables/shortfalls.csv",
    } <= written
    text = (tmp_path / "study.md").read_text()
    assert text.startswith("# Two models\n\n**DMVAE is best, with 80.3 %, guessing 3.3 % (Level 1: text → image).**\n")
    assert "\n\n8 runs · 4 settings · seeds 1, 2 · measured on the test split\n" in text
    assert "**Level 3: text → image** Best is DMVAE with 80.3 %" in text
    assert all((tmp_path / figure).is_file() for figure in re.findall(r"\]\((figures/[^)]+)\)", text))
    page = (tmp_path / "study.html").read_text()
    assert "http" not in page
    table = list(csv.DictReader(io.StringIO((tmp_path / "tables/results-level-3.csv").read_text())))
    assert float(table[2]["text → image: Strict, %"]) == pytest.approx(80.3)


def test_what_does_not_get_there_is_listed_with_the_reason(runs, tmp_path):
    write_study(runs, tmp_path, formats=("csv",))
    found = list(csv.DictReader(io.StringIO((tmp_path / "tables/shortfalls.csv").read_text())))
    reasons = {(row["part"], row["runs"], row["direction"]): row["why"] for row in found}
    assert reasons["Level 3", "MVAE", "prior → image + text"] == "not above guessing (3.3)"
    assert reasons["Level 1", "MVAE", "text → image"] == "not apart from the best published number (MVAE, 52 (3))"
    assert ("Level 3", "DMVAE", "text → image") not in reasons


def test_ablations_hold_the_other_settings_at_the_base(study_of, tmp_path):
    points = [(0.5, 24), (1.0, 24), (2.0, 24), (1.0, 12), (1.0, 48)]
    runs = [
        study_of(seed, learn__model__init_args__beta=beta, learn__model__init_args__latent_dim=size)
        for beta, size in points
        for seed in (1, 2)
    ]
    names = [path.name for path in write_study(runs, tmp_path, formats=("csv",))]
    assert {"ablation-beta.csv", "ablation-latent-dim.csv"} <= set(names)
    table = list(csv.reader(io.StringIO((tmp_path / "tables/ablation-beta.csv").read_text())))
    assert [row[0] for row in table[1:4]] == ["beta 0.5", "beta 1.0", "beta 2.0"]
    latents = list(csv.reader(io.StringIO((tmp_path / "tables/ablation-latent-dim.csv").read_text())))
    assert [row[0] for row in latents[1:4]] == ["latent dim 12", "latent dim 24", "latent dim 48"]


def test_a_study_of_one_run_and_of_runs_that_measured_different_things(study_of, tmp_path):
    write_study([study_of(1)], tmp_path / "one")
    one, other = study_of(1), study_of(1, learn__model__class_path="VAE")
    lacking = type(other)(other.settings, tuple(score for score in other.scores if not score.name.startswith("coherence")))
    write_study([one, lacking], tmp_path / "two")
    text = (tmp_path / "two" / "study.md").read_text()
    assert re.search(r"\| VAE \| \u2013 \|", text)


def test_without_coherence_the_other_scores_are_the_table(study_of, tmp_path):
    runs = [
        type(run)(run.settings, tuple(score for score in run.scores if not score.name.startswith("coherence")))
        for run in (study_of(1), study_of(2))
    ]
    (table,) = study_tables(runs)
    assert "image: SSIM" in [column.title for column in table.columns]
    write_study(runs, tmp_path)


def test_no_runs_and_unknown_formats_are_refused(runs, tmp_path):
    with pytest.raises(DataError, match="got none"):
        write_study([], tmp_path)
    with pytest.raises(ConfigError, match="unknown report format 'pdf'"):
        write_study(runs, tmp_path / "new", formats=("pdf",))
    assert not (tmp_path / "new").exists()


def test_records_come_back_in_an_order_of_their_own(runs, tmp_path):
    save_records(tmp_path / "records.jsonl", runs)
    save_records(tmp_path / "again.jsonl", list(reversed(runs)))
    assert (tmp_path / "records.jsonl").read_bytes() == (tmp_path / "again.jsonl").read_bytes()
    loaded = load_records(tmp_path)
    assert {run.settings["learn.model.class_path"] for run in loaded} == {"MVAE", "DMVAE"}
    for run in runs:
        (same,) = [other for other in loaded if other.settings == run.settings]
        assert same.scores == run.scores
    assert [to_markdown(table) for table in study_tables(loaded)] == [to_markdown(table) for table in study_tables(loaded[::-1])]


def test_conditions_have_a_table_of_their_own(runs, tmp_path):
    def corrupted(run):
        noise = [replace(score, about={**score.about, "corruption": "noise", "strength": "1"}) for score in run.scores]
        return replace(run, scores=(*run.scores, *noise))

    write_study([corrupted(run) for run in runs], tmp_path / "new", formats=("csv", "html"))
    write_study(runs, tmp_path / "old", formats=("csv",))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "new/tables/conditions-level-1.csv").read_text())))
    assert rows[0]["of what"] == "text \u2192 image, corruption noise, strength 1"
    for path in (tmp_path / "old/tables").iterdir():
        assert path.read_bytes() == (tmp_path / "new/tables" / path.name).read_bytes()


def test_a_finished_run_becomes_a_record(run_folder):
    record = study_run(run_folder)
    assert record.settings["data.world.init_args.level"] == 3
    assert record.seed == "1"
    assert len(record.scores) == 26


@pytest.mark.parametrize("content", ['{"scores": []}', '{"settings": 3}', "[]", '{"format":true}', '{"format":[]}'])
def test_damaged_records_are_named(tmp_path, content):
    (tmp_path / "records.jsonl").write_text(content + "\n")
    with pytest.raises(CorruptFileError, match=r"expected {\"format\":3}|expected a JSON object"):
        load_records(tmp_path)
    with pytest.raises(StoreError, match="which is not there"):
        load_records(tmp_path / "nowhere.jsonl")


def read_as(runs, reader):
    """The same runs, read by a reader."""
    origin = {"readers": {"image": {"exact": True, "accuracy": {}, **reader}}}

    def read(score):
        return replace(score, origin={**score.origin, **origin}) if score.origin else score

    return [replace(run, scores=tuple(map(read, run.scores))) for run in runs]


NAMED = {"name": "RenderingReader", "version": "2", "digest": "d"}


def test_a_table_never_mixes_two_readers(runs):
    today, other = read_as(runs, NAMED), read_as(runs, {**NAMED, "version": "3"})
    mixed = [*today[::2], *other[1::2]]  # a seed of each model by each reader
    titles = [table.title for table in study_tables(mixed)]
    assert titles == [
        f"Level {level}, image read by RenderingReader {version}: results" for level in (1, 3) for version in (2, 3)
    ]
    assert [len(table.rows) for table in study_tables(mixed)] == [len(table.rows) for table in study_tables(runs) * 2][:4]
    with pytest.raises(DataError, match="of one reader of image, got readings of RenderingReader 2 and of RenderingReader 3"):
        over_seeds([today[0].scores[0], other[1].scores[0]])


def test_tables_say_who_read_and_a_run_without_readings_goes_with_any(runs):
    named = read_as(runs, NAMED)
    assert any(note == "Read by RenderingReader 2 (image)." for note in study_tables(named)[0].notes)
    assert [table.title for table in study_tables([*named[1:], runs[0]])] == ["Level 1: results", "Level 3: results"]


def test_what_an_earlier_reader_read_is_history_and_ranked_nowhere(runs):
    before = read_as(runs, {})
    table = study_tables(before)[1]
    assert any(note.startswith("Read by an earlier, unnamed reader: kept as history, not ranked") for note in table.notes)
    strict = [[row[1].tone for row in study_tables(given)[1].rows] for given in (before, read_as(runs, NAMED))]
    assert ["strong" in tones for tones in strict] == [False, True]
    assert study_findings(read_as(runs, NAMED)).rows
    assert not study_findings(before).rows
    assert not study_page(before, "before").headlines
    both = study_tables([*before, *read_as(runs, NAMED)])
    assert [("earlier" in table.title) for table in both] == [True, False] * 2


def test_a_cell_that_is_not_above_the_mean_view_says_so():
    """Of directions of forced choice on level 3: chance 3.3 and the mean picture of each caption 15.9."""
    score = Score("coherence.strict_forced", 16.4, {}, interval=(14.8, 18.1), n=2000, unit="%", chance=3.3)
    controls = {"constant": 4.0, "mean view": 15.9, "judge ceiling": 100.0}
    cell = entry_of(over_seeds([replace(score, controls=controls)]), None)
    assert cell.text == "16.4 \u00b5"
    assert entry_of(over_seeds([score]), None).text == "16.4"
    assert entry_of(over_seeds([replace(score, controls={**controls, "mean view": 14.0})]), None).text == "16.4"
    assert entry_of(over_seeds([replace(score, controls={**controls, "constant": 15.0})]), None).text == "16.4 \u2205"


def test_what_reaches_true_views_is_not_called_a_mean():
    """The mean caption of given factors is the caption."""
    controls = {"mean view": 100.0, "judge ceiling": 100.0}
    score = Score("coherence.strict", 100.0, {}, interval=(99.8, 100.0), n=2000, unit="%", chance=3.3, controls=controls)
    assert entry_of(over_seeds([score]), None).text == "100.0"


def test_the_legend_and_the_reasons_say_what_the_mean_view_is(runs):
    def low(score):
        return replace(score, controls={**score.controls, "mean view": 95.0}) if score.name == "coherence.strict" else score

    shown = [replace(run, scores=tuple(map(low, run.scores))) for run in read_as(runs, NAMED)]
    table = study_tables(shown)[1]
    assert any("\u00b5 not above the mean of the training views with the same factors" in note for note in table.notes)
    assert not any(row[1].tone == "strong" for row in table.rows)
    reasons = [row[4].text for row in next(s for s in study_page(shown, "x").sections if s.name == "shortfalls").blocks[0].rows]
    assert any(reason == "not above the mean view (95.0)" for reason in reasons)
    assert any("this is not above the mean view" in headline.sentence for headline in study_page(shown, "x").headlines)


@pytest.mark.parametrize(
    ("asked", "used", "told"),
    [
        (("auto", "auto", "auto"), ("32", "bf16", "32"), "2 in 32 bits and 1 in bf16"),
        (("bf16", "bf16", "bf16"), ("32", "bf16", "bf16"), "1 in 32 bits and 2 in bf16"),
        (("auto", "auto", "auto"), ("32", "32", "32"), ""),
        (("32", "bf16", "bf16"), ("32", "bf16", "bf16"), ""),  # as asked for
        (("auto", "auto", "auto"), (None, None, None), ""),  # of earlier versions
    ],
)
def test_runs_trained_in_different_arithmetic_are_told_below_the_table(study_of, asked, used, told):
    runs = [
        replace(
            (run := study_of(seed=seed)),
            settings={**run.settings, "learn.precision": precision},
            scores=tuple(replace(score, origin={**score.origin, **({"precision": had} if had else {})}) for score in run.scores),
        )
        for seed, (precision, had) in enumerate(zip(asked, used, strict=True))
    ]
    notes = [note for table in study_tables(runs) for note in table.notes if "different arithmetic" in note]
    assert len(notes) == bool(told)
    assert all(told in note for note in notes)


def test_fits_after_training_in_different_arithmetic_are_told_too(study_of):
    setting = "learn.model.init_args.diffusion.after.precision"
    runs = [
        replace(
            (run := study_of(seed=seed)),
            settings={**run.settings, "learn.precision": "32", setting: asked},
            scores=tuple(
                replace(score, origin={**score.origin, "precision": "32", "post_fit_precision": used}) for score in run.scores
            ),
        )
        for seed, (asked, used) in enumerate([("bf16", "bf16"), ("bf16", "32"), ("auto", "bf16")])
    ]
    told = "1 in 32 bits and fitted after that in 32 bits and 1 in 32 bits and fitted after that in bf16"
    assert any(told in note for table in study_tables(runs) for note in table.notes)
    assert not any("different arithmetic" in note for table in study_tables(runs[1:]) for note in table.notes)


@pytest.fixture(scope="module")
def many():
    """A study of 200 settings, in which two scores are best at different ends."""

    def score(name: str, value: float, **about: str) -> Score:
        fields = {"n": 100, "unit": "%", "bounds": (0.0, 100.0), "chance": 5.0, "origin": {"split": "test"}}
        return Score(name, value, about, (value - 1, value + 1), **fields)

    return [
        StudyRun(
            {"learn.rate": rate, "learn.width": width, "seed": seed},
            (
                score("coherence.strict", 10 + 0.3 * rate + 0.1 * seed + 2 * width, source="text", target="image"),
                score("coherence.strict", 90 - 0.3 * rate + 0.1 * seed, source="image", target="text"),
                *(score("probe.accuracy", 50.0 + place, factor=f"f{place}") for place in range(3)),
            ),
        )
        for rate in range(100)
        for width in (0, 1)
        for seed in (1, 2)
    ]


def test_the_page_of_many_settings_shows_the_best_of_each_score(many, tmp_path):
    write_study(many, tmp_path, name="many")
    text = (tmp_path / "study.md").read_text()
    assert "Of 200 settings, this page shows the 30 that are best in the main scores" in text
    lines = text.partition("## Results")[2].partition("## ")[0].splitlines()
    shown = {line.split("|")[1].strip() for line in lines if "rate" in line}
    assert len(shown) == 30
    best = [f"rate {99 - place}, width 1" for place in range(8)]
    other = [f"rate {place}, width {width}" for place in range(6) for width in (0, 1)]
    assert {*best, *other} <= shown
    assert not any(f"rate {place}, width 0" in shown for place in range(40, 60))
    with (tmp_path / "tables" / "results.csv").open() as file:
        table = [row for row in csv.reader(file) if row[0].startswith("rate")]
    assert len(table) == 200
    assert "30 of 200 rows; tables/significance.csv has all" in text
    assert "31 of 201 rows; tables/results.csv has all" in text  # that of chance counts too
    assert (tmp_path / "study.html").stat().st_size < 1_000_000


def test_what_is_best_is_found_among_all_settings_and_not_among_those_shown(many):
    page, alone = study_page(many, "many"), study_page([run for run in many if run.settings["learn.rate"] > 75], "few")
    assert page.answer.startswith("rate 99, width 1 is best, with 41.9 %")
    assert page.headlines[0].number == alone.headlines[0].number
    assert page.headlines[1].number == "90.2 %"
    assert page.headlines[1].number != alone.headlines[1].number
    (table,) = next(section for section in page.sections if section.name == "significance").blocks
    assert len(table.rows) == 200
    assert len(table.on_page.rows) == 30
    assert alone.remarks == ()


def test_the_same_study_in_another_order_has_the_same_page(many, tmp_path):
    for name, runs in (("one", many), ("two", sorted(many, key=lambda run: -run.settings["learn.rate"]))):
        write_study(runs, tmp_path / name, name="many", formats=["markdown", "csv"])
    assert [path.read_bytes() for path in sorted((tmp_path / "one").rglob("*.csv"))] == [
        path.read_bytes() for path in sorted((tmp_path / "two").rglob("*.csv"))
    ]


def test_runs_that_differ_in_what_changes_with_the_seed_are_seeds_of_one_setting(study_of, tmp_path):
    runs = [study_of(seed, (50.0 + seed, 93.0, 3.3), data__fold=seed) for seed in (1, 2, 3)]
    apart, together = tmp_path / "apart", tmp_path / "together"
    write_study(runs, apart, formats=("markdown",))
    write_study(runs, together, formats=("markdown",), by_seed=("data.fold",))
    assert "3 settings" in (apart / "study.md").read_text()
    text = (together / "study.md").read_text()
    assert "1 setting ·" in text
    assert "With the seed changes fold" in text
    whole = [replace(run, settings={**run.settings, "data.fold": {}, "data.fold.of": place}) for place, run in enumerate(runs)]
    write_study(whole, tmp_path / "below", formats=("markdown",), by_seed=("data.fold",))
    assert "1 setting ·" in (tmp_path / "below" / "study.md").read_text()
