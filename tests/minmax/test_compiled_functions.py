"""A user's compiled functions run, and fail, as the same functions in plain Python.

The loop is compiled again for every combination of functions, for seconds, so all tests that need
one are here and share four.
"""

import re
from typing import Any

import numba
import numpy as np
import pytest

import gameproof as gp
from solving import EPOCHS, HARD, SEED, SETS, SameState, failure_of


def test_users_compiled_function_runs_as_the_plain_one(
    compiled_functions: Any, schedules: Any, same_state: SameState
) -> None:
    compiled = gp.SaddleProblem(compiled_functions.value, n=7, **SETS)
    plain = gp.SaddleProblem(compiled_functions.value.py_func, n=7, **SETS)
    for parts in ({}, {"batch": 3, "order": gp.WithReplacement(), "gradient": gp.TwoPoint()}):
        solver = gp.Solver(**parts, **schedules)
        theirs = gp.solve(plain, solver, epochs=5, seed=SEED)
        for path in (None, True, False):
            ours = gp.solve(compiled, solver, epochs=5, seed=SEED, compiled=path)
            np.testing.assert_allclose(ours.last_x, theirs.last_x, rtol=0, atol=1e-12)
            np.testing.assert_allclose(ours.y, theirs.y, rtol=0, atol=1e-12)
            assert ours.n_queries == theirs.n_queries
    same_state(
        gp.solve(compiled, solver, epochs=5, seed=SEED, compiled=True).state,
        gp.solve(compiled, solver, epochs=5, seed=SEED, compiled=False).state,
    )


def test_users_compiled_function_with_declared_types_can_be_asked_from_python() -> None:
    @numba.njit("float64(int64, float64[::1], float64[::1])")
    def declared(i: int, x: Any, y: Any) -> float:
        return x[0] ** 2 + 0.1 * i * x[1] - y[0] ** 2

    problem = gp.SaddleProblem(declared, n=3, **SETS)
    np.testing.assert_allclose(problem.value([1.0, 1.0], [0.5]), 1.0 + 0.1 - 0.25)
    assert gp.solve(problem, epochs=2, seed=SEED, compiled=False).n_queries == 11


def test_users_compiled_gradient_of_one_block_runs_as_the_plain_one(
    compiled_functions: Any, schedules: Any
) -> None:
    value, slope = compiled_functions.value, compiled_functions.y_gradient
    problem = gp.SaddleProblem(value, n=7, gradient=(None, slope), **SETS)
    plain = gp.SaddleProblem(value.py_func, n=7, gradient=(None, slope.py_func), **SETS)
    solver = gp.ogda_rr(batch=2, **schedules)
    theirs = gp.solve(plain, solver, epochs=5, seed=SEED)
    for compiled in (True, False):
        ours = gp.solve(problem, solver, epochs=5, seed=SEED, compiled=compiled)
        np.testing.assert_allclose(ours.last_x, theirs.last_x, rtol=0, atol=1e-12)
        np.testing.assert_allclose(ours.last_y, theirs.last_y, rtol=0, atol=1e-12)


# Neither gradient is a contiguous vector of float64.


@numba.njit
def narrow_column(i: int, x: Any, y: Any) -> Any:
    table = np.array([[1.0, 7.0], [2.0, 7.0]], dtype=np.float32)
    return (np.float32(i) * table)[:, 0]


@numba.njit
def whole_numbers(i: int, x: Any, y: Any) -> Any:
    return np.array([-i])


def test_compiled_gradients_may_be_of_any_kind_of_numbers(compiled_functions: Any) -> None:
    gradient = (narrow_column, whole_numbers)
    problem = gp.SaddleProblem(compiled_functions.value, n=4, gradient=gradient, **SETS)
    solver = gp.sgda_rr(gradient=gp.Exact(), step=gp.Constant(0.1))
    for compiled in (True, False):
        found = gp.solve(problem, solver, epochs=1, seed=0, compiled=compiled)
        # Every sample is met once, and 0 + 1 + 2 + 3 = 6.
        np.testing.assert_allclose(found.last_x, [-0.6, -1.2], rtol=1e-12)
        np.testing.assert_allclose(found.last_y, [-0.6], rtol=1e-12)


# --- functions that fail


@numba.njit
def cracked(i: int, x: Any, y: Any) -> float:
    if i == 3:
        return np.nan
    if i == 5:
        raise ValueError("five")
    if i == 6:
        return 1 // (i - 6)
    return 0.5 * (x[0] - 0.1 * i) ** 2 + 0.25 * x[1] ** 2 + x[0] * y[0] - y[0] ** 2 + 0.05 * i


