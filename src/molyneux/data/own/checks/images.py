"""What is wrong with images: missing files, such as cannot be read, and files that no row names."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from molyneux.core import DataError, files
from molyneux.core.image_files import in_threads, open_image
from molyneux.data.own.checks.findings import DataProblem
from molyneux.data.own.pictures import SUFFIXES
from molyneux.data.own.table_files import file_below


def path_problems(
    values: Sequence[str | None], root: Path, place: Callable[[int], str]
) -> tuple[list[DataProblem], list[Path | None]]:
    """Paths of images at which there is none, and the file of each row.

    Args:
        values: (N,) paths below the root; None where there is no image.
        root: the folder that they begin at.
        place: says where a row stands.
    """
    findings, found, lower = list[DataProblem](), list[Path | None](), dict[Path, dict[str, str]]()
    for row, value in enumerate(values):
        path = None if value is None else file_below(root, value)
        usable = path is not None and path.is_file()
        found.append(path if usable else None)
        if value is None or path is None:
            continue
        if not usable:
            kind, text = "a file that is missing", f"expected an image, got {str(path)!r}, which is not there"
            if path.is_dir():
                kind, text = "a folder in place of a file", f"expected an image, got the folder {str(path)!r}"
            elif path.is_symlink():
                text = f"expected an image, got {str(path)!r}, a link to {str(path.readlink())!r}, which is not there"
            elif value != value.strip() and file_below(root, value.strip()).is_file():
                text = f"expected an image, got {value!r}: take the blanks around the name away"
            elif other := _other_letters(path, lower):
                text += f": there is {other!r}, in other letters"
            findings.append(DataProblem(kind, True, place(row), text))
        elif Path(value).is_absolute():
            findings.append(DataProblem("a path of this machine alone", False, place(row), f"{value!r}: write it below {root}"))
    return findings, found


def _other_letters(path: Path, known: dict[Path, dict[str, str]]) -> str:
    """The name of a file in the same folder that differs in capital letters alone."""
    if path.parent not in known:
        names = [item.name for item in path.parent.iterdir()] if path.parent.is_dir() else []
        known[path.parent] = {name.casefold(): name for name in names}
    return known[path.parent].get(path.name.casefold(), "")


def image_problems(paths: Sequence[Path | None], place: Callable[[int], str], *, one_size: bool) -> Iterator[DataProblem]:
    """Files that are no images, and images of different sizes where one is asked for.

    Args:
        paths: (N,) the file of each sample.
        place: says where a row stands.
        one_size: whether all have to be of one size.
    """
    rows = [row for row, path in enumerate(paths) if path is not None]

    def head(row: int) -> tuple[int, int] | str:
        path = paths[row]
        assert path is not None
        try:
            with open_image(path, place(row), still=True) as image:
                return image.size
        except DataError as error:
            return str(error).removeprefix(f"{place(row)}: ")

    sizes: dict[int, tuple[int, int]] = {}
    for row, found in zip(rows, in_threads(head, rows), strict=True):
        if isinstance(found, str):
            yield DataProblem("an image that cannot be read", True, place(row), found)
        else:
            sizes[row] = found
    counts = Counter(sizes.values()).most_common()
    if one_size and len(counts) > 1:
        usual = counts[0][0]
        for row, size in sizes.items():
            if size != usual:
                text = f"{size[0]} x {size[1]}, others {usual[0]} x {usual[1]} (width x height): set image_size to resize them"
                yield DataProblem("an image of another size", True, place(row), text)


def surplus_files(root: Path, named: Iterable[Path | None]) -> Iterator[DataProblem]:
    """Images below a folder that no row names."""
    known = {path.resolve() for path in named if path is not None}
    if not root.is_dir():
        return
    for path in sorted(root.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if path.suffix.lower() in SUFFIXES and not hidden and path.is_file() and path.resolve() not in known:
            yield DataProblem("a file that no row names", False, str(path), "an image that is not used")


def content_keys(paths: Sequence[Path | None]) -> list[object]:
    """For each file, what tells it from files of another content; None where no other has its size, or there is none."""
    by_size: dict[int, list[int]] = defaultdict(list)
    for row, path in enumerate(paths):
        if path is not None:
            by_size[path.stat().st_size].append(row)
    found: list[object] = [None] * len(paths)
    rows = [row for some in by_size.values() if len(some) > 1 for row in some]

    def digest(row: int) -> bytes:
        path = paths[row]
        assert path is not None
        with files.open_plain(path) as stream:
            return hashlib.file_digest(stream, "blake2b").digest()

    for row, key in zip(rows, in_threads(digest, rows), strict=True):
        found[row] = key
    return found
