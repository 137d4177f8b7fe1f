"""What identifies a run: a state goes on with its own problem and method, and with no other."""

import dataclasses
import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from solving import GAMES

SEED = 7


class Disc(gp.ConvexSet):
    """A set of one's own, with no more than the base class asks for."""

    dim, diameter = 2, 4.0

    @property
    def center(self) -> Any:
        return np.zeros(2)

    def project(self, point: Any) -> Any:
        return np.array(point) * min(1.0, 2.0 / np.linalg.norm(point))

    def sample(self, rng: np.random.Generator) -> Any:
        return rng.uniform(-1, 1, 2)


def test_run_on_a_set_of_ones_own_resumes_with_the_problem_built_again(teller: Any) -> None:
    solver = gp.ogda_rr(step=0.02, radius=0.5)
    half = gp.solve(teller(x_set=Disc()).problem, solver, epochs=1, seed=SEED)
    whole = gp.solve(teller(x_set=Disc()).problem, solver, epochs=2, seed=SEED)
    again = gp.solve(teller(x_set=Disc()).problem, solver, epochs=2, resume=half.state)
    np.testing.assert_array_equal(again.x, whole.x)


def test_last_digits_of_a_diameter_are_no_other_problem(
    teller: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a sum over coordinates, whose last digits depend on how many threads add them up."""
    box = gp.Box([0.0, 0.0], [1.0, 2.0])
    before = teller(x_set=box).problem.fingerprint
    monkeypatch.setattr(gp.Box, "diameter", box.diameter * (1 + 1e-15))
    assert teller(x_set=box).problem.fingerprint == before
    other = gp.Box([0.0, 0.0], [1.0, 3.0])
    assert teller(x_set=other).problem.fingerprint != before


class Fading:
    """A schedule with a state and no repr of its own."""

    def __call__(self, t: int) -> float:
        return 0.1 / (t + 1)


def fading(t: int, scale: float = 0.2) -> float:
    return scale / (t + 1)


@pytest.mark.parametrize(
    "schedule",
    [fading, functools.partial(fading, scale=0.1), Fading(), lambda t: 0.1],
    ids=["function", "partial", "object", "lambda"],
)
def test_signature_of_a_method_is_the_same_in_another_process(schedule: Any) -> None:
    # The address of an object is what changes between processes.
    assert " at 0x" not in gp.ogda_rr(step=schedule).signature


def other_problems() -> dict[str, gp.Problem]:
    data = GAMES["dense"].data
    moved = [part.copy() for part in data]
    moved[0][-1, -1] += 1e-12
    return {
        "one number of one sample": gp.QuadraticGame(*moved, radius=3.0),
        "radius of the sets": gp.QuadraticGame(*data, radius=3.0 + 1e-9),
        "number of samples": gp.QuadraticGame(*(part[:-1] for part in data), radius=3.0),
        "kind of problem": GAMES["private"],
    }


@pytest.mark.parametrize("difference", other_problems())
def test_state_of_another_problem_is_refused(difference: str, saved: Path) -> None:
    solver = gp.ogda_rr(average=gp.Suffix(), step=0.02, radius=0.5)
    problem = other_problems()[difference]
    with pytest.raises(gp.StateFileError, match=r"to another problem than .* resume with the"):
        gp.solve(problem, solver, epochs=5, resume=saved)


def test_state_of_a_plain_problem_with_other_name_or_sets_is_refused(teller: Any) -> None:
    solver = gp.ogda_rr(step=0.02, radius=0.5)
    state = gp.solve(teller().problem, solver, epochs=1, seed=SEED).state
    value, sets = teller.value, {"x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1], [1])}
    same = gp.SaddleProblem(value, n=7, **sets, name="teller")
    gp.solve(same, solver, epochs=2, resume=state)
    for changes in ({"name": "seller"}, {"n": 8}, {"y_set": gp.Box([-1], [2])}):
        problem = gp.SaddleProblem(value, **({"n": 7, "name": "teller"} | sets | changes))
        with pytest.raises(gp.StateFileError, match="another problem"):
            gp.solve(problem, solver, epochs=2, resume=state)


@pytest.mark.parametrize(
    "parts",
    [
        {"step": 0.03},
        {"radius": gp.Power(0.5, 0.25)},
        {"gradient": gp.OnePoint(baseline=True)},
        {"batch": 2},
        {"scale": None},
        {"average": gp.Last()},
    ],
    ids=lambda parts: next(iter(parts)),
)
def test_state_of_another_method_is_refused(parts: dict[str, Any], saved: Path) -> None:
    (changed,) = parts
    parts = {"average": gp.Suffix(), "step": 0.02, "radius": 0.5} | parts
    said = f"to another method: it was made by {changed}=.*, and this is {changed}=.*; resume with"
    with pytest.raises(gp.StateFileError, match=said) as refused:
        gp.solve(GAMES["dense"], gp.ogda_rr(**parts), epochs=5, resume=saved)
    assert "update=" not in str(refused.value)


@dataclasses.dataclass
class Decaying(gp.Update):
    """An update with a parameter."""

    factor: float

    def move(self, phase: int, estimates: Any, arrays: Any, step: int) -> Any:
        return self.factor * estimates.new


def test_state_of_an_update_with_another_parameter_is_refused() -> None:
    parts = {"step": 0.02, "radius": 0.5}
    state = gp.Run(GAMES["dense"], gp.Solver(update=Decaying(0.5), **parts), seed=SEED).state
    gp.Run(GAMES["dense"], gp.Solver(update=Decaying(0.5), **parts), state=state)
    with pytest.raises(gp.StateFileError, match=r"Decaying\(factor=0.5\).*Decaying\(factor=0.7\)"):
        gp.Run(GAMES["dense"], gp.Solver(update=Decaying(0.7), **parts), state=state)


def test_state_of_another_update_or_order_is_refused(saved: Path) -> None:
    parts = {"average": gp.Suffix(), "step": 0.02, "radius": 0.5}
    for solver in (gp.sgda_rr(**parts), gp.ogda_wr(**parts)):
        with pytest.raises(gp.StateFileError, match="another method"):
            gp.Run(GAMES["dense"], solver, state=gp.State.load(saved))
