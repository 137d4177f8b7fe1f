"""`RadiusCurve`: a measure of classifiers over radii, by cross-validation.

For each radius and each fold, a classifier is fitted to the people outside the fold and measured on
those inside: clean (nobody moves), gamed (people respond), and by its worst-case risk within the
radius. The measure (`measures.py`) is AUC if an outcome is rare, and accuracy otherwise.

The recommendation follows the one-standard-error rule. Keep the radii whose gamed measure is within
one standard error of the best, among these keep the radii whose clean measure is within one
standard error of the best, and take the largest: the most robustness without a measurable loss.
Standard errors are those of paired differences (`folds.py`).
Radii at which the classifier of any fold ignores the data are excluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from gameproof.core.arguments import Matrix, Vector, as_vector
from gameproof.core.html_tables import html_summary
from gameproof.core.progress import Progress
from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.choice_rows import choice_note
from gameproof.estimators.folds import (
    Split,
    by_fold,
    dropping_note,
    mean_and_error,
    movable_names,
    over_folds,
    plus_minus,
    prepare_folds,
    within_one_standard_error,
)
from gameproof.estimators.measures import ACCURACY, Measure, MeasureName
from gameproof.estimators.radius_path import RadiusMeasures, RadiusPath
from gameproof.estimators.sample_weight import WeightedRows
from gameproof.strategic.responses import KnownResponse
from gameproof.strategic.saddle_point import largest_useful_radius

Bools = NDArray[np.bool_]
# The default radii besides 0, as parts of the largest useful radius.
SHARES = (0.02, 0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7)


@final
@dataclass(frozen=True, eq=False, repr=False)
class RadiusCurve:
    """A measure and the risk over radii; tables have one row per radius and one column per fold.

    Parameters
    ----------
    radii : ndarray of shape (n_radii,)
        The radii that were tried.
    clean : ndarray of shape (n_radii, n_folds)
        The measure on held-out people when nobody moves.
    gamed : ndarray of shape (n_radii, n_folds)
        The measure on held-out people who respond to the classifier.
    risk : ndarray of shape (n_radii, n_folds)
        Worst-case risk of held-out people within the radius.
    ignores : ndarray of bool, shape (n_radii,)
        Whether the classifier of some fold ignored the data.
    largest_useful : float
        From this radius on, the best classifier for all rows ignores the data.
    recommended : float
        The recommended radius.
    reason : str
        Why, in a sentence.
    note : str, optional
        A sentence if dropping the columns that people can change works just as well.
    measure : Measure, optional
        The measure in `clean` and `gamed`, by default accuracy.
    n_rows, n_total : int, optional
        The number of rows on which the radius was chosen, and from which they were drawn.

    Examples
    --------
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> curve = gp.select_radius(X, y, radii=[0, 0.05], folds=3)
    >>> [row["radius"] for row in curve.rows()]
    [0.0, 0.05]
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
    measure: Measure = ACCURACY
    n_rows: int = 0
    n_total: int = 0

    def rows(self) -> list[dict[str, float]]:
        """Means and standard errors over folds, one row per radius."""
        rows = []
        for k, radius in enumerate(self.radii):
            row = {"radius": float(radius), "ignores data": bool(self.ignores[k])}
            for name in ("clean", "gamed", "risk"):
                row[name], row[f"{name} error"] = mean_and_error(getattr(self, name)[k])
            rows.append(row)
        return rows

    def _repr_html_(self) -> str:
        """The recommendation and a table, for notebooks."""
        names = ("clean", "gamed", "risk")
        rows = [
            [
                f"{row['radius']:.3g}",
                *(plus_minus(row[name], row[f"{name} error"]) for name in names),
                "ignores the data" if row["ignores data"] else "",
            ]
            for row in self.rows()
        ]
        label = self.measure.label
        head = ["radius", f"{label}, clean", f"{label}, gamed", "worst-case risk", ""]
        return html_summary([f"Radius: {self.reason}", *self._notes()], head, rows)

    def __repr__(self) -> str:
        lines = [
            f"{self.measure.label} by radius",
            "radius   clean            gamed            worst-case risk",
        ]
        for row in self.rows():
            cells = [plus_minus(row[n], row[f"{n} error"]) for n in ("clean", "gamed", "risk")]
            mark = "  ignores the data" if row["ignores data"] else ""
            lines.append(f"{row['radius']:<8.3g} {'    '.join(cells)}{mark}")
        return "\n".join([*lines, self.reason, *self._notes()])

    def _notes(self) -> list[str]:
        return [text for text in (self.note, choice_note(self.n_rows, self.n_total)) if text]


