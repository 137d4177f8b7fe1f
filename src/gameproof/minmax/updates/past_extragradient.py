"""Past extragradient: look ahead with the gradient of the step before, which costs nothing.

    w = P(u - eta kept),   u <- P(u - eta F_J(w)),   kept <- F_J(w)

Popov, "A modification of the Arrow-Hurwicz method for search of saddle points", 1980.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from gameproof.minmax.updates.update import Phase, Update


@final
@dataclass(frozen=True)
class PastExtragradient(Update):
    """w = P(u - eta kept), u <- P(u - eta F_J(w)): one estimate per step.

    Examples
    --------
    >>> [phase.asks for phase in PastExtragradient().phases]
    [False, True]
    """

    name: ClassVar[str] = "PEG"
    phases: ClassVar[tuple[Phase, ...]] = (Phase(new=0.0, kept=1.0), Phase())
