"""A small hub on the loopback address: repositories of models in memory, as far as `huggingface_hub` asks for them."""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

TOKEN = "hf_averysecretword"


@dataclass
class Repository:
    """Its commits, the last of which is `main`."""

    private: bool = False
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    main: str = ""

    def commit(self, files: dict[str, bytes]) -> str:
        self.main = hashlib.sha1(repr((sorted(files.items()), len(self.commits))).encode()).hexdigest()
        self.commits[self.main] = files
        return self.main


@dataclass
class Hub:
    """What the server holds, and what was asked of it."""

    endpoint: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    stored: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    truncate: set[str] = field(default_factory=set)
    """Files of which half is sent, once, before the connection is closed."""
    answer: int = 0
    """A status that every request gets; 0 for what is true."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *words: Any) -> None: ...

    def send(self, status: int, body: Any = None, **headers: str) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **{n.replace("_", "-"): v for n, v in headers.items()}}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def handle_any(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(f"{self.command} {path}")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        if self.hub.answer:
            self.send(self.hub.answer, {"error": f"no, {self.headers.get('Authorization')}"})
            return
        for pattern, method in ROUTES:
            if found := re.fullmatch(pattern, f"{self.command} {path}"):
                method(self, body, **found.groupdict())
                return
        self.send(404, {"error": f"no such place: {path}"})

    do_GET = do_HEAD = do_POST = do_PUT = handle_any  # noqa: N815 - names of the base class

    def allowed(self, *, write: bool = False, private: bool = False) -> bool:
        good = self.headers.get("Authorization") == f"Bearer {TOKEN}"
        if not good and (write or private):
            self.send(401, {"error": "Invalid username or password."})
        return good or not (write or private)

    def of(self, name: str, revision: str | None, **how: bool) -> tuple[Repository, str] | None:
        """A repository and the commit; None where an error was sent."""
        known = self.hub.repositories.get(name)
        if known is None:
            self.send(404, {"error": "Repository not found"}, X_Error_Code="RepoNotFound")
            return None
        if not self.allowed(private=known.private, **how):
            return None
        commit = known.main if revision in (None, "main") else revision
        if commit not in known.commits and commit:
            self.send(404, {"error": f"Invalid rev id: {revision}"}, X_Error_Code="RevisionNotFound")
            return None
        return known, commit or ""

    def create(self, body: bytes) -> None:
        if self.allowed(write=True):
            asked = json.loads(body)
            name = f"{asked.get('organization') or 'ann'}/{asked['name']}"
            if name in self.hub.repositories:
                self.send(409, {"error": "You already created this model repo", "url": f"{self.hub.endpoint}/{name}"})
                return
            self.hub.repositories[name] = Repository(private=asked.get("private") or asked.get("visibility") == "private")
            self.hub.repositories[name].commit({".gitattributes": b"*.safetensors filter=lfs\n"})
            self.send(200, {"url": f"{self.hub.endpoint}/{name}", "name": name})

    def info(self, body: bytes, name: str, revision: str | None = None) -> None:
        if (found := self.of(name, revision)) is not None:
            files = found[0].commits.get(found[1], {})
            siblings = [{"rfilename": path, "size": len(content), "blobId": "0" * 40} for path, content in files.items()]
            self.send(200, {"id": name, "modelId": name, "sha": found[1], "private": found[0].private, "siblings": siblings})

    def tree(self, body: bytes, name: str, revision: str) -> None:
        if (found := self.of(name, revision)) is not None:
            files = found[0].commits[found[1]]
            entries = [
                {"type": "file", "path": path, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
                for path, content in files.items()
            ]
            self.send(200, entries)

    def valid(self, body: bytes) -> None:
        self.send(200, {"errors": [], "warnings": []})

    def modes(self, body: bytes, name: str, revision: str) -> None:
        if self.of(name, revision, write=True) is not None:
            files = json.loads(body)["files"]
            large = [".safetensors" in each["path"] for each in files]
            told = [
                {"path": each["path"], "uploadMode": "lfs" if lfs else "regular", "shouldIgnore": False}
                for each, lfs in zip(files, large, strict=True)
            ]
            self.send(200, {"files": told})

    def batch(self, body: bytes, name: str) -> None:
        objects = [
            {"oid": each["oid"], "size": each["size"], "actions": {"upload": {"href": f"{self.hub.endpoint}/lfs/{each['oid']}"}}}
            for each in json.loads(body)["objects"]
        ]
        self.send(200, {"transfer": "basic", "objects": objects})

    def put(self, body: bytes, oid: str) -> None:
        assert hashlib.sha256(body).hexdigest() == oid
        self.hub.stored[oid] = body
        self.send(200, {})

    def commit(self, body: bytes, name: str, revision: str) -> None:
        if (found := self.of(name, revision, write=True)) is not None:
            files = dict(found[0].commits.get(found[1], {}))
            for line in map(json.loads, body.splitlines()):
                kind, value = line["key"], line["value"]
                if kind == "file":
                    files[value["path"]] = base64.b64decode(value["content"])
                elif kind == "lfsFile":
                    files[value["path"]] = self.hub.stored[value["oid"]]
                elif kind == "deletedFile":
                    del files[value["path"]]
            oid = found[0].commit(files)
            self.send(200, {"success": True, "commitOid": oid, "commitUrl": f"{self.hub.endpoint}/{name}/commit/{oid}"})

    def file(self, body: bytes, name: str, revision: str, path: str) -> None:
        if (found := self.of(name, revision)) is None:
            return
        content = found[0].commits[found[1]].get(path)
        if content is None:
            self.send(404, {"error": "Entry not found"}, X_Error_Code="EntryNotFound")
            return
        head = {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": found[1], "Accept-Ranges": "bytes"}
        head = {key.replace("-", "_"): value for key, value in head.items()}
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if path in self.hub.truncate and self.command == "GET" and not asked:
            self.hub.truncate.discard(path)
            self.send_response(200)
            for key, value in {**head, "Content-Length": str(len(content))}.items():
                self.send_header(key.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            self.connection.close()
            return
        if asked:
            begin = int(asked[1])
            self.hub.asked.append(f"from {begin} {path}")
            self.send(206, content[begin:], Content_Range=f"bytes {begin}-{len(content) - 1}/{len(content)}", **head)
            return
        self.send(200, content, **head)


_NAME, _REVISION = r"(?P<name>[^/]+/[^/]+)", r"(?P<revision>[^/]+)"
ROUTES: tuple[tuple[str, Any], ...] = (
    (r"POST /api/repos/create", Handler.create),
    (r"POST /api/validate-yaml", Handler.valid),
    (rf"GET /api/models/{_NAME}", Handler.info),
    (rf"GET /api/models/{_NAME}/revision/{_REVISION}", Handler.info),
    (rf"GET /api/models/{_NAME}/tree/{_REVISION}/?", Handler.tree),
    (rf"POST /api/models/{_NAME}/preupload/{_REVISION}", Handler.modes),
    (rf"POST /api/models/{_NAME}/commit/{_REVISION}", Handler.commit),
    (rf"POST /{_NAME}\.git/info/lfs/objects/batch", Handler.batch),
    (r"PUT /lfs/(?P<oid>\w+)", Handler.put),
    (rf"(?:GET|HEAD) /{_NAME}/resolve/{_REVISION}/(?P<path>.+)", Handler.file),
)


@contextmanager
def serving() -> Iterator[Hub]:
    """A hub that answers as long as the context lasts."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("OurHandler", (Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
