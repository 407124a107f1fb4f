"""What needs a package that is not installed says which extra installs it."""

import sys

import pytest

from molyneux.core import ConfigError
from molyneux.core.tooling.extras import import_extra


def test_a_package_that_is_there_is_imported():
    assert import_extra("json.decoder", extra="none", what="this") is sys.modules["json.decoder"]


def test_a_package_that_is_not_there_is_told_with_its_extra(monkeypatch):
    for module in ("argcomplete", "argcomplete.shell_integration"):
        monkeypatch.setitem(sys.modules, module, None)
    told = r"molyneux completion needs argcomplete, which is not installed: pip install 'molyneux\[completion\]'"
    with pytest.raises(ConfigError, match=told):
        import_extra("argcomplete.shell_integration", extra="completion", what="molyneux completion")


def test_what_the_package_itself_lacks_is_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "lacking_a_package.py").write_text("import no_such_package_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_package_at_all"):
        import_extra("lacking_a_package", extra="none", what="this")
