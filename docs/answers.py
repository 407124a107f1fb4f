"""What each study asks and what it found, in one sentence each, with numbers of its records; used by `tables.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from picked import OfModel, Pick, Runs, filled, picked
from shown import RECOMMENDED, SEEN_AND_HEARD, TEXT_TO_IMAGE, TO_TEXT

from molyneux.core.reader import EARLIER, readers_of
from molyneux.data.worlds.captions import CaptionReader

_MIG, _STRICT, _CORRECT = "disentanglement.mig", "coherence.strict", "prediction.accuracy"
_SHAPE = {"factor": "shape", "group": "apart"}
_BOTH = ("x1", "x2")
_LEVEL, _KIND, _VARIANT = (f"data.world.init_args.{name}" for name in ("level", "kind", "variant"))
_MEANT, _BALANCED = {"source": "meaning", "target": "agreement"}, {_KIND: "quantification", _VARIANT: "balanced"}


@dataclass(frozen=True)
class Answer:
    """The question of a study and its answer.

    Args:
        question: one sentence.
        answer: one sentence, with `{NAME}` where the number of a pick stands.
        picks: the numbers.
        claims: pairs of picks of which the first is the larger.
        tables: a score of the tables below, where the answer itself is of another record.
        captions: the version of `CaptionReader` whose code read the captions of the records, before it had a name.
    """

    question: str
    answer: str
    picks: Mapping[str, Pick | OfModel] = field(default_factory=dict)
    claims: Sequence[tuple[str, str]] = ()
    tables: Pick | None = None
    captions: str = ""


def _transfer(name: str, *, source: str, target: str, via: str | None = None) -> Pick:
    about = {**_SHAPE, "source": source, "target": target, **({"via": via} if via else {})}
    return Pick("molyneux-question-diffusion", name, "transfer.accuracy", about)


def _looking(study: str, name: str) -> Pick:
    return Pick(study, name, _CORRECT, {"source": ("image", "meaning"), "target": "agreement"}, decimals=1)


def _figure6(name: str, kind: str) -> Pick:
    where = {_KIND: kind, _VARIANT: "balanced"}
    source = ("image", "text") if name not in ("LSTM-only", "CNN-only") else ("text" if name == "LSTM-only" else "image")
    return Pick("shapeworld-figure6", name, _CORRECT, {"source": source, "target": "agreement"}, where, decimals=1)


def _incomplete(name: str, about: Mapping[str, str] = TO_TEXT) -> Pick:
    return Pick("incomplete", "MCAR", _STRICT, about, {"learn.model.class_path": f"molyneux.learn.{name}"}, decimals=1)


_LINEAR = "linear map of invariant features"


def _two_way(count: int, score: str, **about: str) -> Pick:
    """Of the study `molyneux-v1`, each training of which is asked about shapes of its own."""
    where = {"data.world.init_args.bridging.bridged": count}
    about = {"source": "touch", "target": "image", "role": "new", **about}
    return Pick("molyneux-v1", "ContrastiveEncoders", f"two_way_choice.{score}", about, where, decimals=1, shared=False)


ANSWERS: dict[str, Answer] = {
    "molyneux-v1": Answer(
        "How many shapes must be seen and felt together before others, never seen, are known from touch?",
        "Dozens, for three right choices in four: of two new shapes that are alike in elongation, compactness and unevenness, "
        "contrastive encoders choose the right one in {few} % of cases after 8 shapes were seen and felt together, in {some} % "
        "after 32 and in {most} % ({most_interval}) after 128; guessing gives {most_chance} %. A linear map of features that do "
        "not change with rotation does it in {linear} % after 32.",
        {
            "most": _two_way(128, "alike_accuracy"),
            "some": _two_way(32, "alike_accuracy"),
            "few": _two_way(8, "alike_accuracy"),
            "linear": replace(
                _two_way(32, "alike_accuracy"), study="molyneux-v1-linear", name="linear map of invariant features"
            ),
        },
        [("most", "some"), ("some", "few"), ("linear", "some")],
    ),
    "molyneux-question": Answer(
        "Is what was learned by touch and by name known by sight?",
        "No: hearts that were felt and named, and never seen, are named by touch in {felt} % of cases and by sight "
        "in {seen} %; "
        "a path through the name still joins the two senses, with {bridge} % of hearts.",
        {
            "felt": _transfer("never-seen", source="touch", target="text"),
            "seen": _transfer("never-seen", source="image", target="text"),
            "bridge": _transfer("bridged", source="image", via="text", target="touch"),
        },
        [("felt", "seen"), ("bridge", "seen")],
        captions="1",
    ),
    "ynoc": Answer(
        "Which text VAE puts each factor of a sentence into one number of its code?",
        "Of nine published models none does: the best of them, MAT-0.1, has a recommended MIG of {mat} ({mat_interval}) on "
        "fresh seeds.",
        {"mat": Pick("ynoc-confirm", "MAT-0.1", _MIG, RECOMMENDED, decimals=2)},
    ),
    "ynoc-slots": Answer(
        "Is a VAE whose slots compete for words better than MAT, and by how much?",
        "Yes: with fresh seeds on a fresh split the recommended MIG (mutual information gap, 1 at best) of slots-12 is {slots}, "
        "that of MAT-0.1 {mat} ({mat_interval}), and {wide} where its code has as many dimensions; guessing gives {mat_chance}.",
        {
            "slots": Pick("ynoc-confirm", "slots-12", _MIG, RECOMMENDED, decimals=2),
            "mat": Pick("ynoc-confirm", "MAT-0.1", _MIG, RECOMMENDED, decimals=2),
            "wide": Pick("ynoc-confirm", "MAT-0.1-of-12", _MIG, RECOMMENDED, decimals=2),
        },
        [("slots", "mat"), ("slots", "wide")],
    ),
    "pos": Answer(
        "Does it hold for longer sentences with eight factors?",
        "Yes: with fresh seeds on a fresh split the recommended MIG of slots-10 is {slots}, that of beta-0.4, the "
        "best published model, {beta}.",
        {
            "slots": Pick("pos-confirm", "slots-10", _MIG, RECOMMENDED, decimals=2),
            "beta": Pick("pos-confirm", "beta-0.4", _MIG, RECOMMENDED, decimals=2),
        },
        [("slots", "beta")],
    ),
    "letters": Answer(
        "If a code is ideal, does the decoder change one letter at a time?",
        "Only if it can tell the values apart: with eight octaves {octaves} % of the steps along one dimension "
        "change one letter, at the "
        "published size {published} %.",
        {
            name: Pick("ideal-generator", name, "homotopy.single_change", {"modality": "text", "path": "dimension-wise"})
            for name in ("octaves", "published")
        },
        [("octaves", "published")],
    ),
    "downstream": Answer(
        "Do codes of texts, learned without labels, tell the topic of a news item?",
        "The nets decide more than the objective, and no code is told apart from counting the words of the text.",
    ),
    "level-5": Answer(
        "Can a small model draw a textured figure that its caption describes?",
        "Yes, with a hand-made window that finds the figure: of the pictures that `cdsprites-level5` draws from captions "
        "{drawn} % ({drawn_interval}) have every factor right by the exact reader and {judge} % by the judge, where guessing "
        "gives {drawn_chance} %.",
        {
            "drawn": OfModel("cdsprites-level5", _STRICT, TEXT_TO_IMAGE),
            "judge": OfModel("cdsprites-level5", f"{_STRICT}_judge", TEXT_TO_IMAGE),
        },
        tables=Pick("latent-diffusion", "latent-diffusion", _STRICT, TEXT_TO_IMAGE),
    ),
    "level-5-parts": Answer(
        "Which part of the model of level 5 makes its pictures right?",
        "The attention window: without it {without} % of pictures drawn from captions are right, with it {with_window} % "
        "after as many steps.",
        {
            "with_window": Pick("latent-diffusion-ablations", "full", _STRICT, TEXT_TO_IMAGE),
            "without": Pick("latent-diffusion-ablations", "no-window", _STRICT, TEXT_TO_IMAGE),
        },
        [("with_window", "without")],
    ),
    "level-5-touch": Answer(
        "Can the same model have a sense of touch too?",
        "Yes: with touch as a third modality {drawn} % of pictures drawn from captions have every factor right.",
        {"drawn": Pick("latent-diffusion-touch", "latent-diffusion-touch", _STRICT, TEXT_TO_IMAGE)},
    ),
    "cdsprites": Answer(
        "Which of four multimodal VAEs fits its pictures to its captions, on levels 1 to 3?",
        "DMVAE with a prior fitted to its codes: on level 2, {tuned} % of pictures have every factor right, and "
        "{plain} % of DMVAE's without.",
        {
            name: Pick("cdsprites", label, _STRICT, TEXT_TO_IMAGE, {_LEVEL: 2})
            for name, label in (("tuned", "DMVAE-tuned"), ("plain", "DMVAE"))
        },
        [("tuned", "plain")],
    ),
    "generative": Answer(
        "Which of seven multimodal VAEs works in both directions on CdSprites+?",
        "DMVAE writes captions and draws nearest to them; mixtures write captions and draw means; after 6,000 steps "
        "hardly any picture "
        "shows its caption.",
    ),
    "generative-gebid": Answer(
        "Do the seven models do the same on GeBiD?",
        "Here DMVAE draws what captions say, {dmvae} % on level 2, and mixtures draw means, MMVAE {mmvae} %.",
        {name: Pick("generative-gebid", name.upper(), _STRICT, TEXT_TO_IMAGE, {_LEVEL: 2}) for name in ("dmvae", "mmvae")},
        [("dmvae", "mmvae")],
    ),
    "real-senses": Answer(
        "Do the orders of published models hold on clothes, PolyMNIST and spoken digits?",
        "In parts: more inputs help as published, the order of the models differs, and DMVAE alone is above "
        "guessing in all six "
        "directions of spoken digits.",
    ),
    "incomplete": Answer(
        "Which model should one train where half of the images or captions are missing?",
        "To write captions, MMVAE: with half of each modality missing at random it still writes {mmvae} % of captions right, "
        "MoPoE {mopoe} %, MVTCAE {mvtcae} % and MVAE {mvae} %, guessing {mmvae_chance} % (one training each); no model learns "
        "a shape whose views are missing because of that shape, and none draws pictures of captions.",
        {name.lower(): _incomplete(name) for name in ("MMVAE", "MoPoE", "MVTCAE", "MVAE")}
        | {"drawn": _incomplete("MMVAE", TEXT_TO_IMAGE)},
        [("mmvae", "mopoe"), ("mopoe", "mvtcae"), ("mvtcae", "mvae")],
        captions="1",
    ),
    "limits": Answer(
        "Why do pictures of captions fail?",
        "Private codes are drawn from regions without training codes, and figures stay unreadable: a fitted prior "
        "cures the first alone.",
    ),
    "codes": Answer(
        "Do codes of pictures and captions have one dimension for each factor?",
        "No: no mean of the MIG is far above chance for any model, and nothing in their objectives asks for it.",
    ),
    "interactions": Answer(
        "Which fusion can use information that only both modalities together hold?",
        "Those that multiply, or have a hidden layer behind the fusion: low-rank tensors tell {tensor} % of the "
        "parity of two bits and a late sum {late} %, where guessing gives "
        "{late_chance} %.",
        {
            name: Pick("interactions", label, _CORRECT, {"source": _BOTH, "target": "synergy"}, decimals=1)
            for name, label in (("tensor", "LRTF"), ("late", "LF"))
        },
        [("tensor", "late")],
    ),
    "av-mnist": Answer(
        "Which fusion of a damaged picture and a noisy sound tells the digit best?",
        "Late fusion with the right optimiser ({late} %) is not apart from gradient blending ({blend} %), the "
        "highest; the image alone "
        "has {image} %.",
        {
            "late": Pick("av-mnist", "LF-SGD", _CORRECT, SEEN_AND_HEARD, decimals=1),
            "blend": Pick("av-mnist", "GradBlend", _CORRECT, SEEN_AND_HEARD, decimals=1),
            "image": Pick("av-mnist", "image", _CORRECT, {"source": "image", "target": "label"}, decimals=1),
        },
        [("blend", "late"), ("late", "image")],
    ),
    "stocks": Answer(
        "Do several shares together say more of tomorrow's volatility than one alone?",
        "Nothing shows that they do: no model of all shares is told apart from the model of the predicted share alone.",
    ),
    "push": Answer(
        "Which sense tells where a pushed puck is, and what if the camera fails?",
        "The camera tells nearly all, and no fusion falls back on the other senses when it gets noisy.",
    ),
    "broken-senses": Answer(
        "How fast does a model get worse when a sense gets noisy or goes missing?",
        "It depends on the training more than on the fusion; no fusion trained without noise falls back on the "
        "sense that is left.",
    ),
    "shapeworld-figure6": Answer(
        "Do the models of ShapeWorld's paper see, or do their captions give the answer away?",
        "On balanced data the caption alone gives {blind} %, which is guessing, and the best of the paper's models "
        "has {best} % on QUANTIFICATION, below the {counts} % of counts without binding.",
        {
            "counts": Pick("shapeworld-figure6-unbound", "unbound counts", _CORRECT, _MEANT, _BALANCED, decimals=1),
        }
        | {
            name: _figure6(label, "quantification")
            for name, label in (
                ("blind", "LSTM-only"),
                ("best", "HCA-alternating"),
                ("parallel", "HCA-parallel"),
                ("product", "CNN-LSTM-Mult"),
            )
        },
        [("counts", "best"), ("best", "blind"), ("best", "parallel"), ("best", "product")],
    ),
    "shapeworld-concepts": Answer(
        "Can a small model solve balanced ShapeWorld?",
        "Yes, given the tree of the caption: {oneshape} % on ONESHAPE, {spatial} % on SPATIAL, {multishape} % on "
        "MULTISHAPE and {quantification} % on QUANTIFICATION.",
        {
            name: _looking(f"shapeworld-concepts{part}", name)
            for part, name in (("", "oneshape"), ("", "spatial"), ("-counts", "multishape"), ("-counts", "quantification"))
        },
    ),
    "shapeworld-checks": Answer(
        "Does ShapeWorld keep what it promises?",
        "Yes, on large samples: captions are true as they say, have one meaning, and neither caption nor picture "
        "gives the answer away.",
    ),
}
"""By the name of a page of results."""


def answered(name: str, runs_of: Runs) -> str:
    """The question of a study and its answer, as the head of its page."""
    answer = ANSWERS[name]
    earlier = {modality for pick in answer.picks.values() for modality in _read_earlier(pick, runs_of)}
    if "text" in earlier and answer.captions == CaptionReader.version:
        note = "Captions were read as today's reader reads them, pictures and contours by an earlier, unnamed reader"
    elif earlier:
        note = "Read by an earlier, unnamed reader"
    elif answer.tables and _read_earlier(answer.tables, runs_of):
        note = "The tables below were read by an earlier, unnamed reader"
    else:
        note = ""
    note = f"\n*{note}: [what limits it](#what-limits-it).*\n" if note else ""
    return f"*{answer.question}*\n\n**{said(name, runs_of)}**\n{note}"


def said(name: str, runs_of: Runs) -> str:
    """The answer of a study."""
    answer = ANSWERS[name]
    return filled(answer.answer, answer.picks, runs_of, answer.claims)


def _read_earlier(pick: Pick | OfModel, runs_of: Runs) -> set[str]:
    """The modalities of a score that an earlier, unnamed reader read."""
    return {modality for modality, reader in readers_of(picked(pick, runs_of).first).items() if reader == EARLIER}
