"""Decodes the bytes of a text file, and detects the encoding if it is unambiguous.

A byte-order mark settles the encoding. Text that is valid UTF-8 is UTF-8. Text in which every
second byte is 0 is UTF-16. Any other text is taken as Windows-1252, which contains Latin-1, if all
its special characters are letters and signs of western European languages; the reader reports it.
Text that is partly UTF-8, or would contain unlikely characters, is refused: the user must state
its encoding.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from gameproof.core.errors import DataError

# How other text formats begin. Columns may be called "<30 days" and "{x}".
OTHERS = {r"<([!?]|html)": "a web page or XML", r'\[?\s*\{\s*["}]': "JSON"}
MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
WESTERN, WESTERN_NAME = "cp1252", "Latin-1 (Windows-1252)"
# Special characters that western European tables use. DOS and Mac encodings have letters at the
# places of the other ones.
USUAL = frozenset("€’–\xa0£§°²³ºª·«»´µ¡¿½¼" + "".join(map(chr, range(0xC0, 0x100)))) - {"×", "÷"}
NAMES = {"utf-16-le": "UTF-16", "utf-16-be": "UTF-16", WESTERN: WESTERN_NAME}
ASK = "name the encoding (--encoding, such as latin-1, cp1250 or utf-16), or save it as UTF-8"
START = 4000  # bytes that a format is recognised by


class Decoded(NamedTuple):
    """The text of a file without its byte-order mark, its encoding, and a note on a detection."""

    text: str
    encoding: str
    note: str = ""


def decode(data: bytes, given: str, stated: str | None = None) -> Decoded:
    """The text of a file; `given` names it in messages, and `stated` is the user's encoding."""
    encoding, body = _marked(data)
    if encoding and stated:
        name = codecs.lookup(stated).name
        if not (encoding.startswith(name) or name.startswith(encoding)):
            raise DataError(
                f"{given} begins with the mark of {NAMES.get(encoding, 'UTF-8')}, but its encoding "
                f"is stated as {name} (--encoding)"
            )
    encoding = encoding or stated or _utf16(data)
    if encoding is None and b"\x00" in data[:START]:
        raise DataError(f"{given} is a binary file, expected a table: CSV, TSV or Parquet")
    try:
        text = body.decode(encoding or "utf-8")
    except UnicodeDecodeError as error:
        if encoding is not None:
            line = data.count(b"\n", 0, error.start) + 1
            raise DataError(
                f"{given}, line {line}: the byte 0x{body[error.start]:02x} is not "
                f"{NAMES.get(encoding, encoding)}; {ASK}"
            ) from error
        return _western(data, given, error.start)
    text = text.removeprefix("\ufeff")
    _require_table(text, given)
    name = NAMES.get(encoding or "", "")
    note = f"read as {name}" if name and not stated else ""
    return Decoded(text, encoding or "utf-8", note)


def _marked(data: bytes) -> tuple[str | None, bytes]:
    """The encoding that a byte-order mark names, and the bytes behind the mark."""
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            return encoding, data[len(mark) :]
    return None, data


def _utf16(data: bytes) -> str | None:
    """UTF-16 without a mark: in tables, most characters have a byte 0."""
    start = data[:START]
    for encoding, zeros, others in (
        ("utf-16-le", start[1::2], start[::2]),
        ("utf-16-be", start[::2], start[1::2]),
    ):
        if len(start) >= 8 and 2 * zeros.count(0) > len(zeros) and others.count(0) == 0:
            return encoding
    return None


def _western(data: bytes, given: str, at: int) -> Decoded:
    """The text as Windows-1252, if nothing speaks against it."""
    line = data.count(b"\n", 0, at) + 1
    found = f"{given}, line {line}: the byte 0x{data[at]:02x} is not UTF-8"
    partly = _special(data.decode("utf-8", errors="replace")) - {"\ufffd"}
    if partly:
        raise DataError(f"{found}, while other special characters are; {ASK}")
    try:
        text = data.decode(WESTERN)
        odd = _special(text) - USUAL
    except UnicodeDecodeError:
        odd = {"?"}
    if odd:
        raise DataError(f"{found}; {ASK}")
    _require_table(text, given)
    return Decoded(text, WESTERN, f"read as {WESTERN_NAME}, which is not marked in the file")


def _special(text: str) -> set[str]:
    """The characters of a text that are not ASCII."""
    return {letter for letter in set(text) if letter > "\x7f"}


def _require_table(text: str, given: str) -> None:
    """Raises if a text is empty or in another format."""
    start = text[:START].strip()
    if not start:
        raise DataError(f"{given} is empty")
    for mark, what in OTHERS.items():
        if re.match(mark, start, re.IGNORECASE):
            raise DataError(f"{given} is {what}, expected a table: CSV, TSV or Parquet")
