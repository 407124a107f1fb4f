"""Folders of models of the library `transformers`: what is in them, and models and processors made from them.

Nothing is downloaded, no code of a folder is run and nothing is unpickled: weights are safetensors. Pictures are prepared with
the processors' Pillow code, which needs no torchvision.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Literal

from safetensors import safe_open

from molyneux.core import ConfigError, CorruptFileError, MolyneuxError, files, store

DType = Literal["auto", "bfloat16", "float16", "float32"]
"""The arithmetic of a model; `auto` is that of its stored weights."""

_CONFIG, _INDEX = "config.json", "model.safetensors.index.json"
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.json", "vocab.txt")
_PROCESSORS = ("preprocessor_config.json", "processor_config.json")
_LOCAL = {"local_files_only": True, "trust_remote_code": False}
_MOST_LAYERS = 1_000
"""Layers that a configuration may ask for without weights of as many; many more take longer to make than anybody waits."""


def transformers() -> Any:
    """The library; raises ConfigError where it is not installed."""
    try:
        return importlib.import_module("transformers")
    except ImportError as error:
        raise ConfigError(
            f"a folder of transformers needs the package transformers, which cannot be imported ({error}): "
            "pip install 'molyneux[transformers]'"
        ) from error


def read_architecture(folder: Path) -> type:
    """The class of the model in a folder, after a look at the files that it needs.

    Raises:
        ConfigError: with all of these: it is no such folder; weights, tokenizer or image processor are missing; weights are
            pickled; its class is not in `transformers`, or `transformers` is not installed.
    """
    if not folder.is_dir():
        raise ConfigError(f"expected a folder with the files of a model of transformers, got {folder}, which is not there")
    if not store.is_file(folder / _CONFIG):
        run = ": a run of this package is measured by molyneux measure RUN" if store.is_file(folder / "config.yaml") else ""
        raise ConfigError(f"expected a folder with {_CONFIG}, as save_pretrained of transformers writes it, got {folder}{run}")
    config = _read(folder / _CONFIG)
    problems = [*_weight_problems(folder), *_processor_problems(folder)]
    named = config.get("architectures") or ()
    name = named if isinstance(named, str) else next(iter(named), None) if isinstance(named, list | tuple) else None
    kind = None if name is None else getattr(transformers(), str(name), None)
    if name is None:
        problems.append(f"{folder / _CONFIG} names no architectures: save the model with save_pretrained")
    elif not isinstance(kind, type):
        own = "; the folder has code of its own, which is never run" if config.get("auto_map") else ""
        version = transformers().__version__
        problems.append(f"{folder / _CONFIG}: the architecture {name} is not in transformers {version}{own}: upgrade it")
    if problems or not isinstance(kind, type):
        raise ConfigError(problems)
    return kind


def load_model(folder: Path, kind: type, *, dtype: DType, device: str) -> Any:
    """The model of a folder, in evaluation mode and without gradients.

    Args:
        folder: as `read_architecture` found it sound.
        kind: the model's class.
        dtype: see `DType`.
        device: where it is put.

    Raises:
        CorruptFileError: files that cannot be read, or weights that do not fit the configuration.
    """
    made: Any = kind
    with _silent(), _readable(folder):
        _require_sound(folder)
        model, found = made.from_pretrained(folder, use_safetensors=True, output_loading_info=True, dtype=dtype, **_LOCAL)
    if bad := sorted(map(str, (*found["missing_keys"], *found["mismatched_keys"]))):
        raise CorruptFileError(
            f"{folder} lacks weights of {kind.__name__} or has them in other shapes ({', '.join(bad[:3])}, {len(bad)} in all): "
            "restore the folder from a copy, or save the whole model"
        )
    return model.to(device).eval().requires_grad_(False)


def load_processor(folder: Path) -> Any:
    """What makes tensors of pictures and texts for the model of a folder: an object as `transformers.ProcessorMixin`.

    Raises:
        CorruptFileError: files that cannot be read, or a package that its processor needs is missing.
    """
    library = transformers()
    with _silent(), _readable(folder):
        config = library.AutoConfig.from_pretrained(folder, **_LOCAL)
        kind = _without_videos(_processor_class(folder) or library.PROCESSOR_MAPPING[type(config)])
        parts = {
            "tokenizer": library.AutoTokenizer.from_pretrained(folder, **_LOCAL),
            "image_processor": library.AutoImageProcessor.from_pretrained(folder, backend="pil", **_LOCAL),
        }
        settings, _ = kind.get_processor_dict(folder, local_files_only=True)
        return kind.from_args_and_dict([parts.get(name) for name in kind.get_attributes()], settings)


def set_padding(tokenizer: Any, folder: Path) -> str:
    """Give a tokenizer that has no token to pad with its end token for that, or else the one of unknown words.

    What is padded is masked, so that it does not matter which token it is.

    Returns:
        The token that was set; empty where the tokenizer has its own.

    Raises:
        ConfigError: the tokenizer has none of them, or no mask, so that padding would be a part of texts.
    """
    if tokenizer.pad_token is not None:
        return ""
    token = tokenizer.eos_token or tokenizer.unk_token or tokenizer.bos_token
    if token is None or "attention_mask" not in tokenizer.model_input_names:
        lacks = "neither" if token is None else "no mask that hides another token in its place"
        raise ConfigError(
            f"{folder}: expected a tokenizer with a padding token, or an end token in its place, got one with {lacks}: set "
            "pad_token and save it with tokenizer.save_pretrained"
        )
    tokenizer.pad_token = token
    return str(token)


def fingerprint(folder: Path) -> str:
    """A checksum of the configuration and the weights of a folder, 64 hex digits: which model was measured."""
    paths = [folder / _CONFIG, *sorted(folder.glob("*.safetensors"))]
    return store.content_checksum("".join(store.checksum(path) for path in paths).encode())


def _processor_class(folder: Path) -> Any:
    """The class that the files of a processor name; None where they name none that is known."""
    for path in (folder / name for name in (*reversed(_PROCESSORS), "tokenizer_config.json")):
        named = _read(path).get("processor_class") if store.is_file(path) else None
        if named is not None and (found := getattr(transformers(), str(named), None)) is not None:
            return found
    return None


@cache
def _without_videos(kind: Any) -> Any:
    """The class of a processor, of which objects may lack the part for videos, because that part needs torchvision."""
    if "video_processor" not in kind.get_attributes():
        return kind
    unchecked = {"check_argument_for_proper_class": lambda self, name, part: None, "__module__": kind.__module__}
    return type(kind.__name__, (kind,), unchecked)


def _weight_problems(folder: Path) -> list[str]:
    """What keeps the weights of a folder from being loaded."""
    if store.is_file(folder / _INDEX):
        named = _read(folder / _INDEX).get("weight_map", {})
        shards = list(named.values()) if isinstance(named, Mapping) else [named]
        if odd := [name for name in shards if not isinstance(name, str) or name in ("", ".", "..") or set(name) & set("/\\\0")]:
            return [
                f"{folder / _INDEX}: expected names of files in its folder, got {str(odd[0])[:100]!r}: restore it from a copy"
            ]
        shards = sorted(set(shards))
        missing = [name for name in shards if not store.is_file(folder / name)]
        return [f"{folder} lacks the weights {', '.join(missing)}: restore the folder from a copy"] if missing else []
    if store.is_file(folder / "model.safetensors"):
        return []
    pickled = sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLES)
    if pickled:
        return [
            f"{folder} has its weights in {', '.join(pickled[:3])}, which are not loaded, for a pickle can run code: "
            "save the model again as safetensors, with save_pretrained"
        ]
    return [f"{folder} has no weights: expected model.safetensors or {_INDEX}"]


def _processor_problems(folder: Path) -> list[str]:
    """Which files are missing of those that tokens and pixel values are made by."""
    found = []
    for what, names in (("tokenizer", _TOKENIZERS), ("image processor", _PROCESSORS)):
        if not any(store.is_file(folder / name) for name in names):
            save = f"save it into the folder, with {what.replace(' ', '_')}.save_pretrained"
            found.append(f"{folder} has no {what}: expected one of {', '.join(names)}; {save}")
    return found


def _require_sound(folder: Path) -> None:
    """Raise CorruptFileError where the configuration asks for many more layers than there are weights, or for code of others.

    As the name of an implementation of attention, the library takes that of a package of kernels, which it downloads and runs.
    """
    most, left = max(_MOST_LAYERS, sum(map(_tensors_in, folder.glob("*.safetensors")))), [_read(folder / _CONFIG)]
    while left:
        for name, value in left.pop().items():
            if isinstance(value, Mapping):
                left.append(value)
            elif "layer" in name and type(value) is int and value > most:
                raise CorruptFileError(
                    f"{folder / _CONFIG}: expected {name} of at most {most:,}, as many as there are weights, got {value:,}: "
                    "restore it from a copy"
                )
            elif name.endswith("_implementation") and isinstance(value, str) and not value.replace("_", "").isalnum():
                raise CorruptFileError(
                    f"{folder / _CONFIG}: expected {name} of transformers, got {value[:100]!r}, which may be code from elsewhere "
                    "and is never run: remove it"
                )


def _tensors_in(path: Path) -> int:
    with safe_open(files.require_plain_file(path), framework="pt") as file:
        return len(file.keys())


def _read(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(files.read_plain(path).decode())
    except (OSError, ValueError, RecursionError) as error:
        raise CorruptFileError(f"{path} is no JSON file that can be read ({error}): restore it from a copy") from error
    if not isinstance(found, Mapping):
        raise CorruptFileError(f"{path}: expected an object, got {type(found).__name__}: restore it from a copy")
    return found


@contextmanager
def _readable(folder: Path) -> Iterator[None]:
    """Errors of `transformers` as one of ours."""
    try:
        yield
    except MolyneuxError:
        raise
    except Exception as error:  # of files that it cannot use the library raises anything, such as ZeroDivisionError
        first = str(error).strip().partition("\n")[0]
        raise CorruptFileError(f"{folder} cannot be loaded by transformers: {type(error).__name__}: {first}") from error


@contextmanager
def _silent() -> Iterator[None]:
    """Without the library's progress bars and remarks, which are settings of the whole process, put back at the end."""
    log = transformers().utils.logging
    level, bars = log.get_verbosity(), log.is_progress_bar_enabled()
    log.set_verbosity_error()
    log.disable_progress_bar()
    try:
        yield
    finally:
        log.set_verbosity(level)
        if bars:
            log.enable_progress_bar()
