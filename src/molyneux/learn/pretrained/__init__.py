"""Models of the library `transformers`, from local folders, that say whether a picture and a text agree."""

from pathlib import Path

from molyneux.core import ConfigError
from molyneux.learn.pretrained.answerer import Answerer
from molyneux.learn.pretrained.dual_encoder import DualEncoder
from molyneux.learn.pretrained.folder import read_architecture
from molyneux.learn.pretrained.matcher import ImageTextMatcher
from molyneux.learn.pretrained.picture_text_model import PictureTextModel

__all__ = ["Answerer", "DualEncoder", "ImageTextMatcher", "PictureTextModel", "pretrained_class"]


def pretrained_class(folder: Path) -> type[PictureTextModel]:
    """The class of this package that takes the model in a folder.

    Raises:
        ConfigError: none does, or the folder is not such a model's; the message says which there are.
    """
    kind = read_architecture(folder)
    takers: tuple[type[PictureTextModel], ...] = (DualEncoder, ImageTextMatcher, Answerer)
    for taker in takers:
        if taker.reads(kind):
            return taker
    raise ConfigError(f"{folder}: expected {'; '.join(taker.kinds for taker in takers)}; got {kind.__name__}")
