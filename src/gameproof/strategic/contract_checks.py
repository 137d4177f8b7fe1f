"""Claims of a contract: assertions with a message that says what fails, and where."""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Indices, Vector
from gameproof.core.contracts import check_that
from gameproof.strategic.feature_mask import Mask


def claim(holds: bool, what: str) -> None:
    """Raises AssertionError unless the claim holds."""
    check_that(holds, f"broken: {what}")


def claim_everywhere(holds: Mask, what: str, agents: Indices, *thetas: Vector) -> None:
    """Raises AssertionError unless the claim holds for every agent; names the first that fails."""
    if not np.all(holds):
        agent = agents[int(np.argmin(holds))]
        where = [f"theta = {np.array2string(t, precision=3, threshold=8)}" for t in thetas]
        raise AssertionError(f"broken: {what}; agent {agent}, {' and '.join(where)}")
