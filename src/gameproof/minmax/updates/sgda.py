"""Stochastic gradient descent-ascent: u <- P(u - eta F_J(u))."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from gameproof.minmax.updates.update import Phase, Update


@final
@dataclass(frozen=True)
class SGDA(Update):
    """u <- P(u - eta F_J(u)).

    Examples
    --------
    >>> SGDA().phases[0].new
    1.0
    """

    name: ClassVar[str] = "SGDA"
    phases: ClassVar[tuple[Phase, ...]] = (Phase(),)
