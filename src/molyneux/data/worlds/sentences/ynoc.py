"""YNOC: who was what, where and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, get_args

from molyneux.core import ConfigError, choice_problems
from molyneux.data.worlds.sentences.language import FiniteLanguage, Form, Place, WordGroup, label_problems, template
from molyneux.data.worlds.sentences.sentence_world import Method, SentenceWorld

_ORDER = ("year", "name", "occupation", "city")
_TEMPLATES = {
    "I": "in {year} , {name} was a/an {occupation} in {city} .",
    "II": "in {year} 's {city} , {name} was a/an {occupation} .",
    "III": "{name} was a/an {occupation} in {city} in {year} .",
}
_ARTICLE = "a/an"

_NAMES = """
    Amina Anna Arjun Astrid Ben Camille Carlos Chen Diego Elena Emma Fatima Felix Grace Hana Hugo Ibrahim Ines Ivan Jonas
    Kenji Lars Leila Lucia Maria Mateo Mei Miriam Nadia Nikolai Olga Omar Priya Rosa Samuel Sofia Tariq Tomas Yuki Zara
"""

_OCCUPATIONS = """
    accountant actor architect artist baker builder carpenter dentist doctor editor electrician engineer farmer interpreter
    journalist lawyer nurse optician pilot teacher
"""

_CITIES = """
    Accra Athens Auckland Bangkok Berlin Bogota Boston Cairo Chicago Dublin Geneva Hanoi Helsinki Istanbul Jakarta Kyoto
    Lagos Lima Lisbon London Madrid Mumbai Nairobi Oslo Paris Prague Rome Seoul Toronto Vienna
"""

NAMES, OCCUPATIONS, CITIES = tuple(_NAMES.split()), tuple(_OCCUPATIONS.split()), tuple(_CITIES.split())
"""Real words of one word each, in the numbers of the placeholders."""


class Ynoc(SentenceWorld):
    """Sentences such as "in 2011 , Name1 was a/an Occupation1 in City1 ." of a year, a name, an occupation and a city.

    Three templates, each over all 10 x 40 x 20 x 30 combinations: 720,000 sentences of up to 10 words, divided 432,000 / 144,000
    / 144,000 as a whole, not by template (Zhang, Prokhorov and Shareghi, "Unsupervised Representation Disentanglement of Text: An
    Evaluation on Synthetic Datasets", RepL4NLP 2021, section 3). A view has 11 symbols of 109. The template is no factor as
    published, so it is ln 3 nats of what a model has to know beside the factors. See `SentenceWorld` for views and splits.

    Args:
        vocabulary: "placeholder": `Name1`, `Occupation1`, `City1` and so on, as published; "realistic": given names, occupations
            and cities of one word each.
        article: "a/an": one word, as published; "agreeing": `a` or `an`, as the occupation asks for. By default the former with
            placeholders and the latter with real words.
        nuisances: further factors that are known of a sentence: "template".
        split: "keyed", or "published": the sentences of the published files in their order.
        split_seed: what decides on the splits; 0 is published.

    Raises:
        ConfigError: settings that cannot be used; all problems at once.
    """

    name: ClassVar[str] = "ynoc-v1"

    def __init__(
        self,
        *,
        vocabulary: Literal["placeholder", "realistic"] = "placeholder",
        article: Literal["a/an", "agreeing"] | None = None,
        nuisances: Sequence[str] = (),
        split: Method = "keyed",
        split_seed: int = 0,
    ) -> None:
        if article is None:
            article = "agreeing" if vocabulary == "realistic" else "a/an"
        problems = choice_problems(
            vocabulary=(vocabulary, ("placeholder", "realistic")),
            article=(article, ("a/an", "agreeing")),
            split=(split, get_args(Method)),
        )
        problems += label_problems(nuisances, ("template",))
        if problems:
            raise ConfigError(problems)
        settings = {
            "vocabulary": vocabulary,
            "article": article,
            "nuisances": list(nuisances),
            "split": split,
            "split_seed": split_seed,
        }
        groups = _groups(vocabulary)
        forms = tuple(_form(name, groups, agreeing=article == "agreeing") for name in _TEMPLATES)
        super().__init__(FiniteLanguage(groups, forms, nuisances=tuple(nuisances)), settings)


def _groups(vocabulary: str) -> tuple[WordGroup, ...]:
    years = tuple(map(str, range(2011, 2021)))
    counts = {"Name": 40, "Occupation": 20, "City": 30}
    placeholders = [tuple(f"{word}{number + 1}" for number in range(count)) for word, count in counts.items()]
    words = [NAMES, OCCUPATIONS, CITIES] if vocabulary == "realistic" else placeholders
    return tuple(WordGroup(name, values) for name, values in zip(_ORDER, [years, *words], strict=True))


def _form(name: str, groups: tuple[WordGroup, ...], *, agreeing: bool) -> Form:
    """A template; its article is one word, or agrees with the occupation."""
    form = template(_TEMPLATES[name], groups, order=_ORDER, template=name)
    if not agreeing:
        return form
    occupations = groups[2].words
    fitting = Place("agreeing", tuple(_article(word) for word in occupations), "occupation")
    return Form(tuple(fitting if place.words == (_ARTICLE,) else place for place in form.places), form.order, form.labels)


def _article(word: str) -> str:
    """The indefinite article before an occupation of the list, none of which is spoken otherwise than its first letter says.

    >>> _article("engineer"), _article("baker")
    ('an', 'a')
    """
    return "an" if word[0].lower() in "aeiou" else "a"
