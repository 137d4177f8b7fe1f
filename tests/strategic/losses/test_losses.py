"""Losses l(z, y) = phi(z) - s y z: the built-in ones against scipy's, and the contract test.

Scores reach from -1e6 to 1e6. A value of size |z| carries rounding of about |z| 2^-52, which is
what the tolerances allow.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit
from scipy import special
from scipy.integrate import quad

from gameproof import (
    HuberHinge,
    Logistic,
    Loss,
    PseudoHuberHinge,
    check_loss,
)
from gameproof.kernels import losses as kernels
from losses import Array, Own, Z

WIDTHS = [1e-3, 0.3, 1.0, 2.5, 1e3]
LOSSES = [Logistic(), PseudoHuberHinge(), *(HuberHinge(width) for width in WIDTHS)]
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)

ROUNDING = 4 * np.finfo(float).eps * np.maximum(1.0, np.abs(Z))


# --- The contract, on every loss --------------------------------------------------------------


@each_loss
def test_built_in_losses_keep_the_contract(loss: Loss) -> None:
    check_loss(loss)


@pytest.mark.parametrize(
    "width",
    [
        0.02,
        0.1,
        0.5,
    ],
)
def test_huber_hinges_with_a_kink_on_the_grid_of_the_contract_keep_it(width: float) -> None:
    check_loss(HuberHinge(width))


@each_loss
def test_phi_is_convex_by_its_values_alone(loss: Loss) -> None:
    rng = np.random.default_rng(0)
    first, second = rng.choice(Z, (2, 5000))
    share = rng.random(5000)
    between = loss.phi((1 - share) * first + share * second)
    chord = (1 - share) * loss.phi(first) + share * loss.phi(second)
    assert (between <= chord + 1e-15 * (np.abs(first) + np.abs(second) + 1)).all()


@each_loss
def test_phi_is_lipschitz_with_k_and_with_no_less(loss: Loss) -> None:
    phi = loss.phi(Z)
    slopes = np.diff(phi) / np.diff(Z)
    slack = 2 * ROUNDING[1:] / np.diff(Z)
    assert (np.abs(slopes) <= loss.K + slack).all()
    far = np.array([1e6, 2e6])
    assert abs(np.diff(loss.phi(far))[0] / 1e6 - loss.K) <= 1e-9
    assert abs(np.diff(loss.phi(-far))[0] / 1e6 - loss.K) <= 1e-9


@each_loss
def test_phi_plus_s_z_never_decreases(loss: Loss) -> None:
    risen = np.diff(loss.phi(Z) + loss.s * Z)
    assert (risen >= -2 * ROUNDING[1:] - 2 * ROUNDING[:-1]).all()


@each_loss
def test_phi_is_the_integral_of_slope_and_slope_of_curvature(loss: Loss) -> None:
    kinks = [-getattr(loss, "width", 1.0), getattr(loss, "width", 1.0)]
    for low, high in [(-3.0, -0.5), (-1.0, 2.0), (0.1, 7.0)]:
        inside = [kink for kink in kinks if low < kink < high]
        options: dict[str, Any] = {"points": inside or None, "epsabs": 1e-11, "epsrel": 1e-11}
        ends = np.array([low, high])
        rise, _ = quad(lambda z: float(loss.slope(z)), low, high, **options)
        assert rise == pytest.approx(np.diff(loss.phi(ends))[0], abs=1e-9)
        rise, _ = quad(lambda z: float(loss.curvature(z)), low, high, **options)
        assert rise == pytest.approx(np.diff(loss.slope(ends))[0], abs=1e-9)


@each_loss
def test_terms_are_phi_slope_and_curvature(loss: Loss) -> None:
    z = np.concatenate([np.linspace(-50, 50, 2001), [-1e6, -800.0, -1e-9, 0.0, 1e-9, 800.0, 1e6]])
    separately = loss.phi(z), loss.slope(z), loss.curvature(z)
    for found, expected in zip(loss.terms(z), separately, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-15, atol=2e-16)


@each_loss
def test_phi_is_even_and_slope_odd(loss: Loss) -> None:
    np.testing.assert_array_equal(loss.phi(-Z), loss.phi(Z))
    np.testing.assert_array_equal(loss.slope(-Z), -loss.slope(Z))


@each_loss
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_loss_is_phi_less_s_times_the_margin_and_falls_with_the_margin(
    loss: Loss, label: float
) -> None:
    values = loss.value(Z, np.full(Z.size, label))
    np.testing.assert_allclose(values, loss.phi(Z) - loss.s * label * Z, rtol=1e-15)
    by_margin = values if label > 0 else values[::-1]
    assert (np.diff(by_margin) <= 2 * ROUNDING[1:] + 2 * ROUNDING[:-1]).all()


# --- The same losses, from scipy --------------------------------------------------------------


@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_logistic_loss_is_log_of_one_plus_exp(label: float) -> None:
    found = Logistic().value(Z, np.full(Z.size, label))
    assert (np.abs(found - np.logaddexp(0, -label * Z)) <= ROUNDING).all()


def test_logistic_slope_and_curvature_are_those_of_the_sigmoid() -> None:
    sigmoid = special.expit(Z)
    np.testing.assert_allclose(Logistic().slope(Z), sigmoid - 0.5, rtol=0, atol=2e-16)
    np.testing.assert_allclose(
        Logistic().curvature(Z), sigmoid * special.expit(-Z), rtol=0, atol=2e-16
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_huber_hinge_is_scipys_huber_over_its_width(width: float) -> None:
    np.testing.assert_allclose(
        HuberHinge(width).phi(Z), special.huber(width, Z) / width, rtol=1e-14, atol=1e-30
    )


def test_pseudo_huber_hinge_is_one_more_than_scipys() -> None:
    np.testing.assert_allclose(
        PseudoHuberHinge().phi(Z), 1 + special.pseudo_huber(1.0, Z), rtol=1e-15
    )


@pytest.mark.parametrize(
    ("loss", "values"),
    [
        (Logistic(), [1e6, np.log(2), 0.0]),
        (HuberHinge(), [2e6 - 0.5, 0.0, -0.5]),
        (PseudoHuberHinge(), [2e6, 1.0, 0.0]),
    ],
)
def test_losses_at_scores_of_a_million(loss: Loss, values: list[float]) -> None:
    """A margin of -1e6, 0 and 1e6."""
    found = loss.value(np.array([-1e6, 0.0, 1e6]), np.ones(3))
    np.testing.assert_allclose(found, values, rtol=1e-12, atol=1e-6)
    # The hinges come down to -width/2 and 0: z is subtracted from |z| - width/2 and sqrt(1 + z^2).
    np.testing.assert_allclose(loss.slope(np.array([-1e6, 1e6])), [-loss.K, loss.K], rtol=1e-12)


@pytest.mark.parametrize("width", [0.0, -1.0, np.nan, np.inf])
def test_huber_hinge_needs_a_positive_width(width: float) -> None:
    with pytest.raises(ValueError, match=rf"width must be positive and finite, got {width}"):
        HuberHinge(width)


@pytest.mark.parametrize("width", [1, np.float32(1)])
def test_width_of_any_type_is_the_same_loss(width: float) -> None:
    assert type(HuberHinge(width).width) is float
    assert repr(HuberHinge(width)) == repr(HuberHinge(1.0))


# --- The compiled ones ------------------------------------------------------------------------


@njit
def compiled(code: int, width: float, z: Any, phi: Any, slope: Any) -> None:
    for k in range(z.size):
        phi[k] = kernels.built_in_phi(code, width, z[k])
        slope[k] = kernels.built_in_slope(code, width, z[k])


@each_loss
def test_compiled_phi_and_slope_agree_with_those_in_python(loss: Loss) -> None:
    phi, slope = np.empty((2, Z.size))
    compiled(*loss.code, Z, phi, slope)
    np.testing.assert_allclose(phi, loss.phi(Z), rtol=1e-14, atol=1e-30)
    # A slope near 0 is added to ±s, so it is compared to the precision of that sum.
    np.testing.assert_allclose(slope, loss.slope(Z), rtol=1e-14, atol=1e-16)


def test_every_built_in_loss_has_a_compiled_form_of_its_own() -> None:
    codes = [loss.code for loss in (Logistic(), HuberHinge(2.5), PseudoHuberHinge())]
    assert codes == [(kernels.LOGISTIC, 0.0), (kernels.HUBER, 2.5), (kernels.PSEUDO_HUBER, 0.0)]
    assert len({kernels.LOGISTIC, kernels.HUBER, kernels.PSEUDO_HUBER}) == 3


# --- The contract test on broken losses -------------------------------------------------------


def overflowing(z: Array) -> Array:
    with np.errstate(over="ignore"):
        return np.log(1 + np.exp(z)) - z / 2


def clipped(z: Array) -> Array:
    return Logistic().phi(np.clip(z, -30, 30))


SOUND = {
    "the logistic loss": Own(),
    "s larger than needed": Own(s=0.7),
    "a steeper logistic loss": Own(
        s=1.0,
        K=1.0,
        phi=lambda z: 2 * Logistic().phi(z),
        slope=lambda z: 2 * Logistic().slope(z),
        curvature=lambda z: 2 * Logistic().curvature(z),
    ),
    "a lopsided loss": Own(
        s=0.5,
        K=1.0,
        phi=lambda z: Logistic().phi(z) + 0.5 * z,
        slope=lambda z: Logistic().slope(z) + 0.5,
    ),
}

BROKEN: dict[str, tuple[Loss, str]] = {
    "not convex": (
        Own(phi=lambda z: np.cos(z) / 4, slope=lambda z: -np.sin(z) / 4),
        "phi is convex",
    ),
    "concave": (
        Own(phi=lambda z: -Logistic().phi(z), slope=lambda z: -Logistic().slope(z)),
        "phi is convex",
    ),
    "K too small": (Own(K=0.49), "phi is K-Lipschitz"),
    "no Lipschitz constant": (
        Own(phi=lambda z: z**2, slope=lambda z: 2 * z, curvature=lambda z: 2 + 0 * z),
        "phi is K-Lipschitz",
    ),
    "s too small": (Own(s=0.49), r"phi\(z\) \+ s z never decreases"),
    "s zero": (Own(s=0.0), "s and K are positive"),
    "s negative": (Own(s=-0.5), "s and K are positive"),
    "K negative": (Own(K=-0.5), "s and K are positive"),
    "slope of half the size": (
        Own(slope=lambda z: Logistic().slope(z) / 2),
        "slope is the derivative of phi",
    ),
    "slope of another loss": (
        Own(s=1.0, K=1.0, slope=HuberHinge().slope),
        "slope is the derivative of phi",
    ),
    "slope slightly wrong": (
        Own(slope=lambda z: Logistic().slope(1.001 * z)),
        "slope is the derivative of phi",
    ),
    "phi overflows": (Own(phi=overflowing), "finite up to 1e6"),
    "phi is NaN": (Own(phi=lambda z: np.where(z > 0, np.nan, z)), "finite up to 1e6"),
    "slope is NaN": (Own(slope=lambda z: np.where(z < -50, np.nan, z)), "finite up to 1e6"),
    "curvature too small": (
        Own(curvature=lambda z: 0 * z),
        "curvature bounds the derivative of slope",
    ),
}


@pytest.mark.parametrize("name", SOUND)
def test_contract_lets_a_sound_loss_pass(name: str) -> None:
    check_loss(SOUND[name])


@pytest.mark.parametrize("name", BROKEN)
def test_contract_names_the_claim_that_a_broken_loss_breaks(name: str) -> None:
    loss, claim = BROKEN[name]
    with pytest.raises(AssertionError, match=claim):
        check_loss(loss)


@pytest.mark.parametrize(
    "phi",
    [clipped, lambda z: np.where(np.abs(z) > 1e5, 0.0, Logistic().phi(z))],
    ids=["phi flat beyond 30", "phi zero at a million"],
)
def test_contract_sees_a_phi_that_is_finite_but_wrong_at_large_scores(
    phi: Callable[[Array], Array],
) -> None:
    with pytest.raises(AssertionError, match="broken"):
        check_loss(Own(phi=phi))
