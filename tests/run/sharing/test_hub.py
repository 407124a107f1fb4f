"""Models on a hub of our own on the loopback address: pushed, fetched, checked, and every refusal a sentence without a token."""

import importlib.util
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from molyneux.cli import main
from molyneux.core import ConfigError, ConflictError, CorruptFileError, MolyneuxError, StoreError, store
from molyneux.core.config import dump_document, read_document
from molyneux.run import (
    ExportSettings,
    export_run,
    export_samples,
    fetched,
    measure_again,
    open_evaluation,
    open_experiment,
    opened_export,
    push_export,
    read_experiment,
    report_run,
    require_whole,
    run_experiment,
)
from molyneux.run.sharing.hub import parsed

constants = pytest.importorskip("huggingface_hub.constants")
SERVER = importlib.util.spec_from_file_location("hub_server", Path(__file__).with_name("hub_server.py"))
assert SERVER is not None
assert SERVER.loader is not None
hub_server = importlib.util.module_from_spec(SERVER)
sys.modules["hub_server"] = hub_server  # dataclasses look their module up
SERVER.loader.exec_module(hub_server)
ADDRESS = "hf://ann/letters"
pytestmark = pytest.mark.filterwarnings("ignore:Use .content=:DeprecationWarning")  # of huggingface_hub


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export of a run of the package's own classes."""
    top = tmp_path_factory.mktemp("hub")
    tree: dict[str, Any] = {
        "name": "letters",
        "data": {"world": {"class_path": "Letters", "init_args": {}}, "train": 40, "validation": 20, "test": 20},
        "learn": {"model": {"class_path": "MVAE", "init_args": {"latent_dim": 2}}, "steps": 2, "batch_size": 20, "threads": 1},
        "measure": ["likelihood"],
        "report": ["markdown"],
    }
    run = run_experiment(read_experiment(tree), top / "run").folder
    export_run(run, top / "export", ExportSettings(licence="MIT"))
    return top / "export"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A hub, and a cache and a token of our own."""
    with hub_server.serving() as served:
        monkeypatch.setenv("HF_ENDPOINT", served.endpoint)
        monkeypatch.setenv("HF_TOKEN", hub_server.TOKEN)
        monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
        for name, value in {
            "HF_ASSETS_CACHE": str(tmp_path / "assets"),
            "HF_HUB_CACHE": str(tmp_path / "hub"),
            "HF_HUB_DISABLE_XET": True,
            "HF_HUB_DISABLE_TELEMETRY": True,
        }.items():
            monkeypatch.setattr(constants, name, value)
        yield served


@pytest.fixture
def pushed(hub: Any, exported: Path) -> Any:
    """The hub, with the export on it."""
    hub.repositories["ann/letters"] = hub_server.Repository()
    hub.repositories["ann/letters"].commit(contents(exported))
    return hub


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def shown(folder: Path) -> dict[str, bytes]:
    """Without what `huggingface_hub` notes beside it."""
    return {name: content for name, content in contents(folder).items() if not name.startswith(".")}


def test_there_and_back(hub: Any, exported: Path) -> None:
    done = push_export(exported, ADDRESS)
    assert (done.files, done.private) == (len(contents(exported)), False)
    assert done.address == f"{ADDRESS}@{hub.repositories['ann/letters'].main}"
    for address in (ADDRESS, done.address, f"{ADDRESS}@main"):
        folder = fetched(address)
        assert shown(folder) == contents(exported)
        assert not [path for path in folder.rglob("*") if path.is_symlink()]
    with opened_export(folder) as opened:
        assert measure_again(opened).changed == ()


def test_an_export_is_replaced_whole_and_an_older_commit_stays(hub: Any, exported: Path, tmp_path: Path) -> None:
    first = push_export(exported, ADDRESS, private=True)
    assert first.private
    smaller = Path(shutil.copytree(exported, tmp_path / "smaller"))
    shutil.rmtree(smaller / "samples")
    second = push_export(smaller, ADDRESS)
    assert second.private
    assert shown(fetched(ADDRESS)) == contents(smaller)
    assert shown(fetched(first.address)) == contents(exported)


def test_what_was_fetched_is_not_fetched_again_and_needs_no_network(
    pushed: Any, exported: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = fetched(ADDRESS)
    pushed.asked.clear()
    assert fetched(ADDRESS) == folder
    assert pushed.asked == ["GET /api/models/ann/letters/revision/main"]
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert fetched(ADDRESS) == fetched(f"{ADDRESS}@{folder.name}") == folder
    with pytest.raises(StoreError, match="cannot reach the hub for hf://ann/other: go online"):
        fetched("hf://ann/other")


def test_a_fetch_that_was_cut_goes_on(pushed: Any, exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 4096)
    pushed.truncate.add("model/weights.safetensors")
    try:
        folder = fetched(ADDRESS)
    except MolyneuxError:
        folder = fetched(ADDRESS)
    assert shown(folder) == contents(exported)
    assert any(line.startswith("from ") and "weights" in line for line in pushed.asked)


@pytest.mark.parametrize("name", ["model/weights.safetensors", "config.yaml", "measure/scores.jsonl", "export.json"])
@pytest.mark.parametrize("how", ["altered", "truncated", "missing"])
def test_a_file_that_is_not_as_it_was_exported_is_named(pushed: Any, exported: Path, name: str, how: str) -> None:
    files = contents(exported)
    content = bytearray(files.pop(name))
    content[len(content) // 2] ^= 1
    files |= {} if how == "missing" else {name: bytes(content if how == "altered" else content[: len(content) // 2])}
    pushed.repositories["ann/letters"].commit(files)
    with pytest.raises(StoreError, match=name.rpartition("/")[2]):
        fetched(ADDRESS)


@pytest.mark.parametrize("name", ["evil.py", "files/more.npz", "model/evil.py", "measure/evil.json", "sitecustomize.py"])
def test_a_file_that_is_none_of_the_export_is_named(pushed: Any, exported: Path, name: str, tmp_path: Path) -> None:
    pushed.repositories["ann/letters"].commit({**contents(exported), name: b"open('mark', 'w')"})
    with pytest.raises(StoreError, match=name.rpartition("/")[2]):
        fetched(ADDRESS)
    copy = Path(shutil.copytree(exported, tmp_path / "copy"))
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text("x")
    pushed.asked.clear()
    with pytest.raises(StoreError, match=rf"got {name}: remove what is not of it"):
        push_export(copy, "hf://ann/other")
    assert not pushed.asked


def test_what_is_damaged_in_the_cache_is_fetched_again_or_named(pushed: Any, exported: Path) -> None:
    folder = fetched(ADDRESS)
    (folder / "model" / "weights.safetensors").write_bytes(b"x")
    (folder / "config.yaml").unlink()
    assert shown(fetched(ADDRESS)) == contents(exported)


REFUSALS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "no such model": (lambda hub: fetched("hf://ann/nothing"), "there is no model at hf://ann/nothing, or it is private"),
    "no such revision": (lambda hub: fetched(f"{ADDRESS}@v9"), "expected a revision of .* that is there, got 'v9'"),
    "unauthorised": (lambda hub: _answer(hub, 401), "log in|there is no model"),
    "forbidden": (lambda hub: _answer(hub, 403), "status 403: log in"),
    "broken": (lambda hub: _answer(hub, 500), "status 500: try again later"),
    "no export": (lambda hub: _other(hub), "got a repository without export.json"),
}


def _answer(hub: Any, status: int) -> Path:
    hub.answer = status
    return fetched(ADDRESS)


def _other(hub: Any) -> Path:
    hub.repositories["ann/letters"].commit({"model.bin": b"x"})
    return fetched(ADDRESS)


@pytest.mark.parametrize("kind", REFUSALS)
def test_refusals_are_sentences_without_a_token(pushed: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # of retries
    ask, told = REFUSALS[kind]
    with pytest.raises(StoreError, match=told) as caught:
        ask(pushed)
    chain = [str(caught.value), str(caught.value.__cause__), *([] if caught.value.__suppress_context__ else ["context"])]
    assert not any(hub_server.TOKEN in text for text in chain)


def test_a_private_model_and_a_push_need_a_token(pushed: Any, exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pushed.repositories["ann/letters"].private = True
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    for ask in (lambda: fetched(ADDRESS), lambda: push_export(exported, ADDRESS)):
        with pytest.raises(StoreError, match="log in with `hf auth login`") as caught:
            ask()
        assert "hf_wrong" not in str(caught.value)
    monkeypatch.setenv("HF_TOKEN", hub_server.TOKEN)
    assert fetched(ADDRESS)


def test_what_is_no_export_is_not_pushed(hub: Any, exported: Path, tmp_path: Path) -> None:
    run = exported.with_name("run")
    with pytest.raises(StoreError, match=rf"run molyneux export {run} --out FOLDER first"):
        push_export(run, ADDRESS)
    with pytest.raises(StoreError, match="name what molyneux export wrote"):
        push_export(tmp_path, ADDRESS)
    copy = Path(shutil.copytree(exported, tmp_path / "copy"))
    (copy / "model" / "history.csv").write_text("")
    with pytest.raises(CorruptFileError, match=r"history\.csv"):
        push_export(copy, ADDRESS)
    (copy / "model" / "history.csv").unlink()
    (copy / "model" / "history.csv").symlink_to("/etc/passwd")
    with pytest.raises(StoreError, match="got a link"):
        push_export(copy, ADDRESS)
    assert not hub.asked


def test_what_others_have_there_is_not_replaced(hub: Any, exported: Path) -> None:
    hub.repositories["ann/letters"] = hub_server.Repository()
    hub.repositories["ann/letters"].commit({"README.md": b"mine", "pytorch_model.bin": b"mine"})
    with pytest.raises(ConflictError, match=r"holds pytorch_model\.bin and is no exported run"):
        push_export(exported, ADDRESS)


@pytest.mark.parametrize(
    "address", ["ann/letters", "hf://letters", "hf://a/b/c", "hf://../x", "hf://a/b@../c", "hf://a/b@", "hf:/b"]
)
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(ConfigError, match="expected an address such as hf://user/name"):
        fetched(address)


def test_addresses() -> None:
    assert parsed("hf://ann/a.b-c_d") == ("ann/a.b-c_d", None)
    assert parsed("hf://ann/a@refs/pr/1") == ("ann/a", "refs/pr/1")


def test_a_repository_that_is_too_large_is_not_fetched(pushed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("molyneux.run.sharing.hub.MOST_BYTES", 1000)
    with pytest.raises(StoreError, match=r"expected at most 10,000 files and 1,000 bytes"):
        fetched(ADDRESS)
    assert not [line for line in pushed.asked if "resolve" in line]


def test_a_model_of_a_stranger_runs_no_code(pushed: Any, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is whole, and names a class of a module that comes with it."""
    mark, copy = tmp_path / "mark", Path(shutil.copytree(exported, tmp_path / "copy"))
    (copy / "evil_hub.py").write_text(f"open({str(mark)!r}, 'w')\nfrom molyneux.learn import MVAE as Evil\n")
    forge(copy, "evil_hub.Evil")
    assert "evil_hub.py" in require_whole(copy)
    pushed.repositories["ann/letters"].commit(contents(copy))
    folder = fetched(ADDRESS)
    monkeypatch.chdir(folder)
    for read in (open_experiment, open_evaluation, measure_again):
        with opened_export(folder) as opened, pytest.raises(ConfigError, match=r"got evil_hub\.Evil.*trust"):
            read(opened)
    assert report_run(folder).scores
    assert not mark.exists()


