"""`Audit`: the result of an audit, as rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any, final

from gameproof.auditing.audit_summary import summary_html, summary_lines
from gameproof.auditing.decision_counts import Costs
from gameproof.auditing.json_safe import json_safe
from gameproof.auditing.metric_types import (
    CalibrationBin,
    Confusion,
    EqualApproval,
    Metric,
    MetricDifference,
    ThresholdRow,
)
from gameproof.auditing.row_types import (
    Bin,
    Coefficient,
    Difference,
    Gaming,
    Hurt,
    PowerGaming,
    Quality,
    Shift,
    ShiftDifference,
    ShiftLoss,
    Weakness,
)
from gameproof.auditing.scale_rows import WHY_SCALE_MATTERS
from gameproof.auditing.scored_applicants import BAD
from gameproof.auditing.verdict import AuditVerdict, verdict
from gameproof.estimators.measures import ACCURACY, Measure
from gameproof.estimators.table_budgets import Budgets

UNIT = "standard deviations"
# The fields that change when a model is multiplied by a positive number.
BY_SCALE = ("power", "why_power", "by_power", "losses", "coefficients")


@final
@dataclass(frozen=True)
class Audit:
    """The result of auditing one or several classifiers on the same people.

    `audit` and `compare_models` return it; `write_audit` turns it into a page. Models are ordered
    from the plainest to the most robust, and every later one is compared with every earlier one.
    Only `power`, `by_power`, `losses` and `coefficients` depend on the scale of the scores.

    Parameters
    ----------
    models : tuple of str
        Names of the models.
    budgets : Budgets
        What people can change.
    costs : Costs
        Costs of accepting a bad applicant and of refusing a good one.
    label_cost : float
        The label cost of the adversary.
    quality : tuple of Quality
        Quality when nobody moves, one row per model.
    bins : tuple of Bin
        Histograms of scores; empty for averages over splits.
    gaming : tuple of Gaming
        Quality when people use multiples of their budgets.
    shifts : tuple of Shift
        Worst-case accuracy by radius.
    weaknesses : tuple of Weakness
        The effect of each column's budget.
    hurt : tuple of Hurt
        Burden and recourse by label and group.
    power : float
        The expected gaming power.
    by_power : tuple of PowerGaming
        Quality when people game by power.
    losses : tuple of ShiftLoss
        Worst-case log loss by radius.
    coefficients : tuple of Coefficient
        Coefficients of the models.
    differences : tuple of Difference, optional
        Paired differences in accuracy.
    shift_differences : tuple of ShiftDifference, optional
        Paired differences in worst-case accuracy.
    splits : int, optional
        The number of splits that the rows are averages over.
    unit : str, optional
        The unit of the adversary's steps.
    fingerprint : str, optional
        A digest of the people.
    radius : float, optional
        The radius that the last model was fitted for.
    outcomes : tuple of str, optional
        Names of the labels +1 and -1.
    why_budgets : str, optional
        Why these budgets were used.
    why_power : str, optional
        Why this power was used.
    learned_from : float, optional
        The share of these people that the last model was trained on, if known.
    why_label_cost : str, optional
        Why this label cost was used.
    measure : Measure, optional
        The measure of the verdict.
    metrics : tuple of Metric, optional
        AUC, Gini, KS, accuracy, log loss, Brier score and others, clean and gamed, by group.
    metric_differences : tuple of MetricDifference, optional
        Paired differences of metrics between models, by group.
    confusions : tuple of Confusion, optional
        Confusion matrices, clean and gamed, by group.
    thresholds : tuple of ThresholdRow, optional
        Approval rate, bad rate and cost of thresholds.
    equal_approvals : tuple of EqualApproval, optional
        Paired differences between models that approve the same share of applicants.
    calibration : tuple of CalibrationBin, optional
        Predicted and observed shares of good outcomes.
    approve : float, optional
        The share of applicants that thresholds were chosen to approve, if the user stated one.
    grouped_by : str, optional
        The column that says which group people belong to, if it has a name.
    warnings : tuple of str, optional
        What readers must know about the data before they believe the verdict.

    Examples
    --------
    >>> import gameproof as gp
    >>> model = gp.LinearModel([1.0])
    >>> found = gp.audit(model, [[1.0], [0.2], [-0.1]], [1, 1, -1], budgets={0: (0, 0.6)})
    >>> found.movable, round(found.at("model", 1.0).accuracy, 2)
    (('x0',), 0.67)
    """

    models: tuple[str, ...]
    budgets: Budgets
    costs: Costs
    label_cost: float
    quality: tuple[Quality, ...]
    bins: tuple[Bin, ...]
    gaming: tuple[Gaming, ...]
    shifts: tuple[Shift, ...]
    weaknesses: tuple[Weakness, ...]
    hurt: tuple[Hurt, ...]
    power: float
    by_power: tuple[PowerGaming, ...]
    losses: tuple[ShiftLoss, ...]
    coefficients: tuple[Coefficient, ...]
    differences: tuple[Difference, ...] = ()
    shift_differences: tuple[ShiftDifference, ...] = ()
    splits: int = 1
    unit: str = UNIT
    fingerprint: str = ""
    radius: float | None = None
    outcomes: tuple[str, ...] = ()
    why_budgets: str = ""
    why_power: str = ""
    learned_from: float | None = None
    why_label_cost: str = ""
    measure: Measure = ACCURACY
    metrics: tuple[Metric, ...] = ()
    metric_differences: tuple[MetricDifference, ...] = ()
    confusions: tuple[Confusion, ...] = ()
    thresholds: tuple[ThresholdRow, ...] = ()
    equal_approvals: tuple[EqualApproval, ...] = ()
    calibration: tuple[CalibrationBin, ...] = ()
    approve: float | None = None
    grouped_by: str = ""
    warnings: tuple[str, ...] = ()

    @cached_property
    def verdict(self) -> AuditVerdict:
        """Which model to use, or that none should be used, in a sentence."""
        return verdict(self)

    def __repr__(self) -> str:
        return "\n".join(summary_lines(self))

    def _repr_html_(self) -> str:
        """The verdict and a table, for notebooks."""
        return summary_html(self)

    @property
    def movable(self) -> tuple[str, ...]:
        """Columns of the table that people can change."""
        return self.budgets.columns

    @property
    def subject(self) -> str:
        """The model that the sentences of a page describe: the recommended one, or without one the
        last."""
        return self.verdict.model or self.models[-1]

    @property
    def others(self) -> tuple[str, ...]:
        """All models but the subject."""
        return tuple(model for model in self.models if model != self.subject)

    @property
    def multiples(self) -> tuple[float, ...]:
        """The multiples of the budgets in `gaming`."""
        return tuple(dict.fromkeys(row.multiple for row in self.gaming))

    def record(self) -> dict[str, Any]:
        """The audit for JSON.

        Returns
        -------
        dict
            All fields, with None for numbers that are not finite.
        """
        found = asdict(self)
        found["budgets"] = {**self.budgets.record(), "description": self.budgets.describe()}
        found["verdict"] = self.verdict.record()
        found["measure"] = self.measure.name
        found["movable"], found["costs"] = self.movable, self.costs._asdict()
        found["depends_on_scale"] = {"why": WHY_SCALE_MATTERS} | {
            name: found.pop(name) for name in BY_SCALE
        }
        checked: dict[str, Any] = json_safe(found)
        return checked

    def of(self, rows: Iterable[Any], model: str) -> list[Any]:
        """The rows of one model.

        Parameters
        ----------
        rows : iterable
            Rows of any field of the audit, such as ``audit.gaming``.
        model : str
            The name of a model.

        Returns
        -------
        list
            The rows of this model.
        """
        return [row for row in rows if row.model == model]

    def versus(self, rows: Iterable[Any], model: str) -> list[Any]:
        """The differences of one model from the others.

        Parameters
        ----------
        rows : iterable
            Paired differences, such as ``audit.differences``.
        model : str
            The name of a model.

        Returns
        -------
        list
            The rows that contain this model, turned round if they are those of another one against
            it.
        """
        found = []
        for row in rows:
            if row.model == model:
                found.append(row)
            elif row.against == model:
                ends = {"difference": -row.difference, "low": -row.high, "high": -row.low}
                found.append(replace(row, model=model, against=row.model, **ends))
        return found

    def at(self, model: str, multiple: float, movers: str = BAD) -> Gaming:
        """The row of one model in `gaming`.

        Parameters
        ----------
        model : str
            The name of a model.
        multiple : float
            One of `multiples`.
        movers : {"bad", "refused"}, optional
            Who moves: everyone who should be refused, or everyone who is refused.

        Returns
        -------
        Gaming
            The row.
        """
        rows: list[Gaming] = self.of(self.gaming, model)
        return next(r for r in rows if (r.movers, r.multiple) == (movers, multiple))
