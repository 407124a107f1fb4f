"""The stories of the pages in a real browser, from start to end."""

import math
import re
import shlex
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from molyneux.core.sound_files import wav_bytes
from molyneux.run.run.stored import write_settings
from molyneux.studio.server import PAGES

WIDTHS = (420, 1300)
READY = {
    "ask": ".reading:not(:empty)",
    "scenes": "ul.meaning",
    "worlds": "figure.sample img",
    "codes": ".now figure.sample img",
    "broken": ".js-plotly-plot",
    "question": ".walks .answer",
    "which": "svg.hand circle[cx]",
    "runs": ".js-plotly-plot",
    "leaderboard": "table.matrix",
}
QUERIES = {"codes": "?model=gebid-level5", "broken": "?model=gebid-level5", "runs": "?run=gebid-level5"}


def query_of(page):
    return parse_qsl(urlsplit(page.url).query)


def pictures(page, where):
    return page.locator(f"{where} img").evaluate_all("all => all.map(one => one.src)")


def test_a_caption_is_drawn_and_read(page):
    page.goto("/ask")
    text = page.get_by_label("text", exact=True)
    text.fill("a big blue squre, bottom right, dark background")
    page.get_by_text("squre", exact=False).first.wait_for()
    page.get_by_role("button", name="Take “big blue square at bottom right on dark”").click()
    page.locator(".reading.right").first.wait_for()
    assert "blue" in page.locator(".reading.right").first.inner_text()
    assert ("given", "text:big blue square at bottom right on dark") in query_of(page)

    before = pictures(page, ".columns")
    page.reload()
    page.locator(".reading.right").first.wait_for()
    assert pictures(page, ".columns") == before

    page.get_by_role("button", name="New draws").click()
    page.wait_for_function("before => document.querySelector('.columns img').src !== before", arg=before[0])
    assert ("seed", "2") in query_of(page)
    page.go_back()
    page.wait_for_function("before => document.querySelector('.columns img')?.src === before", arg=before[0])


def test_the_command_that_is_copied_draws_the_same(page, tmp_path):
    from PIL import Image

    from molyneux.cli import main
    from molyneux.studio import given

    page.goto("/ask?model=gebid-level5&given=text%3Asmall%20red%20heart%20at%20the%20top%20left%20on%20white&count=1&seed=7")
    page.locator(".columns img").first.wait_for()
    page.get_by_text("The same in Python").click()
    page.get_by_role("button", name="Copy Command").click()
    command = page.evaluate("navigator.clipboard.readText()")
    assert command.startswith("molyneux generate gebid-level5 ")
    out = tmp_path / "same.png"
    assert main([*shlex.split(command)[1:], "--out", str(out)]) == 0
    shown = pictures(page, ".columns")[0].partition(",")[2].replace("+", "-").replace("/", "_")
    with Image.open(out) as drawn:
        assert np.array_equal(np.asarray(given.picture_of(shown)), np.asarray(drawn.convert("RGB")))


def test_agreement_is_not_told_of_a_sentence_alone(page):
    page.goto("/ask?model=shapeworld-quantifiers&given=meaning%3Amost%20shapes%20are%20red")
    page.get_by_text("Give image too").wait_for()
    assert page.locator(".shares .share").count() == 0


def test_lines_of_the_answer_before_go_where_there_is_no_new_one(page):
    page.goto("/ask?model=shapeworld-quantifiers&given=meaning%3Amost%20shapes%20are%20red")
    page.get_by_text("The same in Python").wait_for()
    page.get_by_label("meaning").first.fill("exactly five squares are red")
    page.keyboard.press("Enter")
    page.locator(".problem").first.wait_for()
    page.get_by_text("The same in Python").wait_for(state="detached")


def test_a_sentence_is_true_or_false_of_a_scene_and_one_change_is_told(page):
    page.goto("/scenes")
    page.get_by_text("By its meaning, it is true.").wait_for()
    page.get_by_label("Your sentence").fill("Are all circles white?")
    page.get_by_text("By its meaning, it is false.").wait_for()
    assert "read as" in page.locator(".note").first.inner_text().lower()
    assert page.locator("ul.meaning").inner_text().split("\n")[0] == "all"
    page.get_by_role("heading", name="Foils").wait_for()
    page.get_by_role("button", name="no circle is white").or_(page.get_by_role("button", name="not all circles")).first.click()
    page.get_by_text("Before and after").wait_for()
    assert any(name == "before" and value == "Are all circles white?" for name, value in query_of(page))
    pictured = pictures(page, ".scene")
    page.get_by_label("colour of 2", exact=True).click()
    page.get_by_role("option", name="red").click()
    page.get_by_role("button", name="As it was").wait_for()
    assert ("changes", "1.colour:red") in query_of(page)
    page.reload()
    page.get_by_text("was white circle").wait_for()
    after = pictures(page, ".scene")
    assert after[0] == pictured[0]
    assert after[1] != pictured[0]


