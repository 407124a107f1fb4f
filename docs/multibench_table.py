"""Write the tables of data sets in published layouts into their pages: `python docs/multibench_table.py`.

Modalities and targets are those of twins, which have the published shapes but for those named here.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

from molyneux.data import FileBenchmark, write_twin
from molyneux.data.benchmarks.twins import twin_kinds
from molyneux.report.tables import pipe_table

PAGES = {
    family: Path(__file__).parent / page
    for family, page in (("multibench", "reference/data/multibench.md"), ("generative", "reference/data/generative-data.md"))
}
"""By family of data sets, the page that has its table."""

TABLE = re.compile(r"(?<=<!-- table -->\n).*?(?=<!-- end -->)", re.DOTALL)
HEADS = (
    *("data set", "modalities", "targets", "metric", "published samples: train / validation / test", "files"),
    "licence; whom to ask",
)

OTHER_SHAPES = {
    "Clotho": "`audio` series (longest, 64), `text` text (longest)",
    "KineticsLarge": "`video` video (150, 3, 112, 112), `audio` series (763, 40)",
    "KineticsSmall": "`video` video (150, 3, 112, 112), `audio` series (763, 40)",
    "PublishedPolyMNIST": "`m0` to `m4`, images (3, 28, 28)",
    "Stocks": "a series (500, 1) for each share",
}
"""Modalities of data sets whose twins are smaller."""

OTHER_TARGETS = {"CUB": "`label` class of 200", "Yummly": "`label` class, as many as there are"}
"""Targets of data sets whose twins have fewer classes."""

OTHER_FILES = {
    "CUB": "five tables such as `images.txt`; `images/*/*.jpg`, `text/*/*.txt`",
    "CelebA": "`list_attr_celeba.txt`, `list_eval_partition.txt`, `img_align_celeba/*.jpg`",
    "Sprites": "`{action}_{direction}_{frames,attributes}_{train,test}.npy`, 36 files",
}
"""Files of data sets that have more of them than a table can name."""


def table(family: str) -> str:
    """The table of a family in Markdown."""
    return pipe_table(HEADS, map(row, twin_kinds(family)), words=range(len(HEADS)))


def row(kind: type[FileBenchmark]) -> list[str]:
    """The cells of a data set."""
    with tempfile.TemporaryDirectory() as folder:
        dataset = write_twin(kind.__name__, Path(folder) / "twin", size=30)
        spec = dataset.spec
        many = {f"{path.relative_to(dataset.folder).parent / '*'}{path.suffix}" for path in dataset.many()}
        files = [*dataset.expected, *sorted(many)]
    seen = ", ".join(f"`{item.name}` {item.kind} {shape(item.shape)}" for item in spec.modalities)
    asked = [f"`{target.name}` {task(target)}" for target in spec.targets]
    where = f"[page]({kind.page})" if kind.page.startswith("http") else kind.page
    return [
        f"`{kind.name}` (`{kind.__name__}`)",
        OTHER_SHAPES.get(kind.__name__, seen),
        OTHER_TARGETS.get(kind.__name__, ", ".join(asked) or "none"),
        kind.metric,
        kind.sizes,
        OTHER_FILES.get(kind.__name__, ", ".join(f"`{name}`" for name in files)),
        f"{kind.licence}; {where}",
    ]


def shape(axes: tuple[int, ...]) -> str:
    """A shape as text."""
    return f"({', '.join(map(str, axes))})"


def task(target) -> str:
    """What kind of target it is, and how large."""
    if target.task == "number":
        return f"number {shape(target.shape)}" if target.shape else "number"
    return f"{target.task} of {len(target.symbols)}"


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__).parse_args()
    for name, page in PAGES.items():
        shown = table(name)
        page.write_text(TABLE.sub(lambda _, shown=shown: shown, page.read_text(encoding="utf-8")), encoding="utf-8")
