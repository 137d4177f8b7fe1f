"""`AutoOptions`: the arguments of `Solver.auto`, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from gameproof.core.arguments import as_count
from gameproof.minmax.estimates.gradient import Gradient


@final
@dataclass(frozen=True)
class AutoOptions:
    """What the user asked of `Solver.auto`; None leaves a choice to it."""

    estimate: Gradient | None = None
    queries: int | None = None
    pilot: int | None = None
    batch: int | None = None
    start: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.estimate is not None and not isinstance(self.estimate, Gradient):
            raise TypeError(
                f"estimate must be a Gradient, such as TwoPoint(), got {self.estimate!r}"
            )
        for name, least in (("queries", 1), ("pilot", 0), ("batch", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None or name == "seed":
                as_count(name, value, least=least)
