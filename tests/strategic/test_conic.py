"""The conic solver: what it cannot express, and what happens if it is not installed."""

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.strategic import conic
from strategic_problems import make


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


def test_loss_of_your_own_is_refused_and_newton_is_named() -> None:
    own = gp.CustomLoss(
        phi=lambda z: math.sqrt(1.0 + z * z),
        slope=lambda z: z / math.sqrt(1.0 + z * z),
        curvature=lambda z: (1.0 + z * z) ** -1.5,
        s=1.0,
        K=1.0,
        name="own",
    )
    with pytest.raises(TypeError, match=r'PseudoHuberHinge, not .*own.*; use method="newton"'):
        gp.saddle_point(make(loss=own), "conic")
    built_in = gp.saddle_point(make(loss=gp.PseudoHuberHinge()), "conic")
    assert gp.saddle_point(make(loss=own)).value == pytest.approx(built_in.value, abs=1e-9)


def test_solver_that_fails_is_an_error_that_names_its_status(monkeypatch) -> None:
    import cvxpy as cp

    def fail(self: Any, **options: Any) -> None:
        raise cp.SolverError("no")

    monkeypatch.setattr(cp.Problem, "solve", fail)
    with pytest.raises(ArithmeticError, match=r"no solution \(it gave up\); use method=.newton"):
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
