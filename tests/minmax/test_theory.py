"""The epoch bound: what it stands on, its size and slope, and the printed theorem beside it.

No test here is random: runs have fixed seeds, and what is asserted of them holds on every path.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import zeta

from gameproof import theory
from gameproof.minmax.theory import Constants

Vector = NDArray[np.float64]

ONES = Constants(n=1, d=1, D=1.0, G=1.0, ell=1.0, M=1.0)
MIXED = Constants(n=50, d=7, D=2.3, G=1.7, ell=0.8, M=3.1)
LARGE = Constants(n=1000, d=30, D=11.0, G=0.2, ell=0.05, M=0.7)
GRID = list(
    itertools.product(
        (ONES, MIXED, LARGE), ((0.01, 0.5), (0.5, 4.0), (1e-4, 0.05)), (0.01, 0.1, 0.24)
    )
)


# The inequalities on sums.


@pytest.mark.parametrize("b", [1e-3, 0.01, 0.25, 0.5, 0.75, 1.0, 3.0])
def test_sum_of_powers_beyond_one_is_at_most_one_plus_one_over_b(b: float) -> None:
    partial = np.cumsum(np.arange(1, 100_001, dtype=np.float64) ** -(1 + b))
    assert (partial <= 1 + 1 / b).all()
    assert zeta(1 + b) <= 1 + 1 / b


@pytest.mark.parametrize("chi", [0.001, 0.05, 0.125, 0.24])
def test_steps_sum_to_at_least_the_last_one_times_their_number(chi: float) -> None:
    t = np.arange(1, 100_001, dtype=np.float64)
    steps = np.cumsum(t ** (-0.75 - chi))
    assert (steps >= t ** (0.25 - chi) * (1 - 1e-12)).all()


@pytest.mark.parametrize("chi", [0.001, 0.05, 0.125, 0.24])
def test_printed_lower_bound_of_the_steps_is_false(chi: float) -> None:
    t = np.arange(1, 100_001, dtype=np.float64)
    steps = np.cumsum(t ** (-0.75 - chi))
    power = 0.25 - chi
    # The theorem's proof has 4 T^power; at T = 1 that reads 1 >= 4.
    assert steps[0] == 1 < 4
    # The lemma behind it has T^power / power, and fails for every T: the integral of a decreasing
    # function from 0 to T is more than its sum.
    assert (steps < t**power / power).all()


def test_printed_seven_quarters_is_too_small() -> None:
    # 1 + 1/(3/4) is 7/3; the sum itself passes 7/4, so no sharper estimate saves it.
    partial = math.fsum(t ** (-7 / 4 - 2 * 0.01) for t in range(1, 1001))
    assert 7 / 4 < partial < zeta(7 / 4) < 1 + 1 / (3 / 4)


# The corrected bound.


def test_rate_of_a_chi_that_is_lost_beside_1_is_no_guarantee() -> None:
    constants = Constants(n=10, d=2, D=1.0, G=1.0, ell=1.0, M=1.0)
    assert theory.rate_constant(constants, 0.01, 1.0, 1e-320) == np.inf


def literal_bound(c: Constants, T: int, step0: float, radius0: float, chi: float) -> float:
    """The formula in the module's docstring, an epoch at a time."""
    t = np.arange(T, dtype=np.float64)
    eta, eps = step0 * (t + 1) ** (-0.75 - chi), radius0 * (t + 1) ** -0.25
    B = c.d * (c.G + c.M / eps)
    terms = (
        (3 * c.n + 1 / 5) * c.ell * c.D * eta * eps
        + 3 * (4 * c.n + 1) * eta**2 * B**2
        + 3 * c.ell * c.D * eta**2 * B
        + 3 * math.sqrt(2) * c.n * (c.n + 1) * c.G * eta**2 * B
    )
    return float((c.D**2 / 2 + np.sum(terms)) / (c.n * np.sum(eta)))


@pytest.mark.parametrize("epochs", [1, 2, 9_999, 10_000, 10_001, 10_000_000])
@pytest.mark.parametrize("chi", [1e-9, 0.05, 0.24])
def test_gap_bound_is_its_formula_summed_epoch_by_epoch(epochs: int, chi: float) -> None:
    expected = literal_bound(MIXED, epochs, 0.01, 0.5, chi)
    assert theory.gap_bound(MIXED, epochs, 0.01, 0.5, chi) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("constants", "start", "chi"), GRID)
