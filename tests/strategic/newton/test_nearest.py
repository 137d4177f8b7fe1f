"""Projections, from which bounds are computed, against a conic solver."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

from gameproof.strategic.newton.nearest import in_capped_simplex, in_norm_ball, in_price_ball


def distance(g, s, cost) -> float:
    return float(np.linalg.norm(cost * (g + s)))


def solved(g, cost, variable, move, limits) -> float:
    """The smallest distance of -g from `move` of the variable."""
    program = cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(cost, g + move))), limits)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate|pnorm with p=")
        return float(np.sqrt(max(0.0, program.solve(solver=cp.CLARABEL))))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("size", [0.0, 0.3, 3.0, 100.0])
def test_point_of_a_price_ball_is_the_nearest(seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    g, cost, reach = rng.standard_normal(6), rng.random(6) * 3 + 0.1, rng.random(6) + 0.2
    found, s = in_price_ball(g, cost, reach, size), cp.Variable(6)
    assert np.abs(found / reach).sum() <= size * (1 + 1e-12) + 1e-15
    best = solved(g, cost, s, s, [cp.sum(cp.multiply(1 / reach, cp.abs(s))) <= size])
    assert distance(g, found, cost) == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("p", [1.02, 1.2, 1.5, 2.0, 3.0, 8.0, 30.0])
@pytest.mark.parametrize("size", [1e-6, 0.3, 1.0, 100.0])
def test_point_of_a_norm_ball_is_the_nearest(p: float, size: float) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        g, cost = rng.standard_normal(5), rng.random(1 if seed == 0 else 5) * 3 + np.full(5, 0.1)
        found, s = in_norm_ball(g, cost, p, size), cp.Variable(5)
        assert np.linalg.norm(found, p) <= size * (1 + 1e-9)
        best = solved(g, cost, s, s, [cp.pnorm(s, p) <= size])
        assert distance(g, found, cost) == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("p", [1.02, 1.5, 3.0])
def test_a_point_outside_a_norm_ball_by_rounding_is_its_own_nearest(p: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        g, cost = rng.standard_normal(5), rng.random(5) * 3 + 0.1
        size = float(np.nextafter(np.linalg.norm(g, p), 0.0))
        np.testing.assert_allclose(in_norm_ball(g, cost, p, size), -g, rtol=1e-12)


def test_nothing_but_0_is_in_a_norm_ball_of_size_0() -> None:
    assert not in_norm_ball(np.ones(3), np.ones(3), 2.0, 0.0).any()


@pytest.mark.parametrize("seed", range(20))
def test_masses_of_a_capped_simplex_are_the_nearest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 7))
    g, cost = rng.standard_normal(size), rng.random(size) * 3 + 0.1
    steps = np.where(rng.random(size) < 0.3, 0.0, rng.random(size) * 2 + 0.1)
    total = float(rng.choice([0.1, 1.0, 5.0]))
    caps = np.where(rng.random(size) < 0.5, total, rng.random(size) * total)
    caps[0] = total
    found, m = in_capped_simplex(g, cost, steps, caps, total), cp.Variable(size)
    assert found.sum() == pytest.approx(total, rel=1e-12)
    assert (found >= 0).all()
    assert (found <= caps * (1 + 1e-12)).all()
    limits = [m >= 0, m <= caps, cp.sum(m) == total]
    best = solved(g, cost, m, cp.multiply(steps, m), limits)
    assert distance(g, steps * found, cost) == pytest.approx(best, abs=1e-5)
