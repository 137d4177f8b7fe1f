"""`StepCosts`: how many values a step asks at most, before it is taken."""

from __future__ import annotations

from typing import final

import numpy as np

from gameproof.kernels import layout as at
from gameproof.kernels.snapshots import is_due
from gameproof.minmax.ask_tell import Stepper
from gameproof.minmax.plan import deployed_points
from gameproof.minmax.solver import Solver


@final
class StepCosts:
    """Counts the values of the next step, or those that the present one still needs."""

    def __init__(self, solver: Solver, stepper: Stepper) -> None:
        self.solver, self._stepper = solver, stepper
        self._counts, self._method = stepper.counts, stepper.method
        self._costly_per_batch = self._count_costly()
        self._points = deployed_points(self._method.plan)

    def next_step(self) -> int:
        """How many values the next step asks at most, or how many the present one still needs."""
        counts, method = self._counts, self._method
        if counts[at.STAGE] == at.IDLE:
            due = is_due.py_func(method, counts)
            previous = 0 if due else counts[at.N_PREVIOUS]
            return self._whole_step(counts[at.POSITION], previous) + (self._pass(0) if due else 0)
        rest = self._rest_of_step()
        if counts[at.PHASE] == method.phases:  # a pass for a snapshot
            rest += self._pass(counts[at.POSITION] + counts[at.N_CURRENT]) + self._whole_step(0, 0)
        return rest

    def _whole_step(self, position: int, previous: int) -> int:
        """How many values a step asks at most, `previous` samples after another one."""
        method = self._method
        samples = min(method.batch, method.n - position, self._costly_per_batch)
        if method.asks_previous:
            samples += min(previous, self._costly_per_batch)
        return int(samples * method.queries_per_sample)

    def _pass(self, position: int) -> int:
        """How many values a pass for a snapshot asks from this sample on."""
        samples = self._stepper.costly(np.arange(position, self._method.n))
        return int(samples.size * self._queries_of(self._method.phases))

    def _rest_of_step(self) -> int:
        """How many values the step under way, or batch of a pass, still needs."""
        counts, method = self._counts, self._method
        here = self._queries_of(counts[at.PHASE])
        later = sum(self._queries_of(p) for p in range(counts[at.PHASE] + 1, method.phases))
        if counts[at.STAGE] == at.ASKING:
            missing = self._stepper.costly(self._stepper.samples_asked).size
            return int(missing + (later + here - counts[at.POINT_NO] - 1) * counts[at.COSTLY])
        left = here if counts[at.STAGE] <= at.COMPLETE and method.observes else 0
        if counts[at.STAGE] < at.ASKING:
            left = here - counts[at.POINT_NO]
        return int((later + left) * counts[at.COSTLY])

    def _queries_of(self, phase: int) -> int:
        """Values, or observed answers, per sample in a phase."""
        if self._method.observes:
            return int(self.solver.update.phases[phase].asks)
        return int(self._points[phase])

    def _count_costly(self) -> int:
        """How many samples of a batch are counted at most."""
        method = self._method
        costly = method.sources.how_many(at.COUNTED, method.n)
        repeats = method.order in (at.WITH_REPLACEMENT, at.EXTERNAL) and costly > 0
        return method.batch if repeats else min(method.batch, costly)
