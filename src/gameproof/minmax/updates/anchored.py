"""Anchored extragradient: both phases start a little towards the start of the run.

    v = u_k + (u_0 - u_k) / (k + 2),   w = P(v - eta F_J(u_k)),   u_{k+1} = P(v - eta F_J(w))

Yoon and Ryu, "Accelerated algorithms for smooth convex-concave minimax problems with O(1/k^2) rate
on squared gradient norm", 2021, after Halpern, 1967. The last iterate converges, so average it by
`Last()`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from gameproof.minmax.updates.update import Phase, Update


@final
@dataclass(frozen=True)
class Anchored(Update):
    """Extragradient whose phases start 1/(k + 2) of the way to the start of the run, in step k.

    Examples
    --------
    >>> all(phase.anchored for phase in Anchored().phases)
    True
    """

    name: ClassVar[str] = "EAG"
    phases: ClassVar[tuple[Phase, ...]] = (Phase(anchored=True), Phase(anchored=True))
