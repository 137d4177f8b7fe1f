"""Values that cannot be had: named with sample and step, and without loss."""

import re
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.core.errors import DivergedError
from solving import EPOCHS, HARD, SEED, SameState, Sour, failure_of, raising

METHODS = {
    "OGDA": {"batch": 3},
    "two-point": {"gradient": gp.TwoPoint(), "batch": 3},
    "symmetric WR": {
        "update": gp.SGDA(),
        "order": gp.WithReplacement(),
        "gradient": gp.TwoPoint(symmetric=True),
        "batch": 5,
    },
    "extragradient": {"update": gp.Extragradient(), "gradient": gp.Residual(), "batch": 3},
}
every_method = pytest.mark.parametrize("parts", METHODS.values(), ids=METHODS)


def numbers_after(word: str, message: str) -> list[float]:
    """The vector that a message shows after ``word = ``."""
    shown = re.search(rf"{word} = \[([^\]]*)\]", message)
    assert shown is not None, message
    return [float(part) for part in shown.group(1).split(",")]


# --- a value that cannot be had


@pytest.mark.parametrize(
    "bad",
    [
        np.nan,
        np.inf,
        -np.inf,
        None,
        "much",
        1 + 2j,
        np.complex128(1 + 2j),
        [1.0, 2.0],
        np.ones(1),
        {},
    ],
    ids=repr,
)
def test_value_that_is_no_finite_number_names_sample_step_and_point(
    bad: Any, teller: Any, schedules: Any
) -> None:
    # OGDA with one sample a step asks 1, 2, 2, … values: call 17 is the second of step 9, and
    # that is the second step of epoch 2 of seven samples.
    told = teller({17: lambda: bad})
    error = failure_of(told.problem, gp.ogda_rr(**schedules), seed=SEED)
    sample, x, y = told.last
    message = str(error)
    assert message.startswith(f"sample {sample} gave ")
    assert str(bad) in message
    assert "in step 9 (epoch 2)" in message
    np.testing.assert_allclose(numbers_after("x", message), x, atol=1e-6)
    np.testing.assert_allclose(numbers_after("y", message), y, atol=1e-6)
    assert "fix the cause and continue with resume=error.state" in message
    assert (error.state.steps, told.calls) == (8, 17)


def test_callable_that_raises_is_named_and_its_exception_chained(
    teller: Any, schedules: Any
) -> None:
    sour = Sour("the milk was off")
    error = failure_of(teller({5: raising(sour)}).problem, gp.ogda_rr(**schedules), seed=SEED)
    assert error.__cause__ is sour
    assert re.match(
        r"sample \d raised Sour: the milk was off, in step 3 \(epoch 1\), at x = ", str(error)
    )


@every_method
@pytest.mark.parametrize("fault", [lambda: np.nan, raising(Sour("off"))], ids=["nan", "raises"])
def test_run_resumed_after_a_failure_at_any_call_equals_the_run_that_never_failed(
    parts: dict[str, Any], fault: Any, teller: Any, schedules: Any, same_state: SameState
) -> None:
    solver, clean = gp.Solver(**parts, **schedules), teller()
    whole = gp.solve(clean.problem, solver, seed=SEED, epochs=EPOCHS)
    # Of every step's values, of which there are up to a dozen: the first, some middle, the last.
    for call in range(1, clean.calls + 1):
        told = teller({call: fault})
        error = failure_of(told.problem, solver, seed=SEED)
        assert told.calls == call
        again = gp.solve(told.problem, solver, resume=error.state, epochs=EPOCHS)
        assert told.answered == clean.answered  # so nothing was asked in vain or twice
        assert told.calls == clean.calls + 1
        same_state(again.state, whole.state)


