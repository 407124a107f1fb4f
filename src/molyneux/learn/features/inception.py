"""The Inception network of the Fréchet Inception Distance, for weights in a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from molyneux.core import SpecError

CLASSES = 1008
"""Outputs of the classifier of the published network, by which its weights are known."""
WIDTH = 2048
"""Features."""
_SIDE = 299

_Layer = tuple[str, int, int | tuple[int, int], int]
"""Name, outputs, size and stride of a convolution. Those of stride 1 keep the size of the map."""
_Branch = Sequence[Sequence[_Layer]]
"""Layers one after the other; several at one place stand side by side, and their outputs are joined."""


def _pooled(width: int) -> list[_Branch]:
    """The first block of maps of 35 x 35; the pooling branch has `width` outputs."""
    return [
        [[("branch1x1", 64, 1, 1)]],
        [[("branch5x5_1", 48, 1, 1)], [("branch5x5_2", 64, 5, 1)]],
        [[("branch3x3dbl_1", 64, 1, 1)], [("branch3x3dbl_2", 96, 3, 1)], [("branch3x3dbl_3", 96, 3, 1)]],
        [[("branch_pool", width, 1, 1)]],
    ]


def _factored(width: int) -> list[_Branch]:
    """Blocks of maps of 17 x 17, whose convolutions of 7 x 7 are split into rows and columns of `width` maps."""
    rows, columns = (1, 7), (7, 1)
    long = [("branch7x7dbl_2", width, columns), ("branch7x7dbl_3", width, rows), ("branch7x7dbl_4", width, columns)]
    return [
        [[("branch1x1", 192, 1, 1)]],
        [[("branch7x7_1", width, 1, 1)], [("branch7x7_2", width, rows, 1)], [("branch7x7_3", 192, columns, 1)]],
        [[("branch7x7dbl_1", width, 1, 1)], *([(*layer, 1)] for layer in long), [("branch7x7dbl_5", 192, rows, 1)]],
        [[("branch_pool", 192, 1, 1)]],
    ]


_WIDE: list[_Branch] = [
    [[("branch1x1", 320, 1, 1)]],
    [[("branch3x3_1", 384, 1, 1)], [("branch3x3_2a", 384, (1, 3), 1), ("branch3x3_2b", 384, (3, 1), 1)]],
    [
        [("branch3x3dbl_1", 448, 1, 1)],
        [("branch3x3dbl_2", 384, 3, 1)],
        [("branch3x3dbl_3a", 384, (1, 3), 1), ("branch3x3dbl_3b", 384, (3, 1), 1)],
    ],
    [[("branch_pool", 192, 1, 1)]],
]

_BLOCKS: Mapping[str, tuple[list[_Branch], str]] = {
    "Mixed_5b": (_pooled(32), "average"),
    "Mixed_5c": (_pooled(64), "average"),
    "Mixed_5d": (_pooled(64), "average"),
    "Mixed_6a": (
        [
            [[("branch3x3", 384, 3, 2)]],
            [[("branch3x3dbl_1", 64, 1, 1)], [("branch3x3dbl_2", 96, 3, 1)], [("branch3x3dbl_3", 96, 3, 2)]],
        ],
        "halve",
    ),
    "Mixed_6b": (_factored(128), "average"),
    "Mixed_6c": (_factored(160), "average"),
    "Mixed_6d": (_factored(160), "average"),
    "Mixed_6e": (_factored(192), "average"),
    "Mixed_7a": (
        [
            [[("branch3x3_1", 192, 1, 1)], [("branch3x3_2", 320, 3, 2)]],
            [
                [("branch7x7x3_1", 192, 1, 1)],
                [("branch7x7x3_2", 192, (1, 7), 1)],
                [("branch7x7x3_3", 192, (7, 1), 1)],
                [("branch7x7x3_4", 192, 3, 2)],
            ],
        ],
        "halve",
    ),
    "Mixed_7b": (_WIDE, "average"),
    "Mixed_7c": (_WIDE, "largest"),
}
"""Branches of each block, and how its last branch pools; `halve` is a branch of its own, without a convolution."""


class Convolution(nn.Module):
    """A convolution without a bias, normalisation by stored statistics, and a rectifier."""

    def __init__(self, inputs: int, outputs: int, size: int | tuple[int, int], stride: int = 1, *, padded: bool = True) -> None:
        super().__init__()
        sizes = (size, size) if isinstance(size, int) else size
        padding = (sizes[0] // 2, sizes[1] // 2) if padded and stride == 1 else (0, 0)
        self.conv = nn.Conv2d(inputs, outputs, sizes, stride, padding, bias=False)
        self.bn = nn.BatchNorm2d(outputs, eps=0.001)

    def forward(self, maps: Tensor) -> Tensor:
        """Maps (B, outputs, H, W)."""
        return functional.relu(self.bn(self.conv(maps)))


class BranchBlock(nn.Module):
    """Branches side by side, whose outputs are joined."""

    def __init__(self, inputs: int, branches: Sequence[_Branch], pool: str) -> None:
        super().__init__()
        self.branches, self.pool, self.outputs = branches, pool, inputs if pool == "halve" else 0
        for branch in branches:
            width = inputs
            for layers in branch:
                for name, outputs, size, stride in layers:
                    self.add_module(name, Convolution(width, outputs, size, stride))
                width = sum(outputs for _, outputs, _, _ in layers)
            self.outputs += width

    def forward(self, maps: Tensor) -> Tensor:
        """Maps (B, outputs, H, W)."""
        found = [functional.max_pool2d(maps, 3, 2)] if self.pool == "halve" else []
        parts = []
        for branch in self.branches:
            value = self._pooled(maps) if branch[0][0][0] == "branch_pool" else maps
            for layers in branch:
                value = torch.cat([self.get_submodule(name)(value) for name, *_ in layers], 1)
            parts.append(value)
        return torch.cat([*parts, *found], 1)

    def _pooled(self, maps: Tensor) -> Tensor:
        if self.pool == "largest":
            return functional.max_pool2d(maps, 3, 1, 1)
        return functional.avg_pool2d(maps, 3, 1, 1, count_include_pad=False)


class Inception(nn.Module):
    """The features of FID: Inception v3 as it was ported from the authors' TensorFlow network, without its classifier.

    Szegedy et al., Rethinking the Inception Architecture for Computer Vision (CVPR 2016), with what the network behind published
    numbers (Heusel et al., NeurIPS 2017) has of its own: averages over pixels inside the map only, and the largest value where
    the last block pools. Names of weights are those of torchvision, in which such weights are published.
    """

    def __init__(self) -> None:
        super().__init__()
        self.Conv2d_1a_3x3 = Convolution(3, 32, 3, 2)
        self.Conv2d_2a_3x3 = Convolution(32, 32, 3, padded=False)
        self.Conv2d_2b_3x3 = Convolution(32, 64, 3)
        self.Conv2d_3b_1x1 = Convolution(64, 80, 1)
        self.Conv2d_4a_3x3 = Convolution(80, 192, 3, padded=False)
        width = 192
        for name, (branches, pool) in _BLOCKS.items():
            block = BranchBlock(width, branches, pool)
            self.add_module(name, block)
            width = block.outputs

    def forward(self, pictures: Tensor) -> Tensor:
        """Features (B, 2048) of pictures (B, 3 or 1, H, W) in 0..1, of any size: resized to 299 pixels, scaled to -1..1."""
        resized = functional.interpolate(pictures, (_SIDE, _SIDE), mode="bilinear", align_corners=False)
        maps = self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(2 * resized.expand(-1, 3, -1, -1) - 1)))
        maps = self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(functional.max_pool2d(maps, 3, 2)))
        maps = functional.max_pool2d(maps, 3, 2)
        for name in _BLOCKS:
            maps = self.get_submodule(name)(maps)
        return torch.mean(maps, (2, 3))

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor]) -> Inception:
        """The network with weights of these names; those of classifiers are left out.

        Raises:
            SpecError: they are not the weights of this network.
        """
        classes = len(tensors["fc.bias"]) if "fc.bias" in tensors else CLASSES
        if classes != CLASSES:
            raise SpecError(
                f"expected the Inception network of FID, whose classifier has {CLASSES} outputs, got one of {classes}: "
                "its features give other numbers than those published as FID"
            )
        with torch.device("meta"):
            net = cls()
        wanted = net.state_dict()
        missing = [name for name in wanted if name not in tensors and not name.endswith("num_batches_tracked")]
        wrong = [name for name in wanted if name in tensors and tensors[name].shape != wanted[name].shape]
        if missing or wrong:
            raise SpecError(
                f"expected the weights of Inception v3, {len(missing)} are missing and {len(wrong)} have other shapes"
            )
        given = {name: tensors.get(name, torch.zeros((), dtype=torch.long)) for name in wanted}
        net.load_state_dict(
            {name: item.float() if item.is_floating_point() else item for name, item in given.items()}, assign=True
        )
        return net.eval()
