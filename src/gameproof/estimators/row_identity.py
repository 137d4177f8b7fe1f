"""People who are known by their numbers: a black box is told those of rows, and powers of one's own
come in their order. To these, other rows or another order would be other people.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix
from gameproof.strategic.responses import BlackBox, KnownResponse, Response


class RowIdentity(NamedTuple):
    """The rows that `knows`, a response or powers of one's own, was fitted with."""

    knows: Any
    digest: str

    @classmethod
    def fitted(cls, knows: Any, response: Response, table: Matrix) -> RowIdentity:
        """Those of a fit, looked at only where they matter: a table may be long."""
        return cls(knows, _digest(table) if keyed_by_row(response) else "")

    def require(self, knows: Any, response: Response, table: Matrix) -> None:
        """Refuses other rows than those of the fit, where it knows people by their numbers. Of what
        was given since then nothing is known: it may be about other people."""
        if knows is self.knows and keyed_by_row(response) and _digest(table) != self.digest:
            raise ValueError(
                f"these are not the rows of the fit in their order, and {type(response).__name__} "
                "knows people by their numbers, so that it would answer for others; give the rows "
                "of the fit, or for other people a response of their own: set_params(response=…)"
            )


def keyed_by_row(response: Response) -> bool:
    """Whether people are known by their numbers, and not by what their rows say."""
    if isinstance(response, KnownResponse):
        return response.by_agent
    base = getattr(response, "base", None)  # answers of another, changed
    return isinstance(response, BlackBox) or (base is not None and keyed_by_row(base))


def restrict_to_rows(response: Response, rows: Indices | None) -> Response:
    """The response of those with these numbers, who are numbered anew."""
    if rows is None:
        return response
    if isinstance(response, KnownResponse):
        return response.of_agents(rows)
    if isinstance(response, BlackBox):
        ask = response.function
        return replace(response, function=lambda theta, agents: ask(theta, rows[agents]))
    if hasattr(response, "base"):  # answers of another, changed as if these were all the people
        changed: Any = response
        return replace(changed, base=restrict_to_rows(changed.base, rows))  # type: ignore[no-any-return]
    raise ValueError(
        f"people with a weight of 0 cannot be left out of {response!r}, which may know people by "
        "their numbers; leave them out of X and y"
    )


def _digest(table: Matrix) -> str:
    return hashlib.sha256(np.ascontiguousarray(table, dtype="<f8").data).hexdigest()
