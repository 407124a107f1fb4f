"""`molyneux list`: what there is, one line each; and with a name, everything about one of them. `molyneux completion`."""

from __future__ import annotations

import inspect
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from molyneux.cli import index
from molyneux.cli.formulas import formula
from molyneux.cli.parser import Arguments, say, say_json
from molyneux.cli.vocabulary import KINDS
from molyneux.core.errors import ConfigError, nearest

if TYPE_CHECKING:
    from molyneux.learn.judges import Judge

_START = {
    "models": "DMVAE, as in configs/quickstart.yaml, or MMVAEPlus; to predict: FusionPredictor.",
    "worlds": "CdSprites (images and captions), Letters (texts) or ShapeWorld (does a caption agree with an image?).",
    "measures": "coherence for what a model generates, prediction for what it predicts, latent_probe for its codes.",
}
"""By kind, a line for those who have not chosen."""
_GIVEN = {"spec"}
"""Required arguments that an experiment supplies itself."""
_INDENT = 4
"""Of what stands below a name where names take more than half of the terminal."""


def list_things(arguments: Arguments) -> int:
    """`molyneux list`, `molyneux list KIND` and `molyneux list KIND NAME`."""
    kind, name = arguments.options.kind, arguments.options.name
    if name is not None:
        _print_about(about(kind, name), json=arguments.json)
        return 0
    if arguments.json:
        say_json(listing(kind) if kind is not None else {kind: list(_names(kind)) for kind in KINDS})
        return 0
    if kind is None:
        _say_lines(KINDS)
        more = "molyneux list KIND names all of a kind; molyneux list KIND NAME says what one does, and its settings."
        say("\n" + "\n".join(textwrap.wrap(more, _across())))
        return 0
    lines = listing(kind)
    grouped = index.groups(kind) if kind in index.GROUPS else {}
    for title, names in grouped.items():
        say(f"{title}:")
        _say_lines({f"  {name}": lines[name] for name in names}, width=max(map(len, lines)) + 2)
    _say_lines({} if grouped else lines)
    if kind in _START:
        say("\n" + "\n".join(textwrap.wrap(f"Start with {_START[kind]}", _across())))
    return 0


def _say_lines(lines: Mapping[str, str], width: int = 0) -> None:
    """Names and what they are, in two columns. In a terminal, what does not fit goes on below; elsewhere a name has one line."""
    column = max([width, *map(len, lines)])
    across = _across()
    indent = column + 2 if column + 2 <= across // 2 else _INDENT
    for name, summary in lines.items():
        if indent > column:
            first, *further = textwrap.wrap(summary, across - indent, break_on_hyphens=False) or [""]
            say(f"{name:<{column}}  {first}".rstrip())
        else:
            further = textwrap.wrap(summary, max(across - indent, _INDENT), break_on_hyphens=False)
            say(name)
        for line in further:
            say(" " * indent + line)


