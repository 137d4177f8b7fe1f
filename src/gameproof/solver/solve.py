"""`solve`: drives a run to its end, and stops the clock while others look at it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof import kernels
from gameproof.arguments import Vector, as_count, as_positive
from gameproof.problem.problem import Problem
from gameproof.solver.interrupt import Interrupts
from gameproof.solver.method import Solver, ogda_rr
from gameproof.solver.progress import Progress
from gameproof.solver.result import Reason, Result, Snapshot
from gameproof.solver.run import UNLIMITED, Run, Seed
from gameproof.solver.state import State
from gameproof.solver.trace import Row, Trace

Score = Callable[[Vector, Vector], float]
Callback = Callable[[Snapshot], Any]

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
    record_every: int = 1,
    progress: bool | None = None,
    checkpoint: str | Path | None = None,
    checkpoint_every: int | None = None,
    resume: State | str | Path | None = None,
    compiled: bool | None = None,
) -> Result:
    """Runs a solver on a problem.

    epochs, queries
        The run ends after this many epochs (100 if neither is given) and before it would ask more
        values than `queries`. Both are totals: a resumed run goes on *to* them.
    seed, start
        A seed or a generator, and (x, y); by default the centres of the sets.
    tolerance, score
        Stop when ``score(x, y)`` of the output is at most `tolerance`. Without a score, the
        problem's duality gap, or the gap to its known saddle point. The score is recorded in the
        trace; neither its time nor its values count.
    callback
        Called with a `Snapshot` at every record; returning True ends the run.
    record_every
        Epochs between records of the trace.
    progress
        A bar on stderr: by default on a terminal only.
    checkpoint, checkpoint_every
        A file that holds the state: written every so many steps (by default at every record), at
        the end, on Ctrl-C and on an error.
    resume
        A state, or the file of one, to go on from.
    compiled
        None: compiled where the problem allows it. False: ask, evaluate and tell in Python. Both
        give the same bits.

    >>> import gameproof as gp
    >>> game = gp.QuadraticGame.random(n=20, seed=0)
    >>> result = gp.solve(game, gp.ogda_rr(step=0.02, radius=0.5), epochs=50, seed=0)
    >>> result.reason, result.n_queries
    ('epochs', 1999)
    """
    state = State.load(resume) if isinstance(resume, (str, Path)) else resume
    run = Run(problem, solver or ogda_rr(), seed=seed, start=start, state=state)
    limits = _Limits(run, epochs, queries)
    watch = _Watch(run, score or _own_score(problem, tolerance), tolerance, callback)
    use_compiled = _use_compiled(run, compiled)
    every = as_count("record_every", record_every) * run.steps_an_epoch
    saver = _Saver(run, checkpoint, checkpoint_every or every)
    run.compile(whole=use_compiled)
    with Interrupts() as interrupts, limits.progress(progress) as bar:
        try:
            reason = _drive(run, limits, watch, saver, every, use_compiled, interrupts, bar)
        finally:
            saver.save()
    return watch.result(reason, limits)


def _drive(
    run: Run,
    limits: _Limits,
    watch: _Watch,
    saver: _Saver,
    every: int,
    compiled: bool,
    interrupts: Interrupts,
    bar: Progress,
) -> Reason:
    """The loop: a stretch of steps, then whatever is due."""
    state, stretch = run.state, 1
    while True:
        due = [next_multiple(state.steps, every), saver.due(), limits.last_step]
        if mark := next_mark(run):
            due.append(mark)
        stop_at = min(*due, state.steps + stretch)
        began, steps = time.perf_counter(), state.steps
        try:
            more = run.advance(stop_at, limits.queries, compiled, interrupts.seen)
        except KeyboardInterrupt:
            return "interrupted"
        finally:
            elapsed = time.perf_counter() - began
            state.seconds += elapsed
        done = max(state.steps - steps, 1)
        stretch = int(np.clip(done * STRETCH / max(elapsed, 1e-9), 1, 10 * max(done, stretch)))
        bar.show(limits.done)
        if state.steps == mark:
            state.mark()
        if reason := watch.look(due=state.steps % every == 0 and state.steps > steps):
            return reason
        if state.steps >= saver.due():
            saver.save()
        if interrupts.seen():
            return "interrupted"
        if not more:
            return "queries"
        if state.steps >= limits.last_step:
            return "epochs"


def next_multiple(steps: int, every: int) -> int:
    """The first multiple of `every` after `steps`."""
    return (steps // every + 1) * every


def next_mark(run: Run) -> int:
    """The step at which the run next completes a power of two of epochs."""
    epoch = run.state.steps // run.steps_an_epoch
    return int(2 ** epoch.bit_length()) * run.steps_an_epoch


@final
class _Limits:
    """When a run must end."""

    def __init__(self, run: Run, epochs: int | None, queries: int | None) -> None:
        if epochs is None and queries is None:
            epochs = DEFAULT_EPOCHS
        if epochs is None and run.step_cost == 0:
            raise ValueError(
                "Exact() asks for no values, so queries never end the run; give epochs"
            )
        self.epochs = None if epochs is None else as_count("epochs", epochs)
        self.queries = UNLIMITED if queries is None else as_count("queries", queries)
        self.last_step = UNLIMITED if self.epochs is None else self.epochs * run.steps_an_epoch
        self._run = run

    @property
    def done(self) -> float:
        """How far the run is, in the unit of the bar."""
        if self.epochs is None:
            return self._run.state.queries
        return self._run.state.steps / self._run.steps_an_epoch

    def progress(self, wanted: bool | None) -> Progress:
        """The bar of this run."""
        name = self._run.solver.name
        if self.epochs is None:
            return Progress(wanted, self.queries, "values", name)
        return Progress(wanted, self.epochs, "epochs", name)


@final
class _Saver:
    """Keeps the checkpoint file."""

    def __init__(self, run: Run, path: str | Path | None, every: int) -> None:
        self._run, self._path = run, None if path is None else Path(path)
        self._every = as_count("checkpoint_every", every)
        if self._path is not None and not self._path.parent.is_dir():
            raise FileNotFoundError(f"the folder of the checkpoint {self._path} does not exist")
        self._saved = run.state.steps

    def due(self) -> int:
        """The step at which to save next."""
        return UNLIMITED if self._path is None else self._saved + self._every

    def save(self) -> None:
        """Writes the file, if there is one."""
        if self._path is not None:
            self._run.state.save(self._path)
            self._saved = self._run.state.steps


@final
class _Watch:
    """Records, scores, callbacks: whatever looks at a run from outside."""

    def __init__(
        self, run: Run, score: Score | None, tolerance: float | None, callback: Callback | None
    ) -> None:
        self._run, self._score, self._callback = run, score, callback
        self._tolerance = None if tolerance is None else as_positive("tolerance", tolerance)
        for name, function in (("score", score), ("callback", callback)):
            if function is not None and not callable(function):
                raise TypeError(f"{name} must be a function, got {function!r}")

    def look(self, due: bool) -> Reason | None:
        """Records if it is time to; a reason to stop, or None."""
        if not due:
            return None
        row = self.record()
        if self._tolerance is not None and row.score <= self._tolerance:
            return "tolerance"
        if self._callback is not None and self._callback(self._snapshot(row)) is True:
            return "callback"
        return None

    def record(self) -> Row:
        """Adds a record of the run as it stands."""
        state, run = self._run.state, self._run
        x, y = run.recommend()
        _require_finite(run, x, y)
        row = Row(
            state.steps / run.steps_an_epoch,
            state.steps,
            state.queries,
            state.deployments,
            state.seconds,
            float(state.memory.numbers[kernels.ETA]),
            float(state.memory.numbers[kernels.RADIUS]),
            float("nan") if self._score is None else float(self._score(x, y)),
        )
        state.rows.append(row)
        return row

    def result(self, reason: Reason, limits: _Limits) -> Result:
        """The result, with a last record if the run ended between two."""
        run, state = self._run, self._run.state
        if not state.rows or state.rows[-1].steps != state.steps:
            self.record()
        x, y = run.recommend()
        last_x, last_y = state.last
        return Result(
            x=x,
            y=y,
            last_x=last_x,
            last_y=last_y,
            status=self._status(reason, limits),
            reason=reason,
            n_queries=state.queries,
            n_deployments=state.deployments,
            n_steps=state.steps,
            epochs=state.steps / run.steps_an_epoch,
            seconds=state.seconds,
            trace=Trace(state.rows),
            state=state,
        )

    def _snapshot(self, row: Row) -> Snapshot:
        points = (*self._run.recommend(), *self._run.state.last)
        for point in points:
            point.flags.writeable = False
        return Snapshot(row.epoch, row.steps, row.queries, row.seconds, row.score, *points)

    def _status(self, reason: Reason, limits: _Limits) -> str:
        row = self._run.state.rows[-1]
        at = f"after {row.epoch:g} epochs and {row.queries} values"
        scored = "" if np.isnan(row.score) else f" with score {row.score:.3g}"
        go_on = "resume=result.state"
        return {
            "tolerance": f"Reached the tolerance {self._tolerance}: score {row.score:.3g} {at}.",
            "epochs": f"Ran all {limits.epochs} epochs{scored}; to go on, pass a larger epochs and "
            f"{go_on}.",
            "queries": f"Stopped {at}{scored}: the next step would exceed the budget of "
            f"{limits.queries} values; to go on, pass a larger one and {go_on}.",
            "callback": f"The callback ended the run {at}{scored}.",
            "interrupted": f"Interrupted {at}{scored}; nothing is lost, go on with {go_on}.",
        }[reason]


def _own_score(problem: Problem, tolerance: float | None) -> Score | None:
    """What a tolerance is measured with when no score was given."""
    if tolerance is None:
        return None
    if type(problem).duality_gap is not Problem.duality_gap:
        return problem.duality_gap
    if problem.saddle is not None:
        return problem.gap
    raise ValueError(
        f"tolerance needs something to measure, and {problem.name} knows neither its duality gap "
        "nor a saddle point; pass score=, a function of (x, y)"
    )


def _use_compiled(run: Run, wanted: bool | None) -> bool:
    if wanted and not run.can_compile:
        raise ValueError(
            f"{run.problem.name} cannot run compiled: its value function or one of its sets is "
            "plain Python; leave out compiled=True"
        )
    return run.can_compile if wanted is None else wanted


def _require_finite(run: Run, x: Vector, y: Vector) -> None:
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise FloatingPointError(
            f"the iterate of {run.solver.name} is no longer finite at step {run.state.steps}: the "
            "values or the steps are too large; use a smaller step or a larger radius"
        )
