"""Norms against NumPy, their gradients against differences, and duality against its definition."""

import numpy as np
import pytest

from gameproof.strategic.norms import (
    conjugate_exponent,
    norm_gradient,
    norm_of,
    power_of_norm,
    row_norms,
)

NORMS = [1.0, 1.3, 2.0, 3.0, 7.5, np.inf]
ROWS = np.random.default_rng(0).standard_normal((5, 4))


@pytest.mark.parametrize("p", NORMS)
def test_conjugate_exponents_are_conjugate(p: float) -> None:
    assert 1 / p + 1 / conjugate_exponent(p) == pytest.approx(1.0)
    assert conjugate_exponent(conjugate_exponent(p)) == pytest.approx(p)


@pytest.mark.parametrize("p", NORMS)
def test_norms_are_those_of_numpy(p: float) -> None:
    expected = np.linalg.norm(ROWS, p, axis=1)
    np.testing.assert_allclose(row_norms(ROWS, p)[:, 0], expected)
    np.testing.assert_allclose([norm_of(row, p) for row in ROWS], expected)


@pytest.mark.parametrize("p", NORMS)
def test_norms_of_zeros_and_of_any_size(p: float) -> None:
    assert norm_of(np.zeros(3), p) == 0
    assert not row_norms(np.zeros((2, 3)), p).any()
    for size in (1e-200, 1e200):
        assert norm_of(size * ROWS[0], p) == pytest.approx(size * norm_of(ROWS[0], p))
        assert row_norms(size * ROWS, p)[0, 0] == pytest.approx(size * norm_of(ROWS[0], p))


@pytest.mark.parametrize("p", NORMS)
def test_gradient_attains_the_norm_within_the_ball_of_the_dual_norm(p: float) -> None:
    """|v|_p is the maximum of <g, v> over |g|_{p*} <= 1."""
    gradients = norm_gradient(ROWS, row_norms(ROWS, p), p)
    np.testing.assert_allclose((gradients * ROWS).sum(axis=1), row_norms(ROWS, p)[:, 0])
    np.testing.assert_allclose(row_norms(gradients, conjugate_exponent(p)), 1.0)
    for row, gradient in zip(ROWS, gradients, strict=True):
        np.testing.assert_array_equal(norm_gradient(row, norm_of(row, p), p), gradient)


def test_gradient_in_the_infinity_norm_uses_the_first_of_equal_entries() -> None:
    np.testing.assert_array_equal(
        norm_gradient(np.array([1.0, -2.0, 2.0]), 2.0, np.inf), [0, -1, 0]
    )


@pytest.mark.parametrize("p", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("q", [1.0, 1.5, 2.0, 3.0])
def test_powers_of_norms_have_the_derivatives_of_their_values(p: float, q: float) -> None:
    theta, h = ROWS[0], 1e-5
    found = power_of_norm(theta, p, q)
    assert found.value == pytest.approx(np.linalg.norm(theta, p) ** q)
    for c, step in enumerate(h * np.eye(theta.size)):
        up, down = power_of_norm(theta + step, p, q), power_of_norm(theta - step, p, q)
        assert found.gradient[c] == pytest.approx((up.value - down.value) / (2 * h), rel=1e-7)
        np.testing.assert_allclose(
            found.hessian[c], (up.gradient - down.gradient) / (2 * h), rtol=1e-6, atol=1e-8
        )
