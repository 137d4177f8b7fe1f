"""The conic route: what it cannot express, and what happens where it is not there."""

import subprocess
import sys
from typing import Any, ClassVar

import numpy as np
import pytest

import gameproof as gp
from gameproof.exact import conic
from strategic_problems import make

Vector = np.ndarray[Any, np.dtype[np.float64]]


@pytest.mark.parametrize("missing", ["cvxpy", "clarabel"])
def test_missing_extra_is_an_error_that_says_what_to_install(missing: str, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"pip install 'gameproof\[conic\]'"):
        gp.saddle_point(make(), "conic")
    assert gp.saddle_point(make()).duality_gap < 1e-8


def test_import_of_the_reference_loads_no_conic_solver() -> None:
    code = "import sys, gameproof as gp; gp.saddle_point; print('cvxpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


class Own(gp.Loss):
    """The logistic loss under another name."""

    s: ClassVar[float] = 0.5
    K: ClassVar[float] = 0.5

    def phi(self, z: Vector) -> Vector:
        return gp.Logistic().phi(z)

    def slope(self, z: Vector) -> Vector:
        return gp.Logistic().slope(z)

    def curvature(self, z: Vector) -> Vector:
        return gp.Logistic().curvature(z)

    @property
    def code(self) -> tuple[int, float]:
        return gp.Logistic().code


def test_loss_of_your_own_is_refused_and_newton_is_named() -> None:
    problem = make(loss=Own())
    with pytest.raises(TypeError, match=r'not <.*Own object.*; use method="newton"'):
        gp.saddle_point(problem, "conic")
    assert gp.saddle_point(problem).value == pytest.approx(gp.saddle_point(make()).value, abs=1e-10)


def test_solver_that_fails_is_an_error_that_names_its_status(monkeypatch) -> None:
    import cvxpy as cp

    def fail(self: Any, **options: Any) -> None:
        raise cp.SolverError("no")

    monkeypatch.setattr(cp.Problem, "solve", fail)
    with pytest.raises(ArithmeticError, match=r"ended with the status None; use method=.newton"):
        gp.saddle_point(make(), "conic")


def test_multipliers_are_a_gamma_and_those_without_one_have_zero() -> None:
    problem = make()
    found = conic.conic_minimum(problem)
    assert (np.abs(found.gamma) <= 1).all()
    assert (found.gamma[problem.population.y < 0] == 0).all()
    # t > 0 takes gamma = 1 and t < 0 takes -1, away from 0.
    best = problem.best_gamma(found.x)
    theta, alpha = problem.split(found.x)
    t = 0.5 * problem.population.X @ theta - 0.4 * alpha
    clear = problem.has_gamma & (np.abs(t) > 1e-3)
    np.testing.assert_allclose(found.gamma[clear], best[clear], atol=1e-6)
    assert clear.sum() > 10
