"""Masks become RGB pictures, compiled, whole batches: `paint` as in CdSprites, `colour_masks` as in GeBiD.

The steps of `paint` are those of the published generator (`data_proc/cdSprites.py`), each a table of 256 values that is looked
up once per pixel: the shape's texture is brightened to 125..255 and coloured; the picture is stretched to 0..255 over all
channels; a shaded background is put wherever the shape is not; the picture is stretched again. Because of the first stretch
a colour's brightest point has its largest channel at 255: an RGB value is a ratio.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from molyneux.core.tooling.compiled import compiled

BRIGHTEN = 125
"""What is added to a texture, up to 255, before it is coloured or taken as a light background."""

_GREY = np.arange(256)

LIGHT = np.minimum(_GREY + BRIGHTEN, 255).astype(np.uint8)
"""Light background by grey value: 125..255."""

DARK_CLEAN = (_GREY * 55 // 255).astype(np.uint8)
"""Dark background by grey value: 0..55, the range of the published intention (minus 200), with the whole texture kept."""

DARK_PUBLISHED = np.where(_GREY < 200, 56, np.where(_GREY == 200, 0, _GREY)).astype(np.uint8)
"""Dark background as the published code makes it by unsigned overflow: flat 56 with bright speckles."""


class Paint(NamedTuple):
    """What to put on masks, one row a picture.

    Args:
        colour: (n, 3) float64 RGB, 0..255, not all 0.
        front: (n, 4) int64 texture of the shape: number, symmetry 0..7, rows and columns to roll.
        back: (n, 4) int64 the same for the background.
        ground: (n,) int64 row of `shades`; -1 leaves the background black.
        shades: (g, 256) uint8 background by grey value.
        noise: (n,) float64 of [0, 1), which background noise.
        amplitude: largest grey noise of the background, 0..255; 0 for none.
    """

    colour: np.ndarray
    front: np.ndarray
    back: np.ndarray
    ground: np.ndarray
    shades: np.ndarray
    noise: np.ndarray
    amplitude: float


@compiled
def roughen(grounds: np.ndarray, numbers: np.ndarray, amplitude: float) -> None:
    """Add grey noise to backgrounds (n, S, S) uint8 in place: uniform on -amplitude..amplitude, by a number of [0, 1) each."""
    for row in range(len(grounds)):
        _roughen(grounds[row], numbers[row], amplitude)


@compiled
def paint(masks: np.ndarray, bank: np.ndarray, what: Paint, out: np.ndarray) -> None:
    """Paint masks (n, S, S) uint8 with textures of `bank` (t, S, S) uint8 into `out` (n, 3, S, S) uint8."""
    colour, front, back, ground, shades, noise, amplitude = what
    inks, tones = np.empty((3, 256), np.uint8), np.empty(256, np.uint8)
    for row in range(len(masks)):
        mask, texture = masks[row], bank[front[row, 0]]
        top, bottom = _rows(mask)
        near, far = np.empty((bottom - top, mask.shape[1]), np.uint8), out[row, 0]
        _lay(texture, front[row], top, near)
        darkest, brightest = _extremes(mask[top:bottom], near)
        _dye(colour[row], brightest, inks)
        _back(bank[back[row, 0]], back[row], ground[row], shades, far)
        if amplitude > 0.0:
            _roughen(far, noise[row], amplitude)
        low = min(inks[0, darkest], inks[1, darkest], inks[2, darkest]) if ground[row] >= 0 else 0
        if low > 0:
            low = min(low, _lowest(mask, far))
            _stretch(low, inks, tones)
            _look_up(tones, far)
        for channel in range(1, 3):
            _copy(far, out[row, channel])
        _blend(mask[top:bottom], near, inks, out[row, :, top:bottom])


@compiled
def _rows(mask: np.ndarray) -> tuple[int, int]:
    """First row of the shape, and the one after its last."""
    top, bottom = 0, mask.shape[0]
    while top < bottom and _empty(mask[top]):
        top += 1
    while bottom > top and _empty(mask[bottom - 1]):
        bottom -= 1
    return top, bottom


@compiled
def _empty(row: np.ndarray) -> bool:
    """Whether a row has no shape; without an early exit, so that it is compiled to wide instructions."""
    found = np.uint8(0)
    for j in range(len(row)):
        found |= row[j]
    return bool(found == 0)


@compiled
def _lay(texture: np.ndarray, how: np.ndarray, top: int, out: np.ndarray) -> None:
    """Copy rows of a texture from `top`, after rolling, and turning or mirroring it in one of a square's eight ways."""
    if how[1] & 4:
        _lay_rows(texture.T, how, top, out)
    else:
        _lay_rows(texture, how, top, out)


