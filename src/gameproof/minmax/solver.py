"""`Solver`: the parts of a method, put together; and the paper's four."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any, Literal, final

import numpy as np

from gameproof import kernels
from gameproof.core.arguments import Vector, as_count, as_positive
from gameproof.minmax.averages import Average, StepWeighted
from gameproof.minmax.estimates import Envelope, Gradient, OnePoint
from gameproof.minmax.orders import Order, Reshuffle, WithReplacement
from gameproof.minmax.problem import Problem, require_problem
from gameproof.minmax.schedules import Constant, Power, Schedule, as_schedule, by_epoch
from gameproof.minmax.sets import is_box
from gameproof.minmax.updates import OGDA, SGDA, Update

Scale = Literal["auto"] | None | tuple[float, float]


@final
@dataclass(frozen=True)
class Solver:
    """A method for finite-sum saddle problems; every part can be replaced.

    step and radius are schedules by epoch, or numbers. scale multiplies the steps of the x and the
    y block: "auto" is the problem's own choice, None one step for all (the paper to the letter).
    batch samples are asked at each deployed point. start is where runs begin, by default where the
    problem says. `Solver.auto(problem)` chooses all of it, and `why` says how.

    >>> Solver(step=0.1).name
    'OGDA-RR'
    """

    update: Update = field(default_factory=OGDA)
    gradient: Gradient = field(default_factory=OnePoint)
    order: Order = field(default_factory=Reshuffle)
    step: Schedule | float = field(default_factory=lambda: Power(0.003, 0.76))
    radius: Schedule | float = field(default_factory=lambda: Power(4.0, 0.25))
    scale: Scale = "auto"
    batch: int = 1
    average: Average = field(default_factory=StepWeighted)
    # Not part of the method: a saved run has begun already, and reasons change nothing.
    start: tuple[Vector, Vector] | None = field(default=None, compare=False, repr=False)
    why: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            if not isinstance(getattr(self, name), kind):
                raise TypeError(
                    f"{name} must be of the kind {kind.__name__}, such as {_SUCH_AS[name]}, "
                    f"got {getattr(self, name)!r}"
                )
        self.by_epoch(0, 1)
        object.__setattr__(self, "batch", as_count("batch", self.batch))
        if not (self.scale is None or _is_auto(self.scale)):
            _checked_scale(self.scale)

    @classmethod
    def auto(
        cls,
        problem: Problem,
        *,
        estimate: Gradient | None = None,
        queries: int | None = None,
        pilot: int = 300,
        batch: int = 1,
        start: bool = True,
        seed: int = 0,
    ) -> Solver:
        """A solver that needs no tuning: its parts from the problem and from a few pilot queries.

        estimate
            The kind of gradient, such as TwoPoint(); by default the best for what can be seen. A
            kind that needs values only makes the pilot look at no more than scores.
        queries
            How many values the run is going to ask of people, where that is known; else a choice
            that is good from a hundred on.
        pilot
            How many answers the choice may ask; none where the response is known. They are counted
            by the population, beside those of the run: `population.n_answers` is both.
        batch
            Answers at each deployed point.
        start
            False to begin where the problem says, and not at what the pilot has learned.
        seed
            The same seed gives the same solver.

        >>> import gameproof as gp
        >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
        >>> asked = gp.Population(X, y, gp.BlackBox(lambda theta, i: X[i] + 0.1 * theta))
        >>> problem = gp.StrategicProblem(asked, radius=0.1, label_cost=0.5)
        >>> solver = gp.Solver.auto(problem)
        >>> solver.gradient, solver.start is not None, asked.n_answers <= 300
        (Envelope(degree=2.0), True, True)
        """
        require_problem(problem)
        if estimate is not None:
            if not isinstance(estimate, Gradient):
                raise TypeError(
                    f"estimate must be a Gradient, such as TwoPoint(), got {estimate!r}"
                )
            if not isinstance(estimate, Envelope):
                estimate.perturbed(problem)
        as_count("pilot", pilot, least=0)
        as_count("batch", batch)
        as_count("seed", seed, least=0)
        if queries is not None:
            as_count("queries", queries)
        chooser = import_module(problem.chooser)
        chosen: Solver = chooser.choose(problem, estimate, queries, pilot, batch, start, seed)
        return chosen

    @property
    def name(self) -> str:
        """Such as OGDA-RR."""
        suffix = {Reshuffle: "RR", WithReplacement: "WR"}.get(type(self.order), "SO")
        return f"{self.update.name}-{suffix}"

    @property
    def signature(self) -> str:
        """What identifies the method in a saved run."""
        parts = {part.name: getattr(self, part.name) for part in fields(self) if part.compare}
        return ", ".join(f"{name}={_described(part)}" for name, part in parts.items())

    def scales(self, problem: Problem) -> tuple[float, float]:
        """The step multipliers of x and y on this problem."""
        if self.scale is None:
            return 1.0, 1.0
        return problem.scale if _is_auto(self.scale) else _checked_scale(self.scale)

    def by_epoch(self, first: int, last: int) -> tuple[Vector, Vector]:
        """Step sizes and radii of the epochs first … last - 1."""
        step, radius = as_schedule("step", self.step), as_schedule("radius", self.radius)
        return by_epoch("step", step, first, last), by_epoch("radius", radius, first, last)

    def compiled(self, problem: Problem) -> kernels.Method:
        """The method on this problem as kernels take it, or an error where the two do not fit."""
        self.order.check(problem.n)
        perturbed = self.gradient.perturbed(problem)
        x_scale, y_scale = self.scales(problem)
        everything = (0, problem.x_set.dim, True)
        # Plain numbers all: those of NumPy may be too short for what is worked out from them.
        n, kinds = int(problem.n), problem.kinds(perturbed)
        batch = min(self.batch, n)
        private = problem.private_y and not perturbed.y and problem.data is not None
        private = private and is_box(problem.y_set)  # else one coordinate may move all others
        simple = private and batch == len(self.update.phases) == 1
        return kernels.Method(
            n=n,
            batch=batch,
            order=self.order.code,
            offset=self.gradient.code,
            combine=np.array(self.update.phases, dtype=np.float64),
            asks_previous=self.update.asks_previous,
            x_start=int(perturbed.x_start),
            x_stop=int(perturbed.x_stop),
            y_perturbed=bool(perturbed.y),
            some_exact=perturbed != everything or kernels.KNOWN in (kinds.negative, kinds.positive),
            private=private,
            quick=simple and not kernels.has_user_functions(problem.data),
            x_scale=float(x_scale),
            y_scale=float(y_scale),
            kinds=kinds,
            tally=problem.tally,
        )


_KINDS: dict[str, type] = {
    "update": Update,
    "gradient": Gradient,
    "order": Order,
    "average": Average,
}
_SUCH_AS = {
    "update": "OGDA()",
    "gradient": "OnePoint()",
    "order": "Reshuffle()",
    "average": "StepWeighted()",
}


def _is_auto(scale: Any) -> bool:
    return isinstance(scale, str) and scale == "auto"


def _checked_scale(scale: Any) -> tuple[float, float]:
    if not isinstance(scale, (tuple, list)) or len(scale) != 2:
        raise ValueError(
            f'scale must be "auto", None or (x multiplier, y multiplier), got {scale!r}'
        )
    return as_positive("x multiplier", scale[0]), as_positive("y multiplier", scale[1])


def _described(part: Any) -> str:
    """A repr that is the same in another process, also for a user's own function or object."""
    if isinstance(part, (list, tuple)):
        return repr(tuple(float(number) for number in part))
    number = part.value if isinstance(part, Constant) else part
    if isinstance(number, (int, float, np.number, np.ndarray)):
        return repr(float(number))
    if isinstance(part, Update):
        return f"{type(part).__name__}{tuple(part.phases)}"
    name = getattr(part, "__qualname__", None)
    return name if isinstance(name, str) else re.sub(r" at 0x[0-9a-fA-F]+", "", repr(part))


def ogda_rr(**parts: Any) -> Solver:
    """OGDA with reshuffling, the paper's algorithm. Other parts: ogda_rr(gradient=TwoPoint())."""
    return Solver(update=OGDA(), order=Reshuffle(), **parts)


def ogda_wr(**parts: Any) -> Solver:
    """OGDA, sampling with replacement."""
    return Solver(update=OGDA(), order=WithReplacement(), **parts)


def sgda_rr(**parts: Any) -> Solver:
    """Plain descent-ascent with reshuffling."""
    return Solver(update=SGDA(), order=Reshuffle(), **parts)


def sgda_wr(**parts: Any) -> Solver:
    """Plain descent-ascent, sampling with replacement."""
    return Solver(update=SGDA(), order=WithReplacement(), **parts)
