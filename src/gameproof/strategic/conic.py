"""The saddle point from a conic solver, as an independent check of Newton's method.

With e_i in place of |t_i|, t_i = s z_i - y_i kappa alpha, and r in place of |reach theta|_{p*}^q,
the convex objective of a strategic problem is

    min  slope alpha + (1/n) sum_i [phi(z_i) + l_i z_i] + (1/n) sum over i with a gamma of e_i
    z_i = <x_i, theta> + intercept + zeta_i r,   r >= |reach theta|_{p*}^q
    e_i >= t_i,   e_i >= -t_i,   (K + s) |theta / cost| <= alpha <= cap,   |intercept| <= bound

No term decreases in r, so the smallest r is optimal. gamma_i is n times the difference of the
multipliers of the two constraints on e_i. Weights multiply the terms, and divide gamma_i.

For a box, z_i has <upper_i, p> - <lower_i, m> in place of zeta_i r, with p >= theta, m >= -theta
and p, m >= 0. For each category it also has a variable that is at least what each level adds that
the agent can have, minus what the agent's own level adds.

cvxpy writes logistic losses as exponential cones and everything else as second-order cones, and
Clarabel solves the program.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.strategic.budgets import BoxBudget
from gameproof.strategic.losses.huber_hinge import HuberHinge
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.losses.pseudo_huber_hinge import PseudoHuberHinge
from gameproof.strategic.robust_problem import StrategicProblem

# The tolerance given to Clarabel. If it cannot reach it, it returns its best point.
PRECISION = 1e-11


class ConicSolution(NamedTuple):
    """The minimum according to the solver, a point x of the set, and gamma."""

    value: float
    x: Vector
    gamma: Vector


def conic_minimum(problem: StrategicProblem, gamma: Vector | None = None) -> ConicSolution:
    """The minimum over x of L(x, gamma); without a gamma, of the maximum of L(x, .).

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
    limits = [*_cone(cp, problem, theta, alpha), alpha <= problem.alpha_max]
    z = people.X @ theta
    if intercept is not None:
        z, limits = z + intercept, [*limits, cp.abs(intercept) <= problem.intercept]
    if problem.anybody_moves:
        rises, more = score_rises(cp, problem, theta)
        z, limits = z + cp.multiply(people.y < 0, rises), [*limits, *more]

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


def _cone(cp: Any, problem: StrategicProblem, theta: Any, alpha: Any) -> list[Any]:
    """The constraints of the cone, and the bounds of features with infinite cost."""
    steepness, cost = problem.loss.K + problem.loss.s, problem.feature_cost
    paid, free = np.flatnonzero(np.isfinite(cost)), np.flatnonzero(np.isinf(cost))
    limits = [alpha >= 0]
    if paid.size:
        limits.append(steepness * cp.norm(cp.multiply(1 / cost[paid], theta[paid])) <= alpha)
    if free.size:
        limits.append(steepness * cp.abs(theta[free]) <= problem.alpha_max)
    return limits


def score_rises(cp: Any, problem: StrategicProblem, theta: Any) -> tuple[Any, list[Any]]:
    """What moving adds to each agent's score, as an expression, and the constraints of its
    variables."""
    n, response = problem.n, problem.population.response
    if isinstance(response, BoxBudget):
        return _in_box(cp, response, theta, n)
    data, r = problem.data, cp.Variable()
    own = np.flatnonzero(data.reach)
    length = cp.pnorm(cp.multiply(data.reach[own], theta[own]), data.dual_norm)
    strength = np.broadcast_to(data.zeta, (n,))
    return strength * r, [r >= (length if data.degree == 1 else cp.power(length, data.degree))]


def _in_box(cp: Any, response: BoxBudget, theta: Any, n: int) -> tuple[Any, list[Any]]:
    bounds = response.encoded(theta.size)
    lower, upper = (
        np.broadcast_to(bound, (n, theta.size)) for bound in (bounds.lower, bounds.upper)
    )
    up, down = cp.Variable(theta.size), cp.Variable(theta.size)
    rises, limits = upper @ up - lower @ down, [up >= theta, up >= 0, down >= -theta, down >= 0]
    for claim in response.claims:
        # What each level adds, and the most that an agent at each level can claim.
        zero = cp.Constant(0.0)
        pairs = zip(claim.columns.tolist(), claim.steps.tolist(), strict=True)
        values = [step * theta[c] if c >= 0 else zero for c, step in pairs]
        levels = np.unique(claim.current)
        best = cp.Variable(levels.size)
        for k, level in enumerate(levels.tolist()):
            able = {level, *np.flatnonzero(claim.allowed).tolist()}
            limits += [best[k] >= values[other] for other in able]
        chosen = (claim.current[:, None] == levels).astype(np.float64)
        rises = rises + chosen @ (best - cp.hstack([values[level] for level in levels]))
    return rises, limits


def _solved(cp: Any, total: Any, limits: list[Any]) -> float:
    """Minimises `total` and returns the minimum; the variables hold the minimiser."""
    program = cp.Problem(cp.Minimize(total), limits)
    precise = {f"tol_{name}": PRECISION for name in ("gap_abs", "gap_rel", "feas")}
    with warnings.catch_warnings():
        # The certificate measures the accuracy.
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        warnings.filterwarnings("ignore", "pnorm with p=")
        with suppress(cp.SolverError):
            program.solve(solver=cp.CLARABEL, **precise)
    if program.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise ArithmeticError(
            f"Clarabel found no solution ({program.status or 'it gave up'}); use "
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
