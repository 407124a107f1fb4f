"""Codes in the text study's files."""

import hashlib

import numpy as np
import pytest

from molyneux.core import DataError, StoreError
from molyneux.data import Letters, ideal_codes
from molyneux.measure.disentanglement import read_codes, write_codes


def test_the_published_file_of_ideal_codes_is_written_byte_for_byte(tmp_path):
    factors = Letters(split="published").sentences(np.arange(32_000), split="test", seed=0).codes
    write_codes(tmp_path / "toy_ideal1.csv", ideal_codes(factors, 1))
    content = (tmp_path / "toy_ideal1.csv").read_bytes()
    assert hashlib.md5(content).hexdigest()[:8] == "ac7d8ba3"
    np.testing.assert_array_equal(read_codes(tmp_path / "toy_ideal1.csv"), ideal_codes(factors, 1))


def test_what_was_written_is_read_to_the_last_bit_with_either_line_ends(tmp_path):
    codes = np.random.default_rng(0).normal(size=(100, 3)) * 10.0 ** np.arange(-150, 150, 3)[:, None]
    write_codes(tmp_path / "codes.csv", codes)
    np.testing.assert_array_equal(read_codes(tmp_path / "codes.csv"), codes)
    (tmp_path / "codes.csv").write_bytes((tmp_path / "codes.csv").read_bytes().replace(b"\n", b"\r\n"))
    np.testing.assert_array_equal(read_codes(tmp_path / "codes.csv"), codes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a header and rows of numbers"),
        ("index,dim1\n0,1.0,2.0\n", "expected a header and rows of numbers"),
        ("dim1,dim2\n0,1.0\n1,2.0\n", "expected the header index,dim1,...,dimD, got dim1,dim2"),
        ("index,d\u00e9m1\n0,1\n1,2\n", "expected a header and rows of numbers"),
        ("index\n0\n1\n", "expected the header index,dim1,...,dimD, got index"),
        ("index,dim1\n1,1.0\n0,2.0\n", "expected rows numbered 0, 1, ... in the order of the sentences"),
        ("index,dim1\n0,1.0\n1,x\n", "expected numbers in the column dim1, got string"),
        ("index,dim1\n0,true\n1,false\n", "expected numbers in the column dim1, got bool"),
        ("index,dim1\n0,1.0\n1,nan\n", r"the first \(nan\) in row 1, dimension 0"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    (tmp_path / "codes.csv").write_text(text, "latin-1")
    with pytest.raises(DataError, match=rf"codes\.csv: .*{message}"):
        read_codes(tmp_path / "codes.csv")


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(StoreError, match=r"cannot read .*codes\.csv: it is not there"):
        read_codes(tmp_path / "codes.csv")
    with pytest.raises(DataError, match="got 1 that are not"):
        write_codes(tmp_path / "codes.csv", np.array([[1.0], [np.inf]]))
    assert not list(tmp_path.iterdir())
