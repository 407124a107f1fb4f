"""Sentences of people as captions: in any case, as questions or headings, with contractions, lists and other words.

>>> said = interpret("Aren't there 2 red squares above a blue circle?")
>>> said.caption
'two red squares are above a blue circle .'
>>> interpret("a square and a circle are red").caption
'a square is red and a circle is red .'
>>> interpret("there is a purple square").suggestion
'there is a magenta square .'
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from molyneux.core import DataError
from molyneux.data.worlds.shapeworld.meaning.grammar.parser import LONGEST
from molyneux.data.worlds.shapeworld.meaning.grammar.templates import Polish, remarks_of, without_remarks
from molyneux.data.worlds.shapeworld.meaning.language.captions import language_of
from molyneux.data.worlds.shapeworld.meaning.language.corrections import corrected
from molyneux.data.worlds.shapeworld.meaning.language.english_of_people import REMARKS
from molyneux.data.worlds.shapeworld.meaning.language.language import Language
from molyneux.data.worlds.shapeworld.meaning.language.spelling import STOP, Word, Wording, english_words, plain_words
from molyneux.data.worlds.shapeworld.meaning.language.suggestions import AMOUNTS, HINTS, nearest_sentences, nearest_word
from molyneux.data.worlds.shapeworld.meaning.trees.same import meaning_key, simplified
from molyneux.data.worlds.shapeworld.meaning.trees.trees import Tree, fits_sort
from molyneux.data.worlds.shapeworld.scenes.scenes import COLOURS, SHAPES

_ABOUT = {"English": "shapes, such as 'a red square is above a circle'", "German": "Figuren, such as 'ein Quadrat ist rot'"}

_COSTS = {"it": 3, "none": 3}
"""What remarks cost, more than 1, of readings that are taken only where there is no other."""

_NOUN = rf"\b(?:shapes?|ones?|{'|'.join(f'{shape}(?:e?s)?' for shape in SHAPES)})\b"
_PLURAL = rf"(?:shapes|ones|{'|'.join(f'{shape}e?s' for shape in SHAPES)})\b"
_NAMED = rf"\b(?:{'|'.join(f'{shape}(?:e?s)?' for shape in SHAPES)})\b"
_COLOUR = rf"(?:{'|'.join(COLOURS)}|grey)"
_THING = rf"(?:{_COLOUR} )?(?:shapes?|(?:{'|'.join(SHAPES)})(?:e?s)?)\b"
_BUT_SUMS = (
    r"(?:(?<!there are )\bboth|\b(?:only|most|half|thirds?|quarters?|each|single|not all|not every|"
    r"zero|one|two|three|four|five))"
)
"""Amounts that are said of several nouns together: "at most two circles and squares" counts both, and no caption does."""
_OF = r"(?:of )?(?:the )?"
_RELATION = r"\b(?:above|below|beneath|behind|of|than|to|from|as|by)"
_VERB = r"(?:is|are|has|have|do|does|exists?)\b"
_APART = "an amount is said of one noun: say the whole for each, such as 'no circle is red and no square is red'"
_TWO_RELATIONS = "a relation has one end: say it twice, such as 'a circle is above a square or a circle is above a triangle'"
_PROBLEMS = {
    re.compile(rf"\b(?:is|are|=) (?:both )?(?:{'|'.join(COLOURS)}) and (?:{'|'.join(COLOURS)})\b(?! {_NAMED[2:]})"): (
        "a shape has one colour: write 'some shapes are red and some shapes are blue', or 'or'"
    ),
    re.compile(
        r"^(?!are ).*(?<!there )\bare (?:an?|the) .* and (?:an?|the) "
    ): "a shape has one form: write 'there is a circle and a square'",
    re.compile(rf"\b(?:than|as) (?:\S+ )?{_PLURAL} and (?:\S+ )?{_PLURAL}"): "counts are compared with one count, not with a sum",
    re.compile(rf"{_BUT_SUMS} {_OF}{_THING} (?:(?:and|or) {_THING}|, {_THING}(?! {_VERB}))"): _APART,
    re.compile(rf"\bno {_THING} (?:and {_THING}|, {_THING}(?! {_VERB}))"): _APART,
    re.compile(rf"(?<!there are )\bsome {_OF}{_THING} (?:and|or) {_THING} {_VERB}"): _APART,
    re.compile(rf"\b(?:all|every) {_OF}{_THING} or {_THING}"): _APART,
    re.compile(rf"(?:{_BUT_SUMS}|\b(?:no|some|all|every)) {_OF}{_COLOUR} (?:and|or) {_COLOUR} {_NOUN}"): _APART,
    re.compile(rf"\bthe {_THING} (?:and|or) (?:{_COLOUR} )?(?:{'|'.join(SHAPES)}) {_VERB}"): "say 'the' before each noun",
    re.compile(
        rf"{_RELATION} (?:an?|the) {_THING} (?:, )?(?:and|or) (?:(?:an?|the) )?(?:{_THING}|{_COLOUR} one) \.$"
    ): _TWO_RELATIONS,
}
"""Sentences of which only another reading would be found, and what is told of them."""

_REFERS_BACK = (
    re.compile(rf"^(?!(?:\S+ ){{0,2}}(?:it|this|they) ).*{_NOUN} .*\b(?:it|this|they|them)\b"),
    re.compile(r"^if (?!(?:it|this|they) ).* (?:it|this|they) "),
    re.compile(rf"{_NAMED} .*\b(?:all|none|most|some|zero|one|two|three|four|five|half|quarter|third) (?:is|are|has|have|=) "),
)
"""Pronouns and quantities without a noun, behind one that they may mean."""

_CLAUSE = re.compile(r"^(?!is |are ).*(?<!there )(?<!that )\b(?:is|are|has|have) ")
"""A statement with a verb, in which "or circles" is no statement of its own."""

_NOT_A_NUMBER = re.compile(r"\bnot (?:one|two|three|four|five)\b")
_ALL_ARE_NOT = re.compile(
    r"\b(?:all|every|each) (?!of the (?:two|three)\b)(?:(?!is |are |and |or |but )[a-z]+ )*(?:is|are|do|does) not "
)

_OF_ANY = {"it", "none"}
"""Remarks of readings in which they mean any shape."""

_SHOWN = 5
"""Unknown words that a message names."""

_FEWEST = 3
"""Words, with the full stop, of the shortest sentence for which a nearest one is looked for, less one."""


@dataclass(frozen=True)
class Interpretation:
    """What a sentence of a person means, or why it means nothing.

    Args:
        text: as it was given.
        tree: its meaning; None where it cannot be read.
        caption: the caption of that meaning, in words of captions; empty where it cannot be read.
        remarks: what was decided in reading it, a sentence each, such as what a bare number means.
        others: captions of further meanings that it could have.
        problem: where it stops and what could follow; empty where it is read.
        unknown: by word that no caption has, the nearest that captions have, or nothing.
        suggestion: the nearest caption of a sentence that cannot be read, if there is one.
        differs: what the suggestion says otherwise, such as "it leaves out 'small'"; empty where it keeps the meaning.
        stop: how many characters of the text are read before it stops; all of them where it is read.
    """

    text: str
    tree: Tree | None = None
    caption: str = ""
    remarks: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    problem: str = ""
    unknown: Mapping[str, str] = field(default_factory=dict)
    suggestion: str = ""
    differs: tuple[str, ...] = ()
    stop: int = 0

    @property
    def suggests_other(self) -> bool:
        """Whether the suggestion means something else than the sentence, as magenta is not purple."""
        return bool(self.differs)

    def explained(self) -> str:
        """In one sentence, how it was read, or why it was not and what to write."""
        if self.tree is None:
            words = [f"{word!r} ({near}?)" if near else repr(word) for word, near in [*self.unknown.items()][:_SHOWN]]
            parts = [f"unknown word{'s' if len(words) > 1 else ''} {', '.join(words)}"] if words else []
            nearest = f"the nearest sentence is {self.suggestion!r}"
            if self.differs:
                nearest += f", which means something else: {', '.join(self.differs)}"
            return "; ".join([*parts, self.problem, *[nearest] * bool(self.suggestion)])
        others = [f"it could also mean {caption!r}" for caption in self.others]
        return "; ".join([f"read as {self.caption!r}", *self.remarks, *others])


def interpret(sentence: str, language: str = "english") -> Interpretation:
    """What a sentence of a person means; a question is read as what it asks about.

    Args:
        sentence: in any case, with or without punctuation.
        language: English or German; German in any case and with any punctuation.

    Raises:
        DataError: no text. ConfigError: an unknown language.
    """
    if not isinstance(sentence, str):
        raise DataError(f"expected a text, got a {type(sentence).__name__}")
    spoken = language_of(language)
    given, told = english_words(sentence) if language == "english" else Wording(_with_umlauts(spoken, plain_words(sentence)), ())
    words = [word.text for word in given[:LONGEST]]
    if (len(words) < 2 and STOP in words[:1]) or not words:
        return Interpretation(sentence, problem="expected a sentence, got none")
    as_caption = plain_words(sentence) if language == "english" else given
    for one in ([word.text for word in as_caption], words):
        try:
            tree = spoken.read(one)
        except DataError:
            continue
        remarks = () if one is not words else _sentences(told)
        return Interpretation(
            sentence,
            tree,
            " ".join(one),
            (*remarks, *_remarks_of_captions(one), *_remarks_of_amounts(tree, one)),
            stop=len(sentence),
        )
    if values := spoken.of_people.values(words):
        return _interpreted(spoken, sentence, values, words, told)
    if language == "english" and len(given) <= LONGEST and (meant := _with_corrections(spoken, sentence)):
        return meant
    return _refused(spoken, sentence, given[:LONGEST])


def _with_corrections(language: Language, sentence: str) -> Interpretation | None:
    """A sentence with a typing error, where all words that may have been meant say the same; else one of them is suggested."""
    found: dict[Hashable, Interpretation] = {}
    likeliest = 0
    for text, pairs, rank in corrected(sentence, language.of_people.productions.words):
        if found and rank > likeliest:
            break
        likeliest = rank
        wording = english_words(text)
        words = [word.text for word in wording.words]
        if values := language.of_people.values(words):
            told = [f"read {wrong!r} as {right!r}" for wrong, right in pairs]
            said = _interpreted(language, sentence, values, words, (*told, *wording.remarks))
            if said.tree is not None:
                found.setdefault(meaning_key(said.tree), said)
    plain = {key: said for key, said in found.items() if REMARKS["it"] not in said.remarks}
    if len(plain or found) > 1:
        first, *others = (said.caption for said in (plain or found).values())
        problem = f"a typing error may mean several things, such as {first!r} or {others[0]!r}: write which"
        return Interpretation(sentence, problem=problem, suggestion=first)
    return next(iter((plain or found).values()), None)


def _remarks_of_captions(words: Sequence[str]) -> list[str]:
    """What is told of sentences that are captions in other letters, where people may mean something else."""
    text = " ".join(words)
    return _remarks_of_negations(text) + ([REMARKS["either"]] if "either" in words and "both ." not in text else [])


def _remarks_of_amounts(tree: Tree, words: Sequence[str]) -> list[str]:
    """What is told of "two", "the" and the like, which are no exact amount."""
    symbols = tree.polish
    found = [REMARKS["at-least"]] if "bare-two" in symbols else []
    return found + ([REMARKS["the"]] if "bare-the" in symbols and "the" in words else [])


def _remarks_of_negations(text: str) -> list[str]:
    """What is told of negations that some people mean otherwise."""
    found = ["'not' before a number is read as any other number"] if _NOT_A_NUMBER.search(text) else []
    told = "'all … are not' is read as none of them; write 'not all' for some that are not"
    return [*found, told] if _ALL_ARE_NOT.search(text) else found


def _cost(remarks: Sequence[str]) -> int:
    return sum(_COSTS.get(one, 1) for one in remarks)


def _sentences(remarks: Sequence[str]) -> tuple[str, ...]:
    """What is told, once each: the sentences of names of remarks, and sentences; a name without a sentence tells nothing."""
    told = (REMARKS.get(one, one if " " in one else "") for one in remarks)
    return tuple(one for one in dict.fromkeys(told) if one)


def _interpreted(
    language: Language, sentence: str, values: Sequence[Polish], words: Sequence[str], before: Sequence[str]
) -> Interpretation:
    """The reading with the fewest remarks, and others of another meaning."""
    text = " ".join(words)
    for pattern, problem in _PROBLEMS.items():
        if pattern.search(text):
            return Interpretation(sentence, problem=problem)
    if _CLAUSE.search(text):
        values = [value for value in values if "fragment" not in remarks_of(value)] or values[:0]
    if any(pattern.search(text) for pattern in _REFERS_BACK):
        values = [value for value in values if not _OF_ANY & {*remarks_of(value)}]
        if not values:
            return Interpretation(sentence, problem="'it', 'they' or what has no noun may mean several things: write the noun")
    readings: list[tuple[Tree, tuple[str, ...]]] = []
    for value in sorted(values, key=lambda value: _cost(remarks_of(value))):
        try:
            readings.append((simplified(Tree.from_polish(without_remarks(value))), remarks_of(value)))
        except DataError:  # a negation of a negation
            continue
    if not readings:
        return Interpretation(sentence, problem="expected one negation of a word at most")
    tree, remarks = readings[0]
    others = {meaning_key(one): one for one, found in reversed(readings) if _cost(found) == _cost(remarks)}
    others.pop(meaning_key(tree))
    amounts = _remarks_of_amounts(tree, words)
    told = _sentences((*before, *remarks, *amounts, *_remarks_of_negations(text)))
    captions = tuple(" ".join(language.say(one)) for one in others.values())
    return Interpretation(sentence, tree, " ".join(language.say(tree)), told, captions[:2], stop=len(sentence))


def _refused(language: Language, sentence: str, words: Sequence[Word]) -> Interpretation:
    """Why words are no sentence, and the nearest one."""
    texts, parser = [word.text for word in words], language.of_people
    place, _ = parser.stop(texts)
    known = [word.lower() for word in parser.productions.words]
    strange = [word for word in words if word.source and word.text not in known and word.text != STOP]
    unknown = {word.source: nearest_word(word.text, known) for word in strange}
    try:
        parser.read(texts)
    except DataError as error:
        problem = str(error).replace("got '.'", "and the sentence ends")
    if unknown:
        problem = f"it is read up to {texts[place]!r}" if place else f"it begins with {texts[0][:40]!r}"
        if not any(unknown.values()) and not HINTS.keys() & unknown.keys():
            problem += f", and captions are about {_ABOUT[language.name]}"
    told = {*unknown, *texts[place : place + 1], *texts[:1]}
    hints = dict.fromkeys(HINTS[word] for word in texts if word in HINTS and word in told)
    found = Interpretation(sentence, problem="; ".join([problem, *hints]), unknown=unknown, stop=_stop(sentence, words, place))
    if AMOUNTS & {*texts}:
        return found
    resembling = all(near or word in HINTS for word, near in unknown.items()) and len(texts) > _FEWEST
    near = {word.text: unknown[word.source] for word in strange if unknown[word.source]}
    for words_of_nearest, values, differs in nearest_sentences(parser, texts, near, resembling=resembling):
        said = _interpreted(language, sentence, values, words_of_nearest, ())
        if said.tree is not None and not _says_nothing(said.tree):
            return replace(found, suggestion=said.caption, differs=differs)
    return found


def _stop(sentence: str, words: Sequence[Word], place: int) -> int:
    """How many characters of a sentence stand before the word at a place."""
    lowered, found = sentence.lower(), 0
    for number, word in enumerate(words):
        at = lowered.find(word.source, found) if word.source else -1
        if number == place and at >= 0:
            return at
        if number >= place:
            break
        following = words[number + 1].source if number + 1 < len(words) else ""
        found = max(at, found) if at < 0 or word.source == following else at + len(word.source)
    return len(sentence.rstrip(" .!?")) if place < len(words) and words[place].text == STOP else found


def _says_nothing(tree: Tree) -> bool:
    """Whether a statement says of something that it is a shape."""
    statement = fits_sort("statement", tree.sort)
    return statement and bool(tree.children) and (tree.children[-1] == Tree("any") or any(map(_says_nothing, tree.children)))


def _with_umlauts(language: Language, words: Sequence[Word]) -> list[Word]:
    """German words that were written without umlauts, as "gruen" and "weiss", with them."""
    folded = {_folded(word): word.lower() for word in language.words}
    known = {word.lower() for word in language.words}
    return [word if word.text in known else word._replace(text=folded.get(_folded(word.text), word.text)) for word in words]


def _folded(word: str) -> str:
    found = word.lower()
    for letter, letters in (("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ß", "ss")):
        found = found.replace(letter, letters)
    return found
