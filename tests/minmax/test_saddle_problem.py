"""`SaddleProblem`: the forms in which a problem may be given all mean the same problem.

The problem here is L_i = (x - c_i)'(x - c_i)/2 + w_i x'y - |y|^2/2, with c and w below.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from gameproof import (
    Ball,
    BilinearGame,
    Box,
    Cone,
    ConvexSet,
    MatrixGame,
    Problem,
    Product,
    QuadraticGame,
    RobustLeastSquares,
    Saddle,
    SaddleProblem,
    Simplex,
    duality_gap,
    gap,
)
from gameproof.kernels.samples import gradient_at

Array = NDArray[np.float64]

N, DIM = 4, 2
C = np.array([[1.0, 0.0], [0.5, -1.0], [-0.25, 2.0], [0.0, 0.125]])
W = np.array([0.5, -1.0, 2.0, 1.5])
X, Y = np.array([0.3, -0.7]), np.array([-0.2, 0.9])


def plain_loss(i: int, x: Array, y: Array) -> float:
    total = 0.0
    for k in range(x.size):
        total += (x[k] - C[i, k]) ** 2 / 2 + W[i] * x[k] * y[k] - y[k] ** 2 / 2
    return total


def batch_loss(indices: NDArray[np.int64], x: Array, y: Array) -> Array:
    apart = x - C[indices]
    return (apart * apart).sum(axis=1) / 2 + W[indices] * (x @ y) - y @ y / 2


def gradient_of_x(i: int, x: Array, y: Array) -> Array:
    return x - C[i] + W[i] * y


def gradient_of_y(i: int, x: Array, y: Array) -> Array:
    return W[i] * x - y


def joint_gradient(i: int, x: Array, y: Array) -> tuple[Array, Array]:
    return x - C[i] + W[i] * y, W[i] * x - y


compiled_loss = numba.njit(plain_loss)
compiled_of_x, compiled_of_y = numba.njit(gradient_of_x), numba.njit(gradient_of_y)
compiled_joint = numba.njit(joint_gradient)


def closed_form(i: int, x: Array, y: Array) -> float:
    """The same in one expansion: |x|^2/2 - c'x + |c|^2/2 + w x'y - |y|^2/2."""
    squares = np.dot(x, x) + np.dot(C[i], C[i]) - np.dot(y, y)
    return float(squares / 2 - np.dot(C[i], x) + W[i] * np.dot(x, y))


def problem(value: Callable[..., Any] = plain_loss, **changes: Any) -> SaddleProblem:
    given: dict[str, Any] = {"n": N, "x_set": Ball([0.0, 0.0], 2.0), "y_set": Box([-1, -1], [1, 1])}
    return SaddleProblem(value, **(given | changes))


FORMS: dict[str, Callable[..., SaddleProblem]] = {
    "plain": lambda **changes: problem(plain_loss, **changes),
    "vectorized": lambda **changes: problem(batch_loss, vectorized=True, **changes),
    "compiled": lambda **changes: problem(compiled_loss, **changes),
    "callable object": lambda **changes: problem(type("L", (), {"__call__": _call})(), **changes),
}
every_form = pytest.mark.parametrize("build", FORMS.values(), ids=FORMS)


def _call(self: object, i: int, x: Array, y: Array) -> float:
    return plain_loss(i, x, y)


# --- Values -----------------------------------------------------------------------------------


@every_form
def test_values_are_those_of_the_function_in_the_order_asked(
    build: Callable[..., SaddleProblem],
) -> None:
    asked = [2, 0, 3, 2, 1]
    expected = [closed_form(i, X, Y) for i in asked]
    np.testing.assert_allclose(build().values(asked, X, Y), expected, rtol=1e-14)
    np.testing.assert_allclose(build().values(np.array(asked), list(X), list(Y)), expected)


@every_form
def test_value_is_the_mean_over_all_samples(build: Callable[..., SaddleProblem]) -> None:
    mean = sum(closed_form(i, X, Y) for i in range(N)) / N
    assert build().value(X, Y) == pytest.approx(mean, rel=1e-14)


def test_plain_function_is_asked_for_one_value_at_a_time() -> None:
    """Values before a failure are not lost."""

    def fails_at_two(i: int, x: Array, y: Array) -> float:
        if i == 2:
            raise RuntimeError("sample 2 has gone home")
        return float(i)

    answers = iter(problem(fails_at_two).evaluate(np.array([1, 3, 2, 0]), X, Y))
    assert [next(answers), next(answers)] == [1.0, 3.0]
    with pytest.raises(RuntimeError, match="gone home"):
        next(answers)


def test_vectorized_function_is_called_once_for_all_samples() -> None:
    calls = []

    def counted(indices: NDArray[np.int64], x: Array, y: Array) -> Array:
        calls.append(indices.tolist())
        return batch_loss(indices, x, y)

    problem(counted, vectorized=True).values([3, 1, 3], X, Y)
    assert calls == [[3, 1, 3]]


@every_form
def test_arguments_are_left_alone(build: Callable[..., SaddleProblem]) -> None:
    x, y = X.copy(), Y.copy()
    build().value(x, y)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)


def test_a_function_that_writes_into_its_point_does_not_spoil_the_other_samples() -> None:
    """x and y arrive read-only, so such a function fails at once."""

    def scribbles(i: int, x: Array, y: Array) -> float:
        x += 1.0
        return float(x[0])

    with pytest.raises(ValueError, match="read-only"):
        problem(scribbles).value(X, Y)


def test_only_compiled_functions_give_compiled_data() -> None:
    assert problem(compiled_loss).data is not None
    assert problem(compiled_loss, gradient=(compiled_of_x, None)).data is not None
    assert problem(plain_loss).data is None
    assert problem(batch_loss, vectorized=True).data is None
    assert problem(numba.njit(batch_loss), vectorized=True).data is None
    assert problem(compiled_loss, gradient=(gradient_of_x, None)).data is None


def test_name_is_the_function_s_own_unless_given() -> None:
    assert problem().name == "plain_loss"
    assert problem(compiled_loss).name == "plain_loss"
    assert problem(name="school").name == "school"


# --- Gradients --------------------------------------------------------------------------------

GRADIENTS = {
    "none": (None, set(), (DIM, True)),
    "joint": (joint_gradient, {"x", "y"}, (DIM, True)),
    "pair": ((gradient_of_x, gradient_of_y), {"x", "y"}, (DIM, True)),
    "x alone": ((gradient_of_x, None), {"x"}, (0, True)),
    "y alone": ((None, gradient_of_y), {"y"}, (DIM, False)),
    "pair of nothing": ((None, None), set(), (DIM, True)),
}
COMPILED_GRADIENTS = {
    "joint": (compiled_joint, {"x", "y"}),
    "pair": ((compiled_of_x, compiled_of_y), {"x", "y"}),
    "x alone": ((compiled_of_x, None), {"x"}),
    "y alone": ((None, compiled_of_y), {"y"}),
}


def central_differences(i: int) -> tuple[Array, Array]:
    """Of the closed form at X, Y; it is quadratic, so they are exact but for rounding."""
    step = 1e-3 * np.eye(DIM)
    of_x = [closed_form(i, X + h, Y) - closed_form(i, X - h, Y) for h in step]
    of_y = [closed_form(i, X, Y + h) - closed_form(i, X, Y - h) for h in step]
    return np.array(of_x) / 2e-3, np.array(of_y) / 2e-3


@every_form
@pytest.mark.parametrize("gradient", GRADIENTS.values(), ids=GRADIENTS)
def test_blocks_without_a_gradient_are_unknown_and_estimated(
    build: Callable[..., SaddleProblem], gradient: Any
) -> None:
    given, known, estimated = gradient
    whole = build(gradient=given)
    assert whole.known == known
    assert whole.estimated == estimated
    for i in range(N):
        for block, found, expected in zip(
            "xy", whole.gradient(i, X, Y), central_differences(i), strict=True
        ):
            if block in known:
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
            else:
                assert found is None


@pytest.mark.parametrize("gradient", COMPILED_GRADIENTS.values(), ids=COMPILED_GRADIENTS)
def test_compiled_code_sees_every_gradient_that_is_given(gradient: Any) -> None:
    given, known = gradient
    whole = problem(compiled_loss, gradient=given)
    assert whole.known == known
    # Compiled anew, and not from the disk cache: these functions exist in this process only.
    compiled = numba.njit(gradient_at.py_func)
    for i in range(N):
        gx, gy = np.full(DIM, np.nan), np.full(DIM, np.nan)
        compiled(whole.data, i, X, Y, gx, gy)
        for block, found, expected in zip("xy", (gx, gy), central_differences(i), strict=True):
            if block in known:
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
            else:
                np.testing.assert_array_equal(found, np.zeros(DIM))


# --- Gaps -------------------------------------------------------------------------------------


def test_gap_is_the_difference_of_values_against_the_saddle_point() -> None:
    saddle = Saddle(np.array([0.1, 0.2]), np.array([-0.3, 0.4]), value=0.0)
    expected = sum(closed_form(i, X, saddle.y) - closed_form(i, saddle.x, Y) for i in range(N)) / N
    assert problem(saddle=saddle).gap(X, Y) == pytest.approx(expected, rel=1e-13)
    assert gap(problem(), X, Y, saddle) == pytest.approx(expected, rel=1e-13)


def test_gap_at_the_true_saddle_point_is_zero_and_positive_elsewhere() -> None:
    # Stationary: x - c + w y = 0 and w x - y = 0 for the means c and w.
    w, c = W.mean(), C.mean(axis=0)
    x = c / (1 + w**2)
    whole = problem(saddle=Saddle(x, w * x, value=0.0))
    assert whole.gap(x, w * x) == 0.0
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert whole.gap(whole.x_set.sample(rng), whole.y_set.sample(rng)) > 0


def test_gap_without_a_saddle_point_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(TypeError, match="plain_loss knows no saddle point; pass one"):
        problem().gap(X, Y)


@pytest.mark.parametrize("form", [lambda p: p.duality_gap(X, Y), lambda p: duality_gap(p, X, Y)])
def test_duality_gap_of_a_mere_function_is_an_error_that_says_what_to_do(form: Any) -> None:
    with pytest.raises(TypeError, match=r"plain_loss cannot compute its duality gap; use gap\(\)"):
        form(problem())


# --- Bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"n": 0}, ValueError, "n must be at least 1, got 0"),
        ({"n": -3}, ValueError, "n must be at least 1, got -3"),
        ({"n": True}, TypeError, "n must be an integer, got True"),
        ({"n": 2.5}, TypeError, "n must be an integer, got 2.5"),
        ({"n": "4"}, TypeError, "n must be an integer, got '4'"),
        ({"n": None}, TypeError, "n must be an integer, got None"),
        ({"value": None}, TypeError, "value must be a function .*, got None"),
        ({"value": 3.0}, TypeError, "value must be a function .*, got 3.0"),
        ({"x_set": [0.0, 1.0]}, TypeError, r"x_set must be a set .*, got \[0.0, 1.0\]"),
        ({"y_set": Ball}, TypeError, "y_set must be a set .*, got <class"),
        ({"y_set": None}, TypeError, "y_set must be a set .*, got None"),
        ({"gradient": 7}, TypeError, "gradient must be .*, got 7"),
        ({"gradient": (plain_loss,)}, TypeError, "gradient must be .* pair"),
        ({"gradient": (plain_loss, 3)}, TypeError, "gradient must be .* pair.*, 3"),
        ({"gradient": (None, None, None)}, TypeError, "gradient must be .* pair"),
        ({"gradient": "exact"}, TypeError, "gradient must be .*, got 'exact'"),
    ],
)
def test_a_problem_that_makes_no_sense_is_refused_with_what_was_given(
    changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        problem(**changes)


@pytest.mark.parametrize("count", [0, N - 1, N + 1])
def test_a_vectorized_function_with_the_wrong_number_of_values_is_named(count: int) -> None:
    def miscounts(indices: NDArray[np.int64], x: Array, y: Array) -> Array:
        return np.zeros(count)

    with pytest.raises(ValueError, match=f"miscounts gave {count} values for {N} samples"):
        problem(miscounts, vectorized=True).value(X, Y)


@pytest.mark.parametrize("answer", [1.0, np.zeros((N, 1))], ids=["a number", "a matrix"])
def test_a_vectorized_function_without_a_list_of_values_is_named(answer: Any) -> None:
    def misshapes(indices: NDArray[np.int64], x: Array, y: Array) -> Any:
        return answer

    with pytest.raises((TypeError, ValueError), match="misshapes"):
        problem(misshapes, vectorized=True).value(X, Y)


@every_form
def test_a_point_that_does_not_fit_is_refused_with_what_was_given(
    build: Callable[..., SaddleProblem],
) -> None:
    whole = build()
    for x, y, error, message in [
        ([0.0], Y, ValueError, "x has 1 coordinates, the set has 2"),
        (X, [0.0] * 3, ValueError, "y has 3 coordinates, the set has 2"),
        ([np.nan, 0.0], Y, ValueError, "x must be finite, got nan at coordinate 0"),
        (X, [0.0, np.inf], ValueError, "y must be finite, got inf at coordinate 1"),
        (X[None], Y, ValueError, r"x must be one-dimensional, got shape \(1, 2\)"),
        ("ab", Y, TypeError, "x must be a vector of numbers, got 'ab'"),
    ]:
        with pytest.raises(error, match=message):
            whole.value(x, y)


# --- Fingerprints -----------------------------------------------------------------------------

# Source text, so that another process can build the same problems.
RECIPES = {
    "function": "SaddleProblem(plain_loss, n=4, x_set=Ball([0, 0], 2), y_set=Box([-1], [1]))",
    "other name": "SaddleProblem(plain_loss, n=4, x_set=Ball([0, 0], 2), y_set=Box([-1], [1]), "
    "name='other')",
    "other n": "SaddleProblem(plain_loss, n=5, x_set=Ball([0, 0], 2), y_set=Box([-1], [1]))",
    "other radius": "SaddleProblem(plain_loss, n=4, x_set=Ball([0, 0], 2 + 1e-12), "
    "y_set=Box([-1], [1]))",
    "other centre": "SaddleProblem(plain_loss, n=4, x_set=Ball([0, 1e-12], 2), "
    "y_set=Box([-1], [1]))",
    "other kind": "SaddleProblem(plain_loss, n=4, x_set=Simplex(2, 2), y_set=Box([-1], [1]))",
    "other bound": "SaddleProblem(plain_loss, n=4, x_set=Ball([0, 0], 2), y_set=Box([-2], [1]))",
    "swapped": "SaddleProblem(plain_loss, n=4, x_set=Box([-1], [1]), y_set=Ball([0, 0], 2))",
    "other gradient": "SaddleProblem(plain_loss, n=4, x_set=Ball([0, 0], 2), y_set=Box([-1], [1]), "
    "gradient=(plain_loss, None))",
    "product": "SaddleProblem(plain_loss, n=4, x_set=Product(Cone(2, 1, 2), Simplex(2)), "
    "y_set=Box([-1], [1]))",
    "other product": "SaddleProblem(plain_loss, n=4, x_set=Product(Cone(2, 1, 3), Simplex(2)), "
    "y_set=Box([-1], [1]))",
    "matrix": "MatrixGame([[[0, 1], [1, 0]]])",
    "matrix, other entry": "MatrixGame([[[0, 1], [1, 1e-9]]])",
    "matrix, another sample": "MatrixGame([[[0, 1], [1, 0]], [[0, 1], [1, 0]]])",
    "bilinear": "BilinearGame([[[1.0]]], [[0.0]], [[0.5]], radius=2)",
    "bilinear, other slope": "BilinearGame([[[1.0]]], [[0.5]], [[0.0]], radius=2)",
    "quadratic": "QuadraticGame([[1.0]], [[2.0]], [[0.0]], [[0.5]], radius=2)",
    "quadratic, other radius": "QuadraticGame([[1.0]], [[2.0]], [[0.0]], [[0.5]], radius=3)",
    "squares": "RobustLeastSquares([[1.0]], [0.5], penalty=2, radius=2, bound=1)",
    "squares, other penalty": "RobustLeastSquares([[1.0]], [0.5], penalty=3, radius=2, bound=1)",
    "squares, other bound": "RobustLeastSquares([[1.0]], [0.5], penalty=2, radius=2, bound=2)",
}
SETS = (Ball, Box, Cone, Product, Simplex)
PROBLEMS = (SaddleProblem, MatrixGame, BilinearGame, QuadraticGame, RobustLeastSquares)
NAMES: dict[str, Any] = {kind.__name__: kind for kind in (*SETS, *PROBLEMS)}
NAMES["plain_loss"] = plain_loss


def built(recipe: str) -> Problem:
    found = eval(recipe, NAMES)
    assert isinstance(found, Problem)
    return found


def test_fingerprint_is_the_same_for_the_same_problem() -> None:
    for recipe in RECIPES.values():
        assert built(recipe).fingerprint == built(recipe).fingerprint


def test_fingerprint_is_different_for_different_problems() -> None:
    prints = {name: built(recipe).fingerprint for name, recipe in RECIPES.items()}
    assert len(set(prints.values())) == len(RECIPES), prints


def test_fingerprint_does_not_depend_on_the_process() -> None:
    script = "\n".join(
        [
            "from gameproof import *",
            "def plain_loss(i, x, y): return 0.0",
            *(f"print(({recipe}).fingerprint)" for recipe in RECIPES.values()),
        ]
    )
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    there = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert there.stdout.split() == [built(recipe).fingerprint for recipe in RECIPES.values()]


class Interval(ConvexSet):
    """A set of a user's own, with no more than is asked for: [0, 1]."""

    dim = 1
    diameter = 1.0
    center = np.array([0.5])

    def project(self, point: ArrayLike) -> Array:
        return np.clip(np.asarray(point, dtype=float), 0.0, 1.0)

    def sample(self, rng: np.random.Generator) -> Array:
        return rng.random(1)


@pytest.mark.parametrize("wrap", [lambda part: part, Product], ids=["alone", "in a product"])
def test_fingerprint_does_not_depend_on_where_a_set_of_ones_own_lies_in_memory(
    wrap: Callable[[ConvexSet], ConvexSet],
) -> None:
    first, second = Interval(), Interval()
    prints = {problem(x_set=wrap(part)).fingerprint for part in (first, second)}
    assert len(prints) == 1
