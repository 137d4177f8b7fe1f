"""`solve`: drives a run to its end, and stops the clock during scores and callbacks."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, final

from numpy.typing import ArrayLike

from gameproof.core.arguments import as_count
from gameproof.core.errors import BudgetExceeded, DivergedError, warn
from gameproof.core.progress import Progress, announced
from gameproof.kernels.layout import NO_VALUES
from gameproof.minmax.checkpoints import Saver, is_finite, locked
from gameproof.minmax.final_check import compare_with_start, values_kept
from gameproof.minmax.interrupts import Interrupts, interruptible
from gameproof.minmax.monitor import Callback, Score, Watch
from gameproof.minmax.problem import Problem
from gameproof.minmax.queries import Queries
from gameproof.minmax.result import Reason, Result
from gameproof.minmax.run import UNLIMITED, Run, Seed
from gameproof.minmax.solver import Solver, ogda_rr
from gameproof.minmax.start import starting_point
from gameproof.minmax.state import State

# A stretch of steps between two looks at the clock, the bar and Ctrl-C aims at this many seconds.
STRETCH = 0.1
DEFAULT_EPOCHS = 100


def solve(
    problem: Problem,
    solver: Solver | None = None,
    *,
    epochs: int | None = None,
    queries: int | None = None,
    seed: Seed = None,
    start: tuple[ArrayLike, ArrayLike] | None = None,
    tolerance: float | None = None,
    score: Score | None = None,
    callback: Callback | None = None,
    record_every: int | None = None,
    progress: bool | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int | None = None,
    resume: State | str | Path | None = None,
    compiled: bool | None = None,
) -> Result:
    """Runs a solver on a problem.

    Parameters
    ----------
    problem, solver
        What to solve, and how; by default by `ogda_rr()`.
    epochs, queries
        The run ends after this many epochs (100 if neither is given) and before it would ask more
        values than `queries`. Both are totals: a resumed run continues *up to* them.
    seed, start
        A seed or a generator, and (x, y); by default the solver's start, else the problem's.
    tolerance, score
        Stop when ``score(x, y)`` of the output is at most `tolerance`. Without a score, the
        problem's duality gap, or the gap to its known saddle point. The score is recorded in the
        trace; neither its time nor its values count.
    callback
        Called with a `Snapshot` at every record; returning True ends the run.
    record_every
        Epochs between records of the trace, scores and callbacks. By default epochs are recorded
        to three digits: each of the first thousand, then every tenth, every hundredth, …
    progress
        A bar on stderr: by default on a terminal only.
    checkpoint, checkpoint_every
        A file for the state, written at the start, every so many *steps* (by default every ten
        seconds), after an answer that took longer than writing does, at the end, on an error, on
        Ctrl-C and on SIGTERM (in the main thread), which then takes its usual effect.
    resume
        A state, or the file of one, to resume from.
    compiled
        None: compiled where the problem allows it. False: ask, evaluate and tell in Python. Both
        give the same bits.

    Returns
    -------
    Result
        The output, the trace, the state and a status sentence.

    Raises
    ------
    EvaluationError
        If a value or a gradient cannot be used; the error carries the state.
    DivergedError
        If the iterate is no longer finite.
    StateFileError
        If the state belongs to another run, or another run uses the checkpoint.

    Examples
    --------
    >>> import gameproof as gp
    >>> game = gp.QuadraticGame.random(n=20, seed=0)
    >>> result = gp.solve(game, gp.ogda_rr(step=0.02, radius=0.5), epochs=50, seed=0)
    >>> result.reason, result.n_queries
    ('epochs', 1999)
    """
    with ExitStack() as contexts:
        contexts.enter_context(locked(checkpoint))  # before its state is read
        run = begun(problem, solver, seed=seed, start=start, resume=resume)
        loop = Loop(
            run,
            limits=Limits(run, epochs, queries),
            watch=Watch(run, tolerance, score, callback, record_every),
            saver=Saver(run, checkpoint, checkpoint_every),
            compiled=compiled,
            progress=progress,
        )
        contexts.enter_context(loop)
        if run.solver.settled and start is None and resume is None:
            loop.reason = "settled"
        while loop.reason is None:
            loop.stretch()
        return loop.result()


def begun(
    problem: Problem,
    solver: Solver | None,
    *,
    seed: Seed = None,
    start: tuple[ArrayLike, ArrayLike] | None = None,
    resume: State | str | Path | None = None,
) -> Run:
    """A new run, or one that resumes."""
    state = State.load(resume) if isinstance(resume, (str, Path)) else resume
    if seed is None and state is None and getattr(problem, "queries", Queries()).repeatable:
        warn(
            "without a seed every run asks other questions, so that it cannot find its answers in "
            "the journal if it is started again; give seed="
        )
    method = ogda_rr() if solver is None else solver
    if start is not None and isinstance(method, Solver) and method.fallback is not None:
        method = replace(method, fallback=starting_point(problem, start))
    return Run(problem, method, seed=seed, start=start, state=state)


@final
class Loop:
    """A run in stretches of steps: `solve` drives one of them, `solve_many` several in turn."""

    def __init__(
        self,
        run: Run,
        *,
        limits: Limits,
        watch: Watch,
        saver: Saver,
        compiled: bool | None = None,
        progress: bool | None = None,
    ) -> None:
        if compiled:
            run.require_compiled()
        self.run, self.reason = run, None
        self._limits, self._watch, self._saver = limits, watch, saver
        self._compiled = run.can_compile if compiled is None else compiled
        self._interrupts, self._contexts = Interrupts(terminate=saver.active), ExitStack()
        self._progress, self._length = progress, 1

    reason: Reason | None

    def __enter__(self) -> Self:
        with announced("compiling, once for this kind of problem …", self._progress):
            self.run.compile(self._compiled)
        self._contexts.enter_context(self._interrupts)
        self._bar = self._contexts.enter_context(self._limits.progress(self._progress))
        self._contexts.enter_context(self._saver)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._contexts.__exit__(kind, error, traceback)

    def stretch(self) -> None:
        """Some steps, then whatever is due."""
        self.reason = self._stretch()
        self._bar.show(self._limits.done)

    def _between_answers(self) -> bool:
        """Saves what would be lost if the next answer took long; whether the run is to end."""
        self._saver.save_if_slow()
        return self._interrupts.seen()

    def result(self) -> Result:
        """The result, once there is a reason to end."""
        assert self.reason is not None
        limits = self._limits
        found = self._watch.result(self.reason, limits.epochs, limits.for_run, limits.kept)
        return _safeguarded(self.run, found, limits)

    def _stretch(self) -> Reason | None:
        run, state, watch = self.run, self.run.state, self._watch
        last, steps = self._limits.last_step, state.steps
        stop_at = min(watch.due(), self._saver.due(), last, steps + self._length)
        began = time.perf_counter()
        try:
            more = run.advance(stop_at, self._limits.for_run, self._compiled, self._between_answers)
        except KeyboardInterrupt:
            return "interrupted"
        except Exception as error:
            if isinstance(error.__cause__, BudgetExceeded):
                return "queries"  # others have used up the budget since the step began
            _require_finite(run, error)  # then that is the reason
            raise
        finally:
            elapsed = time.perf_counter() - began
            state.seconds += elapsed
        done = max(state.steps - steps, 1)
        in_time = int(done * STRETCH / max(elapsed, 1e-9))
        self._length = max(1, min(in_time, 10 * max(done, self._length)))
        _require_finite(run)
        with interruptible():
            reason = watch.look() if state.steps == watch.due() else None
        if reason is not None:
            return reason
        self._saver.save_if_due()
        if self._interrupts.seen():
            return "interrupted"
        if not more:
            return "queries"
        return "epochs" if state.steps >= last else None


@final
class Limits:
    """When a run must end."""

    def __init__(self, run: Run, epochs: int | None, queries: int | None) -> None:
        if epochs is None and queries is None:
            epochs = DEFAULT_EPOCHS
        gradient = run.solver.gradient
        if epochs is None and gradient.code.offset == NO_VALUES:
            raise ValueError(
                f"{gradient!r} asks for no values, so queries never end the run; give epochs"
            )
        self.epochs = None if epochs is None else as_count("epochs", epochs)
        self.queries = (
            UNLIMITED if queries is None else min(as_count("queries", queries), UNLIMITED)
        )
        limited = run.solver.fallback is not None and queries is not None
        self.kept = values_kept(self.queries) if limited else 0
        self.last_step = UNLIMITED if self.epochs is None else self.epochs * run.steps_per_epoch
        self._run = run

    @property
    def for_run(self) -> int:
        """The most values of the run: all but those for the comparison at its end."""
        return self.queries - self.kept

    @property
    def done(self) -> float:
        """How far the run is, in the unit of the bar."""
        if self.epochs is None:
            return self._run.state.queries
        return self._run.state.steps / self._run.steps_per_epoch

    def progress(self, wanted: bool | None) -> Progress:
        """The bar of this run."""
        name = self._run.solver.name
        if self.epochs is None:
            return Progress(wanted, self.for_run, "values", name)
        return Progress(wanted, self.epochs, "epochs", name)


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
    if not is_finite(run):
        raise DivergedError(
            f"the iterate of {run.solver.name} is no longer finite at step {run.state.steps}: the "
            "values or the steps are too large; use a smaller step or a larger radius"
        ) from cause
