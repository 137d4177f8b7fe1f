"""Answers of the package dro, frozen: where nobody responds, it solves the same problem.

The numbers are printed by ``python benchmarks/against_dro.py --golden`` with dro 0.4.3, cvxpy 1.9.3
and clarabel 0.11.1. A label flip costs kappa there and 2 kappa here, so dro was given twice the
label cost below.
"""

import runpy
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import gameproof as gp

PROGRAM = Path(__file__).parents[2] / "benchmarks" / "against_dro.py"


class Frozen(NamedTuple):
    seed: int
    radius: float
    label_cost: float
    theta: tuple[float, ...]
    intercept: float | None


FROZEN = {
    "without intercept": Frozen(
        5, 0.05, 0.4, (-0.31952426, -0.52984505, -0.12328903, 0.22940591), None
    ),
    "with intercept": Frozen(
        6, 0.02, 0.25, (0.54828999, 0.94978270, -1.48815181, 0.05840113), 0.00643725
    ),
}


def solved(answer: Frozen, label_cost: float) -> tuple[gp.StrategicProblem, np.ndarray]:
    """The problem that dro solved, with another label cost, and our x."""
    X, y = gp.synthetic_people(n=120, d=4, noise=1.0, seed=answer.seed)
    problem = gp.StrategicProblem(
        gp.Population(X + 0.3, y),
        answer.radius,
        label_cost,
        flips="both",
        alpha_max=50.0,
        intercept=None if answer.intercept is None else 10.0,
    )
    return problem, gp.saddle_point(problem).x


@pytest.mark.parametrize("name", FROZEN)
def test_labels_that_flip_both_ways_give_the_answer_of_dro(name: str) -> None:
    answer = FROZEN[name]
    problem, x = solved(answer, answer.label_cost)
    theta, alpha = problem.split(x)
    np.testing.assert_allclose(theta, answer.theta, atol=1e-4, rtol=0)
    assert problem.offset(x) == pytest.approx(answer.intercept or 0.0, abs=1e-4)
    # Flips bind, and the cap, which dro does not have, does not.
    assert 1.1 * np.linalg.norm(theta) < alpha < 0.9 * problem.alpha_max


@pytest.mark.parametrize("name", FROZEN)
def test_the_label_cost_that_dro_was_given_gives_another_answer(name: str) -> None:
    answer = FROZEN[name]
    problem, x = solved(answer, 2 * answer.label_cost)
    assert np.abs(problem.split(x)[0] - answer.theta).max() > 0.01


def test_comparison_without_dro_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PROGRAM.parent)
    program = runpy.run_path(str(PROGRAM))
    monkeypatch.setitem(sys.modules, "dro", None)
    monkeypatch.setattr(sys, "argv", [PROGRAM.name])
    with pytest.raises(SystemExit, match=r"pip install dro==0\.4\.3"):
        program["main"]()