def test_gap_bound_is_below_its_rate(
    constants: Constants, start: tuple[float, float], chi: float
) -> None:
    K = theory.rate_constant(constants, *start, chi)
    for epochs in (1, 2, 10, 1000, 10**6, 1e30, 1e200):
        rate = K * epochs ** -(0.25 - chi)
        assert theory.gap_bound(constants, epochs, *start, chi) <= rate * (1 + 1e-12)


@pytest.mark.parametrize("chi", [0.05, 0.1, 0.15])
def test_gap_bound_falls_in_the_end_with_the_slope_of_the_rate(chi: float) -> None:
    near, far = (theory.gap_bound(MIXED, T, 0.01, 0.5, chi) for T in (1e150, 1e160))
    assert math.log(far / near) / math.log(1e10) == pytest.approx(-(0.25 - chi), rel=1e-5)


@pytest.mark.parametrize(("constants", "start", "chi"), GRID)
@pytest.mark.parametrize("accuracy", [0.9, 1e-1, 1e-3])
def test_epochs_needed_bring_the_rate_under_epsilon_and_fewer_do_not(
    constants: Constants, start: tuple[float, float], chi: float, accuracy: float
) -> None:
    power, K = 0.25 - chi, theory.rate_constant(constants, *start, chi)
    epsilon = accuracy * K
    epochs = theory.epochs_needed(constants, epsilon, *start, chi)
    if math.isinf(epochs):
        assert accuracy ** (-1 / power) > 1e303
        return
    assert isinstance(epochs, int)
    assert K * epochs**-power <= epsilon
    fewer = epochs - 1 if epochs < 1e6 else epochs * 0.999
    assert K * fewer**-power > epsilon


def test_epochs_needed_is_infinite_where_no_float_can_hold_it() -> None:
    assert theory.epochs_needed(LARGE, 1e-300, 0.01, 1e-9, 0.2499) == math.inf
    assert theory.printed_epochs(LARGE, 1e-300, 0.01, 1e-9, 0.2499) == math.inf
    huge = Constants(n=10**9, d=10**6, D=1e200, G=1e200, ell=1e-200, M=1e200)
    assert theory.epochs_needed(huge, 1e-9, 1e150, 1e-150, 0.1) == math.inf


def test_bound_has_the_units_of_a_value_and_the_printed_one_has_none() -> None:
    # L in other units: values, slopes and curvatures change alike and the step the other way.
    # u in other units: what is measured in lengths changes. Both say the same of the same problem.
    s, start, chi = 8.0, (0.01, 0.5), 0.05
    other_values = replace(MIXED, G=s * MIXED.G, ell=s * MIXED.ell, M=s * MIXED.M)
    other_lengths = replace(MIXED, D=s * MIXED.D, G=MIXED.G / s, ell=MIXED.ell / s**2)
    bound = theory.gap_bound(MIXED, 100, *start, chi)
    assert theory.gap_bound(other_values, 100, 0.01 / s, 0.5, chi) == pytest.approx(s * bound)
    assert theory.gap_bound(other_lengths, 100, 0.01 * s**2, 0.5 * s, chi) == pytest.approx(bound)

    def printed(constants: Constants, epsilon: float, step0: float, radius0: float) -> float:
        return theory.printed_epochs(constants, epsilon, step0, radius0, chi)

    epochs = printed(MIXED, 1.0, *start)
    assert not 0.5 < printed(other_values, s, 0.01 / s, 0.5) / epochs < 2
    assert not 0.5 < printed(other_lengths, 1.0, 0.01 * s**2, 0.5 * s) / epochs < 2


# The printed theorem.


