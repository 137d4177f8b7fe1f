"""Baselines for robust classifiers: strategic and plain logistic regression.

Strategic logistic regression minimises the mean of log(1 + exp(-y <b(theta), theta>)), which is
convex if the response is a known best response: it is the strategic problem with radius 0 and fixed
labels. Plain logistic regression is the same with people who never move. To fit strategic
regression to people who can only be asked, solve `strategic_problem(people)` with an estimate from
values.
"""

from __future__ import annotations

import numpy as np

from gameproof.core.arguments import Vector
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.losses.loss import Loss
from gameproof.strategic.newton.minimum import minimum
from gameproof.strategic.population import Population
from gameproof.strategic.robust_problem import StrategicProblem
from gameproof.strategic.saddle_point import warn_of_cap


def strategic_problem(
    population: Population,
    loss: Loss | None = None,
    *,
    bound: float = 20.0,
    intercept: float | None = None,
) -> StrategicProblem:
    """The mean loss at the reported features, without an adversary.

    Parameters
    ----------
    population : Population
        The agents and how they answer.
    loss : Loss, optional
        The loss; logistic by default.
    bound : float, default=20.0
        The bound on |theta|.
    intercept : float, optional
        The bound on the intercept. By default there is no intercept.

    Returns
    -------
    StrategicProblem
        The problem with radius 0 and fixed labels.

    Raises
    ------
    ValueError
        If a bound is not positive, or the population has one label only.

    Examples
    --------
    >>> people = Population([[1.0], [2.0], [-1.0], [0.5]], [1, 1, -1, -1])
    >>> strategic_problem(people).radius
    0.0
    """
    chosen = Logistic() if loss is None else loss
    cap = bound * (chosen.K + chosen.s)
    return StrategicProblem(population, 0.0, loss=chosen, intercept=intercept, alpha_max=cap)


def strategic_regression(
    population: Population,
    loss: Loss | None = None,
    *,
    bound: float = 20.0,
    intercept: float | None = None,
) -> tuple[Vector, float]:
    """The theta and intercept that minimise the mean loss at the reported features.

    Parameters
    ----------
    population : Population
        The agents, with a response in closed form.
    loss : Loss, optional
        The loss; logistic by default.
    bound : float, default=20.0
        The bound on |theta|. A warning is issued if it binds.
    intercept : float, optional
        The bound on the intercept. By default there is no intercept.

    Returns
    -------
    theta : ndarray of shape (d,)
        The coefficients.
    intercept : float
        The intercept; 0 if there is none.

    Raises
    ------
    TypeError
        If the response is not in closed form.
    ValueError
        If a bound is not positive, or the population has one label only.

    Examples
    --------
    >>> people = Population([[1.0], [2.0], [-1.0], [0.5]], [1, 1, -1, -1])
    >>> theta, _ = strategic_regression(people)
    >>> bool(theta[0] > 0)
    True
    """
    problem = strategic_problem(population, loss, bound=bound, intercept=intercept)
    problem.require_model("strategic_regression")
    x = minimum(problem).v
    theta, _ = problem.split(x)
    warn_of_cap(float(np.linalg.norm(theta)), bound, "bound")
    return theta, problem.offset(x)


def plain_regression(
    population: Population,
    loss: Loss | None = None,
    *,
    bound: float = 20.0,
    intercept: float | None = None,
) -> tuple[Vector, float]:
    """The theta and intercept that minimise the mean loss at the agents' own features.

    It is `strategic_regression` as if nobody moved, so it takes any population.

    Parameters
    ----------
    population : Population
        The agents; nobody is asked.
    loss, bound, intercept : optional
        As in `strategic_regression`.

    Returns
    -------
    theta : ndarray of shape (d,)
        The coefficients.
    intercept : float
        The intercept; 0 if there is none.

    Raises
    ------
    ValueError
        If a bound is not positive, or the population has one label only.

    Examples
    --------
    >>> people = Population([[1.0], [2.0], [-1.0], [0.5]], [1, 1, -1, -1])
    >>> theta, offset = plain_regression(people, intercept=5.0)
    >>> bool(theta[0] > 0 > offset)
    True
    """
    still = Population(population.X, population.y, weights=population.weights)
    return strategic_regression(still, loss, bound=bound, intercept=intercept)
