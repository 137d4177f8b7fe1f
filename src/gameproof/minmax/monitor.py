"""`Monitor`: records, scores, callbacks, and the final status of a run."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, final

import numpy as np

from gameproof.core.arguments import Vector, as_count, as_number, as_positive, read_only
from gameproof.kernels import layout as at
from gameproof.minmax.problem import Problem
from gameproof.minmax.result import Reason, Result, Snapshot
from gameproof.minmax.run import Run
from gameproof.minmax.trace import Trace, TraceRow

Score = Callable[[Vector, Vector], float]
Callback = Callable[[Snapshot], Any]


@final
class Monitor:
    """Records a run at regular epochs and writes its status."""

    def __init__(
        self,
        run: Run,
        tolerance: float | None,
        score: Score | None,
        callback: Callback | None,
        record_every: int | None,
    ) -> None:
        for name, function in (("score", score), ("callback", callback)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} must be a function, got {function!r}")
        self._run, self._callback = run, callback
        self._tolerance = None if tolerance is None else as_positive("tolerance", tolerance)
        self._score = own_score(run.problem) if tolerance and score is None else score
        self._every = None if record_every is None else as_count("record_every", record_every)
        self._next = self._first()

    def _first(self) -> int:
        """The step of the first record. It is the present step if a record is due and missing, as
        after a score that raised."""
        state = self._run.state
        due = state.steps > 0 and state.steps == self._after(state.steps - 1)
        taken = any(row.steps == state.steps for row in state.rows[-1:])
        return state.steps if due and not taken else self._after(state.steps)

    def _after(self, steps: int) -> int:
        """The step of the next record. By default epochs are recorded to three digits: every one
        of the first thousand, then every tenth, every hundredth, …"""
        epoch = steps // self._run.steps_per_epoch
        every = self._every or 10 ** max(0, len(str(epoch)) - 3)
        return (epoch // every + 1) * every * self._run.steps_per_epoch

    def due(self) -> int:
        """The step of the next record."""
        return self._next

    def look(self) -> Reason | None:
        """Adds a record. Returns a reason to stop, or None."""
        row = self._row()
        self._run.state.rows.append(row)
        self._next = self._after(row.steps)
        if self._tolerance is not None and np.isnan(row.score):
            raise ValueError(f"score gave nan after {row.epoch:g} epochs: no tolerance can be met")
        if self._tolerance is not None and row.score <= self._tolerance:
            return "tolerance"
        if self._callback is not None and _is_true(self._callback(self._snapshot(row))):
            return "callback"
        return None

    def _row(self) -> TraceRow:
        """A record of the present state."""
        state, run = self._run.state, self._run
        numbers, score = state.memory.numbers, float("nan")
        if self._score is not None:
            score = as_number("the score", self._score(*run.recommend()))
        return TraceRow(
            state.steps / run.steps_per_epoch,
            state.steps,
            state.queries,
            state.deployments,
            state.seconds,
            float(numbers[at.ETA]),
            float(numbers[at.RADIUS]),
            score,
        )

    def result(self, reason: Reason, epochs: int | None, queries: int, kept: int = 0) -> Result:
        """The result. A run that ended between two records gets one more, in the result alone: the
        state has only those that an uninterrupted run would have."""
        run, state = self._run, self._run.state
        state.rng = deepcopy(state.rng)  # the caller may draw from the original before resuming
        rows = list(state.rows)
        if not rows or (rows[-1].steps, rows[-1].queries) != (state.steps, state.queries):
            rows.append(self._row())
        x, y = run.recommend()
        # Views: the state stays as it is, and y may be as long as memory allows.
        last_x, last_y = map(read_only, state.iterate)
        return Result(
            x=x,
            y=y,
            last_x=last_x,
            last_y=last_y,
            status=self._status(reason, rows[-1], epochs, queries, kept),
            reason=reason,
            n_queries=state.queries,
            n_deployments=state.deployments,
            n_steps=state.steps,
            epochs=state.steps / run.steps_per_epoch,
            seconds=state.seconds,
            trace=Trace(rows),
            state=state,
        )

    def _snapshot(self, row: TraceRow) -> Snapshot:
        points = (*self._run.recommend(), *self._run.state.last)
        for point in points:
            point.flags.writeable = False
        return Snapshot(row.epoch, row.steps, row.queries, row.seconds, row.score, *points)

    def _status(
        self, reason: Reason, row: TraceRow, epochs: int | None, queries: int, kept: int
    ) -> str:
        after = f"after {row.epoch:g} epochs and {row.queries} values"
        scored = "" if np.isnan(row.score) else f" with score {row.score:.3g}"
        resume = "resume=result.state"
        reserved = f", {kept} of them for the comparison with the start" if kept else ""
        # Otherwise the population's budget ended the run.
        own = reason == "queries" and row.queries + self._run.step_cost > queries
        if epochs is not None and row.epoch > epochs:
            return f"Nothing to do: the run has {row.epoch:g} epochs already, more than {epochs}."
        return {
            "tolerance": f"Reached the tolerance {self._tolerance}: score {row.score:.3g} {after}.",
            "epochs": f"Ran all {epochs} epochs{scored}; to continue, pass a larger epochs and "
            f"{resume}.",
            "queries": f"Stopped {after}{scored}: the next step could exceed "
            + (
                f"the budget of {queries + kept} values{reserved}; to continue, pass a larger one "
                f"and {resume}."
                if own
                else f"what is left of the population's budget; to continue, raise it and {resume}."
            ),
            "callback": f"The callback ended the run {after}{scored}.",
            "interrupted": f"Interrupted {after}{scored}; nothing is lost, continue with {resume}.",
            "settled": (
                f"Asked for no value. {self._run.solver.settled} To run nevertheless, pass "
                f"{resume}."
            ),
        }[reason]


def own_score(problem: Problem) -> Score:
    """The score of a tolerance that was given without one."""
    if problem.has_duality_gap:
        return problem.duality_gap
    if problem.saddle is not None:
        return problem.gap
    raise ValueError(
        f"tolerance needs something to measure, and {problem.name} knows neither its duality gap "
        "nor a saddle point; pass score=, a function of (x, y)"
    )


def _is_true(answer: Any) -> bool:
    return isinstance(answer, (bool, np.bool_)) and bool(answer)
