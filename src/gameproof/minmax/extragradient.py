"""Extragradient: look ahead, then step from where you were with the gradient found there.

    w = P(u - eta F_J(u)),   u <- P(u - eta F_J(w))

Korpelevich (1976). Each phase deploys a point of its own: one more a step than SGDA or OGDA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from gameproof.minmax.updates import Phase, Update


@final
@dataclass(frozen=True)
class Extragradient(Update):
    """w = P(u - eta F_J(u)), u <- P(u - eta F_J(w))."""

    name: ClassVar[str] = "EG"
    phases: ClassVar[tuple[Phase, ...]] = (Phase(), Phase())
