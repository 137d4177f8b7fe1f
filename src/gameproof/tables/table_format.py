"""`TableFormat`: what a user states about the way a text file is written.

What is not stated is detected from the file and reported. This module imports nothing heavy: the
command checks its options with it before anything is loaded.
"""

from __future__ import annotations

import codecs
from typing import NamedTuple

DECIMALS = (".", ",")
GROUPS = {".": ".", ",": ",", " ": " ", "'": "'", "space": " ", "apostrophe": "'", "none": ""}
"""Thousands separators as a user may name them."""


class TableFormat(NamedTuple):
    """The decimal sign, the thousands separator and the encoding; None for what is detected.

    An empty thousands separator states that there is none.
    """

    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None

    def checked(self) -> TableFormat:
        """The same format in canonical spelling, or an error that names what is wrong."""
        if self.decimal is not None and self.decimal not in DECIMALS:
            raise ValueError(f"decimal must be '.' or ',', got {self.decimal!r}")
        thousands = self.thousands
        if thousands is not None and thousands != "":
            if thousands not in GROUPS:
                raise ValueError(
                    f"thousands must be '.', ',', \"'\", 'space' or 'none', got {thousands!r}"
                )
            thousands = GROUPS[thousands]
        if thousands and thousands == self.decimal:
            raise ValueError(f"decimal and thousands must differ, got {self.decimal!r} for both")
        if self.encoding is not None:
            try:
                info = codecs.lookup(self.encoding)
            except LookupError:
                raise ValueError(
                    f"unknown encoding {self.encoding!r}; usual ones are utf-8, latin-1, cp1252, "
                    "cp1250 and utf-16"
                ) from None
            if not getattr(info, "_is_text_encoding", True):
                raise ValueError(f"{self.encoding!r} is not an encoding of text")
        return TableFormat(self.decimal, thousands, self.encoding)


DETECTED = TableFormat()
"""The format that states nothing: everything is detected."""