@pytest.mark.parametrize("constants", [ONES, MIXED, LARGE, replace(ONES, D=100.0, G=0.1, M=0.1)])
def test_printed_constant_is_the_theorems(constants: Constants) -> None:
    n, d, D, G, ell, M = (getattr(constants, name) for name in ("n", "d", "D", "G", "ell", "M"))
    nine = [
        3 * n * d * D * ell,
        18 * n * d * D * G * ell,
        54 * n * d * G**2 + 18 * n * d * D * ell * M,
    ]
    nine += [90 * n * d * G * M, 36 * n * d * M**2, 6 * d * G * n**2 + 14 * G * n**2 + 4 * n * G]
    nine += [6 * d * M * n, 3 * d * D * G * ell, 3 * d * D * ell * M]
    assert theory.printed_constant(constants) == pytest.approx(max(nine), rel=1e-14)


def test_printed_epochs_are_the_theorems() -> None:
    # C = 90, the maximum is eta_0 / eps_0^2 = 2, and 1 + 1/chi = 9, exponent 4 / (1 - 1/2) = 8.
    bracket = 3 / 16 + 5 / 4 * 90 * 2 * 9
    epochs = theory.printed_epochs(ONES, 100.0, 0.5, 0.5, 0.125)
    assert epochs == pytest.approx(bracket**8 / 100**4, rel=1e-12)
    assert theory.printed_epochs(ONES, 1e9, 0.5, 0.5, 0.125) == 1


def test_printed_maximum_is_below_the_sum_it_replaces() -> None:
    # With every constant 1, the line before C is introduced has at eta^2 the coefficient
    # 6 n C_1 + n G^2 (12 n d + 28 n + 8) + 6 ell D d G, and the line after it has 2 C.
    C1 = max(6, 18 + 6, 30, 12)
    assert 2 * theory.printed_constant(ONES) == 180
    assert 6 * C1 + (12 + 28 + 8) + 6 == 234


def test_printed_constant_lacks_a_slope_in_its_reshuffling_term() -> None:
    # One term alone, n G^2 (12 n d + 28 n + 8), already exceeds 2 C when G is large and n larger.
    c = Constants(n=10_000, d=1, D=0.01, G=5.0, ell=0.01, M=0.01)
    assert c.n * c.G**2 * (12 * c.n * c.d + 28 * c.n + 8) > 4 * theory.printed_constant(c)


def test_coupling_of_the_paper_is_weaker_than_two_runs_from_one_point() -> None:
    # Two runs that share their start are at most 2 n (3 eta B) apart after an epoch.
    for c in (ONES, MIXED, LARGE):
        for eps in (0.01, 1.0, 100.0):
            coupled = (6 * c.n * c.d + 14 * c.n + 4) * c.G + 6 * c.n * c.d * c.M / eps
            assert 6 * c.n * c.d * (c.G + c.M / eps) < coupled


def test_schedules_have_the_exponents_of_the_proof() -> None:
    step, radius = theory.schedules(0.02, 3.0, 0.1)
    for t in (0, 1, 7, 1000):
        assert step(t) == pytest.approx(0.02 * (t + 1) ** (-3 / 4 - 0.1))
        assert radius(t) == pytest.approx(3.0 * (t + 1) ** (-1 / 4))


@pytest.mark.parametrize("chi", [-0.1, 0.0, 0.25, 1.0, math.nan])
def test_chi_outside_the_open_interval_is_refused(chi: float) -> None:
    message = f"chi must lie strictly between 0 and 1/4, got {chi}"
    with pytest.raises(ValueError, match=message):
        theory.schedules(0.1, 1.0, chi)
    with pytest.raises(ValueError, match=message):
        theory.gap_bound(ONES, 10, 0.1, 1.0, chi)


def test_step_above_the_largest_allowed_is_refused_with_that_step() -> None:
    sharp = replace(ONES, ell=4.0)
    assert theory.gap_bound(sharp, 10, 0.125, 1.0, 0.1) > 0
    message = r"step0 must be at most 1 / \(2 ell\) = 0.125, got 0.2"
    for refuse in (
        lambda: theory.gap_bound(sharp, 10, 0.2, 1.0, 0.1),
        lambda: theory.rate_constant(sharp, 0.2, 1.0, 0.1),
        lambda: theory.epochs_needed(sharp, 0.1, 0.2, 1.0, 0.1),
        lambda: theory.printed_epochs(sharp, 0.1, 0.2, 1.0, 0.1),
    ):
        with pytest.raises(ValueError, match=message):
            refuse()