@compiled
def _lay_rows(texture: np.ndarray, how: np.ndarray, top: int, out: np.ndarray) -> None:
    side, symmetry, right = texture.shape[0], how[1], how[3]
    for i in range(out.shape[0]):
        y = (top + i + how[2]) % side
        y = side - 1 - y if symmetry & 1 else y
        if symmetry & 2:
            for j in range(side - right):
                out[i, j] = texture[y, side - 1 - right - j]
            for j in range(right):
                out[i, side - right + j] = texture[y, side - 1 - j]
        else:
            for j in range(side - right):
                out[i, j] = texture[y, right + j]
            for j in range(right):
                out[i, side - right + j] = texture[y, j]


@compiled
def _back(texture: np.ndarray, how: np.ndarray, ground: int, shades: np.ndarray, far: np.ndarray) -> None:
    """Fill the background: black, or a shaded texture."""
    if ground < 0:
        for i in range(far.shape[0]):
            for j in range(far.shape[1]):
                far[i, j] = 0
        return
    _lay(texture, how, int(np.int64(0)), far)  # a literal would compile `_lay` for itself
    _look_up(shades[ground], far)


@compiled
def _copy(far: np.ndarray, out: np.ndarray) -> None:
    """Copy by loops: an assignment of arrays would compile the error of shapes that differ, which takes seconds."""
    for i in range(far.shape[0]):
        for j in range(far.shape[1]):
            out[i, j] = far[i, j]


@compiled
def _look_up(table: np.ndarray, far: np.ndarray) -> None:
    for i in range(far.shape[0]):
        for j in range(far.shape[1]):
            far[i, j] = table[far[i, j]]


@compiled
def _extremes(mask: np.ndarray, near: np.ndarray) -> tuple[int, int]:
    """Darkest and brightest grey of the texture where the shape is."""
    low, high = 255, 0
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            if mask[i, j] > 0:
                low, high = min(low, near[i, j]), max(high, near[i, j])
    return min(low, high), high


@compiled
def _dye(colour: np.ndarray, brightest: int, inks: np.ndarray) -> None:
    """RGB by grey value of the texture, so that the brightest point's largest channel is 255."""
    peak = min(brightest + BRIGHTEN, 255) * max(colour[0], colour[1], colour[2])
    for channel in range(3):
        for grey in range(256):
            value = 255.0 * min(grey + BRIGHTEN, 255) * colour[channel] / peak + 0.5
            inks[channel, grey] = int(min(value, 255.0))


@compiled
def _roughen(far: np.ndarray, number: float, amplitude: float) -> None:
    """Add grey noise, uniform on -amplitude..amplitude, clipped to 0..255 (SplitMix64; Steele et al., OOPSLA 2014)."""
    state = np.uint64(number * 9007199254740992.0)
    for i in range(far.shape[0]):
        for j in range(far.shape[1]):
            state = state + np.uint64(0x9E3779B97F4A7C15)
            z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            uniform = float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
            far[i, j] = int(min(max(far[i, j] + (2.0 * uniform - 1.0) * amplitude + 0.5, 0.0), 255.0))


@compiled
def _lowest(mask: np.ndarray, far: np.ndarray) -> int:
    """Darkest background where the shape does not hide it."""
    low = 255
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            if mask[i, j] < 255:
                low = min(low, far[i, j])
    return low


@compiled
def _stretch(low: int, inks: np.ndarray, tones: np.ndarray) -> None:
    """Stretch low..255 to 0..255: in place for `inks`, into `tones` for the background."""
    scale = 255.0 / max(255 - low, 1)
    for grey in range(256):
        tones[grey] = int(max(grey - low, 0) * scale + 0.5)
    for channel in range(3):
        for grey in range(256):
            inks[channel, grey] = tones[inks[channel, grey]]


@compiled
def _blend(mask: np.ndarray, near: np.ndarray, inks: np.ndarray, out: np.ndarray) -> None:
    """Put the shape's inks over the background by coverage, rounding to nearest."""
    for i in range(mask.shape[0]):
        for j in range(mask.shape[1]):
            cover = int(mask[i, j])
            if cover == 255:
                for channel in range(3):
                    out[channel, i, j] = inks[channel, near[i, j]]
            elif cover > 0:
                for channel in range(3):
                    out[channel, i, j] = (cover * inks[channel, near[i, j]] + (255 - cover) * out[channel, i, j] + 127) // 255


@compiled
def colour_masks(masks: np.ndarray, ink: np.ndarray, ground: np.ndarray, out: np.ndarray) -> None:
    """Colour masks (n, S, S) with inks (n, 3) on grey grounds (n, S, S), by coverage, into `out` (n, 3, S, S); all uint8."""
    for row in range(len(masks)):
        for channel in range(3):
            colour = int(ink[row, channel])
            for i in range(masks.shape[1]):
                for j in range(masks.shape[2]):
                    cover = int(masks[row, i, j])
                    out[row, channel, i, j] = (cover * colour + (255 - cover) * ground[row, i, j] + 127) // 255
