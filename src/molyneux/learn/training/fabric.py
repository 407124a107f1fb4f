"""Lightning Fabric, which takes a training to its device and its arithmetic. This file is imported when a training begins."""

from molyneux.core.lazy import version_alone

# `lightning_fabric` is `lightning.fabric` without `lightning.pytorch`. It compares the version of torchmetrics with one, and uses
# nothing of it; torchmetrics imports transformers, matplotlib and SciPy, which takes as long as all the rest.
with version_alone("torchmetrics"):
    from lightning_fabric import Fabric
    from lightning_fabric.plugins.precision import MixedPrecision, Precision


def make_fabric(device: str, *, bf16: bool) -> Fabric:
    """Fabric on one device.

    Args:
        device: `cpu`, `cuda` or `mps`.
        bf16: whether to compute in bf16 where autocast does, or in 32 bits.
    """
    # As a plugin, because Fabric writes a line to the screen where mixed precision is asked for by name.
    precision = MixedPrecision("bf16-mixed", device) if bf16 else Precision()
    return Fabric(accelerator=device, devices=1, plugins=[precision])
