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
from math import hypot
from typing import Any, Literal, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import (
    Indices,
    Vector,
    as_number,
    as_positive,
    as_prices,
    read_only,
    shown,
)
from gameproof.kernels import samples, strategic
from gameproof.kernels.jit import for_data
from gameproof.kernels.memory import packed
from gameproof.minmax.blocks import Block, Perturbed
from gameproof.minmax.problem import Problem
from gameproof.minmax.sets.box import Box
from gameproof.minmax.sets.cone import Cone
from gameproof.minmax.sets.convex_set import ConvexSet
from gameproof.minmax.sets.product import Product
from gameproof.strategic.asking import AskingPeople
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.losses.loss import Loss
from gameproof.strategic.newton.minimum import minimum
from gameproof.strategic.population import Population
from gameproof.strategic.power_costs import NoResponse
from gameproof.strategic.responses import KnownResponse, Sight

Form = Literal["exact", "printed"]
Flips = Literal["one-way", "none", "both"]
# Scores below this are those of a classifier that ignores the data.
NOTHING = 1e-6
# Numbers above this overflow when squared and summed.
LARGEST = 1e100
_FLIPS = {
    "one-way": strategic.ONE_WAY,
    "none": strategic.NO_FLIP,
    "both": strategic.BOTH_WAYS,
}


