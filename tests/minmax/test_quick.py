"""Steps of one sample and a private y are written out apart; they are the same steps."""

import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numba import njit

import gameproof as gp
from gameproof import kernels
from gameproof.minmax.updates.update import Phase, Update
from methods import ESTIMATES
from strategic_problems import make

PROBLEMS = {
    "exact +1 agents": lambda: make(d=5),
    "estimated +1 agents": lambda: make(d=5, positive="estimated", intercept=2.0),
    "fixed labels": lambda: make(d=5, label_cost=np.inf),
    "power by agent, norm 3": lambda: make(response=gp.PowerCost(np.linspace(0, 0.8, 60), norm=3)),
    "least squares": lambda: gp.RobustLeastSquares.random(n=23, dx=6, seed=5),
}
ORDERS = gp.Reshuffle(), gp.WithReplacement(), gp.ShuffleOnce()
PARTS = ESTIMATES | {"envelope": gp.Envelope()}


@dataclass(frozen=True)
class PastGradient(Update):
    """Remembers the step before without asking anew."""

    name: ClassVar[str] = "past gradient"
    phases: ClassVar[tuple[Phase, ...]] = (Phase(new=2.0, kept=-1.0),)


# Of least squares nobody answers, so that there is no envelope.
PAIRS = [(p, e) for p in PROBLEMS for e in PARTS if (p, e) != ("least squares", "envelope")]


@pytest.mark.parametrize(("name", "estimate"), PAIRS)
def test_quick_steps_equal_ask_tell_bit_for_bit(name: str, estimate: str) -> None:
    for order in ORDERS:
        for update in (gp.OGDA(), gp.SGDA(), PastGradient()):
            solver = gp.Solver(
                update=update, gradient=PARTS[estimate], order=order, step=0.01, radius=0.5
            )
            quick, asked = PROBLEMS[name](), PROBLEMS[name]()
            assert solver.compiled(quick).quick
            one = gp.solve(quick, solver, epochs=4, seed=3)
            other = gp.solve(asked, solver, epochs=4, seed=3, compiled=False)
            for part, ours in one.state.memory._asdict().items():
                assert np.array_equal(ours, getattr(other.state.memory, part)), part
            assert one.state.rng.bit_generator.state == other.state.rng.bit_generator.state
            assert np.array_equal(quick.tally, asked.tally)


@pytest.mark.parametrize("people", [True, False])
def test_samples_that_are_brought_near_ahead_change_no_bit(people: bool) -> None:
    n = kernels.FEW + 7
    solver = gp.ogda_rr(step=0.01, radius=0.5)

    def run(compiled: bool) -> gp.Run:
        problem = make(n=n, d=9) if people else gp.RobustLeastSquares.random(n=n, dx=9, seed=5)
        run = gp.Run(problem, solver, seed=1)
        run.advance(n + 50, 10**9, compiled)
        return run

    one, other = run(compiled=True), run(compiled=False)
    for part, ours in one.state.memory._asdict().items():
        assert np.array_equal(ours, getattr(other.state.memory, part)), part


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("compiled", [True, False])
def test_coordinates_that_nothing_pulls_on_are_left_alone(compiled: bool, batch: int) -> None:
    """Labels −1 stay what they are, so that their γ plays no part: neither it nor its sum is
    touched, and its average is where it started."""
    problem = make()
    fixed = problem.population.y < 0
    gamma = np.random.default_rng(0).uniform(-1, 1, problem.n)
    gamma[np.flatnonzero(fixed)[::2]] = -0.0
    solver = gp.ogda_rr(step=0.01, radius=0.5, batch=batch)
    start = (problem.start[0], gamma)
    result = gp.solve(problem, solver, start=start, epochs=5, seed=2, compiled=compiled)
    assert result.last_y[fixed].tobytes() == gamma[fixed].tobytes()  # zeros with their signs
    assert not np.any(result.last_y[~fixed] == gamma[~fixed])
    assert not result.state.memory.y[fixed, kernels.OWN_DUE].any()
    assert np.allclose(result.y[fixed], gamma[fixed], rtol=1e-14, atol=0)


@pytest.mark.parametrize("estimate", ["plain", "two-point", "envelope"])
def test_quick_steps_go_on_to_the_same_bits_after_any_step_and_any_number_of_values(
    estimate: str,
) -> None:
    solver = gp.ogda_rr(gradient=PARTS[estimate], step=0.01, radius=0.5)
    whole = gp.Run(make(), solver, seed=1)
    whole.advance(150, 10**9, compiled=True)
    piecewise = gp.Run(make(), solver, seed=1)
    while piecewise.state.steps < 150:
        piecewise.advance(150, piecewise.state.queries + 5, compiled=True)
    for part, ours in whole.state.memory._asdict().items():
        assert np.array_equal(ours, getattr(piecewise.state.memory, part)), part


