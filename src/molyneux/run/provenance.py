"""What a run's numbers depend on besides its settings: the package, the world, and samples and judges that lie in files."""

from __future__ import annotations

from typing import Any

from molyneux.core import ConfigError, store
from molyneux.core.config import arguments
from molyneux.data import StoredSource, World
from molyneux.run.experiment import Experiment
from molyneux.run.readers import judge_digests
from molyneux.run.samples import SPLITS
from molyneux.version import __version__

NAMES = ("package", "world", "settings", "stored", "judges")
"""What tells runs of the same experiment apart."""


def provenance(experiment: Experiment) -> dict[str, Any]:
    """Plain data without paths, recorded in the origin of every score.

    `package` is its version, `world` its name with version, `settings` everything its bytes depend on, `changed` which of
    them differ from the world's own at this level (None where samples are read from a folder), `stored` what identifies the
    content of the folder that was named, `judges` the digests of the judges, named or shipped.

    Raises:
        StoreError, CorruptFileError: a file that the experiment names is not there or damaged.
    """
    data, world = experiment.data, experiment.data.dataset
    folders = {} if data.folder is None else {split: data.folder / split for split in SPLITS}
    stored = {split: store.fingerprint(StoredSource(path, verify=False).origin) for split, path in folders.items()}
    judges = judge_digests(world, experiment.measure.judges)
    return {
        "package": __version__,
        "world": "stored samples" if world is None else world.name,
        "settings": {} if world is None else dict(world.settings),
        "changed": None if world is None or data.folder is not None else changed(world),
        **({"stored": stored} if stored else {}),
        **({"judges": judges} if judges else {}),
    }


def changed(world: World) -> list[str] | None:
    """Names of the settings in which a world differs from the same world as it comes, at the same level.

    None where it does not come without settings.
    """
    settings = dict(world.settings)
    level = {"level": settings["level"]} if "level" in arguments(type(world)) and "level" in settings else {}
    try:
        usual = type(world)(**level).settings
    except (ConfigError, TypeError):
        return None
    return sorted(name for name in {*settings, *usual} if settings.get(name) != usual.get(name))
