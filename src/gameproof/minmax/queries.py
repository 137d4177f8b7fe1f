"""`Queries`: what asking a problem costs, who is asked, and what can be observed.

A problem has one such object. By default every value counts, nothing limits them, and nothing but
values can be seen. A problem with people behind it overrides this: see `strategic.people_queries`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Indices, Vector, shown
from gameproof.kernels import layout as at
from gameproof.kernels.layout import Memory, Method, Sources
from gameproof.minmax.blocks import Perturbed
from gameproof.minmax.estimates.gradient import Gradient


class Queries:
    """Every value counts, without a limit."""

    def __init__(self) -> None:
        # How often each sample was asked, updated by compiled runs; empty if nobody counts.
        self.tally: NDArray[np.int32] = np.zeros(0, dtype=np.int32)

    def sources(self, perturbed: Perturbed) -> Sources:
        """How the gradient of each sample is obtained."""
        return at.ALL_COUNTED

    @property
    def remaining(self) -> int | None:
        """How many more values may be asked, or None."""
        return None

    def turn(self) -> AbstractContextManager[Any]:
        """While open, no other run uses up what remains. Runs need it if compiled code counts their
        queries."""
        return nullcontext()

    @property
    def repeatable(self) -> bool:
        """Whether answers are stored, so that the same run would find them again."""
        return False

    @property
    def position(self) -> int:
        """How far stored answers have been read. A state notes it."""
        return 0

    def resume_at(self, position: int) -> None:
        """Called with the position in the state of a run that resumes."""

    def count_deployments(self, number: int) -> None:
        """Called with the number of points that a compiled run has deployed."""

    def require(self, number: int) -> None:
        """Raises if fewer than `number` further values may be asked."""

    def record(self, x: Vector, samples: Indices) -> None:
        """Counts values that were obtained elsewhere, through `Run.ask` and `Run.tell`."""

    def check(self, gradient: Gradient) -> None:
        """Raises if this problem cannot serve an estimate from observations."""
        raise TypeError(
            f"{gradient!r} needs people whose answers can be seen, and this problem has none; use "
            "an estimate from values such as TwoPoint()"
        )

    def observe(self, samples: Indices, x: Vector) -> Any:
        """What these samples answer to x, one row each."""
        raise TypeError("this problem cannot be observed")

    def observed_gradients(
        self, method: Method, memory: Memory, answers: Any, gradient: Gradient
    ) -> None:
        """Overwrites NEW and OLD from the observed answers of the samples asked."""
        raise TypeError("this problem cannot be observed")

    def require_tally(self, name: str, n: int) -> None:
        """Rejects counts that compiled code cannot add to: it would write beyond their end."""
        tally = self.tally
        fits = isinstance(tally, np.ndarray) and tally.dtype == np.int32
        fits = fits and tally.shape in ((0,), (n,)) and tally.flags.carray
        if not fits:
            raise ValueError(
                f"the tally of {name} must be empty or like np.zeros({n}, np.int32): contiguous, "
                f"aligned and writable; got {shown(tally)}"
            )
