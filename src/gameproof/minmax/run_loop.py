"""`RunLoop`: drives a run in stretches of steps.

The clock stops during scores and callbacks.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, final

from gameproof.core.errors import BudgetExceeded, DivergedError
from gameproof.core.progress import announced
from gameproof.minmax.checkpoints import Saver
from gameproof.minmax.final_check import compare_with_start, values_kept
from gameproof.minmax.interrupts import Interrupts, interruptible
from gameproof.minmax.monitor import Callback, Monitor, Score
from gameproof.minmax.result import Reason, Result
from gameproof.minmax.run import Run
from gameproof.minmax.run_limits import Limits

# The clock, the progress bar and Ctrl-C are checked about once in this many seconds.
STRETCH = 0.1


@final
class RunLoop:
    """A run in stretches of steps, with the options of `solve`.

    `solve` drives one loop to its end, `solve_many` several in turn."""

    def __init__(
        self,
        run: Run,
        *,
        epochs: int | None = None,
        queries: int | None = None,
        tolerance: float | None = None,
        score: Score | None = None,
        callback: Callback | None = None,
        record_every: int | None = None,
        progress: bool | None = None,
        checkpoint: str | Path | None = None,
        checkpoint_every: int | None = None,
        compiled: bool | None = None,
    ) -> None:
        self._limits = Limits(run, epochs, queries)
        self._monitor = Monitor(run, tolerance, score, callback, record_every)
        self._saver = Saver(run, checkpoint, checkpoint_every)
        if compiled:
            run.require_compiled()
        self.run, self.reason = run, None
        self._compiled = run.can_compile if compiled is None else compiled
        self._interrupts = Interrupts(terminate=self._saver.active)
        self._progress, self._length = progress, 1

    reason: Reason | None
    _contexts: ExitStack

    def __enter__(self) -> Self:
        with announced("compiling, once for this kind of problem …", self._progress):
            self.run.compile(self._compiled)
        with ExitStack() as contexts:  # closes the others if one of them cannot be opened
            contexts.enter_context(self._interrupts)
            self._bar = contexts.enter_context(self._limits.progress(self._progress))
            contexts.enter_context(self._saver)
            self._contexts = contexts.pop_all()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._contexts.__exit__(*exception)

    def stretch(self) -> None:
        """Takes some steps, then records, saves and checks for a reason to stop."""
        self.reason = self._stretch()
        self._bar.show(self._limits.done)

    def _between_answers(self) -> bool:
        """Saves the state if answers are slow. Returns whether the run must stop."""
        self._saver.save_if_slow()
        return self._interrupts.seen()

    def result(self) -> Result:
        """The result of a run that has ended."""
        assert self.reason is not None
        limits = self._limits
        found = self._monitor.result(self.reason, limits.epochs, limits.for_run, limits.kept)
        return _safeguarded(self.run, found, limits)

    def _stretch(self) -> Reason | None:
        run, state, monitor = self.run, self.run.state, self._monitor
        last, steps = self._limits.last_step, state.steps
        stop_at = min(monitor.due(), self._saver.due(), last, steps + self._length)
        began = time.perf_counter()
        try:
            more = run.advance(stop_at, self._limits.for_run, self._compiled, self._between_answers)
        except KeyboardInterrupt:
            return "interrupted"
        except Exception as error:
            if isinstance(error.__cause__, BudgetExceeded):
                return "queries"  # other runs have used up the budget since the step began
            _require_finite(run, error)  # divergence explains the error
            raise
        finally:
            elapsed = time.perf_counter() - began
            state.seconds += elapsed
        done = max(state.steps - steps, 1)
        in_time = int(done * STRETCH / max(elapsed, 1e-9))
        self._length = max(1, min(in_time, 10 * max(done, self._length)))
        _require_finite(run)
        with interruptible():
            reason = monitor.look() if state.steps == monitor.due() else None
        if reason is not None:
            return reason
        self._saver.save_if_due()
        if self._interrupts.seen():
            return "interrupted"
        if not more:
            return "queries"
        return "epochs" if state.steps >= last else None


def _safeguarded(run: Run, found: Result, limits: Limits) -> Result:
    """The result, or the solver's fallback if the run did not end better."""
    start = run.solver.fallback
    if start is None or found.n_steps == 0 or found.reason not in ("epochs", "queries"):
        return found
    try:
        seen = compare_with_start(
            run, start, (found.x, found.y), limits.kept or values_kept(found.n_queries)
        )
    except Exception as error:  # whatever a value raises; the run itself must not be lost
        what = f"{type(error).__name__}: {error}"
        return replace(found, status=f"{found.status} The final comparison failed: {what}.")
    gaps = (
        f"the estimated gap is {seen.gap:.2g} at the output and {seen.start_gap:.2g} at the start"
    )
    asked = found.n_queries + seen.n_values
    if seen.better:
        return replace(found, n_queries=asked, status=f"{found.status} At the end {gaps}.")
    x, y = (part.copy() for part in start)
    status = (
        f"{found.status} The output is not clearly better than the start ({gaps}), so the start is "
        "returned; the iterate is in last_x and last_y."
    )
    return replace(found, x=x, y=y, n_queries=asked, status=status)


def _require_finite(run: Run, cause: Exception | None = None) -> None:
    if not run.state.is_finite:
        raise DivergedError(
            f"the iterate of {run.solver.name} is no longer finite at step {run.state.steps}: the "
            "values or the steps are too large; use a smaller step or a larger radius"
        ) from cause
