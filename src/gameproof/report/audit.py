"""`audit`: what becomes of a linear classifier when people game it, and when the data is off.

An audit is rows. They are computed here, go to JSON as they are, and `write_page` shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.arguments import Vector
from gameproof.classify.record import learned_from
from gameproof.population.responses import DEFAULT_POWER
from gameproof.problem.strategic import LARGEST
from gameproof.report.finite import finite
from gameproof.report.intervals import paired_interval
from gameproof.report.made import fingerprint
from gameproof.report.measure import bins, gaming, hurt, quality, right, shifts, weaknesses
from gameproof.report.model import Case, LinearModel
from gameproof.report.rows import Bin, Difference, Gaming, Hurt, Quality, Shift, Weakness

POWERS = tuple(round(0.05 * k, 2) for k in range(21))
UNIT = "standard deviations"
MOST_GROUPS = 50
RADII = tuple(round(0.02 * k, 2) for k in range(16))


@final
@dataclass(frozen=True)
class Audit:
    """Rows on one classifier, or on several beside each other; the last one is in question.

    `power` is the gaming that is expected: weak spots and costs are about it, and people answer
    with it before the data is off by a radius. With `splits` above 1 the rows are means over that
    many splits of a table, and so are their intervals. `fingerprint` tells the people from others.
    `radius` is what the model in question was fitted for, `outcomes` what labels +1 and -1 are
    called, `why_power` and `why_label_cost` why these, and `learned_from` the share of these people
    that the model learned from, where that is known.
    """

    models: tuple[str, ...]
    movable: tuple[str, ...]
    power: float
    label_cost: float
    quality: tuple[Quality, ...]
    bins: tuple[Bin, ...]
    gaming: tuple[Gaming, ...]
    shifts: tuple[Shift, ...]
    weaknesses: tuple[Weakness, ...]
    hurt: tuple[Hurt, ...]
    differences: tuple[Difference, ...] = ()
    splits: int = 1
    unit: str = UNIT
    fingerprint: str = ""
    radius: float | None = None
    outcomes: tuple[str, ...] = ()
    why_power: str = ""
    learned_from: float | None = None
    why_label_cost: str = ""

    @property
    def games(self) -> bool:
        """Whether anybody is expected to game: there are power and something that can be moved."""
        return self.power > 0 and bool(self.movable)

    def record(self) -> dict[str, Any]:
        """All of it as JSON takes it; what is not finite is None."""
        found: dict[str, Any] = finite(asdict(self))
        return found

    def of(self, rows: Iterable[Any], model: str) -> list[Any]:
        """Those rows that are about one model."""
        return [row for row in rows if row.model == model]


def audit(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    movable: Sequence[int | str] | None = None,
    powers: Sequence[float] = POWERS,
    radii: Sequence[float] = RADII,
    label_cost: float = 0.5,
    power: float = DEFAULT_POWER,
    scale: ArrayLike | None = None,
    unit: str = UNIT,
    groups: ArrayLike | None = None,
) -> Audit:
    """What a linear classifier is worth on people X, y when they game it and when data is off.

    model
        A `LinearModel`, or a fitted linear scikit-learn classifier.
    movable
        What people can change, by name or position; by default everything.
    powers, power
        Gaming powers to look at, and the one to expect, which is always among them, as is 0: people
        with label -1 move by power times the movable coefficients, in scaled features.
    radii, label_cost
        How far the data may be off, 0 always among them, in the distance
        |x - x'| + label_cost |y - y'|.
    scale
        How large a step in each feature costs the same: a number, or one a feature. By default the
        standard deviations of X; 1.0 for a table that is prepared already.
    unit
        What such steps are called where distances are told.
    groups
        One value a person; burden and recourse are then also told by group.

    >>> X, y = np.array([[1.0], [0.2], [-0.1], [-2.0]]), np.array([1, 1, -1, -1])
    >>> found = audit(LinearModel([1.0]), X, y, powers=[0.5], power=0.5, radii=[0.05], scale=1.0)
    >>> [row.accuracy for row in found.gaming], [round(row.accuracy, 3) for row in found.shifts]
    ([1.0, 0.75], [0.75, 0.5])
    """
    return compare_models(
        [model],
        X,
        y,
        movable=movable,
        powers=powers,
        radii=radii,
        label_cost=label_cost,
        power=power,
        scale=scale,
        unit=unit,
        groups=groups,
    )


def compare_models(
    models: Sequence[Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    movable: Sequence[int | str] | None = None,
    powers: Sequence[float] = POWERS,
    radii: Sequence[float] = RADII,
    label_cost: float = 0.5,
    power: float = DEFAULT_POWER,
    scale: ArrayLike | None = None,
    unit: str = UNIT,
    groups: ArrayLike | None = None,
) -> Audit:
    """The same for several classifiers on the same people, with their paired differences. The last
    is the one in question, and the others are what it is compared with.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(200))
    >>> large, small = LinearModel([9.0, 0.0], name="large"), LinearModel([1.0, 0.0], name="small")
    >>> found = compare_models([large, small], X, y, powers=(), power=0.1, scale=1.0)
    >>> [(row.power, row.low > 0) for row in found.differences]
    [(0.0, False), (0.1, True)]
    """
    lines = [m if isinstance(m, LinearModel) else LinearModel.of(m) for m in models]
    if not lines:
        raise ValueError("there is no model to audit")
    named = tuple(line.name for line in lines)
    if len(set(named)) < len(named):
        raise ValueError(f"models must have different names, got {', '.join(named)}")
    for line in lines[1:]:
        if line.names != lines[0].names:
            raise ValueError(f"{line.name} and {lines[0].name} have different features")
    (expected,) = _numbers("power", [power])
    grid, sizes = _numbers("powers", [0.0, expected, *powers]), _numbers("radii", [0.0, *radii])
    if not label_cost >= 0:
        raise ValueError(f"label_cost must be at least 0, got {label_cost}")
    cases = [Case.of(line, X, y, movable, scale) for line in lines]
    kinds = None if groups is None else _kinds(groups, cases[0].y.size)
    return Audit(
        named,
        tuple(lines[0].names[j] for j in cases[0].movable),
        expected,
        float(label_cost),
        tuple(quality(case) for case in cases),
        tuple(row for case in cases for row in bins(case)),
        tuple(gaming(case, zeta) for case in cases for zeta in grid),
        tuple(row for case in cases for row in shifts(case, sizes, label_cost, expected)),
        tuple(row for case in cases for row in weaknesses(case, expected)),
        tuple(row for case in cases for row in hurt(case, expected, kinds)),
        tuple(_differences(cases, grid)),
        unit=unit,
        fingerprint=fingerprint(X, y, lines[0].names),
        learned_from=1.0 if learned_from(models[-1], X, y) else None,
    )


def _differences(cases: Sequence[Case], powers: Sequence[float]) -> Iterable[Difference]:
    """Every later model against every earlier one, power by power."""
    for one, two in combinations(cases, 2):
        for power in powers:
            first, second = (right(case.gamed(power), case.y) for case in (one, two))
            gained, lost = (int((d > 0).sum()) for d in (second - first, first - second))
            n = first.size
            yield Difference(
                two.name, one.name, power, (gained - lost) / n, *paired_interval(gained, lost, n)
            )


def _kinds(groups: ArrayLike, n: int) -> NDArray[np.str_]:
    kinds = np.asarray(groups).astype(str)
    if kinds.shape != (n,):
        raise ValueError(f"groups must have one value a person, got shape {kinds.shape}")
    number = np.unique(kinds).size
    if number > MOST_GROUPS:
        raise ValueError(f"groups has {number} different values, more than {MOST_GROUPS}")
    return kinds


def _numbers(name: str, given: Sequence[float]) -> tuple[float, ...]:
    """Within what can be computed with, at least 0, in order, each once."""
    found: Vector = np.unique(np.asarray(given, dtype=np.float64))
    if not (np.isfinite(found).all() and found[0] >= 0):
        raise ValueError(f"{name} must be finite and at least 0, got {list(given)}")
    if found[-1] > LARGEST:
        raise ValueError(f"{name} must be at most {LARGEST:g}, got {found[-1]:g}")
    return tuple(found.tolist())