def forge(folder: Path, path: str) -> None:
    """Another class of the model, with records that are right in themselves."""
    from molyneux.run.sharing.whole import seal

    tree = read_document(folder / "config.yaml")
    tree["learn"]["model"]["class_path"] = path
    text = dump_document(tree)
    store.write_text(folder / "config.yaml", f"{text}# checksum {store.fingerprint(text)}\n")
    model = store.read_stage(folder / "model")
    stage = store.StageFolder(folder / "model", {**model["settings"], "learn": tree["learn"]})
    stage.finish(model["details"])
    measure = store.read_stage(folder / "measure")
    store.StageFolder(folder / "measure", {**measure["settings"], "model": stage.key}).finish(measure["details"])
    (folder / "export.json").unlink()
    seal(folder, "run")


def test_exported_samples_are_no_model(hub: Any, exported: Path, tmp_path: Path) -> None:
    from molyneux.data import Letters, store_samples

    store_samples(Letters().source("train", 8, seed=1), tmp_path / "samples")
    export_samples(tmp_path / "samples", tmp_path / "out")
    with pytest.raises(StoreError, match="got exported samples"):
        push_export(tmp_path / "out", ADDRESS)


def test_without_the_package_it_says_what_to_install(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigError, match=r"pip install 'molyneux\[hub\]'"):
        fetched(ADDRESS)


def test_the_command(hub: Any, exported: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["push", str(exported), ADDRESS, "--quiet"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"Pushed: {ADDRESS}@{hub.repositories['ann/letters'].main}, ")
    assert told.endswith("which everybody can read\n")
    assert main(["push", str(exported.with_name("run")), ADDRESS]) == 1
    assert main(["push", str(exported), f"{ADDRESS}@v1"]) == 2
    assert "without a revision" in capsys.readouterr().err


def test_no_network_unless_asked(exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*given: Any) -> None:
        raise AssertionError("no network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    with opened_export(exported) as folder:
        assert measure_again(folder).changed == ()
    export_run(exported.with_name("run"), tmp_path / "out")
    require_whole(tmp_path / "out")
