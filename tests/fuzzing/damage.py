"""Damage to files: to bytes of any kind, to zip archives, and to values of JSON and arrays."""

import io
import math
import random
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

Damage = Callable[[random.Random, bytes], bytes]
ODD_NUMBERS = (
    *(0, -1, 1, 2, 7, 255, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 10**30),
    *(0.5, -1.0, 1e308, 5e-324, math.nan, math.inf, -math.inf),
)
ODD_VALUES = (*ODD_NUMBERS, None, True, False, "", "x", "1", "\x00\x1b[31m", [], {}, [[]], {"a": 1})


# --- bytes


def flipped(rng: random.Random, data: bytes) -> bytes:
    """One to four bytes with some of their bits changed."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        found[rng.randrange(len(found))] ^= rng.choice((1, 2, 128, 255, rng.randrange(1, 256)))
    return bytes(found)


def cut(rng: random.Random, data: bytes) -> bytes:
    """The beginning of the file."""
    return data[: rng.randrange(len(data))]


def lost(rng: random.Random, data: bytes) -> bytes:
    """The file without a stretch of bytes."""
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.randrange(1, 200) :]


def repeated(rng: random.Random, data: bytes) -> bytes:
    """The file with a stretch of bytes twice."""
    start = rng.randrange(len(data))
    stop = start + rng.randrange(1, 200)
    return data[:stop] + data[start:stop] + data[stop:]


def overwritten(rng: random.Random, data: bytes) -> bytes:
    """The file with a stretch of noise or zeros, as after a bad write."""
    start, size = rng.randrange(len(data)), rng.randrange(1, 600)
    block = bytes(size) if rng.random() < 0.5 else rng.randbytes(size)
    return (data[:start] + block + data[start + size :])[: len(data)]


def exchanged(rng: random.Random, data: bytes) -> bytes:
    """The file with two stretches in each other's place."""
    size = rng.randrange(1, max(2, min(512, len(data) // 3)))
    one, two = sorted(rng.randrange(max(1, len(data) - size)) for _ in range(2))
    if two < one + size:
        return flipped(rng, data)
    first, second = data[one : one + size], data[two : two + size]
    return data[:one] + second + data[one + size : two] + first + data[two + size :]


def noise(rng: random.Random, data: bytes) -> bytes:
    """Random bytes behind the first bytes of the file."""
    return data[: rng.choice((0, 2, 4, 8, 16, 100))] + rng.randbytes(rng.randrange(400))


BYTES: tuple[Damage, ...] = (flipped, flipped, cut, lost, repeated, overwritten, exchanged, noise)


# --- zip archives


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(parts: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def swapped_members(rng: random.Random, data: bytes) -> bytes:
    """A sound archive in which two members have each other's content."""
    parts = members(data)
    one, two = rng.sample(sorted(parts), 2)
    parts[one], parts[two] = parts[two], parts[one]
    return archive_of(parts)


def lost_member(rng: random.Random, data: bytes) -> bytes:
    parts = members(data)
    del parts[rng.choice(sorted(parts))]
    return archive_of(parts)


def damaged_member(rng: random.Random, data: bytes) -> bytes:
    """A sound archive with a damaged member."""
    parts = members(data)
    name = rng.choice(sorted(name for name in parts if parts[name]))
    parts[name] = rng.choice(BYTES)(rng, parts[name])
    return archive_of(parts)


def renamed_member(rng: random.Random, data: bytes) -> bytes:
    parts = members(data)
    name = rng.choice(sorted(parts))
    parts[rng.choice(("../x.npy", "/x.npy", "x", "\x00", name.upper(), "é.npy"))] = parts.pop(name)
    return archive_of(parts)


def bomb(rng: random.Random, data: bytes) -> bytes:
    """A member that unpacks to 2 GB or more, or says so."""
    parts = members(data)
    name = rng.choice(sorted(parts))
    size = 2 * 10**8
    parts[name] = parts[name][:200] + bytes(size)
    packed = bytearray(archive_of(parts, zipfile.ZIP_DEFLATED))
    if rng.random() < 0.5:  # a size that is not true
        at = packed.index(b"PK\x01\x02")
        while packed[at + 46 : at + 46 + len(name)] != name.encode():
            at = packed.index(b"PK\x01\x02", at + 4)
        claimed = rng.choice((10, 3 * 10**9, 2**32 - 2))
        packed[at + 24 : at + 28] = claimed.to_bytes(4, "little")
    return bytes(packed)


ZIPS: tuple[Damage, ...] = (swapped_members, lost_member, damaged_member, renamed_member)


# --- values


def forged_json(rng: random.Random, value: Any) -> Any:
    """A copy in which one value is another one, is missing, or is there twice."""
    places = list(_places(value))
    if not places:
        return rng.choice(ODD_VALUES)
    path = rng.choice(places)
    return _changed(rng, value, path)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Any:
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inside:
        yield (*path, key)
        if isinstance(part, (dict, list)):
            yield from _places(part, (*path, key))


def _changed(rng: random.Random, value: Any, path: tuple[Any, ...]) -> Any:
    key, *rest = path
    found = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        found[key] = _changed(rng, value[key], tuple(rest))
        return found
    action = rng.choice(("odd", "odd", "odd", "near", "near", "lose", "more"))
    if action == "lose":
        del found[key]
    elif action == "more":
        if isinstance(found, dict):
            found[f"{key}2"] = value[key]
        else:
            found.insert(key, value[key])
    else:
        found[key] = _near(rng, value[key]) if action == "near" else rng.choice(ODD_VALUES)
    return found


def _near(rng: random.Random, value: Any) -> Any:
    """Something that looks like the value."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        near = (value + 1, value - 1, -value, value * 10, value * 1e300, str(value), [value])
        return rng.choice(near)
    if isinstance(value, str):
        return rng.choice((value + "x", value[:-1], value.upper(), value * 200, "\u202e" + value))
    if isinstance(value, list):
        return rng.choice((value[::-1], value[1:], value * 2, [value], tuple(value[:1])))
    return [value]


def forged_array(rng: random.Random, array: Any) -> Any:
    """Another array: odd numbers, other shape, other type, other order of its entries."""
    found = np.array(array)
    actions = ("numbers", "numbers", "numbers", "near", "shape", "type", "order")
    action = rng.choice(actions if found.dtype.kind != "U" else actions[-3:])
    if not found.size or action == "shape":
        return rng.choice(
            (
                found[..., None],
                found.ravel()[1:],
                found.T,
                np.concatenate([found.ravel()] * 2),
                found[None],
            )
        )
    if action == "type":
        with np.errstate(all="ignore"):
            kinds = ("<f4", ">f8", "<i8", ">i8", "<u4", "|b1", "<U5", "<i4")
            return found.astype(rng.choice(kinds if found.dtype.kind != "U" else ("<U2", ">U9")))
    flat = found.reshape(-1)
    if action == "order":
        flat[:] = flat[list(np.random.default_rng(rng.randrange(2**32)).permutation(flat.size))]
        return found
    for _ in range(rng.choice((1, 1, 3))):
        place = rng.randrange(flat.size)
        number = (
            flat[place].item() + rng.choice((1, -1))
            if action == "near"
            else rng.choice(ODD_NUMBERS)
        )
        with np.errstate(all="ignore"):
            try:
                flat[place] = number
            except (OverflowError, ValueError, TypeError):
                flat[place] = 2**31 - 1 if found.dtype.kind in "iu" else 0
    return found
