"""The format of model files: JSON text, so that a file from an untrusted source cannot run code.

A file holds {"kind", "parameters", "fitted", "training"} with the name of the format, its version
and a digest. Files of version 1, which had no budgets and no preparation, of version 2, which had
no calibration and no threshold, and of version 3, whose calibration was a line, can be read too.
Floats are written with all digits; infinities and NaN are written as {"number": "inf"}. Responses
and solvers that contain functions or objects are not saved, only their descriptions.
"""

from __future__ import annotations

import hashlib
import json
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from gameproof.core.atomic_files import write_whole
from gameproof.core.errors import ModelFileError

FORMAT, VERSION = "gameproof-model", 4
Record = dict[str, Any]


def write_model_file(path: Path, record: Record) -> None:
    """Writes a model file; an existing file is replaced completely or not at all."""
    content = {"format": FORMAT, "version": VERSION, **record}
    content["digest"] = content_digest(content)
    write_whole(path, json.dumps(content, indent=1, allow_nan=False).encode())


def read_model_file(path: Path) -> Record:
    """The content of a model file; raises `ModelFileError` if it cannot be used."""
    if path.is_dir():
        raise ModelFileError(f"{path} is a folder, not a model file")
    raw = path.read_bytes()
    try:
        content = json.loads(raw)
    except (ValueError, RecursionError) as error:
        ours = FORMAT.encode() in raw[:100]
        what = "is truncated or damaged" if ours else "is not a gameproof model file"
        raise ModelFileError(f"{path} {what}: it is not valid JSON") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ModelFileError(
            f"{path} is not a gameproof model file: it is JSON from another program"
        )
    version = content.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ModelFileError(f"{path} has the invalid file version {version!r}")
    if version > VERSION:
        raise ModelFileError(
            f"{path} was written by a newer gameproof (file version {version}, this one reads up "
            f"to {VERSION}); update gameproof to use it"
        )
    if content.pop("digest", None) != content_digest(content):
        raise ModelFileError(f"{path} was altered after it was written: its digest does not match")
    return content


def to_json(value: Any) -> Any:
    """A value made of numbers and text, as JSON can hold it."""
    if isinstance(value, np.ndarray):
        return to_json(value.tolist())
    if isinstance(value, np.generic):
        return to_json(value.item())
    if isinstance(value, float) and not isfinite(value):
        return {"number": str(value)}
    if isinstance(value, (list, tuple, range)):
        return [to_json(part) for part in value]
    if isinstance(value, dict):
        return {str(key): to_json(part) for key, part in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"a model file holds numbers and text, not {value!r}")


def from_json(value: Any) -> Any:
    """The inverse of `to_json`, except that arrays become lists."""
    if isinstance(value, list):
        return [from_json(part) for part in value]
    if isinstance(value, dict):
        if value.keys() == {"number"}:
            return float(value["number"])
        return {key: from_json(part) for key, part in value.items()}
    return value


def restore_mapping(value: Any) -> Record:
    """A mapping from its record."""
    found = from_json(value)
    if not isinstance(found, dict):
        raise TypeError(f"expected named values, got {found!r}")
    return found


def content_digest(content: Record) -> str:
    """The digest of a model file's content, without this digest."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
