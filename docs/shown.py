"""Which scores the pages show of which studies: used by `tables.py` and `comparisons.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from molyneux.core.score import About

Shown = Sequence[tuple[str, About]]
"""Names of scores, and what they are about."""

CODE = {"source": "text", "code": "shared"}
USE = (
    ("code_use.rate", CODE),
    ("code_use.distortion", {"source": "text", "target": "text"}),
    ("code_use.active_units", CODE),
    ("code_use.hoyer", CODE),
)
"""What tables of text VAEs have: KL, Rec, active units, sparsity."""
METRICS = ("higgins", "kim_mnih", "sap", "mig", "modularity", "dci_disentanglement")
"""The six metrics of the text study."""


def metrics(variant: str, code: Mapping[str, str] = CODE) -> list[tuple[str, dict[str, str]]]:
    """The six metrics of one variant on one code, by name and what they are about."""
    return [(f"disentanglement.{name}", {**code, "variant": variant}) for name in METRICS]


TEXT_TO_IMAGE = {"source": "text", "target": "image"}
GAP = {"source": ("image", "text"), "code": "shared"}
LIMITS = (
    ("coherence.strict", {"source": "image", "target": "text"}),
    ("coherence.strict", TEXT_TO_IMAGE),
    ("coherence.strict_forced", TEXT_TO_IMAGE),
    ("coherence.unreadable", TEXT_TO_IMAGE),
    ("coherence.accuracy", {**TEXT_TO_IMAGE, "factor": "size"}),
    ("coherence.accuracy", {**TEXT_TO_IMAGE, "factor": "shape"}),
    ("posterior_gap.rate", GAP),
    ("posterior_gap.marginal_kl", GAP),
    ("posterior_gap.rate", {**GAP, "code": "private.image"}),
    ("posterior_gap.marginal_kl", {**GAP, "code": "private.image"}),
    ("posterior_gap.sliced_wasserstein", {**GAP, "code": "private.image", "reference": "prior"}),
)
LABEL = {**CODE, "target": "label"}
DOWNSTREAM = (
    *(("downstream.accuracy", {**LABEL, "classifier": name}) for name in ("published", "logistic")),
    *(("downstream.few_shot", {**LABEL, "per_class": str(count)}) for count in (1, 10, 100)),
)
NORMAL, LEGS = {"modality": "text", "path": "normal"}, {"modality": "text", "path": "dimension-wise"}
LETTERS = (
    ("code_use.distortion", {"source": "text", "target": "text"}),
    ("homotopy.ends", {"modality": "text"}),
    ("homotopy.single_change", NORMAL),
    ("homotopy.readable", NORMAL),
    ("homotopy.single_change", LEGS),
    ("homotopy.factors_per_moving_leg", LEGS),
    ("homotopy.readable", LEGS),
)
RANKING = tuple(("ranking.agreement", {**CODE, "relation": relation}) for relation in ("lasso", "spearman", "information"))
RECOMMENDED = {**CODE, "variant": "recommended"}
DCI = tuple((f"disentanglement.dci_{part}", RECOMMENDED) for part in ("disentanglement", "completeness", "informativeness"))
BEST = (("disentanglement.mig", RECOMMENDED), *DCI, *USE[:2])
LEADING = {variant: [(name, {**CODE, "variant": variant}) for name, _ in BEST[:4]] for variant in ("published", "recommended")}
"""What the README shows of a text study, by variant of the metrics."""


def by_shape(*shapes: str) -> Shown:
    """Pictures of captions, all and those of each shape."""
    values = tuple(("coherence.value_accuracy", {**TEXT_TO_IMAGE, "factor": "shape", "value": shape}) for shape in shapes)
    return (("coherence.strict", TEXT_TO_IMAGE), *values)


SHAPES = by_shape("ellipse", "square", "heart")
GEBID_SHAPES = by_shape("line", "circle", "square", "semicircle", "pieslice", "spiral")
STRUCTURE = tuple(
    ("prediction.accuracy", {"source": "meaning", "target": "agreement", **split})
    for split in ({"split": "train"}, {"split": "validation"}, {})
)
BOTH = {"source": ("image", "meaning"), "target": "agreement"}
LOOKING = (
    *(("prediction.accuracy", {**BOTH, **split}) for split in ({"split": "train"}, {"split": "validation"}, {})),
    ("systematicity.gap", {**BOTH, "splits": "train to test", "measure": "prediction.accuracy"}),
    ("contrasts.group", {"target": "agreement"}),
)
"""What models that look know of combinations that they were trained on, and of those that they were not."""
SHARES = (("MCD", "SBUX", "HSY", "HRL"), ("MRK", "CVS", "MCK", "ABT", "UNH"), ("AAPL", "MSFT", "AMZN", "INTC", "AMD", "MSI"))
FINANCE = tuple(
    (f"prediction.{name}", {"source": shares, "target": "squared return"}) for shares in SHARES for name in ("mse", "mae", "r2")
)
PUSHED = {"source": ("gripper_pos", "gripper_sensors", "control", "image"), "target": "object"}
PUSH = tuple((f"prediction.{name}", PUSHED) for name in ("mse", "mae", "r2"))
SEEN_AND_HEARD = {"source": ("image", "audio"), "target": "label"}
DIGITS = (
    *(("prediction.accuracy", {"source": source, "target": "label"}) for source in ("image", "audio", ("image", "audio"))),
    ("calibration.error", {"target": "label"}),
    *(
        ("robustness.area", {**SEEN_AND_HEARD, "measure": "prediction.accuracy", "under": under})
        for under in ("gaussian-noise of image", "gaussian-noise of audio", "missing of image + audio")
    ),
)
TO_TEXT, JOINT = {"source": "image", "target": "text"}, {"source": "prior", "target": ("image", "text")}
GENERATIVE = (
    ("coherence.strict", TO_TEXT),
    ("coherence.strict", TEXT_TO_IMAGE),
    ("coherence.strict_judge", TEXT_TO_IMAGE),
    ("coherence.strict_forced", TEXT_TO_IMAGE),
    ("samplers.strict", {**TEXT_TO_IMAGE, "prior": "loss"}),
    ("samplers.strict", {**JOINT, "prior": "loss"}),
    ("samplers.strict", {**JOINT, "prior": "fitted"}),
)
"""Views from captions and pictures by both readers, and from the prior of the loss and the fitted one. Of models without private
codes, text to image is the same with both priors."""
JUDGED = tuple(shown for shown in GENERATIVE if shown[0] != "coherence.strict_judge")
"""The same of worlds whose images the judge alone reads: `strict` is what it finds."""
DIFFUSION = (
    ("coherence.strict", TO_TEXT),
    ("coherence.strict", TEXT_TO_IMAGE),
    ("coherence.strict_judge", TEXT_TO_IMAGE),
    ("coherence.readers_agree", TEXT_TO_IMAGE),
    ("coherence.strict_forced", TEXT_TO_IMAGE),
    *(("coherence.accuracy", {**TEXT_TO_IMAGE, "factor": factor}) for factor in ("size", "shape", "position")),
    *(("samplers.strict", {**JOINT, "prior": prior}) for prior in ("redrawn", "diffusion", "fitted", "loss")),
    *(("samplers.frechet", {"source": "prior", "target": "image", "prior": prior}) for prior in ("redrawn", "fitted")),
)
"""Views from captions by both readers and by factor; joint samples from four priors, and the distance of their pictures."""
DISTANCES = tuple(
    (f"samplers.{name}", {"source": "prior", "target": "image", "prior": prior})
    for name in ("frechet", "precision", "recall")
    for prior in ("redrawn", "diffusion", "fitted")
)
SEARCHED = (("coherence.strict", TO_TEXT), ("coherence.strict_forced", TEXT_TO_IMAGE))
IMAGE_NETS = GENERATIVE[:4]
INPUTS = tuple(
    (f"coherence.{name}_by_inputs", {"inputs": str(count)}) for name in ("strict", "strict_forced") for count in (1, 2, 3, 4)
)
SIX = tuple(
    ("coherence.strict", {"source": source, "target": target})
    for source in ("image", "audio", "text")
    for target in ("image", "audio", "text")
    if source != target
)
SIX_FORCED = tuple(("coherence.strict_forced", about) for _, about in SIX if about["target"] != "text")
CLOTHES = {"target": "image"}
NATS = (
    ("likelihood.iwae", CLOTHES),
    ("likelihood.iwae", {}),
    ("likelihood.conditional_difference", {"source": "label", "target": "image"}),
    ("likelihood.conditional_difference", {"source": "image", "target": "label"}),
    ("coherence.strict", {"source": "image", "target": "label"}),
)
THREE_SENSES = tuple(
    ("coherence.strict", {"source": source, "target": target})
    for source in ("image", "text", "touch")
    for target in ("image", "text", "touch")
    if source != target
)
INCOMPLETE = (*THREE_SENSES, *(("coherence.strict_forced", about) for _, about in THREE_SENSES if about["target"] != "text"))
"""All directions of three senses, and pictures and contours by forced choice."""
CAPTIONS = (
    ("coherence.strict", TO_TEXT),
    *(
        ("coherence.value_accuracy", {**TO_TEXT, "factor": factor, "value": value})
        for factor, value in (("shape", "ellipse"), ("shape", "square"), ("shape", "heart"), ("size", "small"), ("size", "big"))
    ),
)
"""Captions of images, all and those of each shape and size."""
PATHS = (
    {"source": "image", "target": "text"},
    {"source": "image", "target": "touch"},
    {"source": "image", "via": "touch", "target": "text"},
    {"source": "touch", "target": "text"},
    {"source": "touch", "target": "image"},
)


def shapes_along(paths: Sequence[Mapping[str, str]]) -> Shown:
    """The shape at the end of each path, of samples that were kept apart in training and of the others."""
    groups = ("apart", "together")
    return tuple(("transfer.accuracy", {**path, "group": group, "factor": "shape"}) for path in paths for group in groups)


TRANSFER = shapes_along(PATHS)
"""The shape that is asked about beside the others, at the end of each path."""
NAMED_PATHS = (
    {"source": "text", "target": "image"},
    {"source": "text", "target": "touch"},
    {"source": "image", "via": "text", "target": "touch"},
    {"source": "touch", "via": "text", "target": "image"},
)
NAMED = shapes_along(NAMED_PATHS)
"""The same at the end of paths that begin with the name or lead through it."""
TOUCH = (
    *THREE_SENSES,
    *(("coherence.strict_judge", {"source": source, "target": "image"}) for source in ("text", "touch")),
    ("coherence.strict", {"source": "prior", "target": ("image", "text", "touch")}),
    *(("transfer.strict", {**PATHS[2], "group": group}) for group in ("apart", "together")),
)
"""All directions of three senses, samples of all three, and captions of touch that was generated from an image."""
SHOWN: dict[str, tuple[Shown, bool]] = {
    "": (USE, True),
    "best": (BEST, False),
    "captions": (CAPTIONS, False),
    "diffusion": (DIFFUSION, False),
    "digits": (DIGITS, False),
    "distances": (DISTANCES, False),
    "downstream": (DOWNSTREAM, False),
    "use": (USE[:3], False),
    "finance": (FINANCE, False),
    "gebid-shapes": (GEBID_SHAPES, False),
    "generative": (GENERATIVE, False),
    "incomplete": (INCOMPLETE, False),
    "inputs": (INPUTS, False),
    "judged": (JUDGED, False),
    "letters": (LETTERS, False),
    "limits": (LIMITS, False),
    "looking": (LOOKING, False),
    "named": (NAMED, False),
    "nats": (NATS, False),
    "nets": (IMAGE_NETS, False),
    "push": (PUSH, False),
    "ranking": (RANKING, False),
    "searched": (SEARCHED, False),
    "shapes": (SHAPES, False),
    "six": (SIX, False),
    "six-forced": (SIX_FORCED, False),
    "structure": (STRUCTURE, False),
    "touch": (TOUCH, False),
    "transfer": (TRANSFER, False),
    "published": (metrics("published"), False),
    "recommended": (metrics("recommended"), False),
    "recommended-image": (metrics("recommended", {"source": "image", "code": "shared"}), False),
    "recommended-joint": (metrics("recommended", GAP), False),
    "recommended-private": (metrics("recommended", {"source": "image", "code": "private.image"}), False),
}
"""Scores that a page shows of a study by what stands after its name, and whether published numbers stand beside them."""
