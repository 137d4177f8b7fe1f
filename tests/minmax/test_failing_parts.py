"""Gradients, schedules and projections that fail on the way: named, and without loss."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from solving import EPOCHS, SEED, SameState, Sour, failure_of, raising

# --- a gradient that cannot be had


def half_known(teller: Any, fault: Any, call: int) -> Any:
    """The gradient of y is given, but for one call of it."""
    calls = 0

    def y_gradient(i: int, x: Any, y: Any) -> Any:
        nonlocal calls
        calls += 1
        return fault(x, y) if calls == call else teller.y_gradient(i, x, y)

    return teller(gradient=(None, y_gradient))


BAD_GRADIENTS = {
    "nan": (lambda x, y: np.array([np.nan]), "not finite"),
    "infinite": (lambda x, y: [np.inf], "not finite"),
    "too long": (lambda x, y: np.zeros(2), r"shape \(2,\), expected \(1,\)"),
    "a number": (lambda x, y: 0.0, r"shape \(\), expected \(1,\)"),
    "a column": (lambda x, y: np.zeros((1, 1)), r"shape \(1, 1\), expected \(1,\)"),
    "no numbers": (lambda x, y: ["a"], "must be an array of numbers"),
    "complex": (lambda x, y: [1j], "must be an array of numbers"),
    "nothing": (lambda x, y: None, ""),
    "raises": (lambda x, y: raising(Sour("off"))(), "Sour: off"),
}


@pytest.mark.parametrize(("fault", "said"), BAD_GRADIENTS.values(), ids=BAD_GRADIENTS)
def test_gradient_that_cannot_be_used_names_sample_and_step(
    fault: Any, said: str, teller: Any, schedules: Any
) -> None:
    told = half_known(teller, fault, call=4)  # OGDA needs 1, 2, 2, … gradients
    error = failure_of(told.problem, gp.ogda_rr(**schedules), seed=SEED)
    assert re.match(r"sample \d gave no usable gradient .*in step 3 \(epoch 1\)", str(error))
    assert "gradient of y" in str(error) or "Sour" in said
    assert re.search(said, str(error))
    assert error.__cause__ is not None


@pytest.mark.parametrize(
    "parts",
    [
        {"batch": 3},
        {"gradient": gp.TwoPoint(), "batch": 3},
        {"gradient": gp.TwoPoint(symmetric=True), "update": gp.Extragradient()},
        {"gradient": gp.OnePoint(blocks="x"), "order": gp.WithReplacement()},
    ],
    ids=["OGDA", "two-point", "extragradient", "WR"],
)
@pytest.mark.parametrize("call", [1, 2, 3, 4, 5, 10, 11])
def test_run_resumed_after_a_bad_gradient_equals_the_run_that_never_failed(
    parts: dict[str, Any], call: int, teller: Any, schedules: Any, same_state: SameState
) -> None:
    solver = gp.Solver(**parts, **schedules)
    clean = half_known(teller, None, call=0)
    whole = gp.solve(clean.problem, solver, seed=SEED, epochs=EPOCHS)
    told = half_known(teller, lambda x, y: [np.nan], call)
    error = failure_of(told.problem, solver, seed=SEED)
    again = gp.solve(told.problem, solver, resume=error.state, epochs=EPOCHS)
    assert told.answered == clean.answered
    same_state(again.state, whole.state)


@pytest.mark.parametrize(
    "joint",
    [
        lambda i, x, y: np.zeros(3),
        lambda i, x, y: (np.zeros(2),),
        lambda i, x, y: (np.zeros(2), None),
        lambda i, x, y: (None, np.zeros(1)),
        lambda i, x, y: (np.zeros(1), np.zeros(2)),
    ],
    ids=["one vector", "one block", "no y", "no x", "swapped"],
)
def test_joint_gradient_must_give_both_blocks(joint: Any, teller: Any, schedules: Any) -> None:
    solver = gp.ogda_rr(gradient=gp.Exact(), **schedules)
    error = failure_of(teller(gradient=joint).problem, solver, seed=SEED)
    assert re.search(r"gave no usable gradient .*(of x|of y|expected the pair)", str(error))
    assert error.state.steps == 0


def test_known_gradient_that_is_missing_is_an_error_and_not_zero(schedules: Any) -> None:
    class Forgetful(gp.Problem):
        n, name, x_set, y_set = 2, "forgetful", gp.Ball([0.0], 1.0), gp.Ball([0.0], 1.0)
        known = frozenset({"x"})

        def evaluate(self, indices: Any, x: Any, y: Any) -> Any:
            return [x[0] ** 2 - y[0] ** 2 for _ in indices]

    error = failure_of(Forgetful(), gp.ogda_rr(**schedules), seed=SEED)
    assert "no gradient of x, though it is declared as known" in str(error)


# --- schedules that go wrong on the way


def schedule(later: float) -> Callable[[int], float]:
    """Bad from epoch 3 on, unless fixed."""

    def by_epoch(t: int) -> float:
        return 0.02 if t < 3 else later

    return by_epoch


@pytest.mark.parametrize("name", ["step", "radius"])
@pytest.mark.parametrize("later", [-1.0, 0.0, np.nan, np.inf])
def test_schedule_that_turns_bad_is_named_with_its_epoch(
    name: str, later: float, teller: Any
) -> None:
    parts = {"step": 0.02, "radius": 0.5} | {name: schedule(later)}
    told = teller()
    with pytest.raises(
        ValueError, match=f"{name} must be positive at every epoch, got {later} at epoch 3"
    ):
        gp.solve(told.problem, gp.sgda_rr(**parts), seed=SEED, epochs=9)
    assert told.calls <= 3 * 7


@pytest.mark.parametrize("order", [gp.Reshuffle(), gp.WithReplacement(), gp.ShuffleOnce()])
@pytest.mark.parametrize("game", ["plain", "built in"])
def test_run_whose_schedule_is_fixed_resumes_from_its_checkpoint(
    order: Any, game: str, teller: Any, tmp_path: Any, same_state: SameState
) -> None:
    problem = teller().problem if game == "plain" else gp.QuadraticGame.random(n=7, seed=0)

    def solver(later: float) -> gp.Solver:
        return gp.Solver(order=order, step=schedule(later), radius=0.5)

    whole = gp.solve(problem, solver(0.01), seed=SEED, epochs=6)
    path = tmp_path / "state"
    with pytest.raises(ValueError, match="at epoch 3"):
        gp.solve(problem, solver(-1.0), seed=SEED, epochs=6, checkpoint=path)
    again = gp.solve(problem, solver(0.01), resume=path, epochs=6)
    same_state(again.state, whole.state)


# --- a projection that fails


class Slippery(gp.ConvexSet):
    """An interval whose projection fails at one call."""

    dim, diameter = 1, 2.0

    def __init__(self, fails_at: int) -> None:
        self.calls, self.fails_at = 0, fails_at

    @property
    def center(self) -> Any:
        return np.zeros(1)

    def project(self, point: Any) -> Any:
        self.calls += 1
        if self.calls == self.fails_at:
            raise Sour("slipped")
        return np.clip(point, -1.0, 1.0)

    def sample(self, rng: np.random.Generator) -> Any:
        return rng.uniform(-1.0, 1.0, 1)


@pytest.mark.parametrize(
    ("parts", "known"),
    [
        ({}, "both"),
        ({}, "x"),
        ({"gradient": gp.OnePoint(baseline=True), "batch": 2}, "both"),
        ({"gradient": gp.Residual(), "update": gp.Extragradient()}, "x"),
        ({"gradient": gp.Exact()}, "both"),
    ],
    ids=["all estimated", "y estimated", "baseline", "extragradient", "exact"],
)
def test_run_whose_projection_is_fixed_resumes_from_its_checkpoint(
    parts: dict[str, Any],
    known: str,
    teller: Any,
    schedules: Any,
    tmp_path: Any,
    same_state: SameState,
) -> None:
    gradient = (teller.x_gradient, teller.y_gradient if known == "both" else None)
    solver, path = gp.Solver(**parts, **schedules), tmp_path / "state"

    def problem(fails_at: int) -> gp.Problem:
        found: gp.Problem = teller(y_set=Slippery(fails_at), gradient=gradient).problem
        return found

    whole = gp.solve(problem(0), solver, seed=SEED, epochs=EPOCHS)
    for fails_at in (1, 2, 5, 10):
        with pytest.raises(Sour, match="slipped"):
            gp.solve(problem(fails_at), solver, seed=SEED, epochs=EPOCHS, checkpoint=path)
        again = gp.solve(problem(0), solver, resume=path, epochs=EPOCHS)
        same_state(again.state, whole.state)
