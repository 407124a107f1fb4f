"""Cards: the README.md of an exported model and of exported samples, with the front matter that hubs read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from molyneux.core import Score, Spec
from molyneux.core.config import dump_document
from molyneux.version import __version__

_MOST_SCORES, _MOST_LIMITS = 60, 12
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
    parts = [
        _front(
            {"license": licence.lower() or None, "library_name": "molyneux", "tags": ["molyneux", "multimodal", model.lower()]}
        ),
        f"# {settings.get('name', model)}",
        about,
        f"`{model}` on `{world}`, trained with Molyneux {__version__}: {numbers}, seed {settings['seed']}"
        f"{_took(details)}.{_parent(details)}",
        _findings(scores),
        f"## Training data\n\n`{world}`:\n\n```yml\n{dump_document({'data': data}).strip()}\n```",
        f"## Scores\n\nOn the split `{origin.get('split', 'test')}`. Chance is the score of guessing; intervals are 95 %.",
        f"{table.strip()}{left}",
        _limits(scores),
        _loading(settings, scores),
        f"## Licence\n\n{_licence(licence)}",
    ]
    if notes:
        parts.insert(-1, "## What is not included\n\n" + "\n".join(f"- {note}" for note in notes))
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


def _findings(scores: Sequence[Score]) -> str:
    """What it does, in sentences."""
    from molyneux.report.headlines import headlines

    found = headlines(scores)
    return "## What it does\n\n" + "\n".join(f"- {item.sentence}" for item in found) if found else ""


def _limits(scores: Sequence[Score]) -> str:
    """What the scores say that it cannot do: those that are not above guessing."""
    from molyneux.report import wording

    weak = [score for score in scores if score.is_guessed and score.higher_is_better]
    if not weak:
        return ""
    lines = [f"- {wording.subject(score)}: {wording.measure(score)} is not above guessing" for score in weak[:_MOST_LIMITS]]
    more = [f"- and {len(weak) - _MOST_LIMITS} more scores"] if len(weak) > _MOST_LIMITS else []
    return "## What it cannot do\n\n" + "\n".join([*lines, *more])


def _loading(settings: Mapping[str, Any], scores: Sequence[Score]) -> str:
    generates = any(score.name.startswith(("coherence.", "reconstruction.", "code_use.")) for score in scores)
    asks = 'model.generate("image", text="...", count=8).save("made.png")' if generates else "model.predict(image=...)"
    return f"""## Use

With Molyneux {__version__} installed, in Python:

    import molyneux

    model = molyneux.open_model("PATH/TO/THIS/FOLDER")
    {asks}

This measures it again and compares the scores with those above; the second command trains it again from the start:

    molyneux measure PATH/TO/THIS/FOLDER --again
    molyneux run PATH/TO/THIS/FOLDER/config.yaml --out again

`config.yaml` holds all settings. Classes that are not of Molyneux are imported, and run their code, only with `--trust`
(`trust=True`): use it only if you trust who made this folder."""


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
