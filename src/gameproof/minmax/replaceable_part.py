"""`ReplaceablePart`: what the replaceable parts of a method and of a problem share."""

from __future__ import annotations


class ReplaceablePart:
    """A part is shown by its class, unless it has a repr of its own, as dataclasses do.

    The repr is in messages and identifies the part in a saved run, so it must be the same in
    another process.
    """

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"
