"""Alternating descent-ascent: one block moves, then the other with the new first block.

    y <- P(y + eta grad_y L(x, y))   `ascent_steps` times,   x <- P(x - eta grad_x L(x, y))

With one ascent step this is ZO-Min-Max with the blocks in the other order (Liu et al., "Min-max
optimization without gradients", 2019); with several it is ZO-GDMSA (Wang et al., 2020). Each phase
perturbs the block that it moves and no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

from gameproof.core.arguments import as_count
from gameproof.minmax.updates.update import Phase, Update


@final
@dataclass(frozen=True)
class Alternating(Update):
    """`ascent_steps` steps in y, then one step in x.

    Parameters
    ----------
    ascent_steps
        How many steps y makes for each step of x.

    Examples
    --------
    >>> [phase.blocks for phase in Alternating(ascent_steps=2).phases]
    ['y', 'y', 'x']
    """

    name: ClassVar[str] = "AltGDA"
    ascent_steps: int = 1

    def __post_init__(self) -> None:
        as_count("ascent_steps", self.ascent_steps)

    @property
    def phases(self) -> tuple[Phase, ...]:  # type: ignore[override]
        up, down = Phase(blocks="y", from_base=True), Phase(blocks="x", from_base=True)
        return (*[up] * self.ascent_steps, down)
