"""Analysis by synthesis: a reader of shapes on black that was not trained, to check those that were."""

import numpy as np
import torch
from torch.nn import functional

from molyneux.data.worlds import attributes
from molyneux.data.worlds.raster import SHAPES, Figures, masks

SIDE, CROP = 64, 40
SHIFTS = np.array([(x, y) for x in np.arange(-2, 2.1, 0.5) for y in np.arange(-2, 2.1, 0.5)])
PERIODS = {"square": 4, "ellipse": 2, "heart": 1}


def bank(scales=(0.5, 1.0)):
    """Every shape, scale, orientation and place within two pixels around the middle: bool (T, 40 * 40), and shapes (T,)."""
    drawn, names = [], []
    for code, (name, period) in enumerate(PERIODS.items()):
        turns = np.arange(0, 2 * np.pi / period, 2 * np.pi / 39)
        for scale in scales:
            turn, which = (grid.ravel() for grid in np.meshgrid(turns, np.arange(len(SHIFTS)), indexing="ij"))
            centre, ones = 0.5 + SHIFTS[which] / SIDE, np.ones(len(turn))
            size = attributes.BOXES[name] / SIDE * scale * ones
            shape = np.full(len(turn), SHAPES.index(name))
            drawn.append(masks(Figures(shape, centre, size, turn, 0 * ones), SIDE) > 0)
            names.append(np.full(len(turn), code))
    edge = (SIDE - CROP) // 2
    pictures = np.concatenate(drawn)[:, edge:-edge, edge:-edge]
    return torch.from_numpy(pictures.reshape(len(pictures), -1)).float(), torch.from_numpy(np.concatenate(names))


def figures(pictures):
    """Masks (B, 40 * 40) of what is brighter than half of the brightest part, its centroid in the middle, of (B, 3, 64, 64)."""
    grey = functional.avg_pool2d(pictures.float().amax(1, keepdim=True), 3, 1, 1)[:, 0]
    peak = grey.flatten(1).quantile(0.995, 1)[:, None, None]
    mask = (pictures.float().amax(1) > 0.5 * peak).float()
    area = mask.sum((1, 2)).clamp(min=1)
    place = torch.arange(SIDE) + 0.5
    x = ((mask.sum(1) * place).sum(1) / area).round().long()
    y = ((mask.sum(2) * place).sum(1) / area).round().long()
    padded = functional.pad(mask, (CROP // 2,) * 4)
    return torch.stack([row[j : j + CROP, i : i + CROP] for row, i, j in zip(padded, x, y, strict=True)]).flatten(1)


def match(pictures, templates=None, chunk=200):
    """Best intersection over union with a template of each shape, (B, 3)."""
    drawn, names = templates or bank()
    found = []
    for part in torch.split(pictures, chunk):
        mask = figures(part)
        common = mask @ drawn.T
        overlap = common / (mask.sum(1)[:, None] + drawn.sum(1) - common)
        found.append(torch.stack([overlap[:, names == code].amax(1) for code in range(len(PERIODS))], 1))
    return torch.cat(found)


def tell(pictures, *, least=0.88, margin=0.1, templates=None):
    """The shape (B,) that is matched best, -1 where it overlaps by less than `least` or not by `margin` more than another."""
    overlap = match(pictures, templates)
    best = overlap.topk(2, 1)
    clear = (best.values[:, 0] >= least) & (best.values[:, 0] - best.values[:, 1] >= margin)
    return torch.where(clear, best.indices[:, 0], -1)
