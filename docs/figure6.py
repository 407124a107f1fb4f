"""What the tables of Figure 6 of ShapeWorld say, in sentences whose numbers are those of the records.

A sentence that the records contradict is an error: it has to be written anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from unbound import CONTROL, accuracy_of, where_bound

from molyneux.core import Score
from molyneux.report import StudyRun
from molyneux.report.published_breakdowns import named_breakdowns

TEXT, PICTURE, PRODUCT = "LSTM-only", "CNN-only", "CNN-LSTM-Mult"
ATTENTION = ("HCA-parallel", "HCA-alternating")
BOTH = (PRODUCT, *ATTENTION)
KINDS = ("oneshape", "multishape", "spatial", "quantification")
SPLITS = ("train", "validation", "test")

BESIDE_THE_CONTROL = """\
- **QUANTIFICATION**: all models with pictures and captions are far below the control on the balanced data ({quantification}),
  and at {quantification_equal} where the counts are equal. None of them has been shown to combine a colour with a shape.
- **SPATIAL**: both HCA models are below the control on the balanced data ({spatial}) and at {spatial_equal} on equal counts:
  they know no relation. *{product}* ({product_spatial}) is the only one above it, and has {product_spatial_equal} on equal
  counts: it knows relations. On the published data all models, that one too, are below the control ({spatial_published}).
- **MULTISHAPE**: all are below the control ({multishape}); the HCA models have {attention_equal} on equal counts, *{product}*
  {product_multishape_equal}: the first two bind sometimes, the third hardly.
- **ONESHAPE**: one entity is its counts, so the control has {oneshape} and nothing is to be bound.
"""
BY_DATA_SET = """\
- *{text}* sees no picture: 50.0 on all balanced data sets, and {text_multishape} on published MULTISHAPE, where the paper has
  {paper_multishape}. On published QUANTIFICATION it has {text_quantification}; the paper's has {paper_quantification},
  probably because its code reads the state at padded words, and its co-attention has {paper_attention}, which is no more than
  these captions alone tell.
- On balanced ONESHAPE all three models with pictures and captions lose on the three held-out objects: {oneshape}. On the
  published data, whose training scenes have these combinations, they do not: {oneshape_published}. *{picture}* sees no
  caption: 50.0 on all balanced data sets and {picture_published} on all published ones, so pictures alone do not tell the
  answers of either.
- On balanced QUANTIFICATION the three have {train} on the training distribution and {test} on the test split, on the
  published data {train_published} and {test_published}: most of what they know there is in the captions, and the rest is less
  than counts tell.
- On SPATIAL *{product}* is better on the balanced data ({product_balanced}) than on the published ({product_published}),
  where *{first}* has {first_published} and *{second}* {second_published}: sets of scenes that are mirrored or turned teach it
  relations, and text alone gives {text_spatial} there. The HCA models have {attention} on the balanced data, less than counts
  without any relation.
