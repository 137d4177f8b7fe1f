"""`select_radius`: what robustness costs, by cross-validation, and how much of it to take.

For each radius and each fold, a classifier is fitted to the people outside the fold, and those in
it are judged: clean accuracy as they are, gamed accuracy where they answer, and the worst-case risk
within the radius.

The recommendation is the rule of one standard error. The best clean accuracy over radii is known
to about a standard error of its mean over folds; radii within that of it cost nothing that these
people can show. Of those, the ones within a standard error of the best gamed accuracy are kept, and
of these the largest: the most robustness that no accuracy tells against. Radii at which a fold's
classifier ignores the data are not in question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.core.arguments import Matrix, Vector, as_count, as_vector, shown
from gameproof.core.errors import BudgetWarning, warn
from gameproof.estimators.folds import (
    People,
    accuracy_without_movable,
    as_fold_accuracies,
    dropping_note,
    fit_quietly,
    mean_and_error,
    movable_columns,
    within_one_standard_error,
)
from gameproof.estimators.robust import RobustStrategicClassifier
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.saddle_point import largest_useful_radius

Bools = NDArray[np.bool_]
# Radii tried by default: none, and these parts of the largest useful one.
SHARES = (0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7)


@final
@dataclass(frozen=True, eq=False, repr=False)
class RadiusCurve:
    """Accuracy and risk over radii: a row a radius, a column a fold.

    clean, gamed
        Accuracy on people left out, as they are and where they answer.
    risk
        The worst case of their mean loss within the radius.
    ignores
        Whether a fold's classifier ignored the data.
    largest_useful
        From this radius on the best classifier of all these people ignores the data.
    recommended, reason
        A radius, and why in a sentence.
    note
        A sentence where dropping the columns that people can change works just as well.
    """

    radii: Vector
    clean: Matrix
    gamed: Matrix
    risk: Matrix
    ignores: Bools
    largest_useful: float
    recommended: float
    reason: str
    note: str = ""

    def rows(self) -> list[dict[str, float]]:
        """Means and standard errors over folds, a row a radius."""
        rows = []
        for k, radius in enumerate(self.radii):
            row = {"radius": float(radius), "ignores data": bool(self.ignores[k])}
            for name in ("clean", "gamed", "risk"):
                row[name], row[f"{name} error"] = mean_and_error(getattr(self, name)[k])
            rows.append(row)
        return rows

    def __repr__(self) -> str:
        lines = ["radius   clean            gamed            worst-case risk"]
        for row in self.rows():
            cells = [f"{row[n]:.3f} ± {row[f'{n} error']:.3f}" for n in ("clean", "gamed", "risk")]
            mark = "  ignores the data" if row["ignores data"] else ""
            lines.append(f"{row['radius']:<8.3g} {'    '.join(cells)}{mark}")
        return "\n".join([*lines, self.reason, *([self.note] if self.note else [])])


def select_radius(
    X: ArrayLike,
    y: ArrayLike,
    model: RobustStrategicClassifier | None = None,
    *,
    radii: Sequence[float] | None = None,
    folds: int = 5,
    seed: int = 0,
    sample_weight: ArrayLike | None = None,
) -> RadiusCurve:
    """The accuracy-robustness curve of `model` over radii, and a recommended radius; see the
    module for the rule.

    `model` has all other parameters; its own radius plays no part. It has budgets, or its response
    must be known and the same for all. Its preparation is fitted inside each fold. By default
    radius 0 and nine others up to the largest useful one are tried. `sample_weight` is how much
    each person counts, in the fits and where they are judged; folds are of persons, whatever they
    count, and leave out those who do not count.

    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> curve = gp.select_radius(X, y, gp.RobustStrategicClassifier(power=0.1), folds=3)
    >>> 0 < curve.recommended < curve.largest_useful
    True
    """
    base = RobustStrategicClassifier() if model is None else model
    if not isinstance(base, RobustStrategicClassifier):
        raise TypeError(f"model must be a RobustStrategicClassifier, got {shown(base)}")
    _require_common_response(base.response, base.power)
    who = People.counted(X, y, sample_weight)
    splits = who.splits(as_count("folds", folds, least=2), seed)
    whole = fit_quietly(base, who, radius=0.0)
    if whole.budgets_ is not None:
        for wide in whole.budgets_.notes:
            warn(wide, BudgetWarning)
    useful = largest_useful_radius(whole.problem(*who), precision=0.01)
    if radii is None:
        radii = [0.0, *(float(f"{share * useful:.2g}") for share in SHARES)]
    tried = np.unique(as_vector("radii", radii))
    found = np.array([[_judged(base, radius, *s) for s in splits] for radius in tried])
    clean, gamed, risk, ignores = np.moveaxis(found, 2, 0)
    ignoring = ignores.any(axis=1)
    chosen, reason = _recommended(tried, clean, gamed, ignoring, useful)
    without = [accuracy_without_movable(fit_quietly(base, s[0], radius=chosen), *s) for s in splits]
    k = int(np.flatnonzero(tried == chosen)[0])
    note = dropping_note(movable_columns(whole), as_fold_accuracies(without), clean[k], gamed[k])
    return RadiusCurve(tried, clean, gamed, risk, ignoring, useful, chosen, reason, note)


def _require_common_response(response: Any, power: Any) -> None:
    """Refuses what cannot be judged on people left out, before anybody is asked."""
    if not (response is None or isinstance(response, KnownResponse)):
        raise TypeError(
            "select_radius needs the response function of people it leaves out: budgets, or a cost "
            f"such as QuadraticCost, got {response!r}"
        )
    if np.ndim(power) if response is None else response.by_agent:
        name = "power" if response is None else response.largest[0]
        raise ValueError(f"select_radius leaves people out, so {name} must be the same for all")


def _judged(
    base: RobustStrategicClassifier, radius: float, known: People, others: People
) -> tuple[float, float, float, float]:
    """Clean accuracy, gamed accuracy, worst-case risk, and whether the data was ignored."""
    model = fit_quietly(base, known, radius=float(radius))
    nothing = model.problem(*known).ignores_data(model.result_.x)
    risk = model.worst_case(*others).value
    return model.score(*others), model.gamed_score(*others), risk, float(nothing)


def _recommended(
    radii: Vector, clean: Matrix, gamed: Matrix, ignores: Bools, useful: float
) -> tuple[float, str]:
    """The rule of the module."""
    open_to = np.flatnonzero(~ignores)
    if not open_to.size:
        return float(radii[0]), (
            "At every radius tried, some classifier ignores the data: labels are too cheap, people "
            "move too easily, or the features tell too little. There is nothing to recommend, and "
            f"{radii[0]:.3g} is only the smallest."
        )
    kept, cleanest = within_one_standard_error(clean, open_to)
    kept, best_gamed = within_one_standard_error(gamed, kept)
    k = int(kept[np.argmax(radii[kept])])
    told = [
        f"{name} accuracy {table[k].mean():.3f}, at best {table[best].mean():.3f} ± "
        f"{mean_and_error(table[best])[1]:.3f} at {radii[best]:.3g}"
        for name, table, best in (("clean", clean, cleanest), ("gamed", gamed, best_gamed))
    ]
    return float(radii[k]), (
        f"{radii[k]:.3g} is the largest radius tried that costs less than one standard error of "
        f"accuracy ({'; '.join(told)}); from {useful:.3g} on the best classifier ignores the data."
    )