def radius_curve(
    model: BaseStrategicClassifier,
    people: WeightedRows,
    *,
    radii: Sequence[float] | None = None,
    folds: int = 5,
    seed: int = 0,
    measure: MeasureName | Measure | None = None,
    costs: tuple[float, float] = (1.0, 1.0),
    progress: bool | None = False,
    n_jobs: int | None = None,
    before: Any = None,
) -> RadiusCurve:
    """What `select_radius` returns, for a classifier with a radius.

    `before` are the steps before the classifier in a pipeline."""
    _require_common_response(model.response, model.power)
    choice = prepare_folds(before, model, people, folds, seed, measure, costs, radius=0.0)
    whole, judge = choice.whole, choice.measure
    useful = largest_useful_radius(whole.problem(*choice.people.data), precision=0.01)
    if radii is None:
        radii = [0.0, *(float(f"{share * useful:.2g}") for share in SHARES)]
    tried = np.unique(as_vector("radii", radii))
    title = f"choosing the radius on {choice.n_rows:,} rows"
    with Progress(progress, tried.size * len(choice.splits), "fits", title) as bar:

        def followed(split: Split) -> tuple[RadiusPath, list[RadiusMeasures]]:
            path = RadiusPath(choice.base, *split, judge, float(tried[0]))
            return path, [bar.counted(path.measured(float(radius))) for radius in tried]

        paths, found = zip(*over_folds(followed, choice.splits, n_jobs), strict=True)
    clean, gamed, risk, ignores = np.array(found).transpose(2, 1, 0)
    ignoring = ignores.any(axis=1)
    chosen, reason = recommended_radius(tried, clean, gamed, ignoring, useful, judge)
    without = over_folds(lambda path: path.without_movable(chosen), list(paths), n_jobs)
    k = int(np.flatnonzero(tried == chosen)[0])
    note = dropping_note(movable_names(whole), by_fold(without), clean[k], gamed[k], judge)
    return RadiusCurve(
        radii=tried,
        clean=clean,
        gamed=gamed,
        risk=risk,
        ignores=ignoring,
        largest_useful=useful,
        recommended=chosen,
        reason=reason,
        note=note,
        measure=judge,
        n_rows=choice.n_rows,
        n_total=choice.n_rows,
    )


def _require_common_response(response: Any, power: Any) -> None:
    """Rejects responses that cannot be applied to held-out people."""
    if not (response is None or isinstance(response, KnownResponse)):
        raise TypeError(
            "select_radius applies the response to held-out people, so it needs budgets or a known "
            f"response such as QuadraticCost, got {response!r}"
        )
    if np.ndim(power) if response is None else response.by_agent:
        name = "power" if response is None else response.largest[0]
        raise ValueError(f"select_radius holds people out, so {name} must be the same for all")


def recommended_radius(
    radii: Vector,
    clean: Matrix,
    gamed: Matrix,
    ignores: Bools,
    useful: float,
    measure: Measure = ACCURACY,
) -> tuple[float, str]:
    """The radius by the rule in the module's docstring, and a sentence that says why."""
    candidates = np.flatnonzero(~ignores)
    if not candidates.size:
        return float(radii[0]), (
            "At every radius tried, the classifier of some fold ignores the data: the label cost "
            "is too low, people move too easily, or the features carry too little information. No "
            f"radius can be recommended; {radii[0]:.3g} is the smallest one tried."
        )
    holding, best_gamed = within_one_standard_error(gamed, candidates)
    kept, cleanest = within_one_standard_error(clean, holding)
    k = int(kept[np.argmax(radii[kept])])

    def told(name: str, table: Matrix, best: int) -> str:
        at_best = f"at best {measure.said(table[best].mean())} at {radii[best]:.3g}"
        reached = f"{name} {measure.spoken} {measure.said(table[k].mean())}"
        return f"{reached}, {'the best' if best == k else at_best}"

    # A radius that loses under gaming may be better when nobody games.
    others = clean[candidates].mean(axis=1).max() > clean[cleanest].mean()
    limited = " among radii that hold up" if others else ""
    why = (
        "is the largest radius tried that costs less than one standard error of"
        if radii[k] > 0
        else "because every larger radius tried costs more than one standard error of"
    )
    return float(radii[k]), (
        f"{radii[k]:.3g} {why} {measure.spoken}, fold by fold "
        f"({told('gamed', gamed, best_gamed)}; {told('clean', clean, cleanest)}{limited}); from "
        f"{useful:.3g} on the best classifier ignores the data."
    )
