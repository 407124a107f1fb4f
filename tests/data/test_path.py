"""How many files of the package a picture passes on its way from the seed."""

import sys
from pathlib import Path

import numpy as np

import molyneux
from molyneux.data import CdSprites

PACKAGE = Path(molyneux.__file__).parent


def test_a_picture_passes_few_files():
    """Only what describes and makes the chosen views runs, so captions and contours do not where a world has pictures alone."""
    world = CdSprites(level=5, modalities=("image",))
    world.batch(np.arange(2), split="train", seed=0)  # compiles, and makes the textures
    passed = set()

    def note(frame, event, argument):
        if event == "call":
            passed.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        world.batch(np.arange(2), split="train", seed=1)
    finally:
        sys.setprofile(None)
    files = sorted(Path(name).relative_to(PACKAGE).as_posix() for name in passed if Path(name).is_relative_to(PACKAGE))
    kernels = {"data/worlds/raster.py", "data/worlds/painting.py", "data/worlds/textures.py", "core/seeds.py"}
    assert len(kernels | set(files)) <= 12, files
    assert not {"data/worlds/captions.py", "data/worlds/touch.py"} & set(files)
