"""The numbers of a robust problem, apart from its rows, and the set of x.

`robust_problem` states the mathematics. `RobustParameters` needs to know little about people: how
many there are, the share with label +1, the largest feature and how they respond. So it also serves
people whose rows are in files or on a cluster (`row_problem`).
"""

from __future__ import annotations

from functools import cached_property
from math import hypot
from typing import Generic, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Matrix, Vector, as_positive, as_prices, read_only
from gameproof.kernels import strategic
from gameproof.kernels.memory import packed
from gameproof.minmax.problem import as_length
from gameproof.minmax.sets.box import Box
from gameproof.minmax.sets.cone import Cone
from gameproof.minmax.sets.convex_set import ConvexSet
from gameproof.minmax.sets.product import Product
from gameproof.rows.row_blocks import RowBlocks
from gameproof.strategic.losses.logistic_loss import Logistic
from gameproof.strategic.losses.loss import Loss
from gameproof.strategic.people import People
from gameproof.strategic.power_costs import NoResponse
from gameproof.strategic.problem_checks import (
    Flips,
    Form,
    at_least_zero,
    default_flips,
    require_bounded,
    require_choices,
    require_convex,
    require_moderate,
)
from gameproof.strategic.responses import KnownResponse, Sight

_FLIP_CODES = {
    "one-way": strategic.ONE_WAY,
    "none": strategic.NO_FLIP,
    "both": strategic.BOTH_WAYS,
}
AnyPeople = TypeVar("AnyPeople", bound=People)


class RobustParameters(Generic[AnyPeople]):
    """Radius, costs, loss and bounds of a robust problem: x = (intercept, theta, alpha) in a
    cone. A subclass has the `rows` of all agents."""

    rows: RowBlocks

    def __init__(
        self,
        population: AnyPeople,
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
        population.require_both_labels()
        self.population, self.n = population, population.n
        self.loss = Logistic() if loss is None else loss
        if not isinstance(self.loss, Loss):
            raise TypeError(f"loss must be a Loss such as Logistic(), got {loss!r}")
        self.radius = at_least_zero("radius", radius, finite=True)
        self.label_cost = at_least_zero("label_cost", label_cost)
        self.form, self.flips = form, flips or default_flips(self.label_cost)
        require_choices(form, self.flips, positive)
        require_convex(form, self.flips, self.label_cost, self.anybody_moves)
        require_bounded(form, self.radius, self.least_radius)
        self.alpha_max = as_positive("alpha_max", alpha_max)
        self.intercept = None if intercept is None else as_positive("intercept", intercept)
        self.feature_cost = np.ones(population.d)
        if feature_cost is not None:
            accurate = "a feature that is known to be accurate"
            self.feature_cost = as_prices("feature_cost", feature_cost, population.d, accurate)
        self.estimates_positive, self.smooth = positive == "estimated", bool(smooth)
        self._require_moderate()
        self.slope = self._slope()
        self.x_set = self._x_set()

    # --- x and its parts

    def as_x(self, x: ArrayLike) -> Vector:
        """x as a vector of the right length."""
        return as_length("x", x, self.x_set.dim)

    @property
    def interior(self) -> Vector:
        """A point inside the cone, where interior-point methods start."""
        x = np.zeros(self.x_set.dim)
        x[-1] = min(1.0, self.alpha_max / 2)
        return x

    def split(self, x: ArrayLike) -> tuple[Vector, float]:
        """theta and alpha."""
        vector = self.as_x(x)
        return vector[self.theta_place].copy(), float(vector[-1])

    def offset(self, x: ArrayLike) -> float:
        """The intercept; 0 if there is none."""
        return 0.0 if self.intercept is None else float(self.as_x(x)[0])

    def join(self, theta: ArrayLike, alpha: float, intercept: float = 0.0) -> Vector:
        """x from its parts."""
        head = [] if self.intercept is None else [intercept]
        return np.concatenate([head, np.asarray(theta, dtype=np.float64), [alpha]])

    @property
    def theta_place(self) -> slice:
        """The coordinates of x that hold theta."""
        start = 0 if self.intercept is None else 1
        return slice(start, start + self.population.d)

    def dual_length(self, theta: Vector) -> float:
        """|theta / feature_cost|: what the adversary adds to a score by a unit of distance."""
        return float(hypot(*(theta / self.feature_cost)))

    def least_alpha(self, theta: Vector) -> float:
        """The smallest alpha in the cone for this theta."""
        return float((self.loss.K + self.loss.s) * self.dual_length(theta))

    # --- the response

    @property
    def model(self) -> KnownResponse | None:
        """The response, if it is in closed form."""
        response = self.population.response
        return response if isinstance(response, KnownResponse) else None

    @property
    def anybody_moves(self) -> bool:
        """Whether an agent may report other features than its own."""
        return self.model is None or self.model.moves(self.population.d)

    def require_model(self, what: str) -> None:
        """Raises unless the response is in closed form; `what` names the caller."""
        if self.model is not None:
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

    # --- the form that compiled code takes

    @cached_property
    def data(self) -> strategic.Strategic:
        """The numbers of the problem, without agents."""
        return self.encoded(np.zeros((0, self.population.d)), np.zeros(0), np.zeros(0))

    def encoded(self, X: Matrix, y: Vector, weights: Vector) -> strategic.Strategic:
        """The problem with these rows as compiled code takes it."""
        code, width = self.loss.code
        response = (self.model or NoResponse()).encoded(self.population.d)
        return strategic.Strategic(
            features=read_only(X),
            labels=packed(y > 0),
            zeta=read_only(response.strength),
            reach=read_only(response.reach),
            start=self.theta_place.start,
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
            flips=_FLIP_CODES[self.flips],
            smooth=self.smooth,
            weights=read_only(weights),
        )

    # --- alpha

    @property
    def least_radius(self) -> float:
        """The smallest radius at which the problem is bounded below."""
        if self.form == "exact":
            return 0.0
        return self.label_cost * (1 - self.population.positive_share)

    @property
    def free_share(self) -> float:
        """The share, by weight, of agents whose label the adversary can change."""
        if self.flips == "both":
            return 1.0
        return self.population.positive_share if self.flips == "one-way" else 0.0

    def _slope(self) -> float:
        """The coefficient of alpha that all samples share."""
        if self.flips == "none":
            return self.radius
        share = self.population.positive_share
        whole = self.form == "printed" or self.flips == "both"
        return self.radius - self.label_cost * (1.0 if whole else share)

    def _x_set(self) -> ConvexSet:
        scale = None if (self.feature_cost == 1).all() else self.feature_cost
        steepness = self.loss.K + self.loss.s
        cone = Cone(self.population.d + 1, steepness, self.alpha_max, scale)
        if self.intercept is None:
            return cone
        return Product(Box([-self.intercept], [self.intercept]), cone)

    def _require_moderate(self) -> None:
        numbers = {
            "radius": self.radius,
            "label_cost": 0.0 if self.flips == "none" else self.label_cost,
            "alpha_max": self.alpha_max,
            "intercept": self.intercept or 0.0,
        }
        require_moderate(self.population, self.model, self.feature_cost, numbers)
