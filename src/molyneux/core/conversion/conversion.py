"""What people have becomes views of a modality, and views become what people have: one pair of functions for every kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from molyneux.core import views
from molyneux.core.errors import DataError
from molyneux.core.spec import Modality

if TYPE_CHECKING:
    from molyneux.core.conversion.given import Notes


@dataclass(frozen=True)
class ConvertedViews:
    """Views that were made of strings, pictures, sounds or arrays.

    Args:
        view: (N, *modality.shape), as stored; goes into `Batch.views`.
        lengths: (N,) int64, goes into `Batch.lengths`; None where every value counts whole.
        notes: what was converted, one sentence each, such as a picture that was resized.
    """

    view: Tensor
    lengths: Tensor | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.view)


def views_of(modality: Modality, values: Any, *, rate: int | None = None) -> ConvertedViews:
    """Views of one or several values, whatever the kind of modality.

    One value is a batch of one; a list, a tuple or an array with a leading axis is a batch of several.

    - text: strings. Unicode is composed (NFC). Where symbols are characters, a capital letter that the alphabet lacks becomes a
      small one (or the reverse) and other blanks become spaces; where they are words, these are found between spaces, whatever
      their capitals, and punctuation is cut off where the vocabulary has none such. A character or a word that is unknown is
      `U+FFFD` or `<unk>` where there is such a symbol, and an error elsewhere. An empty text is padding alone. Ids (L,) or (N, L)
      are taken as they are.
    - label: symbols, whatever their capitals; whole numbers are ids.
    - image: PIL images, paths (text or `Path`) of PNG, JPEG, GIF, BMP, WebP, TIFF or PPM files, or arrays (H, W),
      (H, W, channels), (channels, H, W) and several of such. An array that fits `modality.shape` is taken as stored. Numbers are
      uint8, other integers 0..255, uint16 (divided by 257), booleans, or floats 0..1. Another size is resized by Lanczos'
      filter where the ratio of width and height fits within 1 %, else refused. Transparent parts are shown on white, EXIF
      rotation is applied, palettes and CMYK become RGB, colour becomes grey by ITU-R 601 and grey becomes three equal channels;
      of an animation the first frame is taken.
    - audio: arrays (n,), (channels, n) or (n, channels), paths of WAV files, or pairs (rate, array). Integers of 8, 16 and 32
      bits become floats from -1 to 1, several channels their mean where the modality has one; an array that may be as many whole
      sounds is refused. A sound of another rate than that of the modality is resampled (`scipy.signal.resample_poly`); one that
      is too long is cut.
    - series, set, tabular: arrays of the modality's shape, or shorter along the axis of lengths, as `lengths` then says.
    - video: arrays (T, C, H, W) or (T, H, W, C), or lists of pictures; frames as for image.

    Args:
        modality: a part of a `Spec`.
        values: one value or several.
        rate: for audio: samples per second; by default those of the modality. Where neither is known, sounds are taken at their
            own rate, and that is told.

    Raises:
        DataError: what cannot be a view: says what was expected, what came, and what to do.
        StoreError: a path of no plain file. CorruptFileError: a damaged file of sound.

    >>> views_of(Modality("text", "text", (6,), "uint8", (" ", "a", "e", "h", "r", "t"), 0), "Heart").view.tolist()
    [[3, 2, 1, 4, 5, 0]]
    """
    from molyneux.core.conversion.given import require_some  # a training only turns views into values

    _require_modality(modality)
    require_some(modality, values)
    view, lengths, notes = _converted(modality, values, rate)
    return ConvertedViews(view, lengths, notes.told(len(view)))


def _converted(modality: Modality, values: Any, rate: int | None) -> tuple[Tensor, Tensor | None, Notes]:
    if modality.symbols:
        from molyneux.core.conversion import texts

        return (texts.text_views if modality.kind == "text" else texts.label_views)(modality, values)
    if modality.kind == "audio":
        from molyneux.core.conversion.sounds import audio_views

        return audio_views(modality, values, rate)
    if modality.kind == "image":
        from molyneux.core.conversion.images import image_views

        return image_views(modality, values)
    from molyneux.core.conversion import numbers

    return numbers.video_views(modality, values) if modality.kind == "video" else numbers.number_views(modality, values)


def values_of(modality: Modality, view: Tensor | np.ndarray, lengths: Tensor | None = None) -> list[Any]:
    """What views show, one value each; the inverse of `views_of`.

    PIL images for image (mode `L` for one channel, `RGB`, `RGBA`), strings for text (`views.text_strings`), symbols for label,
    and arrays for the others, cut to their lengths. Pictures of other numbers of channels are arrays (C, H, W).

    Args:
        modality: a part of a `Spec`.
        view: (N, *modality.shape), as stored or as a model generates it.
        lengths: (N,) as `Batch.lengths` has them.

    Raises:
        DataError: another shape, ids that are no symbols, or pictures of numbers that are not finite.
    """
    _require_modality(modality)
    found = _require_view(modality, view)
    if modality.kind == "text":
        return views.text_strings(modality, found.long(), lengths)
    if modality.kind == "label":
        return [modality.symbols[number] for number in found.tolist()]
    arrays = views.to_stored(modality, found).numpy()
    if modality.kind == "image":
        return _pictures(arrays) if modality.shape[0] in (1, 3, 4) else list(arrays)
    if lengths is None or modality.length_axis is None:
        return list(arrays)
    before = (slice(None),) * modality.length_axis
    return [array[(*before, slice(length))] for array, length in zip(arrays, lengths.tolist(), strict=True)]


def _pictures(view: np.ndarray) -> list[Any]:
    """Pictures (N, C, H, W), uint8 or floats 0..1, with 1, 3 or 4 channels, as PIL images."""
    from molyneux.core.image_files import image_of

    levels = view if view.dtype == np.uint8 else np.rint(np.clip(view, 0, 1) * 255).astype(np.uint8)
    return [image_of(picture) for picture in levels]


def _require_modality(modality: object) -> None:
    if not isinstance(modality, Modality):
        raise DataError(f"expected a Modality, such as spec.modality('image'), got {str(modality)[:60]!r}: take it from the Spec")


def _require_view(modality: Modality, view: Tensor | np.ndarray) -> Tensor:
    """A view on the processor, of the right shape and with values that can be shown."""
    from torch import as_tensor

    found = as_tensor(view).detach().cpu()
    if tuple(found.shape[1:]) != modality.shape:
        expected = f"(N, {', '.join(map(str, modality.shape))})".replace(", )", ",)")
        raise DataError(
            f"modality {modality.name}: expected a view of shape {expected}, got {tuple(found.shape)}: pass whole batches"
        )
    if modality.symbols and found.numel():
        if found.is_floating_point():
            raise DataError(f"modality {modality.name}: expected ids, got {found.dtype}: take the most likely symbols first")
        low, high = (int(end) for end in found.aminmax())
        if low < 0 or high >= len(modality.symbols):
            wrong = low if low < 0 else high
            raise DataError(
                f"modality {modality.name}: expected ids 0..{len(modality.symbols) - 1}, got {wrong}: correct the view"
            )
    if modality.kind in ("image", "video") and found.is_floating_point() and not bool(found.isfinite().all()):
        raise DataError(f"modality {modality.name}: expected finite numbers, got NaN or infinity: see why the model gives them")
    return found
