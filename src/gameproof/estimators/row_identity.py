"""Responses that are keyed by row position.

A black box receives the positions of rows, and individual powers are given in row order. For such a
response, other rows or another order would stand for other people, so they are rejected.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Indices, Matrix
from gameproof.strategic.responses import BlackBox, KnownResponse, Response


class RowIdentity(NamedTuple):
    """The rows of a fit, and the parameter (a response or powers) that is keyed by them."""

    keyed: Any
    digest: str

    @classmethod
    def of_fit(cls, keyed: Any, response: Response, table: Matrix) -> RowIdentity:
        """A digest of the rows, computed only if the response is keyed by row."""
        return cls(keyed, _digest(table) if keyed_by_row(response) else "")

    def require(self, keyed: Any, response: Response, table: Matrix) -> None:
        """Rejects other rows than those of the fit, if the response is keyed by row.

        A response that was set after the fit may be about other people and is accepted.
        """
        if keyed is self.keyed and keyed_by_row(response) and _digest(table) != self.digest:
            raise ValueError(
                f"these are not the rows of the fit in their order, and {type(response).__name__} "
                "is keyed by row position, so it would answer for the wrong people; give the rows "
                "of the fit, or set a response for these rows: set_params(response=…)"
            )


def keyed_by_row(response: Response) -> bool:
    """Whether a response depends on the positions of rows, not only on their features."""
    if isinstance(response, KnownResponse):
        return response.by_agent
    base = getattr(response, "base", None)  # the response that this one modifies
    return isinstance(response, BlackBox) or (base is not None and keyed_by_row(base))


def restrict_to_rows(response: Response, rows: Indices | None) -> Response:
    """The response of the people in these rows, who are renumbered from 0."""
    if rows is None:
        return response
    if isinstance(response, KnownResponse):
        return response.of_agents(rows)
    if isinstance(response, BlackBox):
        ask = response.function
        return replace(response, function=lambda theta, agents: ask(theta, rows[agents]))
    if hasattr(response, "base"):
        modified: Any = response
        base = restrict_to_rows(modified.base, rows)
        return replace(modified, base=base)  # type: ignore[no-any-return]
    raise ValueError(
        f"rows with a weight of 0 cannot be left out of {response!r}, which may be keyed by row "
        "position; leave them out of X and y"
    )


def _digest(table: Matrix) -> str:
    return hashlib.sha256(np.ascontiguousarray(table, dtype="<f8").data).hexdigest()
