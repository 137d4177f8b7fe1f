"""The strategic problem against its formulas in plain NumPy."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from plain_strategic import LOSSES, N, Plain, logistic, people

CASES: dict[str, dict[str, Any]] = {
    "exact": {},
    "printed": {"form": "printed"},
    "no flip": {"flips": "none"},
    "both ways": {"flips": "both", "zeta": 0.0},
    "label for nothing": {"kappa": 0.0},
    "radius 0": {"delta": 0.0},
    "everything moves": {"mask": None},
    "nothing moves": {"mask": ()},
    "power by agent": {"zeta": np.arange(N) / N},
    "norm 1.5": {"norm": 1.5},
    "norm 3": {"norm": 3.0},
    "degree 1.5": {"degree": 1.5},
    "degree 3": {"degree": 3.0},
    "ball": {"degree": np.inf},
    "ball, norm 4, by agent": {"degree": np.inf, "norm": 4.0, "zeta": np.linspace(0, 0.5, N)},
    "box": {"budget": "box"},
    "box by agent": {"budget": "box", "zeta": np.linspace(0, 2, N)},
    "prices": {"budget": "prices"},
    "norm 4, degree 1.2": {"norm": 4.0, "degree": 1.2, "zeta": np.linspace(0, 0.5, N)},
    "norm 1.2, degree 3": {"norm": 1.2, "degree": 3.0, "mask": None},
}


@pytest.mark.parametrize("intercept", [None, 2.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_equal_the_formulas(
    case: str, loss: str, intercept: float | None
) -> None:
    plain = Plain(**CASES[case], loss=loss, intercept=intercept)
    problem, rng = plain.problem(), np.random.default_rng(1)
    for _ in range(3):
        u = plain.random_point(rng)
        x, gamma = np.split(u, [plain.dx])
        expected = [plain.value(i, u) for i in range(N)]
        np.testing.assert_allclose(problem.values(range(N), x, gamma), expected, rtol=1e-12)
        assert problem.value(x, gamma) == pytest.approx(np.mean(expected), rel=1e-12)
        for i in range(N):
            found = np.concatenate(problem.gradient(i, x, gamma))
            np.testing.assert_allclose(found, plain.gradient(i, u), rtol=1e-6, atol=2e-8)


@pytest.mark.parametrize("norm", [1.0, np.inf])
def test_score_under_norms_one_and_infinity_has_the_dual_norm(norm: float) -> None:
    plain, rng = Plain(norm=norm, mask=None), np.random.default_rng(2)
    problem, dual = plain.problem(), np.inf if norm == 1 else 1
    u = plain.random_point(rng)
    theta, i = plain.theta(u), 1
    z = plain.X[i] @ theta + plain.zeta * np.linalg.norm(theta, dual) ** 2
    expected = plain.alpha(u) * plain.slope() + logistic(z) + z / 2
    x, gamma = np.split(u, [plain.dx])
    assert problem.values([i], x, gamma)[0] == pytest.approx(expected, rel=1e-12)
    gx, _ = problem.gradient(i, x, gamma)
    for c in range(plain.dx):
        step = 1e-6 * (np.arange(plain.dx) == c)
        two = [problem.values([i], x + sign * step, gamma)[0] for sign in (1, -1)]
        assert gx[c] == pytest.approx((two[0] - two[1]) / 2e-6, rel=1e-6, abs=1e-8)


def test_gradient_at_theta_zero_is_finite_and_that_of_people_who_stay() -> None:
    for norm, degree in product((1.0, 1.5, 2.0, 3.0, np.inf), (1.2, 2.0, 4.0)):
        plain = Plain(norm=norm, degree=degree)
        x, gamma = plain.problem().start
        for i in range(N):
            found, _ = plain.problem().gradient(i, x, gamma)
            slope = (0.0 if plain.y[i] > 0 else plain.s) * plain.X[i]
            np.testing.assert_allclose(found, [*slope, plain.slope()], atol=1e-14)


def test_values_far_from_zero_are_finite_and_linear() -> None:
    for loss in LOSSES:
        plain = Plain(loss=loss, zeta=0.0)
        problem = plain.problem()
        x = np.array([1e6, 0, 0, 0, 1e6])
        values = problem.values(range(N), x, np.zeros(N))
        linear = problem.values(range(N), 2 * x, np.zeros(N))
        assert np.isfinite(values).all()
        np.testing.assert_allclose(linear, 2 * values, rtol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("case", CASES)
def test_values_are_convex_in_x_and_linear_in_gamma_along_segments(case: str, loss: str) -> None:
    plain, rng = Plain(**CASES[case], loss=loss, intercept=2.0), np.random.default_rng(3)
    problem, everyone = plain.problem(), np.arange(N)
    bent = 0.0
    for _ in range(30):
        (a, gamma), (b, other) = (np.split(plain.random_point(rng), [plain.dx]) for _ in range(2))
        t = rng.random()
        ends = [problem.values(everyone, point, gamma) for point in (a, b)]
        between = problem.values(everyone, (1 - t) * a + t * b, gamma)
        chord = (1 - t) * ends[0] + t * ends[1]
        assert (between <= chord + 1e-12 * (1 + np.abs(chord))).all()
        bent = max(bent, float((chord - between).max()))
        mixed = problem.values(everyone, a, (1 - t) * gamma + t * other)
        straight = (1 - t) * ends[0] + t * problem.values(everyone, a, other)
        np.testing.assert_allclose(mixed, straight, rtol=1e-12, atol=1e-12)
    assert bent > 0.01


def test_gamma_of_agents_without_a_choice_of_label_does_nothing() -> None:
    rng = np.random.default_rng(4)
    for case, silent in (("exact", people()[1] < 0), ("no flip", np.ones(N, dtype=bool))):
        plain = Plain(**CASES[case])
        problem, (x, gamma) = plain.problem(), np.split(plain.random_point(rng), [plain.dx])
        changed = np.where(silent, rng.uniform(-1, 1, N), gamma)
        before, after = (problem.values(range(N), x, g) for g in (gamma, changed))
        assert np.array_equal(before, after)
        assert np.array_equal(problem.has_gamma, ~silent)
        assert not problem.best_gamma(x)[silent].any()


@pytest.mark.parametrize("case", ["exact", "printed", "no flip", "both ways"])
def test_robust_value_is_the_largest_over_the_corners(case: str) -> None:
    plain, rng = Plain(**CASES[case], intercept=2.0), np.random.default_rng(5)
    problem = plain.problem()
    for _ in range(5):
        u = plain.random_point(rng)
        x = u[: plain.dx]
        best = [
            max(plain.value(i, np.concatenate([x, np.full(N, g)])) for g in (-1.0, 0.0, 1.0))
            for i in range(N)
        ]
        assert problem.robust_value(x) == pytest.approx(np.mean(best), rel=1e-12)


def rough_and_smooth(case: dict[str, Any]) -> tuple[gp.StrategicProblem, gp.StrategicProblem]:
    """A case with every gamma maximised out, and as it is."""
    smooth = Plain(**case).problem()
    rough = gp.StrategicProblem(
        smooth.population,
        smooth.radius,
        smooth.label_cost,
        smooth.loss,
        form=smooth.form,
        flips=smooth.flips,
        alpha_max=smooth.alpha_max,
        smooth=False,
    )
    return rough, smooth


@pytest.mark.parametrize("case", CASES)
def test_non_smooth_form_is_the_maximum_over_gamma_whatever_y(case: str) -> None:
    rough, smooth = rough_and_smooth(CASES[case])
    rng, plain = np.random.default_rng(4), Plain(**CASES[case])
    for _ in range(5):
        u = plain.random_point(rng)
        x, y = u[: plain.dx], u[plain.dx :]
        assert rough.value(x, y) == pytest.approx(smooth.robust_value(x), rel=1e-12)
        for i in range(N):
            # Danskin: the gradient at the best gamma, and none in gamma.
            gx, gy = rough.gradient(i, x, y)
            expected, _ = smooth.gradient(i, x, smooth.best_gamma(x))
            np.testing.assert_allclose(gx, expected, rtol=1e-12, atol=1e-14)
            assert not gy.any()


def test_non_smooth_form_leads_to_the_same_minimum() -> None:
    rough, smooth = rough_and_smooth({"delta": 0.05})
    solver = gp.ogda_rr(gradient=gp.Exact(), step=gp.Power(0.3, 0.5), scale=None)
    result = gp.solve(rough, solver, epochs=300, seed=0)
    least = gp.saddle_point(smooth).value
    assert least - 1e-9 <= smooth.robust_value(result.x) < least + 3e-3
    assert not result.y.any()


def test_printed_form_is_the_exact_form_at_a_smaller_radius() -> None:
    plain, rng = Plain(form="printed"), np.random.default_rng(6)
    less = plain.kappa * (1 - plain.share)
    x, gamma = np.split(plain.random_point(rng), [plain.dx])
    other = Plain(form="exact", delta=plain.delta - less)
    expected = other.problem().values(range(N), x, gamma)
    np.testing.assert_allclose(plain.problem().values(range(N), x, gamma), expected, rtol=1e-12)
