"""Models on the Hugging Face Hub, through `huggingface_hub`: an exported run is pushed, and fetched again.

Nothing here is called unless an address `hf://user/name` is given. What comes from there is a folder of a stranger: its files are
plain ones, checked by their checksums, and none of its code runs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from molyneux.core import ConfigError, ConflictError, MolyneuxError, StoreError, store
from molyneux.core.tooling.extras import import_extra
from molyneux.run.sharing.whole import RECORD, remove_damaged, require_whole
from molyneux.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi

SCHEME = "hf://"
MOST_BYTES, MOST_FILES = 4 * 2**30, 10_000
"""What a folder of the hub may hold to be fetched."""
_ADDRESS = re.compile(r"hf://(?P<name>[\w-][\w.-]*/[\w-][\w.-]*)(?:@(?P<revision>[\w][\w./-]*))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_LOG_IN = "log in with `hf auth login`"


@dataclass(frozen=True)
class Pushed:
    """What was pushed.

    Args:
        address: with the commit, from which anybody who may read it fetches these very files.
        files: how many.
        private: whether only its owner can read it.
    """

    address: str
    files: int
    private: bool


def push_export(folder: Path | str, address: str, *, private: bool | None = None) -> Pushed:
    """Publish an exported run under `hf://user/name`, in one commit that replaces an earlier export there.

    The folder is checked whole before anything is sent. The repository is made where there is none, with the token of
    `hf auth login` or `HF_TOKEN`.

    Args:
        folder: what `export_run` wrote.
        address: where.
        private: whether only its owner can read a repository that is made; None as `huggingface_hub` does it: readable by all,
            unless the organisation has it otherwise. One that is there stays as it is.

    Raises:
        ConfigError: no address, or `huggingface_hub` is not installed. ConflictError: the repository holds something else.
        StoreError, CorruptFileError: as `require_whole`; or the hub cannot be reached, or refuses.
    """
    name, revision = parsed(address)
    if revision is not None:
        raise ConfigError(f"expected an address to push to without a revision, got {address}: leave out @{revision}")
    folder = Path(folder)
    names = require_whole(folder)
    hub = _hub()
    with _explained(address, None):
        api = _api()
        api.create_repo(name, private=private, repo_type="model", exist_ok=True)
        info = api.model_info(name)
        there = {item.rfilename for item in info.siblings or ()} - {".gitattributes"}
        if RECORD not in there and (others := sorted(there - {"README.md"})):
            raise ConflictError(
                f"{address} holds {others[0]} and is no exported run, and nothing of it is replaced: choose another name"
            )
        changes = [hub.CommitOperationDelete(path_in_repo=old) for old in sorted(there.difference(names))]
        changes += [hub.CommitOperationAdd(path_in_repo=new, path_or_fileobj=str(folder / new)) for new in names]
        message = f"Export of Molyneux {__version__}"
        commit = api.create_commit(name, changes, commit_message=message, parent_commit=info.sha)
        return Pushed(f"{SCHEME}{name}@{commit.oid}", len(names), bool(api.model_info(name).private))


def fetched(address: str) -> Path:
    """The folder of the exported run at `hf://user/name` or `hf://user/name@revision`, checked whole; it is fetched once.

    It lies in the cache of `huggingface_hub` (its folder of assets, `HF_ASSETS_CACHE`), by commit. What was fetched before is
    given without network for a commit, and for a branch or tag where the hub cannot be reached. A fetch that was interrupted
    goes on. Nothing of the folder is imported: `open_experiment` and what else opens it takes `trust` for that.

    Raises:
        ConfigError: no address, or `huggingface_hub` is not installed.
        CorruptFileError: names the file that is not as it was exported. StoreError: there is no such model or revision, it is no
            exported run, is too large, or has a file that is none of the export; or the hub cannot be reached, or refuses.
    """
    name, revision = parsed(address)
    hub, place = _hub(), {"namespace": "models", "subfolder": name.replace("/", "--")}
    top: Path = hub.cached_assets_path("molyneux", **place, assets_dir=hub.constants.HF_ASSETS_CACHE)
    commit = _commit(name, revision or "main", top, address)
    folder: Path = top / commit
    if not _is_whole(folder):
        remove_damaged(folder)
        with _explained(address, revision):
            _hub().snapshot_download(
                name,
                revision=commit,
                local_dir=folder,
                ignore_patterns=[".*", "*/.*"],
                endpoint=_endpoint(),
                library_name="molyneux",
                library_version=__version__,
            )
        require_whole(folder)
    return folder


def parsed(address: str) -> tuple[str, str | None]:
    """The name `user/model` and the revision of an address, None where it has none; ConfigError if it is no address."""
    found = _ADDRESS.fullmatch(address)
    if found is None or ".." in address:
        raise ConfigError(f"expected an address such as hf://user/name or hf://user/name@revision, got {address[:200]!r}")
    return found["name"], found["revision"]


def _hub() -> Any:
    return import_extra("huggingface_hub", extra="hub", what="a model on the hub")


def _endpoint() -> str | None:
    return os.environ.get("HF_ENDPOINT") or None


def _api() -> HfApi:
    api: HfApi = _hub().HfApi(endpoint=_endpoint(), library_name="molyneux", library_version=__version__)
    return api


def _commit(name: str, revision: str, top: Path, address: str) -> str:
    """The commit that a revision stands for, whose files are few and small enough; the one fetched last without network."""
    note = top / "revisions" / f"{store.file_name(revision)}.json"
    if _COMMIT.fullmatch(revision) and _is_whole(top / revision):
        return revision
    try:
        with _explained(address, revision):
            info = _api().model_info(name, revision=revision, files_metadata=True, timeout=30)
    except UnreachableError:
        known = store.read_json(note) if store.is_file(note) else None
        if isinstance(known, str) and _COMMIT.fullmatch(known) and _is_whole(top / known):
            return known
        raise
    files = info.siblings or []
    size = sum(item.size or 0 for item in files)
    if size > MOST_BYTES or len(files) > MOST_FILES:
        raise StoreError(
            f"expected at most {MOST_FILES:,} files and {MOST_BYTES:,} bytes at {address}, got {len(files):,} and {size:,}: "
            "it is no model of Molyneux"
        )
    if RECORD not in {item.rfilename for item in files}:
        raise StoreError(f"expected an exported run at {address}, got a repository without {RECORD}: it is no model of Molyneux")
    if not _COMMIT.fullmatch(info.sha or ""):
        raise StoreError(f"expected a commit of {address}, got {str(info.sha)[:80]!r}: the server at HF_ENDPOINT is no hub")
    store.write_json(note, info.sha)
    return str(info.sha)


def _is_whole(folder: Path) -> bool:
    try:
        require_whole(folder)
    except StoreError:
        return False
    return True


class UnreachableError(StoreError):
    """The hub does not answer."""


@contextmanager
def _explained(address: str, revision: str | None) -> Iterator[None]:
    """Errors of `huggingface_hub` as sentences, in which nothing stands that a server said, and no token.

    Raises:
        StoreError: the hub refuses, or has no such thing. UnreachableError: it does not answer.
    """
    import httpx2  # the client of huggingface_hub
    from huggingface_hub import errors

    try:
        yield
    except (errors.HFValidationError, httpx2.HTTPError, httpx2.InvalidURL, OSError, RuntimeError) as error:
        # A RuntimeError is raised around the error of one of several uploads.
        cause = error.__cause__ if isinstance(error, RuntimeError) and isinstance(error.__cause__, Exception) else error
        raise _told(cause, address, revision) from None


def _told(error: Exception, address: str, revision: str | None) -> MolyneuxError:
    """The sentence for an error of `huggingface_hub`."""
    import httpx2
    from huggingface_hub import errors

    unreachable = (errors.OfflineModeIsEnabled, errors.LocalEntryNotFoundError, httpx2.TransportError, httpx2.InvalidURL)
    if isinstance(error, unreachable):
        return UnreachableError(
            f"cannot reach the hub for {address}: go online and run the same command again (HF_HUB_OFFLINE, HF_ENDPOINT and "
            "proxies count); what was fetched before is opened without network"
        )
    if isinstance(error, errors.HFValidationError):
        return ConfigError(f"expected an address that the hub takes, got {address}: check user and name")
    if isinstance(error, errors.RevisionNotFoundError):
        return StoreError(f"expected a revision of {address} that is there, got {revision or 'main'!r}: name another")
    if isinstance(error, errors.GatedRepoError):
        return StoreError(f"{address} is for those who asked for it: ask on its page, and {_LOG_IN}")
    if isinstance(error, errors.RepositoryNotFoundError):
        return StoreError(f"there is no model at {address}, or it is private: check the name, or {_LOG_IN}")
    if isinstance(error, OSError) and not isinstance(error, errors.HfHubHTTPError) and error.errno is not None:
        return store.store_error(error, Path(error.filename or "the cache of huggingface_hub"))
    return StoreError(f"the hub refused {address}: {_meaning(error)}")


def _meaning(error: Any) -> str:
    """What the status of an answer means."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    meanings = {
        401: f"{_LOG_IN}, with a token that is valid",
        403: f"{_LOG_IN}, with a token that may do this",
        404: "there is no such thing: check the address",
        409: "it was changed meanwhile: push again",
        412: "it was changed meanwhile: push again",
        429: "too many requests: wait, and try again",
    }
    return f"status {status}: {meanings.get(status or 0, 'try again later')}"


__all__: Sequence[str] = ("Pushed", "fetched", "parsed", "push_export")
