"""Cards: the README.md of an exported model and of exported samples, with the front matter that hubs read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from molyneux.core import Score, Spec, store
from molyneux.core.config import dump_document
from molyneux.run.run.report import read_scores
from molyneux.version import __version__

_MOST_SCORES, _MOST_LIMITS = 60, 8
_PARTS = ("breakdown", "contrasts", "samplers", "systematicity")
"""Families of scores of parts of the samples, and of priors, whose guessing is told in other words or of the whole."""

_SURE = 99.0
"""Percent right from which on a direction is not told as a limit."""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"))
"""The words for numbers of samples that hubs have."""

_FILES = """## Files

`parquet/` has a file for each split, which `datasets.load_dataset("parquet", data_files="parquet/*.parquet")` reads.
`webdataset/` has the same samples as tar files for `webdataset`. An absent factor is -1; what a sample lacks is null, or has no
file."""


def model_card(
    settings: Mapping[str, Any],
    scores: Sequence[Score],
    notes: Sequence[str],
    *,
    licence: str,
    details: Mapping[str, Any],
    spec: Spec,
    name: str,
    about: str = "",
) -> str:
    """The card of a trained model, as Markdown.

    Args:
        settings: the resolved settings of its experiment.
        scores: what was measured.
        notes: what the export does not hold.
        licence: an SPDX identifier; empty where none is stated.
        details: of its training: `parameters`, `epochs`, `steps`, `seconds` and `machine`, and `parent` where it started from
            another run.
        spec: of its samples.
        name: of the folder of the export, by which it is opened.
        about: what the model is, in a sentence.
    """
    from molyneux.report.tables import base_scores, score_table, to_markdown

    model = str(settings["learn"]["model"]["class_path"]).rpartition(".")[2]
    origin = dict(scores[0].origin) if scores else {}
    world = str(origin.get("world", "samples"))
    base = [score for score in base_scores(scores) if score.value is not None and not score.name.endswith("value_accuracy")]
    left = (
        f"\n\nThe first {_MOST_SCORES} of {len(base)} scores; all are in `measure/scores.jsonl`."
        if len(base) > _MOST_SCORES
        else ""
    )
    table = (
        to_markdown(score_table("scores", "Scores", base[:_MOST_SCORES])).partition("\n\n")[2]
        if base
        else "Nothing was measured."
    )
    trained = {name: details[name] for name in ("parameters", "epochs", "steps") if name in details}
    numbers = ", ".join(f"{value:,} {name}" for name, value in trained.items())
    data = {name: value for name, value in settings["data"].items() if value not in (None, {}, False)}
    found = _found(scores, spec)
    parts = [
        _front(
            {"license": licence.lower() or None, "library_name": "molyneux", "tags": ["molyneux", "multimodal", model.lower()]}
        ),
        f"# {settings.get('name', model)}",
        about,
        f"`{model}` on `{world}`, trained with Molyneux {__version__}: {numbers}, seed {settings['seed']}"
        f"{_took(details)}.{_parent(details)}",
        _listed("What it does", found.does),
        _listed("What it cannot do", found.cannot),
        "## What is not included\n\n" + "\n".join(f"- {note}" for note in notes) if notes else "",
        f"## Licence\n\n{_licence(licence)}",
        _loading(spec, name, generates=_generates(scores)),
        _contents(details),
        f"## Training data\n\n`{world}`:\n\n```yml\n{dump_document({'data': data}).strip()}\n```",
        f"## Scores\n\nOn the split `{origin.get('split', 'test')}`. Chance is the score of guessing; intervals are 95 %.",
        f"{table.strip()}{left}",
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def data_card(spec: Spec, sizes: Mapping[str, int], about: Mapping[str, Any], *, licence: str) -> str:
    """The card of exported samples, as Markdown.

    Args:
        spec: what a sample looks like.
        sizes: number of samples of each split.
        about: `name` of the data set, `origin`: what the samples depend on, and `source`: who published them, where known.
        licence: an SPDX identifier; empty where none is stated.
    """
    total = sum(sizes.values())
    size = next((word for limit, word in _SIZES if total < limit), "n>10M")
    configs = [
        {"config_name": "default", "data_files": [{"split": split, "path": f"parquet/{split}.parquet"} for split in sizes]}
    ]
    causes = [f"- factor `{factor.name}`: {_few(factor.values)}" for factor in spec.factors]
    causes += [
        f"- quantity `{item.name}`: {item.bounds[0]:g} to {item.bounds[1]:g} {item.unit}".rstrip() for item in spec.quantities
    ]
    causes += [f"- target `{target.name}`: {target.task} {_few(target.symbols)}".rstrip() for target in spec.targets]
    views = [f"- `{item.name}`: {item.kind} {item.shape}, {item.dtype}" for item in spec.modalities]
    counts = "\n".join(f"| {split} | {count:,} |" for split, count in sizes.items())
    origin = dump_document(dict(about.get("origin") or {})).strip()
    parts = [
        _front(
            {
                "license": licence.lower() or None,
                "size_categories": [size],
                "tags": ["molyneux", "multimodal"],
                "configs": configs,
            }
        ),
        f"# {about['name']}",
        f"Samples written by Molyneux {__version__}." + (f" Origin: {about['source']}." if about.get("source") else ""),
        f"| split | samples |\n|---|---:|\n{counts}",
        "## A sample\n\n" + "\n".join([*views, *causes]),
        _FILES,
        f"## Licence\n\n{_licence(licence)}",
    ]
    if origin and origin != "{}":
        parts.insert(-1, f"## What the samples depend on\n\n```yml\n{origin}\n```")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _took(details: Mapping[str, Any]) -> str:
    """How long the training took, and on what."""
    seconds, machine = details.get("seconds"), details.get("machine") or {}
    if seconds is None:
        return ""
    stored = f"; weights are stored in {details['bits']} bits, the scores are those of 32" if details.get("bits", 32) < 32 else ""
    where = f" on {machine['processor']}, threads {machine.get('threads', '?')}" if machine.get("processor") else ""
    return f"; training took {float(seconds) / 60:.0f} minutes{where}{stored}"


class ModelFindings(NamedTuple):
    """What scores say of a model, a sentence each: what it `does`, and what it `cannot` do."""

    does: tuple[str, ...]
    cannot: tuple[str, ...]


def model_findings(folder: Path | str, spec: Spec) -> ModelFindings:
    """What the scores of a stored model say of it, as its card does; nothing where it was not measured.

    Args:
        folder: of a run or of an export.
        spec: of its samples.

    Raises:
        CorruptFileError: its scores were truncated or altered.
    """
    folder = Path(folder)
    if not store.is_file(folder / "measure" / "stage.json"):
        return ModelFindings((), ())
    return _found(read_scores(folder), spec)


def _found(scores: Sequence[Score], spec: Spec) -> ModelFindings:
    """What it does, and what it cannot do: how often it is wrong, and what is of no use or no better than guessing."""
    from molyneux.report.headlines import headlines

    lines = [*_wrong(scores), *_unusable_priors(scores), *_guessed(scores, spec)]
    if any(target.task == "agreement" for target in spec.targets):
        lines.append("Of a picture without a sentence, or the reverse, it says nothing: agreement is of both.")
    return ModelFindings(tuple(item.sentence for item in headlines(scores, spec)), tuple(lines[:_MOST_LIMITS]))


def _listed(title: str, lines: Sequence[str]) -> str:
    return f"## {title}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def _wrong(scores: Sequence[Score]) -> list[str]:
    """The directions in which a part of what it makes is wrong, the worst first."""
    found = [score for score in scores if score.name == "coherence.strict" and (score.value or 100.0) < _SURE]
    found = [score for score in found if not set(score.about) - {"source", "target"}]
    lines = []
    for score in sorted(found, key=lambda score: score.value or 0.0):
        source, target, wrong = score.about.get("source"), _names(score.about.get("target")), 100 - (score.value or 0.0)
        if source == "prior":
            lines.append(f"Drawn from the prior, {target} disagree or are not read {wrong:.1f} % of the time.")
        else:
            lines.append(f"Given {_names(source)}, the {target} that it makes is wrong or is not read {wrong:.1f} % of the time.")
    return lines


def _unusable_priors(scores: Sequence[Score]) -> list[str]:
    """The priors whose samples agree no more often than chance has it."""
    weak = [score for score in scores if score.name == "samplers.strict" and score.is_guessed]
    return [
        f'What is generated with `prior="{score.about["prior"]}"` agrees no more often than chance has it: leave `prior` out.'
        for score in weak
        if "prior" in score.about
    ]


def _guessed(scores: Sequence[Score], spec: Spec) -> list[str]:
    """What is predicted no better than by guessing, from all that is asked for; and metrics of codes that say as little."""
    from molyneux.report import wording

    agreement = {target.name for target in spec.targets if target.task == "agreement"}
    weak = [score for score in scores if score.is_guessed and score.higher_is_better]
    weak = [score for score in weak if score.name.partition(".")[0] not in _PARTS]
    weak = [score for score in weak if score.about.get("target") not in agreement]
    return [f"{wording.subject(score)}: {wording.measure(score).partition(',')[0]} is not above guessing." for score in weak]


def _names(value: Any) -> str:
    return value if isinstance(value, str) else " and ".join(map(str, value or ()))


def _generates(scores: Sequence[Score]) -> bool:
    return any(score.name.startswith(("coherence.", "reconstruction.", "code_use.")) for score in scores)


def _loading(spec: Spec, name: str, *, generates: bool) -> str:
    """How it is opened, asked, measured and trained on."""
    texts = [item.name for item in spec.modalities if item.kind == "text"]
    others = [item.name for item in spec.modalities if item.kind != "text"]
    if not generates and not spec.targets:
        asks = f"model.encode({spec.names[0]}=...).shared"
    elif not generates:
        given = (f'{item.name}="..."' if item.kind == "text" else f"{item.name}=..." for item in spec.modalities)
        asks = f"model.predict({', '.join(given)}).probabilities()"
    elif texts and others:
        asks = f'model.generate("{others[0]}", {texts[0]}="...", count=8, seed=1)'
    else:
        asks = f'model.generate("{spec.names[0]}", count=8, seed=1)'
    return f"""## Use

