"""`Solver`: the parts of a method, put together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from typing import Any, Literal, final

import numpy as np

from gameproof.core.arguments import Vector, as_count, as_positive
from gameproof.kernels import layout as at
from gameproof.minmax.auto_options import AutoOptions
from gameproof.minmax.averages import Average, StepWeighted
from gameproof.minmax.estimates.gradient import Gradient
from gameproof.minmax.estimates.one_point import OnePoint
from gameproof.minmax.orders.order import Order
from gameproof.minmax.orders.reshuffle import Reshuffle
from gameproof.minmax.problem import Problem, require_problem
from gameproof.minmax.replaceable_part import ReplaceablePart
from gameproof.minmax.schedules import Constant, Schedule, as_schedule, tabulated
from gameproof.minmax.updates.ogda import OGDA
from gameproof.minmax.updates.update import Update

Scale = Literal["auto"] | None | tuple[float, float]


@final
@dataclass(frozen=True)
class Solver:
    """A method for finite-sum saddle problems; every part can be replaced.

    Parameters
    ----------
    update, gradient, order
        The parts of the method.
    step, radius
        Schedules by epoch, or numbers; `PerStep` for schedules by step. None: derived from the size
        of the problem's sets, or the paper's values if the problem is strategic.
    scale
        Multiplies the steps of the x and the y block. "auto" is the problem's own choice; None uses
        one step for both blocks, exactly as in the paper.
    batch
        Samples queried at each deployed point.
    average
        What a run returns.
    start
        Where runs start; by default the problem's start.
    why
        How `Solver.auto` chose the parts.
    fallback
        A point (x, y) that `solve` returns if the run does not end at a better one. They are
        compared at the end, with a tenth of the values. `Solver.auto` gives the problem's start.
    settled
        A sentence that says why a run from `start` needs no queries. `solve` then returns the start
        with this status. It has no effect on a run with another start or a resumed run.

    Examples
    --------
    >>> Solver(step=0.1).name
    'OGDA-RR'
    """

    update: Update = field(default_factory=OGDA)
    gradient: Gradient = field(default_factory=OnePoint)
    order: Order = field(default_factory=Reshuffle)
    step: Schedule | float | None = None
    radius: Schedule | float | None = None
    scale: Scale = "auto"
    batch: int = 1
    average: Average = field(default_factory=StepWeighted)
    # Not part of the method: these do not change a run that has started.
    start: tuple[Vector, Vector] | None = field(default=None, compare=False, repr=False)
    why: str = field(default="", compare=False, repr=False)
    fallback: tuple[Vector, Vector] | None = field(default=None, compare=False, repr=False)
    settled: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            if not isinstance(getattr(self, name), kind):
                raise TypeError(
                    f"{name} must be an instance of {kind.__name__}, such as {_SUCH_AS[name]}, "
                    f"got {getattr(self, name)!r}"
                )
        for name in ("step", "radius"):
            schedule = getattr(self, name)
            if schedule is not None:
                tabulated(name, as_schedule(name, schedule), 0, 1)
        _require_known_codes(self)
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
        pilot: int | None = None,
        batch: int | None = None,
        start: bool = True,
        seed: int = 0,
    ) -> Solver:
        """Chooses every part from the problem and a few pilot queries.

        estimate
            The kind of gradient, such as TwoPoint(); by default the best for what people show. With
            a kind that needs only values, the pilot uses only scores.
        queries
            How many values the run will ask, if known; otherwise the choice suits every run of a
            hundred values or more.
        pilot
            How many values or answers the choice may ask. By default 300 answers, and half of
            `queries` more (600 without `queries`) if the answers refute the model or are too few;
            none if the response is known. For problems without people a fifth of `queries`, or
            2,000 without `queries`, and at least 120; with an `estimate`, 300 values. The values of
            the run come on top: `population.n_answers` counts both.
        batch
            Samples queried at each deployed point. By default as many as cost 100 answers per step,
            or 10 if the estimate uses values, but at most a twentieth or a two-hundredth of
            `queries`, respectively; one if the response is known. For problems without people it is
            chosen too.
        start
            False to start at the problem's own start, not at the solution of the learned model.
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
        options = AutoOptions(estimate, queries, pilot, batch, start, seed)
        chosen: Solver = import_module(problem.chooser).choose(problem, options)
        return chosen

    @property
    def name(self) -> str:
        """The name of the method, such as OGDA-RR."""
        return f"{self.update.name}-{self.order.name}"

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

    def for_problem(self, problem: Problem) -> Solver:
        """Returns the solver; the problem supplies a step or radius that is None."""
        if self.step is not None and self.radius is not None:
            return self
        step, radius = problem.default_schedules
        return replace(
            self,
            step=step if self.step is None else self.step,
            radius=radius if self.radius is None else self.radius,
        )

    @property
    def schedules(self) -> tuple[Schedule, Schedule]:
        """The schedules of step sizes and radii."""
        if self.step is None or self.radius is None:
            raise ValueError(
                "step and radius of this solver follow from the problem; use "
                "solver.for_problem(problem).schedules"
            )
        return as_schedule("step", self.step), as_schedule("radius", self.radius)

    def by_epoch(self, first: int, last: int) -> tuple[Vector, Vector]:
        """Step sizes and radii of the epochs (or steps) first … last - 1."""
        step, radius = self.schedules
        return tabulated("step", step, first, last), tabulated("radius", radius, first, last)


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


def _require_known_codes(solver: Solver) -> None:
    """Rejects a user-defined part with the code of a built-in part, which would run instead."""
    orders = {at.RESHUFFLE, at.WITH_REPLACEMENT, at.SHUFFLE_ONCE}
    estimates = set(range(at.PLAIN, at.OBSERVED + 1))
    parts: list[tuple[Order | Gradient, set[int]]] = [
        (solver.order, orders),
        (solver.gradient.inner, estimates),
        (solver.gradient.at_snapshot, estimates),
    ]
    for part, known in parts:
        codes = part.code if isinstance(part.code, tuple) else (part.code,)
        own = not type(part).__module__.startswith("gameproof.")
        if set(codes) != {at.EXTERNAL} and (own or codes[0] not in known):
            raise ValueError(
                f"{part!r} has the code {part.code!r} of a built-in part; leave `code` out of a "
                "part of your own; it then runs in the Python loop"
            )


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
        own = not part.is_compiled and type(part).__repr__ is not ReplaceablePart.__repr__
        return f"{_shown(part) if own else type(part).__name__}{tuple(part.phases)}"
    name = getattr(part, "__qualname__", None)
    return name if isinstance(name, str) else _shown(part)


def _shown(part: Any) -> str:
    """The repr, without the address of an object."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(part))


def differing(signature: str, other: str) -> tuple[str, str]:
    """The parts in which two signatures differ."""
    names = "|".join(part.name for part in fields(Solver) if part.compare)
    ours, theirs = (re.split(f", (?=(?:{names})=)", one) for one in (signature, other))
    if len(ours) != len(theirs):
        return signature, other
    pairs = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    first, second = (", ".join(parts) for parts in zip(*pairs, strict=True))
    return first, second
