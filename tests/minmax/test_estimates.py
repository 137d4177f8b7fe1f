"""Estimates from values: their mean, their size, their variance, their sign.

The loss is L(x, y) = exp(a'x) - exp(b'y), whose average over a ball is known: for w uniform in the
unit ball of R^d and t = r |a|, E exp(r a'w) = Gamma(d/2 + 1) (2/t)^(d/2) I_{d/2}(t).
"""

import tracemalloc

import numpy as np
import pytest
from scipy.special import gamma, iv

import gameproof as gp
from gameproof.kernels.layout import MEAN, NEW
from gameproof.minmax.estimates.gradient import Space

A, B = np.array([0.8, -0.5, 0.3]), np.array([0.6, 0.9])
X, Y = np.array([0.2, -0.1, 0.4]), np.array([0.1, -0.3])
RADIUS = 0.7
DRAWS = 10_000  # a factor wrong by a fifth, such as d + 1 for d, is six standard errors
VALUE_BASED = {
    "one-point": gp.OnePoint(),
    "baseline": gp.OnePoint(baseline=True),
    "residual": gp.Residual(),
    "two-point": gp.TwoPoint(),
    "symmetric": gp.TwoPoint(symmetric=True),
}


def loss(i: int, x: np.ndarray, y: np.ndarray) -> float:
    return float(np.exp(A @ x) - np.exp(B @ y))


