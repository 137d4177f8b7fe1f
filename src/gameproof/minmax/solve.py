"""`solve`: runs a solver on a problem."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from numpy.typing import ArrayLike

from gameproof.core.errors import warn
from gameproof.minmax.checkpoints import locked
from gameproof.minmax.monitor import Callback, Score
from gameproof.minmax.paper_methods import ogda_rr
from gameproof.minmax.problem import Problem
from gameproof.minmax.queries import Queries
from gameproof.minmax.result import Result
from gameproof.minmax.run import Run, Seed
from gameproof.minmax.run_loop import RunLoop
from gameproof.minmax.solver import Solver
from gameproof.minmax.start import starting_point
from gameproof.minmax.state import State


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
        What to solve, and how; `ogda_rr()` by default.
    epochs, queries
        The run ends after this many epochs (100 if neither is given) and before it would ask more
        values than `queries`. Both are totals: a resumed run continues *up to* them.
    seed, start
        A seed or a generator, and (x, y); by default the solver's start, else the problem's.
    tolerance, score
        Stop when ``score(x, y)`` of the output is at most `tolerance`. The default score is the
        problem's duality gap, or the gap to its known saddle point. Scores are recorded in the
        trace; neither their time nor their values count.
    callback
        Called with a `Snapshot` at every record; returning True ends the run.
    record_every
        Epochs between records of the trace, scores and callbacks. By default epochs are recorded
        to three digits: each of the first thousand, then every tenth, every hundredth, …
    progress
        A bar on stderr: by default on a terminal only.
    checkpoint, checkpoint_every
        A file for the state. It is written at the start, after every `checkpoint_every` *steps* (by
        default every ten seconds), after an answer that took longer than writing, at the end, and
        on an error, Ctrl-C or SIGTERM (in the main thread).
    resume
        A state, or the file of one, to resume from.
    compiled
        None compiles the run if the problem allows it; False evaluates in Python. Both give the
        same bits.

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
        contexts.enter_context(locked(checkpoint))  # before reading the state
        run = start_or_resume(problem, solver, seed=seed, start=start, resume=resume)
        loop = RunLoop(
            run,
            epochs=epochs,
            queries=queries,
            tolerance=tolerance,
            score=score,
            callback=callback,
            record_every=record_every,
            progress=progress,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            compiled=compiled,
        )
        contexts.enter_context(loop)
        if run.solver.settled and start is None and resume is None:
            loop.reason = "settled"
        while loop.reason is None:
            loop.stretch()
        return loop.result()


def start_or_resume(
    problem: Problem,
    solver: Solver | None,
    *,
    seed: Seed = None,
    start: tuple[ArrayLike, ArrayLike] | None = None,
    resume: State | str | Path | None = None,
) -> Run:
    """A new run, or one that resumes from a state."""
    state = State.load(resume) if isinstance(resume, (str, Path)) else resume
    if seed is None and state is None and getattr(problem, "queries", Queries()).repeatable:
        warn(
            "without a seed every run asks different questions, so a restarted run cannot find its "
            "answers in the journal; pass seed="
        )
    method = ogda_rr() if solver is None else solver
    if start is not None and isinstance(method, Solver) and method.fallback is not None:
        method = replace(method, fallback=starting_point(problem, start))
    return Run(problem, method, seed=seed, start=start, state=state)
