"""How estimates become a step.

Every update here has phases of the form

    w = P( u - eta [a F_J(base) + b F_K(base) + c kept] )

where u is the iterate, F_J the estimate over the current samples, F_K that over the samples of the
step before, and kept the step before's F_J. `base` is u in the first phase and the phase before's w
in a later one; the last w is the new iterate. So an update is its table of (a, b, c), and a new one
needs no new loop: see `extragradient.py`. In the very first step there is nothing before, and every
estimate in the formula stands for F_J.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final


class Phase(NamedTuple):
    """The weights of F_J, F_K and kept. F_K costs values of its own; kept does not."""

    new: float = 1.0
    previous: float = 0.0
    kept: float = 0.0


class Update(ABC):
    """A table of phases."""

    name: ClassVar[str]
    phases: ClassVar[tuple[Phase, ...]]

    @property
    def asks_previous(self) -> bool:
        """Whether the samples of the step before are asked again, at the new point."""
        return any(phase.previous != 0 for phase in self.phases)


@final
@dataclass(frozen=True)
class SGDA(Update):
    """u <- P(u - eta F_J(u))."""

    name: ClassVar[str] = "SGDA"
    phases: ClassVar[tuple[Phase, ...]] = (Phase(),)


@final
@dataclass(frozen=True)
class OGDA(Update):
    """u <- P(u - eta [F_J(u) + F_K(u) - kept]), the paper's optimistic step.

    J and K are asked at one point with one direction; kept was made at the step before, at the
    start of an epoch with the radius of the epoch before.
    """

    name: ClassVar[str] = "OGDA"
    phases: ClassVar[tuple[Phase, ...]] = (Phase(new=1.0, previous=1.0, kept=-1.0),)