def _across() -> int:
    """How wide the terminal is; without one, nothing ends a line."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize


def _names(kind: str) -> Iterable[str]:
    """The names of a kind alone, for which no judge is opened."""
    if kind != "judges":
        return listing(kind)
    from molyneux.learn.judges import shipped_judges

    return [f"{world} {modality}" for world, modality in shipped_judges()]


def listing(kind: str, *, configs: Path = Path("configs")) -> dict[str, str]:
    """Names and summaries of everything of a kind, sorted by name.

    Args:
        kind: `configs`, `judges`, `metrics`, `pretrained` or one of `index.FAMILIES`.
        configs: the folder in which experiment files are looked for.
    """
    if kind in index.FAMILIES:
        return {name: entry.summary for name, entry in index.classes(kind).items()}
    others = {"configs": lambda: _configs(configs), "judges": _judges, "metrics": _metrics, "pretrained": _pretrained}
    return dict(others[kind]())


def about(kind: str, name: str) -> dict[str, Any]:
    """What one of a kind does, `says`, and its `formula`; for a class also its settings: those `required`, and `defaults`.

    Raises:
        ConfigError: there is no such thing.
    """
    if kind not in index.FAMILIES:
        known = listing(kind)
        if name not in known:
            raise ConfigError(f"{kind} has no {name!r}; {nearest(name, known)}")
        return {"name": name, "says": _card(name) if kind == "pretrained" else known[name], "formula": formula(kind, name)}
    entry = index.find_class(kind, name)
    if entry is None:
        raise ConfigError(f"{kind} has no {name!r}; {nearest(name, index.classes(kind))}")
    from molyneux.core.config import REQUIRED, find_class, plain
    from molyneux.core.config import arguments as constructor

    found = find_class(entry.path, object)
    settings = constructor(found)
    return {
        "name": found.__name__,
        "says": inspect.getdoc(found) or "",
        "formula": formula(kind, found.__name__),
        "required": [name for name, item in settings.items() if item.default is REQUIRED and name not in _GIVEN],
        "defaults": {name: plain(item.default) for name, item in settings.items() if item.default is not REQUIRED},
    }


def completion(arguments: Arguments) -> int:
    """`molyneux completion SHELL`: what a shell evaluates to complete the words of this command."""
    from molyneux.core.tooling.extras import import_extra

    integration = import_extra("argcomplete.shell_integration", extra="completion", what="molyneux completion")
    say(integration.shellcode(["molyneux"], shell=arguments.options.shell))
    return 0


def _print_about(record: dict[str, Any], *, json: bool) -> None:
    if json:
        say_json(record)
        return
    from molyneux.core.config import dump_document

    say(f"{record['name']}: {record['says']}")
    if record["formula"]:
        say(f"\nFormula:\n{record['formula']}")
    if required := record.get("required"):
        say(f"\nRequired: {', '.join(required)}")
    if defaults := record.get("defaults"):
        say(f"\nDefaults:\n{dump_document(defaults)}".rstrip())


def _configs(folder: Path) -> Iterator[tuple[str, str]]:
    """Experiment and study files; the first comment line is the summary."""
    for path in sorted(folder.rglob("*.yaml")):
        lines = path.read_text(encoding="utf-8").splitlines()
        comments = (line for line in lines if line.startswith("#") and "$schema=" not in line)
        yield str(path), next(comments, "").lstrip("# ")


def _pretrained() -> Iterator[tuple[str, str]]:
    """The trained models that come with the package, and what each is; then the judges, which `open_judge` opens."""
    from molyneux.run.trained.shipped import shipped_names, shipped_summary

    for name in shipped_names():
        yield name, shipped_summary(name)
    for name, summary in _judges():
        yield name, f"Judge. {summary}"


def _card(name: str) -> str:
    """The card of a trained model that comes with the package; what a judge reads, and how well."""
    from molyneux.run.trained.shipped import shipped_card, shipped_names

    return shipped_card(name) if name in shipped_names() else dict(_pretrained())[name]


def _judges() -> Iterator[tuple[str, str]]:
    """The judges that come with the package, and how they read the factor they read worst."""
    from molyneux.learn.judges import load_judge, shipped_judges

    for world, modality in shipped_judges():
        judge = load_judge(world, modality)
        worst = min(share for level in judge.record.accuracy.values() for share in level.values())
        reads = ", ".join(factor.name for factor in judge.record.factors)
        yield f"{world} {modality}", f"Reads {reads}; at least {worst:.1%} right{_abstention(judge)}."


def _metrics() -> Iterator[tuple[str, str]]:
    """The metrics of disentanglement, and the variants that each of them has."""
    from molyneux.measure.disentanglement import METRICS

    for name, metric in METRICS.items():
        yield name, f"{metric.description} Variants: {', '.join(metric.variants)}."


def _abstention(judge: Judge) -> str:
    """How often a judge abstains, for the worst factor and kind of negatives; nothing if it was not validated for it."""
    levels = [judge.abstention(tuple(level)) for level in judge.record.accuracy.values()]
    true = [share for level in levels for share in level.get("abstains from true views", {}).values()]
    negatives = [(share, name) for level in levels for name, share in level.get("abstains from negatives", {}).items()]
    if not true or not negatives:
        return ""
    least, factor = min(negatives)
    return (
        f"; abstains from at most {max(true):.1%} of true views; of those that do not show a factor from at least {least:.0%} "
        f"(the worst kind of altered views, {factor})"
    )