def test_other_meanings_of_a_sentence_are_written_as_sentences(page):
    page.goto("/scenes?text=there+are+exactly+three+magenta+shapes")
    page.get_by_text("It could also mean “all of the three magenta shapes are shapes”.", exact=True).wait_for()


def test_the_word_where_a_sentence_stops_is_marked(page):
    page.goto("/scenes?text=a%20red%20rectengul%20is%20a%20circle")
    page.locator("mark").wait_for()
    assert page.locator("mark").inner_text() == "rectengul"
    page.get_by_role("button", name="Take “a red rectangle is a circle”").click()
    page.get_by_text("By its meaning").wait_for()
    assert ("text", "a red rectangle is a circle") in query_of(page)


def heart(count=60, side=256):
    places = [2 * math.pi * part / count for part in range(count)]
    across = [16 * math.sin(t) ** 3 for t in places]
    down = [13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t) for t in places]
    return [(0.36 * side + 3 * x, 0.36 * side - 3 * y) for x, y in zip(across, down, strict=True)]


def test_a_heart_drawn_by_hand_is_called_a_heart(page):
    page.goto("/ask?given=")
    page.locator(".sense", has_text="image").first.click()
    canvas = page.locator("canvas.drawing").first
    canvas.wait_for()
    page.wait_for_function("document.querySelector('canvas.drawing').dataset.ready === '1'")
    canvas.scroll_into_view_if_needed()
    page.wait_for_timeout(1_000)  # until the part that was opened stands still
    box = canvas.bounding_box()
    scale = box["width"] / 256
    points = [(box["x"] + scale * x, box["y"] + scale * y) for x, y in heart()]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point)
    page.mouse.up()
    page.locator(".shares .share").first.wait_for()
    assert re.search(r"\bheart\b", page.locator(".shares .share").first.inner_text())
    assert any(name == "given" and value.startswith("image:") for name, value in query_of(page))


def test_a_drawn_sound_plays(page):
    page.goto("/ask?model=spoken-digits&given=text%3Aseven&count=1")
    page.get_by_role("button", name="Listen to audio 1").click()
    page.locator("audio").wait_for()
    page.wait_for_function("document.querySelector('audio').duration > 0.5")


def test_a_sound_for_a_model_that_does_not_hear_is_told_at_once(page, tmp_path):
    (tmp_path / "a.wav").write_bytes(wav_bytes(8000, np.zeros(800)))
    page.goto("/ask?given=")
    page.locator(".sense", has_text="image").first.click()
    page.wait_for_timeout(1_000)
    page.locator("input[type=file]").first.set_input_files(tmp_path / "a.wav")
    page.locator(".problem", has_text="does not hear").wait_for()


def test_of_a_file_that_is_refused_it_is_told_and_another_can_be_chosen(page, tmp_path):
    from PIL import Image

    (tmp_path / "large.png").write_bytes(bytes(9 * 2**20))
    (tmp_path / "text.png").write_text("no picture")
    Image.new("RGB", (64, 64), "red").save(tmp_path / "red.png")
    page.goto("/ask?given=")
    page.locator(".sense", has_text="image").first.click()
    page.wait_for_timeout(1_000)
    for name, told in (("large.png", "at most 8 MiB"), ("text.png", "a file of another kind")):
        page.locator("input[type=file]").first.set_input_files(tmp_path / name)
        page.locator(".problem", has_text=told).wait_for()
    page.locator("input[type=file]").first.set_input_files(tmp_path / "red.png")
    page.wait_for_url("**given=image**")