def loss_gradient(i: int, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return A * np.exp(A @ x), -B * np.exp(B @ y)


def ball_mean(t: float, d: int) -> float:
    """E exp(t w_1) over the unit ball of R^d."""
    return float(gamma(d / 2 + 1) * (2 / t) ** (d / 2) * iv(d / 2, t))


def smoothed_gradient(radius: float, d: int = 5) -> np.ndarray:
    gx, gy = loss_gradient(0, X, Y)
    return np.concatenate(
        [
            gx * ball_mean(radius * float(np.linalg.norm(A)), d),
            gy * ball_mean(radius * float(np.linalg.norm(B)), d),
        ]
    )


def problem(gradient: object = None) -> gp.SaddleProblem:
    return gp.SaddleProblem(
        loss, n=1, x_set=gp.Ball(X, 1.0), y_set=gp.Ball(Y, 1.0), gradient=gradient
    )


def draw_estimates(
    gradient: object, draws: int, radius: float = RADIUS, exact: object = None
) -> np.ndarray:
    """Estimates at (X, Y), one a step: the step is so small that the point stays where it is."""
    run = gp.Run(
        problem(exact),
        gp.sgda_rr(gradient=gradient, step=1e-14, radius=radius),
        seed=2,
        start=(X, Y),
    )
    memory, rows = run.state.memory, []
    for _ in range(draws):
        run.step()
        rows.append(np.concatenate([memory.x[NEW], memory.y[NEW]]))
    return np.array(rows)


def test_ball_mean_formula_agrees_with_sampling() -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((200_000, 5))
    w *= (rng.random(200_000) ** (1 / 5) / np.linalg.norm(w, axis=1))[:, None]
    sampled = np.exp(1.3 * w[:, 0])
    # Five standard errors: a false alarm in 1.7 million seeds.
    assert abs(sampled.mean() - ball_mean(1.3, 5)) < 5 * sampled.std() / np.sqrt(sampled.size)


@pytest.mark.parametrize("name", VALUE_BASED)
def test_mean_is_the_gradient_of_the_smoothed_loss(name: str) -> None:
    estimates = draw_estimates(VALUE_BASED[name], DRAWS)
    if name in ("baseline", "residual"):
        # Their first estimates have offset 0 or a young mean: unbiased, but not alike.
        estimates = estimates[10:]
    error = np.abs(estimates.mean(axis=0) - smoothed_gradient(RADIUS))
    standard_error = estimates.std(axis=0) / np.sqrt(len(estimates))
    # Five coordinates at five standard errors: a false alarm in 340 thousand seeds.
    assert (error < 5 * standard_error).all()


def test_mean_differs_from_the_plain_gradient_at_a_large_radius() -> None:
    # What the test above can tell apart: at radius 3 smoothing changes the gradient by a fifth.
    estimates = draw_estimates(gp.TwoPoint(symmetric=True), DRAWS, radius=3.0)
    plain = np.concatenate(loss_gradient(0, X, Y))
    error = np.abs(estimates.mean(axis=0) - plain)
    standard_error = estimates.std(axis=0) / np.sqrt(DRAWS)
    assert (error > 5 * standard_error).any()
    assert (np.abs(estimates.mean(axis=0) - smoothed_gradient(3.0)) < 5 * standard_error).all()


def test_smoothed_gradient_is_within_ell_eps_of_the_gradient() -> None:
    # On the ball of radius eps around (X, Y), the Hessian norm is at most the larger of these.
    ell = max(
        float(A @ A) * np.exp(A @ X + RADIUS * np.linalg.norm(A)),
        float(B @ B) * np.exp(B @ Y + RADIUS * np.linalg.norm(B)),
    )
    bias = smoothed_gradient(RADIUS) - np.concatenate(loss_gradient(0, X, Y))
    assert 0 < np.linalg.norm(bias) <= ell * RADIUS


@pytest.mark.parametrize("radius", [0.01, 0.7, 5.0])
def test_one_point_norm_is_at_most_d_g_plus_d_m_over_eps(radius: float) -> None:
    reach = radius
    g = np.hypot(
        np.linalg.norm(A) * np.exp(A @ X + reach * np.linalg.norm(A)),
        np.linalg.norm(B) * np.exp(B @ Y + reach * np.linalg.norm(B)),
    )
    m = abs(loss(0, X, Y))
    norms = np.linalg.norm(draw_estimates(gp.OnePoint(), 2_000, radius), axis=1)
    assert norms.max() <= 5 * g + 5 * m / radius
    assert norms.max() > 0.01 * (5 * g + 5 * m / radius)


def test_baseline_lowers_the_variance_and_two_points_lower_it_further() -> None:
    shifted = gp.SaddleProblem(
        lambda i, x, y: 10.0 + loss(i, x, y), n=1, x_set=gp.Ball(X, 1.0), y_set=gp.Ball(Y, 1.0)
    )

    def variance(gradient: object) -> float:
        solver = gp.sgda_rr(gradient=gradient, step=1e-14, radius=RADIUS)
        run = gp.Run(shifted, solver, seed=2, start=(X, Y))
        rows = []
        for _ in range(2_000):
            run.step()
            memory = run.state.memory
            rows.append(np.concatenate([memory.x[NEW], memory.y[NEW]]))
        return float(np.array(rows[100:]).var(axis=0).sum())

    plain, baseline, two = map(variance, (gp.OnePoint(), gp.OnePoint(baseline=True), gp.TwoPoint()))
    # The second moment of a value drops from 10^2 to its spread: factors of over a hundred here.
    assert baseline < plain / 50
    assert two < baseline


def test_two_point_norm_is_at_most_d_g_at_any_radius() -> None:
    for radius in (1e-6, 1e-3, 0.5):
        g = np.hypot(
            np.linalg.norm(A) * np.exp(A @ X + radius * np.linalg.norm(A)),
            np.linalg.norm(B) * np.exp(B @ Y + radius * np.linalg.norm(B)),
        )
        norms = np.linalg.norm(draw_estimates(gp.TwoPoint(), 500, radius), axis=1)
        # Cancellation in the difference of two values costs 1e-16 / 1e-6.
        assert norms.max() <= 5 * g * (1 + 1e-6)


@pytest.mark.parametrize("name", VALUE_BASED)
def test_y_block_has_the_ascent_sign(name: str) -> None:
    # L = -|y - c|^2 / 2 has its maximum at c; with the sign of the listing y would flee from it.
    c = np.array([0.5, -0.4])
    concave = gp.SaddleProblem(
        lambda i, x, y: -float((y - c) @ (y - c)) / 2,
        n=1,
        x_set=gp.Ball([0.0], 1.0),
        y_set=gp.Ball([0.0, 0.0], 1.0),
    )
    solver = gp.sgda_rr(gradient=VALUE_BASED[name], step=0.01, radius=0.3)
    result = gp.solve(concave, solver, epochs=3_000, seed=0)
    assert np.linalg.norm(result.y - c) < 0.1
    assert result.y @ c > 0


def test_exact_step_descends_in_x_and_ascends_in_y() -> None:
    solver = gp.sgda_rr(gradient=gp.Exact(), step=1e-3)
    run = gp.Run(problem(loss_gradient), solver, start=(X, Y))
    run.step()
    x, y = run.state.last
    gx, gy = loss_gradient(0, X, Y)
    np.testing.assert_allclose(x, X - 1e-3 * gx, rtol=1e-12)
    np.testing.assert_allclose(y, Y + 1e-3 * gy, rtol=1e-12)


def test_only_the_block_without_a_gradient_is_perturbed() -> None:
    exact_y = (None, lambda i, x, y: loss_gradient(i, x, y)[1])
    seen = []

    def watched(i: int, x: np.ndarray, y: np.ndarray) -> float:
        seen.append((x, y))
        return loss(i, x, y)

    half = gp.SaddleProblem(
        watched, n=1, x_set=gp.Ball(X, 1.0), y_set=gp.Ball(Y, 1.0), gradient=exact_y
    )
    run = gp.Run(
        half, gp.sgda_rr(gradient=gp.OnePoint(), step=1e-14, radius=RADIUS), start=(X, Y), seed=0
    )
    for _ in range(50):
        run.step()
    assert all(np.allclose(y, Y, atol=1e-9) for _, y in seen)
    assert all(np.linalg.norm(x - X) == pytest.approx(RADIUS, abs=1e-9) for x, _ in seen)
    np.testing.assert_allclose(run.state.memory.y[NEW], loss_gradient(0, X, Y)[1])


def test_d_counts_the_perturbed_coordinates_alone() -> None:
    exact_y = (None, lambda i, x, y: loss_gradient(i, x, y)[1])
    estimates = draw_estimates(gp.TwoPoint(symmetric=True), DRAWS, exact=exact_y)[:, :3]
    gx = loss_gradient(0, X, Y)[0] * ball_mean(RADIUS * float(np.linalg.norm(A)), 3)
    standard_error = estimates.std(axis=0) / np.sqrt(DRAWS)
    # Three coordinates at five standard errors: a false alarm in 580 thousand seeds.
    assert (np.abs(estimates.mean(axis=0) - gx) < 5 * standard_error).all()


def test_residual_subtracts_the_value_of_the_step_before() -> None:
    values = []

    def recorded(i: int, x: np.ndarray, y: np.ndarray) -> float:
        values.append(loss(i, x, y))
        return values[-1]

    game = gp.SaddleProblem(recorded, n=1, x_set=gp.Ball(X, 1.0), y_set=gp.Ball(Y, 1.0))
    run = gp.Run(
        game, gp.sgda_rr(gradient=gp.Residual(), step=1e-3, radius=RADIUS), start=(X, Y), seed=1
    )
    for step in range(5):
        run.step()
        memory = run.state.memory
        before = values[step - 1] if step else 0.0
        expected = 5 / RADIUS * (values[step] - before) * memory.directions[0]
        found = np.concatenate([memory.x[NEW], memory.y[NEW]])
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_baseline_is_the_mean_of_about_the_last_epoch() -> None:
    # Over the first epoch the plain mean; from then on each value weighs 1/n.
    values = []

    def recorded(i: int, x: np.ndarray, y: np.ndarray) -> float:
        values.append(loss(i, x, y) + i)
        return values[-1]

    game = gp.SaddleProblem(recorded, n=4, x_set=gp.Ball(X, 1.0), y_set=gp.Ball(Y, 1.0))
    solver = gp.sgda_rr(gradient=gp.OnePoint(baseline=True), step=1e-3, radius=RADIUS)
    run = gp.Run(game, solver, start=(X, Y), seed=1)
    mean = 0.0
    for step in range(12):
        run.step()
        mean += (values[step] - mean) / min(step + 1, 4)
        assert run.state.memory.numbers[MEAN] == pytest.approx(mean, rel=1e-12)
        if step < 4:
            assert mean == pytest.approx(np.mean(values), rel=1e-12)


@pytest.mark.parametrize("sums", [(), ((0, 3),), ((1, 2), (2, 6), (8, 10))], ids=str)
def test_basis_is_orthonormal_and_within_the_hull(sums: tuple[tuple[int, int], ...]) -> None:
    space = Space(10, sums)
    basis = space.basis()
    assert basis.shape == (space.dim, 10)
    np.testing.assert_allclose(basis @ basis.T, np.eye(space.dim), rtol=0, atol=1e-15)
    for start, stop in sums:
        np.testing.assert_allclose(basis[:, start:stop].sum(axis=1), 0, rtol=0, atol=1e-15)


def test_basis_takes_the_memory_of_a_square_matrix() -> None:
    tracemalloc.start()
    try:
        basis = Space(200, ((0, 50),)).basis()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * basis.nbytes