"""


class _Records:
    """Accuracies of all samples, by model and data set."""

    def __init__(self, runs: Sequence[StudyRun]) -> None:
        place = "data.world.init_args"
        self.runs = {
            (str(run.settings["name"]), str(run.settings[f"{place}.kind"]), str(run.settings[f"{place}.variant"])): run
            for run in runs
        }

    def test(self, names: str | Iterable[str], kind: str, variant: str) -> list[Score]:
        """On the test split."""
        found = [accuracy_of(self.runs[name, kind, variant]) for name in ([names] if isinstance(names, str) else names)]
        return [score for score in found if score is not None]

    def on(self, split: str, name: str, kind: str, variant: str) -> float:
        """On a split, from all modalities."""
        if split == "test":
            return self.test(name, kind, variant)[0].value or 0.0
        scores = [
            score
            for score in self.runs[name, kind, variant].scores
            if score.name == "prediction.accuracy" and score.about.get("split") == split
        ]
        return max(scores, key=lambda score: isinstance(score.about["source"], tuple) and len(score.about["source"])).value or 0.0

    def bound(self, name: str, kind: str) -> float:
        """Where counts are equal, on the balanced data."""
        found = where_bound(self.runs[name, kind, "balanced"])
        assert found is not None
        return found

    def three(self, name: str, kind: str, variant: str) -> str:
        """On all splits."""
        return " / ".join(_whole(self.on(split, name, kind, variant)) for split in SPLITS)


def _whole(value: float) -> str:
    return f"{value:.0f}"


def _range(values: Iterable[float]) -> str:
    known = sorted(values)
    return " to ".join(dict.fromkeys(map(_whole, (known[0], known[-1]))))


def _values(scores: Iterable[Score]) -> list[float]:
    return [score.value or 0.0 for score in scores]


def _require(*claims: tuple[str, bool]) -> None:
    for claim, holds in claims:
        if not holds:
            raise SystemExit(
                f"the records of Figure 6 do not say any more that {claim}: write the sentence in docs/figure6.py anew"
            )


def _below(scores: Iterable[Score], control: Score) -> bool:
    assert control.interval is not None
    return all(score.interval is not None and score.interval[1] < control.interval[0] for score in scores)


def _published(kind: str, name: str) -> str:
    table = next(item for item in named_breakdowns("shapeworld") if item.title == f"{kind.upper()}, published")
    return " / ".join(_whole(value) for value in next(row for row in table.rows if not row.parts).published[name])


def beside_the_control(records: _Records) -> str:
    """How models stand to the unbound control, a line for each data set."""

    def control(kind: str, variant: str = "balanced") -> Score:
        return records.test(CONTROL, kind, variant)[0]

    def models(kind: str, names: Sequence[str] = BOTH, variant: str = "balanced") -> list[Score]:
        return records.test(names, kind, variant)

    def of(kind: str, names: Sequence[str] = BOTH, variant: str = "balanced") -> str:
        return f"{_range(_values(models(kind, names, variant)))} against {_whole(control(kind, variant).value or 0)}"

    equal = {kind: {name: records.bound(name, kind) for name in BOTH} for kind in KINDS[1:]}
    product, spatial = models("spatial", [PRODUCT])[0], control("spatial")
    assert product.interval is not None
    assert spatial.interval is not None
    _require(
        ("all models are below the control on QUANTIFICATION", _below(models("quantification"), control("quantification"))),
        ("none is above 52 on its equal counts", max(equal["quantification"].values()) < 52),
        ("both HCA models are below the control on SPATIAL", _below(models("spatial", ATTENTION), control("spatial"))),
        ("they are below 52 on its equal counts", max(equal["spatial"][name] for name in ATTENTION) < 52),
        (f"{PRODUCT} is above it", product.interval[0] > spatial.interval[1]),
        ("it is above 80 on equal counts", equal["spatial"][PRODUCT] > 80),
        (
            "all are below it on published SPATIAL",
            max(_values(models("spatial", BOTH, "published"))) < (control("spatial", "published").value or 0),
        ),
        ("all are below it on MULTISHAPE", _below(models("multishape"), control("multishape"))),
        ("the HCA models are above 60 on its equal counts", min(equal["multishape"][name] for name in ATTENTION) > 60),
        (f"{PRODUCT} is below 60 there", equal["multishape"][PRODUCT] < 60),
        ("the control is at 100 on ONESHAPE", (control("oneshape").value or 0) > 99.5),
    )
    hca = sorted(equal["multishape"][name] for name in ATTENTION)
    return BESIDE_THE_CONTROL.format(
        quantification=of("quantification"),
        quantification_equal=_range(equal["quantification"].values()),
        spatial=of("spatial", ATTENTION),
        spatial_equal=_range(equal["spatial"][name] for name in ATTENTION),
        product=PRODUCT,
        product_spatial=_whole(product.value or 0),
        product_spatial_equal=_whole(equal["spatial"][PRODUCT]),
        spatial_published=of("spatial", BOTH, "published"),
        multishape=of("multishape"),
        attention_equal=" and ".join(map(_whole, hca)),
        product_multishape_equal=_whole(equal["multishape"][PRODUCT]),
        oneshape=_whole(control("oneshape").value or 0),
    )


def by_data_set(records: _Records) -> str:
    """What models reach on the splits, training distribution / validation / test."""

    def split(name: str, kinds: Iterable[str], variant: str, splits: Iterable[str] = SPLITS) -> list[float]:
        return [records.on(one, name, kind, variant) for kind in kinds for one in splits]

    def lost(name: str) -> bool:
        return records.on("test", name, "oneshape", "balanced") < records.on("train", name, "oneshape", "balanced") - 3

    def kept(name: str) -> bool:
        return abs(records.on("test", name, "oneshape", "published") - records.on("train", name, "oneshape", "published")) < 3

    def spread(kind: str, variant: str, one: str, names: Sequence[str] = BOTH) -> str:
        return _range(records.on(one, name, kind, variant) for name in names)

    spatial = [records.on("test", PRODUCT, "spatial", variant) for variant in ("balanced", "published")]
    blind = [value for name in (TEXT, PICTURE) for value in split(name, KINDS, "balanced")]
    attention = [value for name in ATTENTION for value in split(name, ["spatial"], "balanced")]
    counts = records.on("test", CONTROL, "spatial", "balanced")
    _require(
        ("what sees one modality is at 50.0 on balanced data", all(f"{value:.1f}" == "50.0" for value in blind)),
        ("all three lose on the test split of balanced ONESHAPE", all(map(lost, BOTH))),
        ("they do not on published ONESHAPE", all(map(kept, BOTH))),
        ("pictures alone are within 3 points of guessing", max(abs(v - 50) for v in split(PICTURE, KINDS, "published")) < 3),
        (f"{PRODUCT} is better on balanced SPATIAL", spatial[0] > spatial[1] + 5),
        ("the HCA models are below counts on SPATIAL", max(attention) < counts),
    )
    spatial_published = [records.three(name, "spatial", "published") for name in BOTH]
    return BY_DATA_SET.format(
        text=TEXT,
        text_multishape=records.three(TEXT, "multishape", "published"),
        paper_multishape=_published("multishape", TEXT),
        text_quantification=records.three(TEXT, "quantification", "published"),
        paper_quantification=_published("quantification", TEXT),
        paper_attention=_published("quantification", ATTENTION[0]),
        oneshape=", ".join(f"*{name}* {records.three(name, 'oneshape', 'balanced')}" for name in BOTH),
        oneshape_published=", ".join(records.three(name, "oneshape", "published") for name in BOTH),
        picture=PICTURE,
        picture_published=_range(split(PICTURE, KINDS, "published")),
        train=spread("quantification", "balanced", "train"),
        test=spread("quantification", "balanced", "test"),
        train_published=spread("quantification", "published", "train"),
        test_published=spread("quantification", "published", "test"),
        product=PRODUCT,
        product_balanced=records.three(PRODUCT, "spatial", "balanced"),
        product_published=spatial_published[0],
        first=ATTENTION[0],
        first_published=spatial_published[1],
        second=ATTENTION[1],
        second_published=spatial_published[2],
        text_spatial=_range(split(TEXT, ["spatial"], "published")),
        attention=_range(attention),
    )


PARTS: dict[str, Callable[[_Records], str]] = {"control": beside_the_control, "splits": by_data_set}


def said(part: str, runs: Sequence[StudyRun]) -> str:
    """One list of sentences."""
    return PARTS[part](_Records(runs))
