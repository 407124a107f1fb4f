"""Pages that need no computing: they lead to each other, and say what is true."""

import re

from molyneux.report.page import render_html
from molyneux.studio import static
from molyneux.studio.library import Library


def test_scenes_say_what_is_true_and_what_a_model_says(monkeypatch):
    monkeypatch.setattr(static, "_SCENES", 2)
    page = static.scenes_page(Library())
    assert [section.title for section in page.sections] == ["shapeworld-quantifiers"]
    text = render_html(page)
    assert text.count("<img") == 2
    assert re.search(r"(true|false); the model: (true|false)", text)


def test_pages_lead_to_each_other(tmp_path, monkeypatch):
    for name in ("worlds_page", "models_page", "scenes_page", "codes_page"):
        page = static.Page("studio", name, (), ())
        monkeypatch.setattr(static, name, lambda *_, page=page: page)
    written = static.write_static(Library(), tmp_path)
    assert written[0].name == "index.html"
    index = written[0].read_text()
    for path in written[1:]:
        assert f'href="{path.name}"' in index
        content = path.read_text()
        assert 'href="index.html"' in content
        assert content.count("aria-current=page") == 1