def test_a_slider_changes_all_senses(page):
    page.goto("/codes?model=gebid-level5")
    page.locator(".now img").wait_for()
    before = (pictures(page, ".now"), page.locator(".now .said").inner_text())
    slider = page.get_by_role("slider", name="number 4")
    slider.focus()
    begun = float(slider.input_value())
    for _ in range(60):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("before => document.querySelector('.now img').src !== before", arg=before[0][0])
    page.wait_for_function("before => document.querySelector('.now .said').innerText !== before", arg=before[1])
    assert float(slider.input_value()) > begun + 1  # it stays where it was moved to
    assert any(name == "moved" and value.startswith("4:") for name, value in query_of(page))


def test_a_broken_sense_is_told_in_one_sentence(page):
    page.goto("/broken?model=gebid-level5&strength=1")
    answer = page.locator(".answer").first
    answer.wait_for()
    assert re.search(r"keeps \d+\.\d % of \d+\.\d % \(guessing \d+\.\d %\)", answer.inner_text())


def test_molyneux_s_question_is_told_from_start_to_end(page):
    page.goto("/question")
    page.get_by_text("withheld").first.wait_for()
    directly = page.get_by_label("sight → touch", exact=True)
    directly.get_by_text("In training, hearts were never seen and felt together.").wait_for()
    assert re.search(
        r"^Right \d+\.\d % .*guessing 33\.3 %\), which is not above guessing", directly.locator(".answer").inner_text()
    )
    assert directly.locator(".reading.wrong").count() == 3
    through = page.get_by_label("sight → name → touch", exact=True)
    through.locator(".answer").wait_for()
    assert "not above guessing" not in through.locator(".answer").inner_text()
    page.get_by_label("shape").click()
    page.get_by_role("option", name="square").click()
    page.wait_for_function("document.querySelector('.walks .shares .share .number').innerText === '100.0 %'")
    assert ("value", "square") in query_of(page)


def test_what_is_on_record_of_the_question_is_its_answer(page):
    page.goto("/question?variant=never-felt")
    page.get_by_text("No: hearts that were felt and named, and never seen").wait_for()
    assert page.locator("tr[aria-current] td").first.inner_text() == "never-felt"
    assert "One training of each kind" in page.get_by_text("an answer for").inner_text()


def test_a_person_and_a_model_answer_which_is_which(page):
    page.goto("/which")
    page.locator("svg.hand circle[cx]").first.wait_for(state="attached")
    assert page.locator("figure.given svg.hand").count() == 1
    assert page.locator("svg.series").count() == 0  # no outline stands still
    page.get_by_role("button", name="The first", exact=True).click()
    page.get_by_role("button", name="Next question").wait_for()
    assert ("answers", "0") in query_of(page)
    assert page.locator("figure.given svg.series path").count() >= 1  # once it is answered, the path is shown
    said = page.locator(".which .reading").all_inner_texts()
    assert sorted(text.partition(":")[0] for text in said) == ["another shape", "the same shape"]
    right = said[0].startswith("the same shape")
    assert page.locator(".answer").first.inner_text().startswith("Right. " if right else "Wrong. ")
    first = page.locator(".share").first.inner_text().split("\n")
    assert (first[0], first[-1]) == (f"you, {int(right)} of 1", "100.0 %" if right else "0.0 %")
    page.get_by_role("button", name="Next question").click()
    page.get_by_text("Question 2 of 20").wait_for()
    page.reload()
    page.get_by_text("Question 2 of 20").wait_for()
    assert page.locator(".share").first.inner_text().startswith("you, ")
    page.get_by_role("combobox", name="What is given").click()
    page.get_by_role("option", name="sight is given").click()
    page.get_by_text("You see this shape.").wait_for()
    assert page.locator("svg.hand").count() == 2
    assert page.locator(".share").count() == 0


def test_a_whole_series_is_summed_up(page):
    page.goto(f"/which?answers={'01' * 10}&number=19")
    page.get_by_text(re.compile(r"You chose right \d+ of 20 times, molyneux-shapes \d+")).wait_for()
    page.get_by_role("button", name="Another series").click()
    page.get_by_text("Question 1 of 20").wait_for()
    assert ("seed", "1") in query_of(page)


def test_a_figure_that_was_replaced_while_it_was_drawn_is_no_error(page):
    page.goto("/which")
    page.locator(".js-plotly-plot").first.wait_for()
    refused = """async () => {
        const { Plotly } = await import("nicegui-plotly");
        Plotly.Plots.resize(document.createElement("div"));
        await new Promise(resolve => setTimeout(resolve, 200));
    }"""
    page.evaluate(refused)  # the fixture fails on what the console says


