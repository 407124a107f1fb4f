"""Predictors that see one modality: controls for what the picture or the text alone gives away."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from molyneux.core import Spec
from molyneux.learn.encoders.encoding import Encoding, ViewEncoder
from molyneux.learn.encoders.pictures.small import PaperCNN
from molyneux.learn.encoders.texts import RecurrentWords
from molyneux.learn.predictors.head import PAPER_HEAD, Head
from molyneux.learn.predictors.predictor import JoiningPredictor, modality_names
from molyneux.learn.predictors.published import Initialisation, initialise

PAPER_CNN, PAPER_LSTM = PaperCNN(), RecurrentWords("lstm")


class PictureOnly(JoiningPredictor):
    """Predicts from the picture alone: a control, and for classification a model; Kuhnle & Copestake (2017), CNN.

    The vector of the picture goes to the head. With 64x64 pixels and one agreement target it has the paper's 2,122,528 weights.

    Args:
        spec: see `Predictor`.
        trunk: encoder of the picture.
        head: see `Head`.
        image: name of the modality; needed only where the samples have several pictures.
        initialisation: "he", or "published" for the weights that the published code starts with.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        trunk: ViewEncoder = PAPER_CNN,
        head: Head = PAPER_HEAD,
        image: str = "",
        initialisation: Initialisation = "he",
    ) -> None:
        (name,) = modality_names(spec, image=image)
        super().__init__(spec, {name: trunk})
        self.answer_from(self.encoders[name].vector, head)
        initialise(self, initialisation)

    def join(self, encodings: Mapping[str, Encoding]) -> Tensor:
        """The vector of the picture."""
        return encodings[self.reads[0]].vector


class TextOnly(JoiningPredictor):
    """Predicts from the text alone: a control for what captions give away; Kuhnle & Copestake (2017), LSTM-only and its like.

    The vector of the text goes to the head. The paper's models have `words` of RecurrentWords(cell="lstm"), RecurrentWords(
    cell="gru") and BagOfWords(64); the first has 59,360 weights with 23 symbols and one agreement target.

    Args:
        spec: see `Predictor`.
        words: encoder of the text.
        head: see `Head`.
        text: name of the modality; needed only where the samples have several texts.
        initialisation: "he", or "published" for the weights that the published code starts with.
    """

    def __init__(
        self,
        spec: Spec,
        *,
        words: ViewEncoder = PAPER_LSTM,
        head: Head = PAPER_HEAD,
        text: str = "",
        initialisation: Initialisation = "he",
    ) -> None:
        (name,) = modality_names(spec, text=text)
        super().__init__(spec, {name: words})
        self.answer_from(self.encoders[name].vector, head)
        initialise(self, initialisation)

    def join(self, encodings: Mapping[str, Encoding]) -> Tensor:
        """The vector of the text."""
        return encodings[self.reads[0]].vector
