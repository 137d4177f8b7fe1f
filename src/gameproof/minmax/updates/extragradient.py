"""Extragradient: look ahead, then step from the iterate with the gradient found there.

    w = P(u - eta F_J(u)),   u <- P(u - eta F_J(w))

Korpelevich, "The extragradient method for finding saddle points and other problems", 1976. Each
phase deploys a point of its own: one more per step than SGDA or OGDA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from gameproof.minmax.updates.update import Phase, Update


@final
@dataclass(frozen=True)
class Extragradient(Update):
    """w = P(u - eta F_J(u)), u <- P(u - eta F_J(w)).

    Examples
    --------
    >>> len(Extragradient().phases)
    2
    """

    name: ClassVar[str] = "EG"
    phases: ClassVar[tuple[Phase, ...]] = (Phase(), Phase())
