"""The judges that come with the package, in use: what they read in pictures and sounds as people have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from molyneux.core import UNREADABLE, ConfigError, Spec, nearest, store, views_of
from molyneux.learn.judges import Judge, shipped_file, shipped_judges
from molyneux.run.trained.readers import ViewReading, read_views


@dataclass(frozen=True, repr=False)
class TrainedJudge:
    """A trained judge: a network that reads factors in the views of a world. Made by `open_judge`.

    Args:
        name: the world, with its version, and the modality, such as `gebid-v1 image`.
        judge: the network with its record.
    """

    name: str
    judge: Judge

    def __repr__(self) -> str:
        least = min((share for level in self.accuracy.values() for share in level.values()), default=0.0)
        return f"TrainedJudge({self.name}: reads {', '.join(self.reads)}; at least {least:.1%} right)"

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the factors that it reads."""
        return tuple(factor.name for factor in self.judge.record.factors)

    @property
    def accuracy(self) -> Mapping[str, Mapping[str, float]]:
        """By level of the world, or an empty name, and factor: the accuracy on fresh samples, 0..1."""
        return self.judge.record.accuracy

    def read(self, values: Any) -> list[ViewReading]:
        """What it reads in views as people have them (`core.views_of`), one reading each; None where it abstains.

        Raises:
            DataError: what cannot be a view.
        """
        record = self.judge.record
        factors = (replace(factor, values=tuple(v for v in factor.values if v != UNREADABLE)) for factor in record.factors)
        spec, name = Spec((record.modality,), tuple(factors)), record.modality.name
        reader = self.judge.reader(spec, name, self.reads, abstain=self.judge.abstains)
        made = views_of(record.modality, values)
        return [sample[name][0] for sample in read_views({name: (reader,)}, spec, {name: made.view})]


def open_judge(judge: str | Path) -> TrainedJudge:
    """A judge, to read pictures and sounds with.

    Args:
        judge: the name of one that comes with the package (`molyneux list pretrained`), such as `gebid-v1 image`, or a file that
            `molyneux judge` wrote.

    Raises:
        ConfigError: there is no such judge. CorruptFileError: its file was altered.

    >>> open_judge("gebid-v1 image").reads
    ('shape', 'size', 'colour', 'background', 'position')
    """
    known = {f"{world} {modality}": (world, modality) for world, modality in shipped_judges()}
    if str(judge) in known:
        return TrainedJudge(str(judge), Judge.load(shipped_file(*known[str(judge)])))
    if store.is_file(Path(judge)):
        found = Judge.load(Path(judge))
        return TrainedJudge(f"{found.record.world} {found.record.modality.name}", found)
    raise ConfigError(f"expected the name of a judge or its file, got {str(judge)[:100]!r}; {nearest(str(judge), known)}")