@pytest.mark.parametrize("name", ["D", "G", "ell", "M"])
@pytest.mark.parametrize("bad", [-1.0, 0.0, math.inf, math.nan])
def test_constants_must_be_positive_and_finite(name: str, bad: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be positive and finite, got {bad}"):
        replace(ONES, **{name: bad})


@pytest.mark.parametrize("name", ["n", "d"])
def test_counts_must_be_at_least_one(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        replace(ONES, **{name: 0})


@pytest.mark.parametrize("epochs", [0, -3, 2.5, math.inf, math.nan])
def test_epochs_must_be_a_whole_number(epochs: float) -> None:
    with pytest.raises(ValueError, match=f"whole number and at least 1, got {epochs}"):
        theory.gap_bound(ONES, epochs, 0.1, 1.0, 0.1)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf])
def test_other_arguments_must_be_positive(bad: float) -> None:
    with pytest.raises(ValueError, match=f"epsilon must be positive and finite, got {bad}"):
        theory.epochs_needed(ONES, bad, 0.1, 1.0, 0.1)
    with pytest.raises(ValueError, match=f"step0 must be positive and finite, got {bad}"):
        theory.rate_constant(ONES, bad, 1.0, 0.1)
    with pytest.raises(ValueError, match=f"radius0 must be positive and finite, got {bad}"):
        theory.schedules(0.1, bad, 0.1)


# Constants of a problem.


class Square:
    """[-half, half] as a set of one coordinate."""

    dim = 1

    def __init__(self, half: float) -> None:
        self.half, self.diameter = half, 2 * half

    def sample(self, rng: np.random.Generator) -> Vector:
        return rng.uniform(-self.half, self.half, 1)


class Quadratic:
    """L_i = w_i (x^2/2 + 2 x y - y^2/2) on a square: ell = sqrt(5) w, G and M at the corners."""

    def __init__(self, weights: list[float], half: float = 1.0) -> None:
        self.weights, self.n = np.array(weights), len(weights)
        self.x_set, self.y_set = Square(half), Square(half)
        self.asked = 0

    def values(self, indices: NDArray[np.int64], x: Vector, y: Vector) -> Vector:
        self.asked += len(indices)
        return self.weights[indices] * (x[0] ** 2 / 2 + 2 * x[0] * y[0] - y[0] ** 2 / 2)


@pytest.mark.parametrize("half", [1e-6, 1.0, 1e6])
def test_estimated_constants_are_near_the_true_ones_and_not_above(half: float) -> None:
    problem = Quadratic([0.25, 1.0, 0.5], half)
    found = theory.estimate_constants(problem)
    assert (found.n, found.d) == (3, 2)
    assert math.isclose(found.D, math.sqrt(8) * half, rel_tol=1e-14)
    true = {"ell": math.sqrt(5), "G": math.sqrt(5) * math.sqrt(2) * half, "M": 2 * half**2}
    for name, value in true.items():
        assert 0.8 * value <= getattr(found, name) <= value * (1 + 1e-6)


def test_estimation_asks_as_many_values_as_it_says() -> None:
    problem = Quadratic([1.0])
    theory.estimate_constants(problem, points=7)
    assert problem.asked == 7 * (4 * 2 + 2)


def test_estimation_is_the_same_for_the_same_seed() -> None:
    first, second, other = (
        theory.estimate_constants(Quadratic([1.0, 2.0]), points=20, seed=seed) for seed in (3, 3, 4)
    )
    assert first == second != other


def test_estimation_of_a_zero_loss_gives_constants_that_can_be_used() -> None:
    found = theory.estimate_constants(Quadratic([0.0]), points=3)
    assert theory.gap_bound(found, 10, 0.1, 1.0, 0.1) > 0


def test_estimation_names_the_sample_and_the_point_of_a_bad_value() -> None:
    problem = Quadratic([math.nan])
    with pytest.raises(ValueError, match=r"sample 0 has the value nan at u = \[.*\]"):
        theory.estimate_constants(problem)
    with pytest.raises(ValueError, match="points must be at least 1, got 0"):
        theory.estimate_constants(problem, points=0)