def seed_that_meets(sample: int, problem: gp.Problem) -> int:
    """A seed under which this sample is the first that fails, and not in the first step."""
    for seed in range(100):
        order = gp.Run(problem, gp.sgda_rr(radius=0.5), seed=seed)
        seen = []
        while len(seen) < 7:
            seen.append(int(order.ask().indices[0]))
            order.step()
        if 2 <= seen.index(sample) == min(seen.index(other) for other in (3, 5, 6)):
            return seed
    raise AssertionError("no such seed")


def test_compiled_value_that_is_not_finite_fails_as_in_python_and_resumes_once_it_is_fixed(
    compiled_functions: Any, schedules: Any, same_state: SameState
) -> None:
    broken = gp.SaddleProblem(cracked, name="mine", **HARD)
    fixed = gp.SaddleProblem(compiled_functions.value, name="mine", **HARD)
    solver, seed = gp.ogda_rr(batch=2, **schedules), seed_that_meets(3, fixed)
    assert broken.data is not None
    error = failure_of(broken, solver, seed=seed, compiled=True)
    in_python = failure_of(broken, solver, seed=seed, compiled=False)
    assert str(error) == str(in_python)
    assert str(error).startswith("sample 3 gave nan, in step ")
    whole = gp.solve(fixed, solver, seed=seed, epochs=EPOCHS)
    for state, compiled in ((error.state, True), (in_python.state, False), (error.state, False)):
        again = gp.solve(fixed, solver, resume=state, epochs=EPOCHS, compiled=compiled)
        assert again.n_queries == whole.n_queries
        again.state.rows[:] = whole.state.rows
        same_state(again.state, whole.state)


def test_compiled_function_that_raises_fails_as_in_python_and_resumes_once_it_is_fixed(
    compiled_functions: Any, schedules: Any, same_state: SameState
) -> None:
    broken = gp.SaddleProblem(cracked, name="mine", **HARD)
    fixed = gp.SaddleProblem(compiled_functions.value, name="mine", **HARD)
    solver, seed = gp.ogda_rr(batch=2, **schedules), seed_that_meets(5, fixed)
    in_python = failure_of(broken, solver, seed=seed, compiled=False)
    error = failure_of(broken, solver, seed=seed, compiled=True)
    assert str(error).startswith("sample 5 raised ValueError: five, in step ")
    assert str(error) == str(in_python)
    assert isinstance(error.__cause__, ValueError)
    whole = gp.solve(fixed, solver, seed=seed, epochs=EPOCHS)
    again = gp.solve(fixed, solver, resume=error.state, epochs=EPOCHS)
    same_state(again.state, whole.state)


def test_compiled_division_by_zero_fails_as_in_python(
    compiled_functions: Any, schedules: Any
) -> None:
    broken = gp.SaddleProblem(cracked, name="mine", **HARD)
    fixed = gp.SaddleProblem(compiled_functions.value, name="mine", **HARD)
    solver, seed = gp.ogda_rr(batch=2, **schedules), seed_that_meets(6, fixed)
    error = failure_of(broken, solver, seed=seed, compiled=True)
    assert str(error).startswith("sample 6 raised ZeroDivisionError: ")
    assert str(error) == str(failure_of(broken, solver, seed=seed, compiled=False))


@pytest.mark.parametrize(
    ("y", "said"),
    [(0.75, "not finite"), (-0.75, r"\(0,\), expected"), (0.25, "ValueError: a quarter")],
    ids=["nan", "too short", "raises"],
)
def test_compiled_gradient_that_cannot_be_used_fails_as_in_python(
    y: float, said: str, compiled_functions: Any, schedules: Any
) -> None:
    problem = gp.SaddleProblem(
        compiled_functions.value, gradient=(None, compiled_functions.y_gradient), **HARD
    )
    options = {"seed": SEED, "start": ([0.0, 0.0], [y])}
    solver = gp.ogda_rr(**schedules)
    in_python = failure_of(problem, solver, compiled=False, **options)
    assert re.search(said, str(in_python))
    assert str(failure_of(problem, solver, compiled=True, **options)) == str(in_python)


def test_compiled_function_with_a_mistake_is_named_with_it() -> None:
    mistaken = numba.njit(lambda i, x, y: nowhere(x))  # type: ignore[name-defined] # noqa: F821
    problem = gp.SaddleProblem(mistaken, n=3, x_set=gp.Ball([0.0], 1), y_set=gp.Ball([0.0], 1))
    with pytest.raises(TypeError, match="Numba says: NameError: name 'nowhere' is not defined"):
        gp.solve(problem, epochs=1)


def test_compiled_function_of_another_kind_is_refused_in_a_sentence() -> None:
    vector = numba.njit(lambda i, x, y: x)
    with pytest.raises(TypeError, match="does not compile into a run: its functions must take"):
        gp.solve(gp.SaddleProblem(vector, name="vector", **HARD), epochs=1)