def test_a_quick_step_with_a_value_that_is_not_finite_says_so_and_keeps_the_run() -> None:
    X = np.ones((40, 2))
    X[7] = 1e100
    y = np.where(np.arange(40) % 2, -1.0, 1.0)
    problem = gp.StrategicProblem(gp.Population(X, y), 0.1, 0.5)
    solver = gp.ogda_rr(step=0.001, radius=gp.Constant(1e209))
    with pytest.raises(gp.EvaluationError, match="sample 7 gave nan") as failed:
        gp.solve(problem, solver, epochs=20, seed=0)
    with pytest.raises(gp.EvaluationError, match="sample 7 gave nan") as again:
        gp.solve(problem, solver, epochs=20, seed=0, compiled=False)
    # All but what the step overwrites before it is used again.
    ours, theirs = failed.value.state.memory, again.value.state.memory
    for part in ("y", "direction", "order", "batch", "asked", "counts", "numbers"):
        assert np.array_equal(getattr(ours, part), getattr(theirs, part)), part
    kept = [kernels.U, kernels.BASE, kernels.TOTAL, kernels.POINT, kernels.KEPT]
    assert np.array_equal(ours.x[kept], theirs.x[kept])


def test_normal_draws_are_the_generators_to_the_last_bit() -> None:
    """A million, of which about 10 000 need the edge of a layer and 270 the tail."""
    ours, theirs = np.random.default_rng(5), np.random.default_rng(5)
    drawn = np.empty(1_000_000)
    kernels.draw_direction(drawn, ours)
    assert np.array_equal(drawn, theirs.standard_normal(drawn.size))
    assert np.abs(drawn).max() > 3.7
    assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("n", [1, 2, 3, 7, 2**31 + 1, 2**32 - 1, 2**32])
def test_bounded_draws_are_the_generators(n: int) -> None:
    ours, theirs = np.random.default_rng(n), np.random.default_rng(n)
    for _ in range(300):
        assert kernels.below(ours, n) == theirs.integers(0, n)
    assert ours.bit_generator.state == theirs.bit_generator.state


@njit
def _products(a: Any, b: Any, mask: Any) -> Any:
    return kernels.dot(a, b), kernels.dot_of_three(mask, a, a)


@njit
def _combinations(out: Any, a: Any, b: Any) -> None:
    kernels.combine(out[0], (2.0,), (a,))
    kernels.combine(out[1], (1.0, -0.5), (a, b))
    kernels.combine(out[2], (3.0, 1.0, 0.25), (a, out[2], b))


@njit
def _views(matrix: Any, i: int, start: int, stop: int) -> Any:
    return kernels.section(kernels.line(matrix, i), start, stop).copy()


SIZES = pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 11, 100])


@SIZES
def test_products_in_four_sums_are_the_products(size: int) -> None:
    rng = np.random.default_rng(size)
    a, b = rng.standard_normal((2, size))
    mask = (b > 0).astype(np.float64)
    products = _products(a, b, mask)
    assert products == pytest.approx((a @ b, mask @ a**2), rel=1e-12, abs=1e-14)


@SIZES
def test_combinations_are_those_of_numpy_to_the_last_bit(size: int) -> None:
    """Also where the result overwrites one of the vectors, and nothing beside it."""
    rng = np.random.default_rng(size)
    a, b, own = rng.standard_normal((3, size))
    out = np.full((4, size), 7.0)
    out[2] = own
    _combinations(out, a, b)
    expected = 2.0 * a, a - 0.5 * b, 3.0 * a + own + 0.25 * b, np.full(size, 7.0)
    assert np.array_equal(out, expected)


def test_views_without_checks_are_the_slices() -> None:
    matrix = np.arange(35.0).reshape(5, 7)
    for i, start, stop in ((0, 0, 7), (4, 6, 7), (2, 1, 5), (3, 3, 3)):
        assert np.array_equal(_views(matrix, i, start, stop), matrix[i, start:stop])


@pytest.mark.parametrize("n", [1, 2, kernels.DRAWN, kernels.DRAWN + 1, 10_000])
def test_an_order_is_shuffled_by_the_same_draws(n: int) -> None:
    """Places are drawn ahead of their use: which must not show."""
    order, ours = np.zeros(n, dtype=np.uint32), np.random.default_rng(n)
    held = sys.getrefcount(ours)
    kernels.shuffle(order, ours)
    theirs = np.random.default_rng(n)
    expected = list(range(n))
    for i in range(n - 1, 0, -1):
        j = theirs.integers(0, i + 1)
        expected[i], expected[j] = expected[j], expected[i]
    assert np.array_equal(order, expected)
    assert ours.bit_generator.state == theirs.bit_generator.state
    assert sys.getrefcount(ours) == held  # the compiled loops do without an owner: see `borrowed`
