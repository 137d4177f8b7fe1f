"""`CustomLoss`: its contract, where it can be used, and its error messages."""

import math
from typing import Any

import numpy as np
import pytest
from numba.core.caching import IndexDataCacheFile

from gameproof import (
    BlackBox,
    CustomLoss,
    Envelope,
    Exact,
    Logistic,
    OnePoint,
    Population,
    PseudoHuberHinge,
    QuadraticCost,
    StrategicProblem,
    TwoPoint,
    check_loss,
    ogda_rr,
    saddle_point,
    solve,
    worst_case,
)
from gameproof.kernels.jit import cached
from losses import Own, Z


def wide(width: float, **changes: Any) -> CustomLoss:
    """sqrt(width^2 + z^2): the pseudo-Huber hinge for width 1."""
    square = width * width
    parts: dict[str, Any] = {
        "phi": lambda z: math.sqrt(square + z * z),
        "slope": lambda z: z / math.sqrt(square + z * z),
        "curvature": lambda z: square * (square + z * z) ** -1.5,
        "s": 1.0,
        "K": 1.0,
    }
    return CustomLoss(**(parts | changes))


# Shared by all tests, because the solver's loops are compiled again for every custom loss.
OWN = wide(1.0)


def people(response: Any = None) -> Population:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 3))
    y = np.sign(X[:, 0] + 0.5 * rng.standard_normal(30))
    return Population(X, y, response or QuadraticCost(0.2))


def black_box() -> BlackBox:
    asked = people()
    return BlackBox(lambda theta, agents: asked.response.answers(theta, asked.X[agents], agents))


@pytest.mark.parametrize("width", [0.5, 3.0])
def test_a_custom_loss_keeps_the_contract(width: float) -> None:
    check_loss(wide(width))
    np.testing.assert_allclose(wide(width).phi(Z), np.hypot(width, Z), rtol=1e-14)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("estimate", [OnePoint(), TwoPoint(), Envelope(), Exact()], ids=repr)
def test_a_custom_loss_gives_the_run_of_the_built_in_one_with_its_formula(
    estimate: Any, compiled: bool
) -> None:
    runs = [
        solve(
            StrategicProblem(people(), 0.1, 0.5, loss, intercept=1.0),
            ogda_rr(gradient=estimate),
            epochs=2,
            seed=1,
            compiled=compiled,
        )
        for loss in (OWN, PseudoHuberHinge(), Logistic())
    ]
    np.testing.assert_allclose(runs[0].x, runs[1].x, rtol=1e-12)
    np.testing.assert_allclose(runs[0].y, runs[1].y, rtol=1e-12)
    assert np.abs(runs[0].x - runs[2].x).max() > 1e-4


@pytest.mark.parametrize("estimate", [OnePoint(), Envelope()], ids=repr)
def test_people_who_can_only_be_asked_meet_a_custom_loss_too(estimate: Any) -> None:
    runs = [
        solve(
            StrategicProblem(people(black_box()), 0.1, 0.5, loss),
            ogda_rr(gradient=estimate),
            epochs=2,
            seed=1,
        )
        for loss in (OWN, PseudoHuberHinge())
    ]
    np.testing.assert_allclose(runs[0].x, runs[1].x, rtol=1e-12)


def test_reference_and_worst_case_take_a_custom_loss() -> None:
    own, built_in = (
        StrategicProblem(people(), 0.1, 0.5, loss) for loss in (OWN, PseudoHuberHinge())
    )
    saddle = saddle_point(own)
    assert saddle.duality_gap < 1e-8
    assert saddle.value == pytest.approx(saddle_point(built_in).value, abs=1e-8)
    theta, _ = own.split(saddle.x)
    assert worst_case(own, theta).value == pytest.approx(worst_case(built_in, theta).value)


def test_problems_with_different_custom_losses_are_told_apart() -> None:
    prints = {StrategicProblem(people(), 0.1, 0.5, wide(w)).fingerprint for w in (1.0, 1.1, 1.0)}
    assert len(prints) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"phi": 3.0}, "phi must be a function of one number, got 3.0"),
        ({"slope": lambda z: z.mean()}, "slope cannot be compiled"),
        ({"phi": lambda z: "high"}, "phi must return a float"),
        ({"curvature": lambda z: 1}, "write 1.0 instead of 1"),
        ({"phi": lambda y, z: z}, "phi cannot be compiled"),
        ({"phi": lambda z: math.nan}, "phi and its slope are finite"),
        ({"slope": lambda z: 2 * z / math.sqrt(1 + z * z)}, "phi is K-Lipschitz"),
        ({"phi": lambda z: 2 * math.sqrt(1 + z * z)}, "slope is the derivative of phi"),
        ({"s": -1.0}, "s must be positive"),
        ({"K": math.nan}, "K must be positive"),
    ],
)
def test_what_is_no_loss_is_refused_with_a_sentence(changes: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        wide(1.0, **changes)


def test_a_loss_in_plain_python_is_told_how_to_be_compiled() -> None:
    with pytest.raises(TypeError, match=r"CustomLoss\(phi, slope"):
        StrategicProblem(people(), 0.1, 0.5, Own())


def test_code_for_a_custom_loss_is_not_kept_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other process could use it, and each would add its own."""
    theta = [0.3, -0.2, 0.1, 1.0]
    StrategicProblem(people(), 0.1, 0.5, PseudoHuberHinge()).robust_value(theta)
    kept: list[Any] = []
    monkeypatch.setattr(IndexDataCacheFile, "save", lambda self, key, data: kept.append(key))
    StrategicProblem(people(), 0.1, 0.5, wide(2.0)).robust_value(theta)
    assert not kept
    cached(lambda number: number + 1.0)(2.0)
    assert len(kept) == 1
