"""Files that `torch.save` wrote, read without running code."""

from __future__ import annotations

import pickle
import re
import zipfile
from pathlib import Path
from typing import Any

import torch

from molyneux.core import DataError, StoreError, store


def read_tensors(path: Path, expected: str, *, mapped_only: bool = False) -> Any:
    """What a file of tensors and plain containers holds; tensors stay in it as long as its format allows that.

    Args:
        path: the file.
        expected: what it should hold, for the message, such as `a list of samples`.
        mapped_only: whether the format before version 1.6 of PyTorch, whose tensors have to be read whole, is refused.

    Raises:
        StoreError: it cannot be read, or names code. DataError: it is no such file.
    """
    try:
        mapped = mapped_only or zipfile.is_zipfile(path)
        return torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except pickle.UnpicklingError as error:
        named = re.search(r"GLOBAL (\S+)", str(error))
        raise StoreError(
            f"{path}: expected tensors and plain containers, got a file that names {named[1] if named else 'code'}: it is "
            f"not read, for it could run code; save it anew as {expected}"
        ) from error
    except OSError as error:
        raise store.read_error(error, path) from error
    except (RuntimeError, ValueError, EOFError) as error:
        first = str(error).partition("\n")[0]
        since = " since version 1.6" if mapped_only else ""
        raise DataError(f"{path}: expected {expected} that torch.save wrote{since}, got something else ({first})") from error
