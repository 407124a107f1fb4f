"""Speed of generating and tokenising sentences, compared with a plain implementation of the published procedure.

    python benchmarks/sentences.py [--quick] [--out FOLDER]

Measured: every sentence of every split of each world, as ids with factors, by one thread and two; and a plain implementation
of the published procedure: sentences as strings from nested loops, a shuffle, then words to ids and factors by dictionaries.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import permutations, product

from record import Record, Value, options

from molyneux.data import Letters, PartsOfSpeech, Ynoc, load
from molyneux.data.worlds.sentences import SentenceWorld

WHAT = (
    "Sentences generated and tokenised per second, with their factors, all splits of a world; `times plain` compares with a "
    "plain implementation of the published procedure, for parts of speech on one structure in sixty"
)
QUICK = 2_000


def main() -> None:
    arguments = options(__doc__).parse_args()
    record = Record("sentences", WHAT, arguments.out)
    for world in (Letters(), Ynoc(), PartsOfSpeech()):
        for split in world.splits:
            load(world.source(split, 100, seed=1))
        rows = list(made_rows(world, quick=arguments.quick))
        plain = plain_row(world, quick=arguments.quick)
        for row in [*rows, plain]:
            record.add({**row, "times plain": float(row["sentences/s"]) / float(plain["sentences/s"])})
    record.write()


def made_rows(world: SentenceWorld, *, quick: bool) -> Iterator[dict[str, Value]]:
    for threads in (1, 2):
        sizes = {split: min(size, QUICK) if quick else size for split, size in world.splits.items()}
        start = time.perf_counter()
        for split, size in sizes.items():
            load(world.source(split, size, seed=1), chunk=16_384, threads=threads)
        workers = f"{threads} thread{'s' if threads > 1 else ''}"
        yield row(world, "from their numbers", workers, sum(sizes.values()), time.perf_counter() - start)


def plain_row(world: SentenceWorld, *, quick: bool) -> dict[str, Value]:
    language = world.language
    forms = language.forms[:: 100 if quick else 60] if isinstance(world, PartsOfSpeech) else language.forms
    cap = 10_000 if isinstance(world, PartsOfSpeech) else None
    generator = random.Random(0)
    limit = QUICK if quick else None
    start = time.perf_counter()
    kept: list[str] = []
    for form in forms:
        written = list(plain_sentences(language, form, limit))
        generator.shuffle(written)
        kept += written[:cap]
    generator.shuffle(kept)
    found = plain_tokens(language, kept)
    return row(world, "plain", "1 thread", len(found), time.perf_counter() - start)


def plain_sentences(language, form, limit) -> Iterator[str]:
    """Every sentence of a form as a string."""
    chosen = [permutations(group.words, form.occurrences(group.name)) for group in language.groups if group.name in form.order]
    names = [group.name for group in language.groups if group.name in form.order]
    for number, words in enumerate(product(*chosen)):
        if number == limit:
            return
        left = {name: list(said) for name, said in zip(names, words, strict=True)}
        yield " ".join(left[place.group].pop(0) if place.role == "free" else place.words[0] for place in form.places)


def plain_tokens(language, sentences: list[str]) -> list[tuple[list[int], list[int]]]:
    """Ids and factors, a sentence at a time."""
    ids = {word: number for number, word in enumerate(language.symbols)}
    owner = {word: group.name for group in language.groups for word in group.words}
    values = {factor.name: {value: code for code, value in enumerate(factor.values)} for factor in language.factors}
    found = []
    for sentence in sentences:
        words = sentence.split(" ")
        said = {name: " ".join(word for word in words if owner.get(word) == name) for name in values}
        found.append(([ids[word] for word in words], [values[name].get(value, -1) for name, value in said.items()]))
    return found


def row(world: SentenceWorld, way: str, workers: str, count: int, seconds: float) -> dict[str, Value]:
    return {
        "world": world.name,
        "way": way,
        "workers": workers,
        "sentences": count,
        "seconds": seconds,
        "sentences/s": count / seconds,
    }


if __name__ == "__main__":
    main()
