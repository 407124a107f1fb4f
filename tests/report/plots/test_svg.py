import re
from importlib import resources

from molyneux.report.plots import svg


def test_drawings_and_pages_have_the_same_colours_and_dark_pages_replace_all_of_them():
    style = resources.files("molyneux.report").joinpath("templates/page.css").read_text()
    light, dark = style.split("@media (prefers-color-scheme: dark)")[:2]
    for colour, variable in svg.VARIABLES.items():
        name = variable.removeprefix("var(").removesuffix(")")
        assert re.search(rf"{name}: {colour};", light), name
        assert re.search(rf"{name}: #(?!{colour[1:]})", dark), name
