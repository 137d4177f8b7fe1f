"""Steps by a formula, for an estimate that the user chose or where some gradients are known.

With D a block's half diameter, G the root mean square of its gradient's estimate and T the steps so
far, the step D / (G sqrt(T)) makes the gap of the average at most about D G / sqrt(T), whatever the
scale of values and coordinates. The pilot measures G at the start and at random points. If a value
is not compared with another one of the same sample, the radius falls as T^(-1/4), G grows with its
inverse, and steps fall as T^(-3/4).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from gameproof.core.arguments import Indices, Vector
from gameproof.minmax.auto_options import AutoOptions
from gameproof.minmax.averages import Suffix
from gameproof.minmax.blocks import NOTHING, Perturbed
from gameproof.minmax.estimates.exact import Exact
from gameproof.minmax.estimates.gradient import Gradient
from gameproof.minmax.estimates.one_point import OnePoint
from gameproof.minmax.estimates.residual import Residual
from gameproof.minmax.estimates.two_point import TwoPoint
from gameproof.minmax.plan import perturbed_by, steps_per_epoch
from gameproof.minmax.problem import Problem
from gameproof.minmax.schedules import Power
from gameproof.minmax.solver import Solver
from gameproof.minmax.updates.sgda import SGDA

# Query radii in units of the smallest half diameter, with two points and with one.
SMALL, LARGE = 0.02, 0.3
MINIMUM = 20
# Values of the pilot by default.
PILOT = 300


def choose(problem: Problem, options: AutoOptions) -> Solver:
    """A solver with steps D / (G sqrt(T)); by default with two-point estimates."""
    gradient = TwoPoint() if options.estimate is None else options.estimate
    pilot = PILOT if options.pilot is None else options.pilot
    batch = 1 if options.batch is None else options.batch
    perturbed = perturbed_by(gradient, problem)
    widths = [max(s.diameter / 2, 1e-300) for s in (problem.x_set, problem.y_set)]
    asked = [w for w, p in zip(widths, (perturbed.x, perturbed.y), strict=True) if p]
    grows = isinstance(gradient, OnePoint | Residual)
    radius = (LARGE if grows else SMALL) * min(asked, default=1.0)
    study = _Pilot(problem, gradient, perturbed, radius, np.random.default_rng([options.seed, 2]))
    sizes = study.sizes(pilot // study.values_each)
    steps = steps_per_epoch(problem.n, min(batch, problem.n))
    exact = isinstance(gradient, Exact)
    known, size = ("gradients", "gradient") if exact else ("values", "estimate of the gradient")
    why = (
        f"Nothing is known about {problem.name} but its sets and {known}, so steps are the half "
        f"diameters of the sets ({widths[0]:.3g} and {widths[1]:.3g}) divided by the size of the "
        f"{size} ({sizes[0]:.3g} and {sizes[1]:.3g}), and decrease with "
        f"{'the 3/4 power' if grows else 'the square root'} of time."
    )
    if {"x", "y"} <= problem.known and not exact:
        why += " The problem gives its gradients: estimate=Exact() would ask nothing."
    return Solver(
        update=SGDA(),
        gradient=gradient,
        step=Power(1 / sqrt(steps), 0.75 if grows else 0.5),
        radius=Power(radius, 0.25 if grows else 0.0),
        scale=(widths[0] / sizes[0], widths[1] / sizes[1]),
        batch=batch,
        average=Suffix(),
        why=why,
        fallback=problem.start if gradient.uses_values else None,
    )


class _Pilot:
    """Estimates of one sample's gradient, at the start and at random points of the sets."""

    def __init__(
        self,
        problem: Problem,
        gradient: Gradient,
        perturbed: Perturbed,
        radius: float,
        rng: np.random.Generator,
    ) -> None:
        self._problem, self._gradient, self._perturbed = problem, gradient, perturbed
        self._radius, self._rng = radius, rng

    @property
    def values_each(self) -> int:
        """How many values an estimate asks; 1 if it asks none."""
        return 1 if self._subtracts_nothing or not self._gradient.uses_values else 2

    @property
    def _subtracts_nothing(self) -> bool:
        return isinstance(self._gradient, OnePoint) and not self._gradient.baseline

    def sizes(self, number: int) -> tuple[float, float]:
        """Root mean squares of the x and the y block, never 0."""
        if self._perturbed != NOTHING and number < MINIMUM:
            raise ValueError(
                f"pilot must allow at least {MINIMUM} estimates of a gradient, got {number}; give "
                "the parts of a Solver yourself where so few values can be asked"
            )
        found = np.array([self._squares(k % 2 == 1) for k in range(max(number, MINIMUM))])
        # The larger of the two places, since a run may meet either.
        x, y = np.sqrt(np.maximum(found[::2].mean(axis=0), found[1::2].mean(axis=0)))
        if not np.isfinite(x + y):
            raise ValueError(
                f"{self._problem.name} gave values in the pilot that are not finite, or so large "
                "that the square of a gradient is not; bring them to about unit size"
            )
        return max(float(x), 1e-12), max(float(y), 1e-12)

    def _squares(self, anywhere: bool) -> tuple[float, float]:
        problem, rng, d_x = self._problem, self._rng, self._problem.x_set.dim
        x, y = problem.start
        if anywhere:
            x, y = problem.x_set.sample(rng), problem.y_set.sample(rng)
        i = rng.integers(problem.n, size=1)
        chosen = np.zeros(d_x + problem.y_set.dim, dtype=bool)
        chosen[: self._perturbed.x] = True
        chosen[d_x:] = self._perturbed.y
        estimate = np.zeros(chosen.size)
        if chosen.any():
            v = rng.standard_normal(int(chosen.sum()))
            v /= np.linalg.norm(v)
            moved = np.concatenate([x, y])
            moved[chosen] += self._radius * v
            value = self._value(i, moved[:d_x], moved[d_x:]) - self._reference(i, x, y)
            estimate[chosen] = v.size / self._radius * value * v
        if not chosen.all():
            for part, block in zip(
                problem.gradient(int(i[0]), x, y), (slice(d_x), slice(d_x, None)), strict=True
            ):
                if part is not None:
                    estimate[block] = np.where(chosen[block], estimate[block], part)
        with np.errstate(over="ignore"):
            gx, gy = estimate[:d_x], estimate[d_x:]
            return float(gx @ gx), float(gy @ gy)

    def _reference(self, i: Indices, x: Vector, y: Vector) -> float:
        """What the estimate subtracts. A running mean and an earlier value have no past here:
        another sample's value takes their place."""
        if self._subtracts_nothing:
            return 0.0
        if isinstance(self._gradient, OnePoint | Residual):
            i = self._rng.integers(self._problem.n, size=1)
        return self._value(i, x, y)

    def _value(self, i: Indices, x: Vector, y: Vector) -> float:
        return float(self._problem.values(i, x, y)[0])
