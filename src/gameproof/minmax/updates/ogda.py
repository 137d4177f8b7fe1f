"""Optimistic gradient descent-ascent, the paper's step.

    u <- P(u - eta [F_J(u) + F_K(u) - kept])

J and K are asked at one point with one direction. kept was estimated in the step before; at the
start of an epoch, with the radius of the epoch before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from gameproof.minmax.updates.update import Phase, Update


@final
@dataclass(frozen=True)
class OGDA(Update):
    """u <- P(u - eta [F_J(u) + F_K(u) - kept]), the paper's optimistic step.

    Examples
    --------
    >>> OGDA().asks_previous
    True
    """

    name: ClassVar[str] = "OGDA"
    phases: ClassVar[tuple[Phase, ...]] = (Phase(new=1.0, previous=1.0, kept=-1.0),)