@pytest.mark.parametrize("fault", [lambda: np.nan, raising(Sour())], ids=["nan", "error"])
def test_unusable_value_does_not_count(fault: Any, teller: Any, schedules: Any) -> None:
    solver, whole = gp.ogda_rr(**schedules), teller()
    clean = gp.solve(whole.problem, solver, seed=SEED, epochs=EPOCHS).n_queries
    told = teller({10: fault})
    error = failure_of(told.problem, solver, seed=SEED)
    assert error.state.queries == 9
    again = gp.solve(told.problem, solver, resume=error.state, epochs=EPOCHS)
    assert again.n_queries == clean


def test_run_that_fails_several_times_in_one_step_still_loses_nothing(
    teller: Any, schedules: Any
) -> None:
    solver, clean = gp.ogda_rr(batch=3, **schedules), teller()
    whole = gp.solve(clean.problem, solver, seed=SEED, epochs=EPOCHS)
    told = teller({call: raising(Sour()) for call in (5, 6, 8, 9)})
    state, failures = None, 0
    while True:
        begin = {"seed": SEED} if state is None else {"resume": state}
        try:
            again = gp.solve(told.problem, solver, epochs=EPOCHS, **begin)
            break
        except gp.EvaluationError as error:
            state, failures = error.state, failures + 1
    assert failures == 4
    assert told.answered == clean.answered
    np.testing.assert_array_equal(again.x, whole.x)


def test_stop_iteration_from_a_callable_is_a_failure_like_any_other(
    teller: Any, schedules: Any
) -> None:
    solver, clean = gp.ogda_rr(batch=3, **schedules), teller()
    whole = gp.solve(clean.problem, solver, seed=SEED, epochs=EPOCHS)
    told = teller({6: raising(StopIteration())})  # as next() raises at the end of a recording
    error = failure_of(told.problem, solver, seed=SEED)
    again = gp.solve(told.problem, solver, resume=error.state, epochs=EPOCHS)
    assert told.answered == clean.answered
    np.testing.assert_array_equal(again.x, whole.x)


class Counted(gp.Problem):
    """A problem of one's own that answers `extra` more values than it is asked."""

    n, name = 4, "counted"

    def __init__(self, extra: int) -> None:
        self.x_set, self.y_set, self.extra = gp.Box([-1], [1]), gp.Box([-1], [1]), extra

    def evaluate(self, indices: Any, x: Any, y: Any) -> Any:
        return [float(x[0] - y[0])] * (len(indices) + self.extra)


@pytest.mark.parametrize("extra", [-1, 1])
def test_problem_that_gives_too_few_or_too_many_values_is_refused(
    extra: int, schedules: Any
) -> None:
    error = failure_of(Counted(extra), gp.ogda_rr(batch=2, **schedules), seed=SEED)
    assert f"gave {2 + extra} values for 2 samples" in str(error)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (lambda indices, x, y: np.zeros(len(indices) - 1), r"2 values|\(2,\)"),
        (lambda indices, x, y: np.zeros(len(indices) + 1), r"4 values|\(4,\)"),
        (lambda indices, x, y: np.zeros((len(indices), 2)), r"\(3, 2\)"),
        (lambda indices, x, y: 0.0, r"\(\)|not iterable"),
        (lambda indices, x, y: None, r"\(\)|not iterable"),
    ],
    ids=["few", "many", "matrix", "number", "nothing"],
)
def test_batch_function_with_the_wrong_shape_is_refused(
    values: Any, said: str, schedules: Any
) -> None:
    sets = {"x_set": gp.Box([-1], [1]), "y_set": gp.Box([-1], [1])}
    problem = gp.SaddleProblem(values, n=7, vectorized=True, **sets)
    error = failure_of(problem, gp.ogda_rr(batch=3, **schedules), seed=SEED)
    assert re.search(said, str(error))
    assert error.state.queries == 0


