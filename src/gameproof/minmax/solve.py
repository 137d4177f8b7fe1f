"""`solve`: drives a run to its end, and stops the clock while others look at it."""

from __future__ import annotations

import time
from collections.abc import Generator
from pathlib import Path
from types import TracebackType
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import as_count
from gameproof.core.atomic_files import require_replaceable
from gameproof.core.errors import DivergedError, warn
from gameproof.core.progress import Progress, announced
from gameproof.minmax.estimates import Exact
from gameproof.minmax.interrupts import Interrupts
from gameproof.minmax.monitor import Callback, Score, Watch
from gameproof.minmax.problem import Problem
from gameproof.minmax.result import Reason, Result
from gameproof.minmax.run import UNLIMITED, Run, Seed
from gameproof.minmax.scheduling import to_the_end
from gameproof.minmax.solver import Solver, ogda_rr
from gameproof.minmax.state import State

# A stretch of steps between two looks at the clock, the bar and Ctrl-C aims at this many seconds.
STRETCH = 0.1
DEFAULT_EPOCHS = 100
# Seconds between two checkpoints, where the caller does not say.
SAVE_EVERY = 10.0


def solving(
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
) -> Generator[int, None, Result]:
    """Runs a solver on a problem.

    epochs, queries
        The run ends after this many epochs (100 if neither is given) and before it would ask more
        values than `queries`. Both are totals: a resumed run goes on *to* them.
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
        A file that holds the state: written every so many *steps* (by default every ten seconds),
        at the end, on Ctrl-C and on an error.
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
    method = ogda_rr() if solver is None else solver
    run = Run(problem, method, seed=seed, start=start, state=state)
    limits = _Limits(run, epochs, queries)
    watch = Watch(run, tolerance, score, callback, record_every)
    if checkpoint is None and checkpoint_every is not None:
        raise ValueError("checkpoint_every says how often to write a file; name it: checkpoint=")
    saver = _Saver(run, checkpoint, checkpoint_every)
    whole = _use_compiled(run, compiled)
    with announced("compiling, once for this kind of problem: about a minute …", progress):
        run.compile(whole)
    with Interrupts() as interrupts, limits.progress(progress) as bar, saver:
        reason = yield from _drive(run, whole, limits, watch, saver, interrupts, bar)
        return watch.result(reason, limits.epochs, limits.queries)


# `solving` says after each stretch how many steps it has taken, so that others can have a turn;
# whoever has no others to think of calls this.
solve = to_the_end("solve", solving)


def _drive(
    run: Run,
    compiled: bool,
    limits: _Limits,
    watch: Watch,
    saver: _Saver,
    interrupts: Interrupts,
    bar: Progress,
) -> Generator[int, None, Reason]:
    """The loop: a stretch of steps, then whatever is due."""
    state, stretch = run.state, 1
    while True:
        stop_at = min(watch.due(), saver.due(), limits.last_step, state.steps + stretch)
        began, steps = time.perf_counter(), state.steps
        try:
            more = run.advance(stop_at, limits.queries, compiled, interrupts.seen)
        except KeyboardInterrupt:
            return "interrupted"
        except Exception as error:
            _require_finite(run, error)  # then that is why
            raise
        finally:
            elapsed = time.perf_counter() - began
            state.seconds += elapsed
        done = max(state.steps - steps, 1)
        in_time = int(done * STRETCH / max(elapsed, 1e-9))
        stretch = max(1, min(in_time, 10 * max(done, stretch)))
        bar.show(limits.done)
        _require_finite(run)
        if state.steps == watch.due() and (reason := watch.look()):
            return reason
        saver.save_if_due()
        if interrupts.seen():
            return "interrupted"
        if not more:
            return "queries"
        if state.steps >= limits.last_step:
            return "epochs"
        yield state.steps


@final
class _Limits:
    """When a run must end."""

    def __init__(self, run: Run, epochs: int | None, queries: int | None) -> None:
        if epochs is None and queries is None:
            epochs = DEFAULT_EPOCHS
        if epochs is None and isinstance(run.solver.gradient, Exact):
            raise ValueError(
                "Exact() asks for no values, so queries never end the run; give epochs"
            )
        self.epochs = None if epochs is None else as_count("epochs", epochs)
        self.queries = (
            UNLIMITED if queries is None else min(as_count("queries", queries), UNLIMITED)
        )
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
    """Keeps the checkpoint file, and leaves the last state in it however the run ends."""

    def __init__(self, run: Run, path: str | Path | None, every: int | None) -> None:
        self._run, self._path = run, None if path is None else Path(path)
        self._every = None if every is None else as_count("checkpoint_every", every)
        if self._path is not None:
            require_replaceable(self._path)
            if not self._path.parent.is_dir():
                raise FileNotFoundError(f"the folder of the checkpoint {self._path} does not exist")
        self._saved, self._when = run.state.steps, time.monotonic()

    def due(self) -> int:
        """The step at which to save next, where steps decide."""
        if self._path is None or self._every is None:
            return UNLIMITED
        return self._saved + self._every

    def save_if_due(self) -> None:
        """Saves after so many steps, or seconds. Where that fails the run goes on: values may cost
        more than the file, and the next time there may be room."""
        by_clock = self._every is None and time.monotonic() - self._when > SAVE_EVERY
        if (by_clock or self._run.state.steps >= self.due()) and (failed := self._save()):
            warn(f"the checkpoint could not be written, and the run goes on: {failed}")

    def _save(self) -> OSError | None:
        """Writes the file, if there is one; what went wrong."""
        self._saved, self._when = self._run.state.steps, time.monotonic()
        try:
            if self._path is not None:
                self._run.state.save(self._path)
        except OSError as error:
            return error
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not _is_finite(self._run):
            return  # the state is of no use: the file keeps the last one that was
        if error is not None and not hasattr(error, "state"):
            # Whoever raised it, the run up to here is worth keeping.
            error.state = self._run.state.copy()  # type: ignore[attr-defined]
            error.add_note("The run up to here is in the attribute `state` of this exception.")
        if failed := self._save():
            if error is None:  # the result is worth more than the file
                warn(f"the checkpoint could not be written: {failed}")
            else:
                error.add_note(f"The checkpoint could not be written either: {failed}")


def _use_compiled(run: Run, wanted: bool | None) -> bool:
    if wanted:
        run.require_compiled()
    return run.can_compile if wanted is None else wanted


def _is_finite(run: Run) -> bool:
    return all(np.isfinite(block).all() for block in run.state.iterate)


def _require_finite(run: Run, cause: Exception | None = None) -> None:
    if not _is_finite(run):
        raise DivergedError(
            f"the iterate of {run.solver.name} is no longer finite at step {run.state.steps}: the "
            "values or the steps are too large; use a smaller step or a larger radius"
        ) from cause
