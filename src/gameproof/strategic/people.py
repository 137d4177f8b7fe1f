"""`People`: what a robust problem needs to know about people, apart from their rows."""

from __future__ import annotations

from typing import Protocol

from gameproof.core.arguments import Indices, Vector
from gameproof.strategic.responses import Response, Sight


class People(Protocol):
    """Agents with features, labels and a response, whose rows may be anywhere.

    `weighted` says whether weights differ, and `positive_share` is the share of agents with label
    +1 by weight. If the response differs by agent, `movers` are the agents that it describes."""

    @property
    def n(self) -> int: ...
    @property
    def d(self) -> int: ...
    @property
    def response(self) -> Response: ...
    @property
    def sight(self) -> Sight: ...
    @property
    def movers(self) -> Indices: ...
    @property
    def weighted(self) -> bool: ...
    @property
    def positive_share(self) -> float: ...
    @property
    def largest_by_feature(self) -> Vector: ...
    @property
    def largest(self) -> float: ...
    def require_both_labels(self) -> None: ...