@pytest.mark.parametrize("place", [0, 1, 2])
def test_batch_function_keeps_the_values_before_a_bad_one(
    place: int, teller: Any, schedules: Any
) -> None:
    asked: list[list[int]] = []
    broken = False

    def values(indices: Any, x: Any, y: Any) -> Any:
        asked.append(indices.tolist())
        found = np.array([teller.value(i, x, y) for i in indices.tolist()])
        if broken and len(asked) == 2:
            found[place] = np.nan
        return found

    sets = {"x_set": gp.Ball([0, 0], 2), "y_set": gp.Box([-1], [1])}
    problem = gp.SaddleProblem(values, n=7, vectorized=True, **sets)
    solver = gp.sgda_rr(batch=3, **schedules)
    whole = gp.solve(problem, solver, seed=SEED, epochs=EPOCHS)
    broken = True
    asked.clear()
    error = failure_of(problem, solver, seed=SEED)
    assert str(error).startswith(f"sample {asked[1][place]} gave nan, in step 2 ")
    again = gp.solve(problem, solver, resume=error.state, epochs=EPOCHS)
    assert asked[2] == asked[1][place:]
    np.testing.assert_array_equal(again.x, whole.x)


# --- values too large to compute with


def test_iterate_that_is_no_longer_finite_is_an_error_and_spares_the_checkpoint(
    tmp_path: Any, schedules: Any
) -> None:
    calls = 0

    def growing(i: int, x: Any, y: Any) -> float:
        nonlocal calls
        calls += 1
        return 1e308 if calls > 30 else 1.0

    problem = gp.SaddleProblem(growing, **HARD)
    solver = gp.sgda_rr(step=0.1, radius=0.01)
    with pytest.raises(FloatingPointError, match="SGDA-RR is no longer finite at step 31"):
        gp.solve(
            problem, solver, seed=SEED, epochs=9, checkpoint=tmp_path / "state", checkpoint_every=1
        )
    assert np.isfinite(gp.State.load(tmp_path / "state").memory.x).all()


@pytest.mark.parametrize("compiled", [True, False])
def test_run_that_diverges_between_two_looks_says_so_and_spares_the_checkpoint(
    tmp_path: Any, compiled: bool
) -> None:
    """A value at a point that is not finite is not the cause."""
    solver = gp.ogda_rr(step=0.02, radius=lambda t: 0.5 if t < 20 else 1e-310)
    with pytest.raises(DivergedError, match="no longer finite") as diverged:
        gp.solve(
            gp.QuadraticGame.random(n=16, seed=0),
            solver,
            epochs=60,
            seed=SEED,
            checkpoint=tmp_path / "state",
            checkpoint_every=130,
            record_every=1000,
            compiled=compiled,
        )
    assert not hasattr(diverged.value, "state")  # it would be of no use
    kept = gp.State.load(tmp_path / "state")
    assert all(np.isfinite(block).all() for block in kept.iterate)


def test_samples_that_are_asked_at_once_are_named_together(schedules: Any) -> None:
    problem = gp.SaddleProblem(lambda *_: raising(Sour("off"))(), vectorized=True, **HARD)
    error = failure_of(problem, gp.sgda_rr(batch=6, **schedules), seed=SEED)
    assert re.match(r"samples (\d, ){5}… raised Sour: off, in step 1 ", str(error))


def test_state_of_an_error_does_not_move_with_the_run(teller: Any, schedules: Any) -> None:
    run = gp.Run(teller({5: lambda: np.nan}).problem, gp.sgda_rr(**schedules), seed=SEED)
    for _ in range(4):
        run.step()
    with pytest.raises(gp.EvaluationError) as failed:
        run.step()
    run.step()
    assert (failed.value.state.steps, run.state.steps) == (4, 5)


def test_function_that_raises_stop_iteration_is_not_taken_for_its_end(
    teller: Any, schedules: Any
) -> None:
    told = teller({5: raising(StopIteration())})
    error = failure_of(told.problem, gp.sgda_rr(**schedules), seed=SEED)
    assert re.match(r"sample \d raised RuntimeError: .*StopIteration, in step 5 ", str(error))
