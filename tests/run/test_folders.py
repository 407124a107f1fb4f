"""The folders of `run`: experiments know neither studies nor exports, and these do not know each other."""

import ast
from pathlib import Path

import pytest

import molyneux.run

SOURCE = Path(molyneux.run.__file__).parent
ALLOWED = {"run": {"run"}, "cluster": {"cluster"}, "studies": {"cluster", "run", "studies"}, "sharing": {"run", "sharing"}}


@pytest.mark.parametrize("folder", ALLOWED)
def test_arrows_between_folders_go_one_way(folder: str) -> None:
    for path in (SOURCE / folder).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            target = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if target.startswith("molyneux.run."):
                assert target.split(".")[2] in ALLOWED[folder], f"{path.name} imports {target}"


def test_at_most_four_files_are_in_no_folder() -> None:
    assert len([path for path in SOURCE.glob("*.py") if path.name != "__init__.py"]) <= 4
