"""MUStARD, CMU-MOSI, UR-FUNNY and CMU-MOSEI: what speakers in videos say, and what they feel or mean by it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal, final

import numpy as np

from molyneux.core import Target, choice_problems
from molyneux.core.tooling.moved import moved
from molyneux.data.benchmarks.bases.speaker_videos import MOVED, Affect, RawWords
from molyneux.data.benchmarks.texts.raw_texts import TextUnit

Neutral = Literal["unknown", "negative"]
"""What the sign of a sentiment of 0 is."""


class Sentiment(Affect):
    """Sentiment from -3 to 3, and its sign."""

    metric = "accuracy of the sign without zeros, MAE"
    licence = "of the CMU Multimodal SDK, for research"
    widths: ClassVar[Mapping[str, int]] = {"vision": 35, "audio": 74, "text": 300}

    timed = True

    @moved(**MOVED)
    def __init__(
        self,
        folder: Path | None = None,
        *,
        file: str | None = None,
        standardise: bool = False,
        neutral: Neutral = "unknown",
        text: TextUnit = "features",
        raw: RawWords | None = None,
    ) -> None:
        problems = choice_problems(neutral=(neutral, ("unknown", "negative")))
        own = {"file": file, "standardise": standardise, "neutral": neutral}
        self._begin(folder, own, text, raw or RawWords(), problems=problems)

    @property
    def targets(self) -> tuple[Target, ...]:
        """The number `sentiment` and the class `sign`."""
        return Target("sentiment", "number", bounds=(-3.0, 3.0)), Target("sign", "class", ("negative", "positive"))

    def answers(self, labels: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """See `Affect`."""
        known = {} if self._settings["neutral"] == "negative" else {"sign": labels != 0}
        return {"sentiment": labels, "sign": (labels > 0).astype(np.int64)}, known

    def check_labels(self, labels: np.ndarray, where: str) -> None:
        """See `Affect`."""
        if (wrong := np.flatnonzero(np.abs(labels) > 3)).size:
            raise self.wrong(where, "sentiments from -3 to 3", f"{labels[wrong[0]]:g} in sample {wrong[0]}")


class _Classified(Affect):
    """One of two classes."""

    metric = "accuracy"
    widths: ClassVar[Mapping[str, int]] = {"vision": 371, "audio": 81, "text": 300}
    target: ClassVar[Target]

    @property
    def targets(self) -> tuple[Target, ...]:
        """The class."""
        return (self.target,)

    def answers(self, labels: np.ndarray) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """See `Affect`."""
        return {self.target.name: labels.astype(np.int64)}, {}

    def check_labels(self, labels: np.ndarray, where: str) -> None:
        """See `Affect`."""
        self.codes(labels, 2, where)


@final
class MUStARD(_Classified):
    """Scenes of television series, sarcastic or not: 690 segments; Castro et al. (ACL 2019).

    See `Affect` for the layout, views and settings. The file is `sarcasm.pkl`; the target is the class `sarcasm`. Raw words are
    in `sarcasm_raw_text.pkl`, which MultiBench publishes beside it.
    """

    name = "mustard-v1"
    licence = "MIT"
    origin = "Castro, Hazarika, Pérez-Rosas, Zimmermann, Mihalcea and Poria (ACL 2019)"
    page = "https://github.com/soujanyaporia/MUStARD"
    sizes = "414 / 138 / 138"
    folders = ("mustard", "sarcasm")
    default_file = "sarcasm.pkl"
    default_text_file = "sarcasm_raw_text.pkl"
    target = Target("sarcasm", "class", ("sincere", "sarcastic"))


@final
class URFunny(_Classified):
    """Punchlines of TED talks, funny or not: 16,514 segments; Hasan et al. (EMNLP 2019).

    See `Affect` for the layout, views and settings. The file is `humor.pkl`; the target is the class `humour`. Raw words of the
    punchlines are in `humor_raw_text.pkl`, which MultiBench publishes beside it, or in `language_sdk.pkl` of UR-FUNNY itself.
    """

    name = "ur-funny-v1"
    licence = "none stated; ask its authors"
    origin = "Hasan, Rahman, Zadeh, Zhong, Tanveer, Morency and Hoque (EMNLP 2019)"
    page = "https://github.com/ROC-HCI/UR-FUNNY"
    sizes = "10,598 / 2,626 / 3,290"
    folders = ("ur-funny", "humor")
    default_file = "humor.pkl"
    default_text_file = "humor_raw_text.pkl"
    target = Target("humour", "class", ("serious", "funny"))


@final
class CMUMOSI(Sentiment):
    """Opinions about films: 2,199 segments with their sentiment; Zadeh et al. (IEEE Intelligent Systems, 2016).

    See `Affect` for the layout, views and settings. The file is `mosi_raw.pkl`. Targets are the number `sentiment` from -3 to 3
    and the class `sign`, which is unknown where the sentiment is 0, as in the usual accuracy; with `neutral="negative"` it is
    negative there, as in the published training.

    Raw words are in `mosi.hdf5`, which MultiBench publishes beside it, below `words`. Computational sequences of the CMU
    Multimodal SDK (https://github.com/CMU-MultiComp-Lab/CMU-MultimodalSDK) are read too: words by segment, or those of whole
    videos, `CMU_MOSI_TimestampedWords.csd`, together with `CMU_MOSI_Opinion_Labels.csd`. The `raw_text` of the packs of MMSA
    numbers segments in another way, and is not read.

    Args:
        folder: see `Affect`.
        file: see `Affect`.
        standardise: see `Affect`.
        neutral: what the sign of a sentiment of 0 is.
        text: see `Affect`.
        raw: see `Affect`.
    """

    name = "cmu-mosi-v1"
    origin = "Zadeh, Zellers, Pincus and Morency (IEEE Intelligent Systems 31, 2016)"
    page = "http://multicomp.cs.cmu.edu/resources/cmu-mosi-dataset/"
    sizes = "1,284 / 229 / 686"
    folders = ("cmu-mosi", "mosi")
    default_file = "mosi_raw.pkl"
    default_text_file = "mosi.hdf5"


@final
class CMUMOSEI(Sentiment):
    """Opinions of many speakers: 22,777 segments with their sentiment; Zadeh et al. (ACL 2018).

    See `Affect` for the layout, views and settings, and `CMUMOSI` for the targets. The file is `mosei_raw.pkl`. Raw words are in
    `mosei.hdf5`, which MultiBench publishes beside it, or in `CMU_MOSEI_TimestampedWords.csd` with `CMU_MOSEI_Labels.csd`. The
    ids of the older pack `mosei_senti_data.pkl` are a video, a start and an end; the words between them are taken.

    Args:
        folder: see `Affect`.
        file: see `Affect`.
        standardise: see `Affect`.
        neutral: what the sign of a sentiment of 0 is.
        text: see `Affect`.
        raw: see `Affect`.
    """

    name = "cmu-mosei-v1"
    origin = "Zadeh, Liang, Poria, Cambria and Morency (ACL 2018)"
    page = "http://multicomp.cs.cmu.edu/resources/cmu-mosei-dataset/"
    sizes = "16,265 / 1,869 / 4,643"
    folders = ("cmu-mosei", "mosei")
    default_file = "mosei_raw.pkl"
    default_text_file = "mosei.hdf5"
