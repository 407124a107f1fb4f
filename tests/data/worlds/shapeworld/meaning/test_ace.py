"""Sentences by ACE, which a small program stands for, and what is said where it is missing."""

import stat
import sys

import pytest

from molyneux.core import ConfigError, DataError
from molyneux.data import Tree, realise_with_ace

SAMPLE = Tree.of("exists", "square", "red")
FAKE = """#!{python} -S
import re, sys
if "-V" in sys.argv:
    print("ACE version {version}")
    sys.exit({status})
print("a word to the user", file=sys.stderr)
known = open(sys.argv[sys.argv.index("-g") + 1]).read().split()
for line in sys.stdin:
    predicates = re.findall(r"\\[ ([^ ]+) LBL:", line)
    fits = set(predicates) <= set(known)
    if {tsdb}:
        print("(:results . (" + "((:result-id . 0) (:surface . \\"" + " ".join(predicates) + "\\"))" * fits + "))", flush=True)
    else:
        print(" ".join(predicates) * fits + "\\nNOTE: tsdb parse: (:results . 1)", flush=True)
"""


@pytest.fixture
def ace(tmp_path):
    """A program that speaks as ACE does and says the predicates, if the grammar has them all."""

    def write(version="0.9.34", *, status=0):
        path = tmp_path / "ace"
        path.write_text(FAKE.format(python=sys.executable, version=version, status=status, tsdb=version > "0.9.24"))
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return write


@pytest.mark.parametrize("version", ["0.9.34", "0.9.10"])
def test_ace_says_what_the_grammar_has(ace, tmp_path, version):
    grammar = tmp_path / "erg.dat"
    grammar.write_text("_a_q _be_v_there _square_n_of")
    assert realise_with_ace(Tree.of("there-is", "square"), grammar, executable=ace(version)) == ["_be_v_there _a_q _square_n_of"]
    sentences = realise_with_ace(Tree.of("there-is", "square"), grammar, executable=ace(version), arguments=("-n", "1"))
    assert len(sentences) == 1
    with pytest.raises(DataError, match=r"has no sentence for there-is\(circle\); ACE says: a word to the user"):
        realise_with_ace(Tree.of("there-is", "circle"), grammar, executable=ace(version))


def test_ace_and_the_grammar_may_be_missing(tmp_path, ace):
    with pytest.raises(ConfigError) as caught:
        realise_with_ace(SAMPLE, tmp_path / "erg.dat", executable="no-such-ace")
    assert "executable: found no program 'no-such-ace'; install ACE" in str(caught.value)
    assert "grammar: found no file" in str(caught.value)
    assert "English Resource Grammar" in str(caught.value)
    (tmp_path / "erg.dat").write_text("")
    with pytest.raises(ConfigError, match="does not run as ACE does"):
        realise_with_ace(SAMPLE, tmp_path / "erg.dat", executable=ace(status=1))
    with pytest.raises(ConfigError, match="arguments: unrecognized arguments: --speak"):
        realise_with_ace(SAMPLE, tmp_path / "erg.dat", executable=ace(), arguments=("--speak",))
    with pytest.raises(DataError, match="expected a statement"):
        realise_with_ace(Tree.of("red"), tmp_path / "erg.dat", executable=ace())
