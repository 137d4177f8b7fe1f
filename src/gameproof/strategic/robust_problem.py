"""Robust strategic classification as a saddle problem.

Agent i answers a deployed theta with b_i(theta), and z_i = <b_i(theta), theta> (+ an intercept) is
its score. An adversary moves the empirical distribution of (b_i, y_i) by at most delta in the
Wasserstein distance of cost |x - x'| + kappa |y - y'|; it may move all features, and turn labels +1
into -1. With the loss phi(z) - s y z, phi K-Lipschitz, the worst-case risk is the minimum over
alpha >= (K + s) |theta| of

    alpha (delta - kappa n+/n) + (1/n) sum_{y=+1} [phi(z_i) + |s z_i - alpha kappa|]
                               + (1/n) sum_{y=-1} [phi(z_i) + s z_i]

and |t| = max over gamma in [-1, 1] of gamma t makes it a saddle problem in x = (theta, alpha) and
y = gamma. The derivatives in alpha and gamma, and all those of agents with label +1, cost nothing;
only agents with label -1 are ever asked.

Weights. Where agents have weights w_i of sum 1, the distribution is theirs: n+/n is the weight of
agents with label +1, and all of L_i but the slope of alpha is multiplied by n w_i.

Variants. ``form="printed"`` has delta - kappa in place of delta - kappa n+/n, as the paper prints
it. With no flips (label_cost infinite) the terms are phi(z_i) - s y_i z_i; with flips both ways
|s z_i - y_i alpha kappa| for all agents and delta - kappa, convex only where nobody moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Indices, Vector
from gameproof.kernels import samples, strategic
from gameproof.minmax.blocks import Block, Perturbed
from gameproof.strategic.newton.minimum import certified_gap
from gameproof.strategic.people_queries import PeopleQueries
from gameproof.strategic.population import Population
from gameproof.strategic.robust_objective import RobustObjective


@final
class StrategicProblem(RobustObjective):
    """The robust strategic problem: min over (theta, alpha) in a cone, max over gamma in [-1, 1]^n.

    With delta the radius, kappa the label cost, n+ the number of agents with label +1, and z_i the
    score of what agent i reports, the objective is the mean of

        L_i = alpha (delta - kappa n+/n) + phi(z_i) + gamma_i (s z_i - alpha kappa)   if y_i = +1
        L_i = alpha (delta - kappa n+/n) + phi(z_i) + s z_i                           if y_i = -1

    for the loss phi(z) - s y z, with |theta| <= alpha / (K + s) and alpha <= alpha_max. The maximum
    over gamma, minimised over alpha, is the largest risk of theta that an adversary can cause who
    moves the reported data by delta, at the price |x - x'| + kappa |y - y'|.

    Parameters
    ----------
    population
        The agents and how they answer.
    radius, label_cost
        delta, the size of the adversary's ball, and kappa, half the price of a label; infinite for
        labels that cannot change.
    loss
        By default `Logistic`.
    form
        "exact": the problem above. "printed": with delta - kappa in place of delta - kappa n+/n, as
        the paper prints it, which understates the worst case; it needs a finite label cost.
    flips
        The labels that the adversary can change. "one-way": +1 to -1, as above; the default if the
        label cost is finite. "none": no label, and the terms are phi(z_i) - s y_i z_i + alpha
        delta; the default if it is infinite. "both": either way, with gamma_i (s z_i - y_i alpha
        kappa) for all agents and delta - kappa; only for people who do not move.
    alpha_max
        The cap on alpha, and so on |theta| <= alpha_max / (K + s).
    intercept
        A bound for an intercept, which nobody can move and which costs the adversary nothing; None
        for no intercept. x is then (intercept, theta, alpha).
    positive
        "exact": the gradients of +1 agents are computed; "estimated": from values that cost
        nothing, as in the paper's experiments.
    smooth
        False for the same problem with every gamma maximised out. That leaves a minimisation with
        kinks, |t| in place of gamma t, in which y has no effect.
    feature_cost
        What the adversary pays for a change in each feature, by default 1: the distance is
        |cost (x - x')| + label_cost |y - y'|. Infinite for a feature that is known to be accurate;
        its coefficient is bounded by alpha_max / (K + s) alone.

    Examples
    --------
    >>> people = Population([[1.0], [2.0], [-1.0]], [1, 1, -1])
    >>> problem = StrategicProblem(people, radius=0.1, label_cost=0.5)
    >>> problem.x_set, problem.y_set.dim
    (Cone(dim=2, slope=1, cap=20), 3)
    """

    chooser = "gameproof.strategic.auto.choose"

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out what is derived from the population: a copy derives it anew."""
        return {name: part for name, part in vars(self).items() if name not in ("data", "queries")}

    def at_radius(self, radius: float) -> StrategicProblem:
        """This problem with another radius."""
        return self._with(self.population, radius)

    def with_population(self, population: Population) -> StrategicProblem:
        """This problem with other people."""
        return self._with(population, self.radius)

    def _with(self, population: Population, radius: float) -> StrategicProblem:
        return StrategicProblem(
            population,
            radius,
            self.label_cost,
            self.loss,
            form=self.form,
            flips=self.flips,
            alpha_max=self.alpha_max,
            intercept=self.intercept,
            positive="estimated" if self.estimates_positive else "exact",
            smooth=self.smooth,
            feature_cost=self.feature_cost,
        )

    # --- what solvers ask

    @property
    def known(self) -> frozenset[Block]:  # type: ignore[override]
        return frozenset({"x", "y"}) if self.model is not None else frozenset({"y"})

    @property
    def estimated(self) -> Perturbed:
        """theta and the intercept: the gradients in alpha and gamma are exact."""
        return Perturbed(self.theta_place.stop, False)

    @cached_property
    def queries(self) -> PeopleQueries:
        """Whom a run asks, and what it counts."""
        return PeopleQueries(
            self.population, self.data, self.theta_place, self.estimated, self.estimates_positive
        )

    def evaluate(self, indices: Indices, x: Vector, y: Vector) -> Iterable[float]:
        x, y = self.uncopied(x, y)
        theta, out = x[self.theta_place], np.empty(indices.size)
        if self.compiled_values:
            self.population.note(theta, indices)
            self.call(samples.values_at, indices, x, y, out)
        else:
            scores = self.population.scores(theta, indices)
            if self.intercept is not None:
                scores = scores + x[0]
            self.call(strategic.values_at_scores, indices, scores, x, y, out)
        values: list[float] = out.tolist()
        return values

    def gradient(self, i: int, x: Vector, y: Vector) -> tuple[Vector | None, Vector]:
        self.samples([i])
        gx, gy = np.empty(self.x_set.dim), np.empty(self.n)
        self.call(samples.gradient_at, i, *self.uncopied(x, y), gx, gy)
        unknown = self.model is None and self.population.y[i] < 0
        return None if unknown else gx, gy

    # --- certificates

    @property
    def has_duality_gap(self) -> bool:
        return self.model is not None

    def duality_gap(self, x: ArrayLike, y: ArrayLike) -> float:
        """Certified: never below the true gap, in spite of rounding."""
        self.require_model("duality_gap")
        return certified_gap(self, *self.point(x, y)).gap

    def _traits(self) -> Iterable[Vector]:
        return (self.loss.phi(np.linspace(-10.0, 10.0, 101)), *self.data.claims)
