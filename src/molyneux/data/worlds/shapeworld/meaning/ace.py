"""Sentences that a grammar has for the meaning of a caption, by the processor ACE, for users who have both."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from molyneux.core import ConfigError, DataError
from molyneux.data.worlds.shapeworld.meaning.dmrs import mrs_of, pydelphin
from molyneux.data.worlds.shapeworld.meaning.trees import Tree


def realise_with_ace(tree: Tree, grammar: Path, *, executable: str | Path = "ace", arguments: Sequence[str] = ()) -> list[str]:
    """Sentences that a grammar has for a statement, best first, made by the processor ACE.

    Nothing else needs ACE or a grammar: captions are said by rules of this package.

    Args:
        tree: a statement.
        grammar: image of a grammar that ACE compiled, such as the ERG. It needs the words of the caption.
        executable: name or path of ACE.
        arguments: of the command line, such as ("-n", "1").

    Raises:
        ConfigError: PyDelphin, ACE or the grammar are missing. DataError: no statement, or the grammar has no sentence for it.
    """
    meaning = mrs_of(tree)
    problems = []
    if shutil.which(executable) is None:
        problems.append(
            f"executable: found no program {str(executable)!r}; install ACE (the Answer Constraint Engine, see "
            "sweaglesw.org/linguistics/ace), or give the path of its executable"
        )
    if not Path(grammar).is_file():
        problems.append(
            f"grammar: found no file {str(grammar)!r}; expected the image of a grammar for this version of ACE, such as one from "
            "a release of the English Resource Grammar (github.com/delph-in/erg), or `ace -g ace/config.tdl -G erg.dat` makes one"
        )
    if problems:
        raise ConfigError(problems)
    with tempfile.TemporaryFile("w+") as errors:
        ace, text = pydelphin("ace"), pydelphin("codecs.simplemrs").encode(meaning)
        try:
            with ace.ACEGenerator(grammar, list(arguments), str(executable), stderr=errors) as generator:
                answer = generator.interact(text)
            generator._p.stdout.close()  # PyDelphin 1.11 leaves it open
        except (OSError, subprocess.CalledProcessError, ace.ACEProcessError) as error:
            raise ConfigError(f"executable: {str(executable)!r} does not run as ACE does: {error}") from error
        except ValueError as error:
            raise ConfigError(f"arguments: {error}; expected options of ACE, such as '-n', '1'") from error
        errors.seek(0)
        told = [*answer["ERRORS"], *answer["WARNINGS"], *errors.read().splitlines()]
    sentences = [result.get("surface") or result["SENT"] for result in answer.results()]
    if not sentences:
        raise DataError(f"the grammar {grammar} has no sentence for {tree}" + (f"; ACE says: {'; '.join(told)}" if told else ""))
    return sentences
