"""Readings carry their reader: name, version and digest."""

from types import MappingProxyType

import pytest

from molyneux.core import DataError, Score, SpecError, store
from molyneux.core.reader import EARLIER, identity, read_by, read_earlier, readers_of, require_one_reader


class Exact:
    modality, factors, accuracy, version = "image", ("shape",), MappingProxyType({"shape": 1.0}), "2"

    def read(self, view):
        raise NotImplementedError


class Learned(Exact):
    version, origin = "d1", MappingProxyType({"name": "judge of world-v1 image", "digest": "d1d2", "choice": "may abstain"})


def test_an_exact_reader_is_known_by_its_class_and_version():
    who = {"name": "Exact", "version": "2"}
    assert identity(Exact()) == {**who, "digest": store.fingerprint(who)}


def test_a_judge_is_known_by_the_digest_of_its_weights():
    assert identity(Learned()) == {"name": "judge of world-v1 image", "version": "d1", "digest": "d1d2"}


@pytest.mark.parametrize("version", ["", None, 2])
def test_a_reader_without_a_version_is_refused(version):
    reader = Exact()
    reader.version = version
    with pytest.raises(SpecError, match="expected a reader with a version"):
        identity(reader)


def test_the_origin_of_a_score_says_who_read():
    origin = {"readers": {"image": {"exact": True, **identity(Exact())}}, "second_readers": {"image": identity(Learned())}}
    assert read_by(origin) == {"image": "Exact 2", "image'": "judge of world-v1 image d1"}


@pytest.mark.parametrize(
    "reader", [{"exact": True, "accuracy": {}}, {"digest": "abc"}, "exact", {"name": "Exact", "version": ""}]
)
def test_a_record_without_the_name_of_its_reader_was_read_by_an_earlier_one(reader):
    assert read_by({"readers": {"image": reader}}) == {"image": EARLIER}


@pytest.mark.parametrize("origin", [{}, {"readers": {}}, {"readers": None}])
def test_a_score_that_rests_on_no_reading_has_no_reader(origin):
    assert read_by(origin) == {}


def test_means_over_directions_were_recorded_without_their_readers():
    old = Score("coherence.strict_by_inputs", 50.0, {"inputs": "2"})
    assert readers_of(old) == {"all modalities": EARLIER}
    assert read_earlier(old)
    assert not read_earlier(Score("coherence.letters", 50.0))


def test_scores_of_two_readers_are_refused_together():
    first, second = (
        Score("coherence.strict", 50.0, origin={"readers": {"image": {"name": "Exact", "version": version}}}) for version in "12"
    )
    require_one_reader([first, first, Score("likelihood.joint", 1.0)])
    with pytest.raises(DataError, match="of one reader of image, got readings of Exact 1 and of Exact 2"):
        require_one_reader([first, second])


@pytest.mark.parametrize(("name", "about"), [("code_use.distortion", {}), ("robustness.area", {"measure": "reconstruction.mse"})])
def test_what_compares_views_with_views_rests_on_no_reading_though_one_was_recorded(name, about):
    origin = {"readers": {"text": {"exact": True}}}
    assert not read_earlier(Score(name, 50.0, about, origin=origin))
    assert read_earlier(Score("reconstruction.strict", 50.0, origin=origin))