With Molyneux {__version__} installed, in Python, from the folder above this one:

    import molyneux

    model = molyneux.open_model("{name}")
    {asks}

On the command line, inside of this folder: the first command measures it again and compares the scores with those below, the
second trains it again from the start, the third trains on from its weights.

    molyneux measure . --again
    molyneux run config.yaml --out ../again
    molyneux run config.yaml --continue-from . --out ../further

Classes that are not of Molyneux are imported, and run their code, only with `--trust` (`trust=True`): use it only if you trust
who made this folder."""


def _contents(details: Mapping[str, Any]) -> str:
    """What lies in the folder."""
    return f"""## Files

- `config.yaml`: all settings. `export.json`: checksums of what was exported.
- `model/`: weights in {details.get("bits", 32)} bits without pickles, the history of the training, and digests of what it
  learned from, by which a measurement tells what it has seen.
- `measure/scores.jsonl`: the scores, one a line, with chance, controls, interval and origin.

Samples are not among them, unless they are named below `data` or `files`."""


def _parent(details: Mapping[str, Any]) -> str:
    """A sentence on the run that the training started from; empty where there was none."""
    parent = details.get("parent")
    if not isinstance(parent, Mapping):
        return ""
    return (
        f" It started from the weights of the run `{parent.get('name')}` (key `{parent.get('run')}`, checksum of the weights "
        f"`{parent.get('weights')}`)."
    )


def _front(record: Mapping[str, Any]) -> str:
    """YAML front matter."""
    return f"---\n{dump_document({name: value for name, value in record.items() if value}).strip()}\n---"


def _licence(licence: str) -> str:
    return f"`{licence}`" if licence else "None is stated: ask whoever publishes this folder before you use it."


def _few(values: Sequence[str]) -> str:
    return ", ".join(values[:12]) + (f" and {len(values) - 12} more" if len(values) > 12 else "")