@final
class StrategicProblem(Problem):
    """min over (theta, alpha) in a cone, max over gamma in [-1, 1]^n; see the module.

    Parameters
    ----------
    population
        The agents and how they answer.
    radius, label_cost
        delta, the size of the adversary's ball, and kappa, half the price of a label; infinite for
        labels that cannot change.
    loss
        By default `Logistic`.
    form, flips
        "exact" or "printed"; "one-way", "none" or "both".
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

    private_y = True
    chooser = "gameproof.strategic.auto.choose"

    def __init__(
        self,
        population: Population,
        radius: float,
        label_cost: float = float("inf"),
        loss: Loss | None = None,
        *,
        form: Form = "exact",
        flips: Flips | None = None,
        alpha_max: float = 20.0,
        intercept: float | None = None,
        positive: Literal["exact", "estimated"] = "exact",
        smooth: bool = True,
        feature_cost: ArrayLike | None = None,
    ) -> None:
        if not isinstance(population, Population):
            raise TypeError(f"population must be a Population, got {shown(population)}")
        population.require_both_labels()
        self.population, self.n = population, population.n
        self.loss = Logistic() if loss is None else loss
        if not isinstance(self.loss, Loss):
            raise TypeError(f"loss must be a Loss such as Logistic(), got {loss!r}")
        self.radius = _at_least_zero("radius", radius, finite=True)
        self.label_cost = _at_least_zero("label_cost", label_cost)
        self.form, self.flips = form, flips or _default_flips(self.label_cost)
        self._check_choices(form, self.flips, positive)
        self.alpha_max = as_positive("alpha_max", alpha_max)
        self.intercept = None if intercept is None else as_positive("intercept", intercept)
        self.feature_cost = np.ones(population.d)
        if feature_cost is not None:
            accurate = "a feature that is known to be accurate"
            self.feature_cost = as_prices("feature_cost", feature_cost, population.d, accurate)
        self._require_moderate()
        self._estimates_positive, self.smooth = positive == "estimated", bool(smooth)
        self.slope = self._slope()
        self.name = f"strategic problem with {self.n} agents and {population.d} features"
        scale = None if (self.feature_cost == 1).all() else self.feature_cost
        cone = Cone(population.d + 1, self.loss.K + self.loss.s, self.alpha_max, scale)
        self.x_set: ConvexSet = cone
        if self.intercept is not None:
            self.x_set = Product(Box([-self.intercept], [self.intercept]), cone)
        self.y_set = Box(np.full(self.n, -1.0), np.full(self.n, 1.0))
        # Compiled code would compute answers without the journal.
        self.compiled_values = self._model is not None and population.journal is None
        _ = self.data  # refuses a loss that has no compiled form

    def __getstate__(self) -> dict[str, Any]:
        """Without what is had from the population: a copy, here or in another process, has that
        from its own."""
        return {name: part for name, part in vars(self).items() if name not in ("data", "queries")}

    # --- what it is made of

    @property
    def start(self) -> tuple[Vector, Vector]:
        """theta = 0, alpha = 1, gamma = 0."""
        x = np.zeros(self.x_set.dim)
        x[-1] = min(1.0, self.alpha_max)
        return x, np.zeros(self.n)

    def split(self, x: ArrayLike) -> tuple[Vector, float]:
        """theta and alpha."""
        vector = self.as_x(x)
        return vector[self._theta].copy(), float(vector[-1])

    def offset(self, x: ArrayLike) -> float:
        """The intercept, 0 where there is none."""
        return 0.0 if self.intercept is None else float(self.as_x(x)[0])

    def ignores_data(self, x: ArrayLike) -> bool:
        """Whether theta is 0 for all that features of this size can tell."""
        return float(np.abs(self.population.X @ self.split(x)[0]).max()) < NOTHING

    def at_radius(self, radius: float) -> StrategicProblem:
        """The same problem with another radius."""
        return self._with(self.population, radius)

    def with_population(self, population: Population) -> StrategicProblem:
        """The same problem with other people."""
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
            positive="estimated" if self._estimates_positive else "exact",
            smooth=self.smooth,
            feature_cost=self.feature_cost,
        )

    def dual_length(self, theta: Vector) -> float:
        """|theta / feature_cost|: what the adversary adds to a score by a unit of distance."""
        return float(hypot(*(theta / self.feature_cost)))

    def join(self, theta: ArrayLike, alpha: float, intercept: float = 0.0) -> Vector:
        """x from its parts."""
        head = [] if self.intercept is None else [intercept]
        return np.concatenate([head, np.asarray(theta, dtype=np.float64), [alpha]])

    @property
    def least_radius(self) -> float:
        """The smallest radius at which the problem is bounded below."""
        if self.form == "exact":
            return 0.0
        return self.label_cost * (1 - self.population.positive_share)

    @property
    def _theta(self) -> slice:
        start = 0 if self.intercept is None else 1
        return slice(start, start + self.population.d)

    @property
    def _model(self) -> KnownResponse | None:
        response = self.population.response
        return response if isinstance(response, KnownResponse) else None

    @property
    def known(self) -> frozenset[Block]:  # type: ignore[override]
        return frozenset({"x", "y"}) if self._model is not None else frozenset({"y"})

    @property
    def estimated(self) -> Perturbed:
        """theta and the intercept: the rest is exact."""
        return Perturbed(0, self._theta.stop, False)

    @cached_property
    def queries(self) -> AskingPeople:
        """Whom a run asks, and what it counts."""
        return AskingPeople(
            self.population, self.data, self._theta, self.estimated, self._estimates_positive
        )

    # --- values

    def evaluate(self, indices: Indices, x: Vector, y: Vector) -> Iterable[float]:
        x, y = self.uncopied(x, y)
        theta, out = x[self._theta], np.empty(indices.size)
        if self.compiled_values:
            self.population.note(theta, indices)
            self._call(samples.values_at, indices, x, y, out)
        else:
            scores = self.population.scores(theta, indices)
            if self.intercept is not None:
                scores = scores + x[0]
            self._call(strategic.values_at_scores, indices, scores, x, y, out)
        values: list[float] = out.tolist()
        return values

    def value(self, x: ArrayLike, y: ArrayLike) -> float:
        if self._model is None:
            raise TypeError(
                f"the mean loss of {self.name} needs an answer of every agent, and nobody may be "
                "asked for it here; estimate_risk asks for fresh answers"
            )
        return float(self._call(samples.mean_value, self.n, *self.point(x, y)))

    def gradient(self, i: int, x: Vector, y: Vector) -> tuple[Vector | None, Vector]:
        self.samples([i])
        gx, gy = np.empty(self.x_set.dim), np.empty(self.n)
        self._call(samples.gradient_at, i, *self.uncopied(x, y), gx, gy)
        unknown = self._model is None and self.population.y[i] < 0
        return None if unknown else gx, gy

    # --- the adversary's side, where the response is known

    @property
    def has_gamma(self) -> NDArray[np.bool_]:
        """The agents whose label the adversary can change, and who so have a gamma of their own."""
        if self.flips == "both":
            return np.ones(self.n, dtype=bool)
        return (self.population.y > 0) & (self.flips == "one-way")

    @property
    def interior(self) -> Vector:
        """A point inside the cone, where barrier methods start."""
        x = self.start[0]
        x[-1] = min(1.0, self.alpha_max / 2)
        return x

    def require_model(self, what: str) -> None:
        """Raises unless the response is in closed form; `what` names the caller."""
        if self._model is not None:
            return
        sight = self.population.sight
        if sight < Sight.RESPONSE:
            raise TypeError(
                f"{what} needs the response function, and this population shows "
                f"{sight.name.lower()} only; learn_response fits one to answers"
            )
        raise TypeError(
            f"{what} needs a response in closed form, such as PowerCost or BoxBudget, and "
            f"{type(self.population.response).__name__} only gives answers; learn_response fits "
            "one to answers"
        )

    def best_gamma(self, x: ArrayLike) -> Vector:
        """The gamma that maximises L(x, .)."""
        self.require_model("best_gamma")
        point, _ = self.point(x, np.zeros(self.n))
        scores = np.empty(self.n)
        self._call(strategic.scores_at, point, scores)
        pull = self.data.s * scores - self.population.y * self.data.kappa * point[-1]
        return np.where(self.has_gamma, np.sign(pull), 0.0)

    def robust_value(self, x: ArrayLike) -> float:
        """max over gamma of L(x, gamma): an upper bound of the worst-case risk of theta, and equal
        to it for the best alpha."""
        return self.value(x, self.best_gamma(x))

    @property
    def has_duality_gap(self) -> bool:
        return self._model is not None

    def duality_gap(self, x: ArrayLike, y: ArrayLike) -> float:
        """Certified: the minimum over x' is bounded from below, to about 1e-10."""
        point, gamma = self.point(x, y)
        lower = minimum(self, gamma).lower
        return self.robust_value(point) - lower + self.rounding(point)

    def rounding(self, x: ArrayLike) -> float:
        """What rounding may hide in a value: terms of the size of kappa alpha cancel in it."""
        return 4 * float(np.finfo(np.float64).eps) * float(self.data.kappa) * self.split(x)[1]

    # --- checks and encodings

    def _traits(self) -> Iterable[Vector]:
        return (self.loss.phi(np.linspace(-10.0, 10.0, 101)), *self.data.claims)

    def _call(self, kernel: Any, *arguments: Any) -> Any:
        own = samples.has_user_functions(self.data)
        return for_data(kernel, own)(self.data, *arguments)

    def _check_choices(self, form: str, flips: str, positive: str) -> None:
        for name, given, known in (
            ("form", form, ("exact", "printed")),
            ("flips", flips, tuple(_FLIPS)),
            ("positive", positive, ("exact", "estimated")),
        ):
            if given not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {given!r}")
        if form == "printed" and np.isinf(self.label_cost):
            raise ValueError('form="printed" needs a finite label_cost, got inf')
        if flips != "none" and np.isinf(self.label_cost):
            raise ValueError(f"flips={flips!r} needs a finite label_cost, got {self.label_cost}")
        if flips == "both" and self.anybody_moves:
            raise ValueError(
                "labels that flip both ways give a convex problem only where nobody moves; use "
                'flips="one-way", or a population without a response'
            )
        if form == "printed" and flips != "one-way":
            raise ValueError('form="printed" is the paper\'s one-way problem; leave out flips')
        least = self.least_radius
        if form == "printed" and self.radius < least * (1 - 1e-12):
            raise ValueError(
                f"the printed form is unbounded below at radius {self.radius}: it is the exact "
                f"form with radius {self.radius - least:.6g}; the smallest radius that works is "
                f'{least:.6g}, or use form="exact"'
            )

    def _require_moderate(self) -> None:
        """Refuses numbers that would overflow where they are multiplied with others."""
        cost = self.feature_cost
        for name, value in (
            ("X", self.population.largest),
            ("radius", self.radius),
            ("label_cost", 0.0 if self.flips == "none" else self.label_cost),
            ("alpha_max", self.alpha_max),
            ("intercept", self.intercept or 0.0),
            ("feature_cost", float(np.where(np.isinf(cost), 0.0, cost).max())),
            ("1 / feature_cost", 1 / float(cost.min())),
            ("power", 0.0) if self._model is None else self._model.largest,
        ):
            if value > LARGEST:
                raise ValueError(
                    f"{name} must be at most {LARGEST:g}, got {value:g}: products of larger "
                    "numbers overflow"
                )

    @property
    def anybody_moves(self) -> bool:
        """Whether somebody may answer with other features than their own."""
        return self._model is None or self._model.moves(self.population.d)

    def _slope(self) -> float:
        """The coefficient of alpha that all samples share."""
        if self.flips == "none":
            return self.radius
        share = self.population.positive_share
        whole = self.form == "printed" or self.flips == "both"
        return self.radius - self.label_cost * (1.0 if whole else share)

    @cached_property
    def data(self) -> strategic.Strategic:
        """What compiled code takes. To the compiler an array that can only be read is of a type of
        its own, and it would start anew for people in a file or from another process: so all are,
        but for the labels, which are made here."""
        code, width = self.loss.code
        people = self.population
        response = (self._model or NoResponse()).encoded(people.d)
        return strategic.Strategic(
            features=read_only(people.X),
            labels=packed(people.y > 0),
            zeta=read_only(response.strength),
            movable=read_only(response.reach),
            start=self._theta.start,
            slope=self.slope,
            kappa=0.0 if self.flips == "none" else self.label_cost,
            s=self.loss.s,
            loss=code,
            width=width,
            dual_norm=response.dual_norm,
            degree=response.degree,
            lower=response.lower,
            upper=response.upper,
            claims=response.claims,
            flips=_FLIPS[self.flips],
            smooth=self.smooth,
            weights=read_only(people.weights if people.weighted else np.zeros(0)),
        )


def _at_least_zero(name: str, value: float, finite: bool = False) -> float:
    number = as_number(name, value)
    if not number >= 0 or (finite and np.isinf(number)):
        wanted = "finite and at least 0" if finite else "at least 0"
        raise ValueError(f"{name} must be {wanted}, got {value}")
    return number


def _default_flips(label_cost: float) -> Flips:
    return "none" if np.isinf(label_cost) else "one-way"