def test_fingers_stand_still_for_who_wants_no_motion(browser, address):
    page = browser.new_context(base_url=address, reduced_motion="reduce").new_page()
    page.goto("/which")
    page.locator("svg.hand circle[cx]").first.wait_for(state="attached", timeout=90_000)
    trail = page.locator("svg.hand path.trail").first
    drawn = trail.get_attribute("d")
    assert len(re.findall(r"[ML]", drawn)) > 40
    page.wait_for_timeout(500)
    assert trail.get_attribute("d") == drawn
    page.context.close()


def test_from_a_slice_to_its_wrong_samples(page):
    page.goto("/runs?run=gebid-level5")
    page.locator(".answer").first.wait_for()
    assert re.search(r"\d+\.\d % right", page.locator(".answer").first.inner_text())
    page.locator(".reading.wrong").first.wait_for()
    assert "true:" in page.locator("figure.sample", has=page.locator(".reading.wrong")).first.inner_text()


def test_the_first_run_of_the_folders_is_looked_at(browser, launch, tmp_path):
    write_settings(tmp_path / "runs" / "mine", {"seed": 7, "data": {"world": "Cubes"}, "learn": {"model": "MMVAE"}})
    with launch(tmp_path / "runs", log=tmp_path / "log.txt") as (_, address):
        page = browser.new_context(base_url=address).new_page()
        page.goto("/runs")
        page.get_by_text("seed 7").wait_for()
        assert page.locator(".q-chip").all_inner_texts()[0].startswith("runs/mine")
        page.context.close()


def test_each_direction_says_what_is_drawn_from_what(page):
    page.goto("/runs?run=gebid-level5")
    page.get_by_label("direction").click()
    assert page.locator(".q-menu .q-item").all_inner_texts() == ["text from image", "image from text"]
    assert "of 400 test samples" in page.locator(".answer").first.inner_text()


def test_beside_what_was_read_stands_what_was_drawn(page):
    page.goto("/runs?run=gebid-level5&source=text")
    page.locator(".reading.wrong").first.wait_for()
    assert "that it drew" in page.locator("figure.sample img").first.get_attribute("alt")


def test_only_samples_with_a_value_are_shown(page):
    page.goto("/worlds?settings=level:2&having=shape:heart")
    page.locator("figure.sample .said").first.wait_for()
    captions = page.locator("figure.sample .said").all_inner_texts()
    assert len(captions) == 24
    assert all("heart" in caption for caption in captions)
    page.get_by_role("button", name=re.compile(r"Sample \d+")).first.click()
    page.get_by_text("What is true").wait_for()
    page.get_by_text("shape: heart").wait_for()


@pytest.mark.parametrize("name", PAGES)
def test_every_page_is_accessible_at_every_width(page, name):
    from axe_playwright_python.sync_playwright import Axe

    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"/{name}{QUERIES.get(name, '')}")
        page.locator(READY[name]).first.wait_for(state="attached")
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
        assert len(page.screenshot()) > 10_000
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


def test_the_leaderboard_says_with_what_to_start(page):
    page.goto("/leaderboard")
    page.locator("table.matrix").wait_for()
    assert page.locator(".answer").first.inner_text()
    page.get_by_label("Only models or worlds with").fill("slots")
    page.wait_for_function("document.querySelectorAll('table.plain:not(.matrix) tr').length > 1")
    page.wait_for_function("location.search.includes('search=slots')")
    assert "slots" in page.locator("table.plain").last.inner_text()


def test_markup_in_addresses_is_text(page):
    bad = "<img src=x onerror=document.title='broken'>"
    for path in (
        "/ask?given=text:",
        "/worlds?world=",
        "/worlds?having=shape:",
        "/codes?text=",
        "/runs?run=",
        "/broken?modality=",
        "/which?role=",
        "/which?model=",
    ):
        page.goto(path + bad)
        page.wait_for_timeout(500)
        assert "broken" not in page.title()
        assert page.locator("img[src='x']").count() == 0


def test_two_tabs_do_not_see_each_other(browser, address, page):
    other = browser.new_context(base_url=address).new_page()
    page.goto("/ask?count=1&seed=3")
    other.goto(f"{address}/ask?count=1&seed=4")
    for one in (page, other):
        one.locator(".columns img").first.wait_for(timeout=90_000)
    assert pictures(page, ".columns") != pictures(other, ".columns")
    assert "seed=3" in page.url
    assert "seed=4" in other.url
    other.context.close()
