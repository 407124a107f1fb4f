"""What the page on disentanglement prints is what its code gives."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "understand" / "disentanglement.md"


def test_the_page_tells_what_its_code_gives():
    text = PAGE.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    told: list[str] = []
    failed, tried = doctest.DocTestRunner().run(test, out=told.append)
    assert tried > 20
    assert not failed, "".join(told)
