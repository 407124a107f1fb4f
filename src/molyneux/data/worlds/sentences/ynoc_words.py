"""Real words for YNOC: given names, occupations and cities of one word each, in the numbers of the placeholders."""

from __future__ import annotations

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


def article(word: str) -> str:
    """The indefinite article before an occupation of the list, none of which is spoken otherwise than its first letter says.

    >>> article("engineer"), article("baker")
    ('an', 'a')
    """
    return "an" if word[0].lower() in "aeiou" else "a"
