"""`audit` and `compare_models`: how linear classifiers do under gaming and inaccurate data.

An audit consists of rows (`row_types.py`), for JSON and for the page of `write_audit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gameproof.auditing.applicants import Given
from gameproof.auditing.audit_input import audit_input
from gameproof.auditing.audit_result import UNIT, Audit
from gameproof.auditing.calibration_rows import calibration_rows
from gameproof.auditing.decision_counts import Costs
from gameproof.auditing.gaming_rows import difference_rows, gaming_row, weakness_rows
from gameproof.auditing.metric_rows import metric_rows
from gameproof.auditing.provenance import fingerprint
from gameproof.auditing.quality_rows import bin_rows, quality_row
from gameproof.auditing.recourse_rows import recourse_rows
from gameproof.auditing.scale_rows import coefficient_rows, loss_rows, power_gaming_row
from gameproof.auditing.scored_applicants import BAD, REFUSED
from gameproof.auditing.shift_rows import shift_rows
from gameproof.auditing.threshold_rows import equal_approval_rows, threshold_rows
from gameproof.core.arguments import Vector
from gameproof.estimators.measures import Measure, MeasureName, as_measure
from gameproof.strategic.power_costs import DEFAULT_POWER
from gameproof.strategic.problem_checks import LARGEST

MULTIPLES = (0.0, 0.5, 1.0, 2.0, 4.0)
POWERS = tuple(round(0.05 * k, 2) for k in range(21))
MOST_GROUPS = 50
RADII = tuple(round(0.02 * k, 2) for k in range(16))


def audit(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    budgets: Given | None = None,
    prepare: Any = None,
    favourable: Any = None,
    multiples: Sequence[float] = MULTIPLES,
    cost_accept_bad: float = 1.0,
    cost_refuse_good: float = 1.0,
    movable: Sequence[int | str] | None = None,
    powers: Sequence[float] = POWERS,
    radii: Sequence[float] = RADII,
    label_cost: float = 0.5,
    power: float = DEFAULT_POWER,
    scale: ArrayLike | None = None,
    unit: str = UNIT,
    groups: ArrayLike | None = None,
    measure: MeasureName | Measure | None = None,
) -> Audit:
    """Audits a linear classifier: its decisions when people game it and when data is inaccurate.

    Parameters
    ----------
    model : LinearModel or classifier
        The model under audit: a `LinearModel`, or a fitted classifier of two classes with a linear
        score. Pipelines, column transformers and calibrated models are taken as they are, without
        refitting.
    X : array-like of shape (n_samples, n_features)
        Features before anyone moves, as the model takes them: an array or a data frame.
    y : array-like of shape (n_samples,)
        The two labels of the applicants, of any type.
    budgets : mapping, sequence or Budgets, optional
        What people can change, in the units of X, keyed by column name or position:
        ``{"savings": (0, 5000)}``. A list of columns means half a standard deviation in either
        direction. By default the budgets that the model was fitted for, else every column.
    prepare : transformer, optional
        A fitted preparation, for a model that takes the prepared columns and does not contain the
        preparation itself. X is the unprepared table.
    favourable : label, optional
        The label that people want; they should be accepted. By default the one that the model was
        fitted for, or else the larger of 0 and 1, of -1 and 1, or of False and True. For other
        labels it must be given.
    multiples : sequence of float, optional
        Multiples of the budgets to evaluate; 0 and 1 are always included.
    cost_accept_bad : float, optional
        The cost of accepting a bad applicant.
    cost_refuse_good : float, optional
        The cost of refusing a good applicant.
    movable : sequence of int or str, optional
        Columns that people can change by half a standard deviation, instead of `budgets`.
    powers : sequence of float, optional
        Gaming powers for the numbers that depend on the scale of the scores: bad applicants move by
        power times the coefficients of what they can change, in scaled features.
    radii : sequence of float, optional
        How inaccurate the data may be, in the distance |x - x'| + label_cost |y - y'| of scaled
        features; 0 is always included.
    label_cost : float, optional
        The label cost in that distance.
    power : float, optional
        The expected gaming power.
    scale : float or array-like of shape (n_columns,), optional
        Sizes of steps that cost an adversary the same in each column, by default the standard
        deviations of the columns that models use.
    unit : str, optional
        The name of the unit of such steps.
    groups : array-like of shape (n_samples,), optional
        A group for each person; metrics, burden and recourse are then also reported by group. A
        number that rests on fewer than 20 people of a group is left out.
    measure : {"accuracy", "balanced", "auc", "ks", "cost"}, optional
        The measure of the verdict, by default "auc" if an outcome has less than 30 % of the rows,
        else "accuracy".

    Returns
    -------
    Audit
        All results, as rows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not valid or does not fit the others.

    Examples
    --------
    >>> import gameproof as gp
    >>> X, y = [[1.0], [0.2], [-0.1], [-2.0]], [1, 1, -1, -1]
    >>> model = gp.LinearModel([1.0])
    >>> found = gp.audit(model, X, y, budgets={0: (0, 0.6)}, radii=[0.05], scale=1.0)
    >>> [(row.multiple, row.accuracy) for row in found.gaming if row.movers == "bad"]
    [(0.0, 1.0), (0.5, 0.75), (1.0, 0.75), (2.0, 0.75), (4.0, 0.5)]
    >>> [round(row.accuracy, 3) for row in found.shifts]
    [0.75, 0.5]
    """
    return compare_models(
        [model],
        X,
        y,
        budgets=budgets,
        prepare=prepare,
        favourable=favourable,
        multiples=multiples,
        cost_accept_bad=cost_accept_bad,
        cost_refuse_good=cost_refuse_good,
        movable=movable,
        powers=powers,
        radii=radii,
        label_cost=label_cost,
        power=power,
        scale=scale,
        unit=unit,
        groups=groups,
        measure=measure,
    )


def compare_models(
    models: Sequence[Any] | Mapping[str, Any],
    X: ArrayLike,
    y: ArrayLike,
    *,
    budgets: Given | None = None,
    prepare: Any = None,
    favourable: Any = None,
    multiples: Sequence[float] = MULTIPLES,
    cost_accept_bad: float = 1.0,
    cost_refuse_good: float = 1.0,
    movable: Sequence[int | str] | None = None,
    powers: Sequence[float] = POWERS,
    radii: Sequence[float] = RADII,
    label_cost: float = 0.5,
    power: float = DEFAULT_POWER,
    scale: ArrayLike | None = None,
    unit: str = UNIT,
    groups: ArrayLike | None = None,
    measure: MeasureName | Measure | None = None,
) -> Audit:
    """Audits several linear classifiers on the same people, with paired differences.

    Parameters
    ----------
    models : sequence or mapping of LinearModel or classifier
        The models, as in `audit`; a mapping gives them names. The last one is under audit, and the
        others are compared with it. Each is applied to X as its own ``predict`` would be.
    X : array-like of shape (n_samples, n_features)
        Features before anyone moves, as the models take them: an array or a data frame.
    y : array-like of shape (n_samples,)
        The two labels of the applicants, of any type.
    budgets : mapping, sequence or Budgets, optional
        What people can change, as in `audit`. By default the budgets that the last model was fitted
        for, else every column.
    prepare : transformer, optional
        A fitted preparation, for models that take the prepared columns and do not contain the
        preparation themselves. X is the unprepared table.
    favourable, multiples, cost_accept_bad, cost_refuse_good, movable : optional
        As in `audit`: what people want, budgets to evaluate, and costs.
    powers, radii, label_cost, power, scale, unit : optional
        As in `audit`: gaming of scores, and inaccurate data.
    groups, measure : optional
        As in `audit`: groups to report, and the measure of the verdict.

    Returns
    -------
    Audit
        All results, as rows.

    Raises
    ------
    TypeError, ValueError
        If an argument is not valid or does not fit the others.

    Examples
    --------
    >>> import numpy as np
    >>> import gameproof as gp
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(200))
    >>> one = gp.LinearModel([1.0, 1.0], name="both")
    >>> two = gp.LinearModel([1.0, 0.0], name="first")
    >>> found = gp.compare_models([one, two], X, y, budgets=[1], multiples=[2])
    >>> [(row.multiple, row.low > 0) for row in found.differences if row.movers == "bad"]
    [(0.0, True), (1.0, True), (2.0, True)]
    """
    (expected,) = _numbers("power", [power])
    powers = _numbers("powers", [0.0, expected, *powers])
    radii = _numbers("radii", [0.0, *radii])
    multiples = _numbers("multiples", [0.0, 1.0, *multiples])
    prices = (("cost_accept_bad", cost_accept_bad), ("cost_refuse_good", cost_refuse_good))
    costs = Costs(*(_numbers(name, [price])[0] for name, price in prices))
    if not label_cost >= 0:
        raise ValueError(f"label_cost must be at least 0, got {label_cost}")
    if budgets is not None and movable is not None:
        raise ValueError("budgets and movable both say what people can change; give one of them")
    given = movable if budgets is None else budgets
    found = audit_input(models, X, y, given, prepare, scale, favourable)
    cases, people = found.cases, found.cases[-1].people
    if not found.linear:  # without coefficients there are no distances to the decision boundary
        expected, powers, radii = 0.0, (0.0,), (0.0,)
    of_group = None if groups is None else _kinds(groups, people.y.size)
    # If nothing can be changed, nobody moves.
    movers: tuple[str, ...] = (BAD, REFUSED)
    if not people.columns:
        movers, multiples = (BAD,), (0.0,)
    shifts, shift_differences = shift_rows(cases, radii, label_cost)
    judge = as_measure(measure, people.y > 0, *costs)
    metrics, metric_differences, confusions = metric_rows(cases, costs, judge.name, of_group)
    return Audit(
        models=tuple(case.name for case in cases),
        budgets=people.budgets,
        costs=costs,
        label_cost=float(label_cost),
        quality=tuple(quality_row(case) for case in cases),
        bins=tuple(row for case in cases for row in bin_rows(case)),
        gaming=tuple(
            gaming_row(case, who, multiple, costs)
            for case in cases
            for who in movers
            for multiple in multiples
        ),
        shifts=tuple(shifts),
        weaknesses=tuple(row for case in cases for row in weakness_rows(case)),
        hurt=tuple(row for case in cases for row in recourse_rows(case, of_group)),
        power=expected,
        by_power=tuple(power_gaming_row(case, zeta) for case in cases for zeta in powers),
        losses=tuple(row for case in cases for row in loss_rows(case, radii, label_cost)),
        coefficients=tuple(row for case in cases for row in coefficient_rows(case)),
        differences=tuple(difference_rows(cases, movers, multiples)),
        shift_differences=tuple(shift_differences),
        unit=unit,
        fingerprint=fingerprint(people.table, people.y, people.budgets.features.names),
        measure=judge,
        metrics=tuple(metrics),
        metric_differences=tuple(metric_differences),
        confusions=tuple(confusions),
        thresholds=tuple(row for case in cases for row in threshold_rows(case, costs)),
        equal_approvals=tuple(equal_approval_rows(cases)),
        calibration=tuple(row for case in cases for row in calibration_rows(case)),
        outcomes=found.labels.names,
        learned_from=1.0 if found.trained_on_these else None,
        grouped_by=str(getattr(groups, "name", None) or ""),
    )


def _kinds(groups: ArrayLike, n: int) -> NDArray[np.str_]:
    kinds = np.asarray(groups).astype(str)
    if kinds.shape != (n,):
        raise ValueError(f"groups must have one value per person, got shape {kinds.shape}")
    number = np.unique(kinds).size
    if number > MOST_GROUPS:
        raise ValueError(f"groups has {number} different values, more than {MOST_GROUPS}")
    return kinds


def _numbers(name: str, given: Sequence[float]) -> tuple[float, ...]:
    """Sorted distinct numbers between 0 and `LARGEST`."""
    found: Vector = np.unique(np.asarray(given, dtype=np.float64))
    if not (np.isfinite(found).all() and found[0] >= 0):
        raise ValueError(f"{name} must be finite and at least 0, got {list(given)}")
    if found[-1] > LARGEST:
        raise ValueError(f"{name} must be at most {LARGEST:g}, got {found[-1]:g}")
    return tuple(found.tolist())
