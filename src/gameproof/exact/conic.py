"""The saddle point from a conic solver, which shares nothing with Newton's method but the problem.

With e_i in place of |t_i|, t_i = s z_i - y_i kappa alpha, and r in place of |theta|_{p*}^q the
learner's side of a strategic problem is

    min  slope alpha + (1/n) sum_i [phi(z_i) + l_i z_i] + (1/n) sum over i with a gamma of e_i
    z_i = <x_i, theta> + intercept + zeta_i r,   r >= |theta|_{p*}^q
    e_i >= t_i,   e_i >= -t_i,   (K + s) |theta| <= alpha <= cap,   |intercept| <= bound

where no term falls with r, so that the least r is best; gamma_i is n times the difference of the
multipliers of e_i's two limits. Weights multiply the terms, and divide gamma_i. cvxpy writes
logistic losses as exponential cones and the rest as second-order ones, and Clarabel solves it.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from gameproof.arguments import Vector
from gameproof.problem.losses import HuberHinge, Logistic, PseudoHuberHinge
from gameproof.problem.strategic import StrategicProblem

# What Clarabel is asked for; where that is out of its reach, it returns the best it has.
PRECISION = 1e-11


class ConicSolution(NamedTuple):
    """The minimum by the solver's account, x in the set, and gamma."""

    value: float
    x: Vector
    gamma: Vector


def conic_minimum(problem: StrategicProblem, gamma: Vector | None = None) -> ConicSolution:
    """The minimum over x of L(x, gamma), or of its maximum over gamma where none is given.

    >>> import gameproof as gp
    >>> people = gp.Population([[1.0], [2.0], [-1.0], [0.5]], [1, 1, -1, -1])
    >>> problem = gp.StrategicProblem(people, radius=0.1, label_cost=0.5)
    >>> round(conic_minimum(problem).value, 6)
    0.617417
    """
    problem.require_model("conic_minimum")
    cp, data = _cvxpy(), problem.data
    people, loss, free, n = problem.population, problem.loss, problem.has_gamma, problem.n
    theta, alpha = cp.Variable(people.d), cp.Variable()
    intercept = None if problem.intercept is None else cp.Variable()
    limits = [(loss.K + loss.s) * cp.norm(theta) <= alpha, alpha <= problem.alpha_max]
    z = people.X @ theta
    if intercept is not None:
        z, limits = z + intercept, [*limits, cp.abs(intercept) <= problem.intercept]
    zeta = np.where(people.y < 0, data.zeta, 0.0)
    if zeta.any() and data.movable.any():
        r = cp.Variable()
        z, limits = z + zeta * r, [*limits, r >= _power(cp, data, theta)]

    fixed = np.where(free, 0.0, -loss.s * people.y)
    t = loss.s * z - data.kappa * people.y * alpha
    weights = people.weights
    total = problem.slope * alpha + (weights @ _phi(cp, problem, z) + (weights * fixed) @ z) / n
    if gamma is not None:
        found = np.where(free, gamma, 0.0)
        value = _solved(cp, total + (weights * found) @ t / n, limits)
    elif not free.any():
        found, value = np.zeros(n), _solved(cp, total, limits)
    else:
        e = cp.Variable(int(free.sum()))
        above, below = e >= t[free], e >= -t[free]
        value = _solved(cp, total + weights[free] @ e / n, [*limits, above, below])
        found = np.zeros(n)
        difference = n * (above.dual_value - below.dual_value) / weights[free]
        found[free] = np.clip(difference, -1.0, 1.0)
    own = 0.0 if intercept is None else float(intercept.value)
    x = problem.join(theta.value, float(alpha.value), own)
    return ConicSolution(value, problem.x_set.project(x), found)


def _phi(cp: Any, problem: StrategicProblem, z: Any) -> Any:
    loss = problem.loss
    if isinstance(loss, Logistic):
        return cp.logistic(z) - z / 2
    if isinstance(loss, HuberHinge):
        return cp.huber(z, loss.width) / (2 * loss.width)
    if isinstance(loss, PseudoHuberHinge):
        return cp.norm(cp.vstack([np.ones(problem.n), z]), axis=0)
    raise TypeError(
        f"the conic solver knows Logistic, HuberHinge and PseudoHuberHinge, not {loss!r}; use "
        'method="newton"'
    )


def _power(cp: Any, data: Any, theta: Any) -> Any:
    """|theta|_{p*}^q of the movable part."""
    part = theta[np.flatnonzero(data.movable)]
    return cp.power(cp.pnorm(part, data.dual_norm), data.degree)


def _solved(cp: Any, total: Any, limits: list[Any]) -> float:
    """The minimum of `total`; the variables hold where it is attained."""
    program = cp.Problem(cp.Minimize(total), limits)
    precise = {f"tol_{name}": PRECISION for name in ("gap_abs", "gap_rel", "feas")}
    with warnings.catch_warnings():
        # How accurate it is, the certificate says.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        with suppress(cp.SolverError):
            program.solve(solver=cp.CLARABEL, **precise)
    if program.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise ArithmeticError(
            f"Clarabel found no solution: it ended with the status {program.status}; use "
            'method="newton", and features of about unit size'
        )
    return float(program.value)


def _cvxpy() -> Any:
    try:
        import clarabel  # noqa: F401
        import cvxpy
    except ImportError as error:
        raise ImportError(
            "method=\"conic\" needs cvxpy and clarabel: pip install 'gameproof[conic]'"
        ) from error
    return cvxpy
