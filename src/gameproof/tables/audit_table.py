"""`audit_table`: what gaming does to a model in use, on the rows of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

from gameproof.auditing.accuracy_section import cautions
from gameproof.auditing.audit import RADII, compare_models
from gameproof.auditing.audit_page import write_audit
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.audit_summary import summary_html
from gameproof.auditing.number_format import as_percent
from gameproof.auditing.recourse_section import times_budgets
from gameproof.core.naming import quoted
from gameproof.core.progress import step
from gameproof.estimators.measures import as_measure
from gameproof.tables.audit_case import AuditCase, Stated
from gameproof.tables.audit_files import SampledCase, files_case, table_case
from gameproof.tables.audit_lines import (
    POWERS_SHOWN,
    budget_lines,
    gaming_lines,
    scale_lines,
    wrapped,
)
from gameproof.tables.engines import EngineName, open_engine
from gameproof.tables.group_lines import group_lines
from gameproof.tables.load_model import ModelInUse, load_model_in_use
from gameproof.tables.metric_lines import (
    metric_lines,
    threshold_lines,
    verdict_lines,
)
from gameproof.tables.open_training import as_rows_or_files
from gameproof.tables.table import Table

RADII_SHOWN = (0.0, 0.02, 0.04, 0.1, 0.2, 0.3)


@final
@dataclass(frozen=True, eq=False, repr=False)
class TableAudit:
    """The audit of a model on a table, which `audit_table` returns.

    Printed, it is what ``gameproof audit`` prints.

    Attributes
    ----------
    model : ModelInUse
        The model and its name.
    table : Table
        The rows, or those of a sample if there are many.
    case : AuditCase
        What the audit is about: the target, budgets, and where they come from.
    audit : Audit
        The numbers.

    Examples
    --------
    >>> import gameproof as gp
    >>> people = {"savings": [0, 900, 5000, 6200] * 20, "repaid": ["no", "no", "yes", "yes"] * 20}
    >>> options = {"target": "repaid", "favourable": "yes", "budgets": {"savings": (0, 500)}}
    >>> model = gp.fit_table(people, radius=0.0, **options).model
    >>> gp.audit_table(model, people).audit.movable
    ('savings',)
    """

    model: ModelInUse
    table: Table
    case: AuditCase
    audit: Audit

    @property
    def description(self) -> str:
        """What the model decides, and who made it."""
        target = self.case.target
        aim = f"{quoted(target.name)} = {quoted(target.favourable)}"
        return f"{self.model.name}: {aim}, {self.case.kind}"

    @property
    def notes(self) -> list[str]:
        """What to keep in mind when the numbers are read."""
        return [*self.case.notes, *cautions(self.audit)]

    def lines(self, full: bool = False) -> list[str]:
        """The findings, line by line: what a decision needs, or with all tables if it is `full`."""
        found = self.audit
        powers = sorted({*POWERS_SHOWN, found.power})
        lines = [
            *verdict_lines(found),
            *self._setting_lines(),
            *(wrapped(f"note: {note}") for note in self.notes),
            *metric_lines(found, full),
            *(budget_lines(found) if full or not found.movable else gaming_lines(found)),
            *threshold_lines(found, full),
            *group_lines(found, full),
            *self._worst_case_lines(),
            *self._weak_spot_lines(),
            *self._refusal_lines(),
            *(scale_lines(found, powers) if full else []),
        ]
        if full and found.movable and found.power:
            lines.append(f"  gaming power to expect: {found.power:g}, {found.why_power}")
        return lines

    def _setting_lines(self) -> list[str]:
        found = self.audit
        budgets = found.budgets.by_column().items()
        free = "" if found.label_cost else "; favourable labels flip for free, at radius 0 too"
        return [
            self.description,
            f"movable, {found.why_budgets}:"
            if budgets
            else "nothing can be changed, so nobody games it",
            *(f"  {quoted(name)}: {budget}" for name, budget in budgets),
            f"label cost: {found.label_cost:g}, {found.why_label_cost}{free}",
        ]

    def _worst_case_lines(self) -> list[str]:
        found = self.audit
        accuracy = {row.radius: row.accuracy for row in found.shifts}
        if len(accuracy) < 2:  # not known for an average of several models
            return []
        radii = sorted({*RADII_SHOWN, found.radius or 0.0})
        own = f" (the model's own is {found.radius:.3g})" if found.radius else ""
        used = " after people used their budgets" if found.movable else ""
        return [
            f"worst-case accuracy by radius{own}{used}:",
            "  radius   " + "".join(f"{radius:>8.3g}" for radius in radii),
            "           " + "".join(f"{accuracy[radius]:8.3f}" for radius in radii),
        ]

    def _weak_spot_lines(self) -> list[str]:
        """One line for each movable column, the one that gains most first."""
        rows = self.audit.weaknesses
        if not rows:
            return []
        if self.audit.quality[-1].idle:
            return ["gaming gains nothing: no change within the budgets raises a score"]
        width = max(len(quoted(row.feature)) for row in rows)
        head = (
            "weak spots, the budget of each column alone: its share of the gain in score, the "
            "accuracy it costs, and the bad applicants it gets approved"
        )
        lines = [wrapped(head)]
        for row in rows:
            share, before = 100 * (row.share or 0.0), row.accepted_negative - row.gained
            lines.append(
                f"  {quoted(row.feature):{width}s} {share:5.0f}%  {row.loss:7.3f}   "
                f"from {before:.3f} to {row.accepted_negative:.3f}"
            )
        return lines

    def _refusal_lines(self) -> list[str]:
        """How many good and bad applicants are refused, and what it takes them to get accepted."""
        found, lines = self.audit, []
        good = f"good applicants ({quoted(self.case.target.favourable)})"
        for row in found.hurt:
            if row.group is not None or row.refused is None:
                continue
            whom = good if row.label > 0 else "bad applicants"
            line = f"{whom} refused: {as_percent(row.refused):.1f}%"
            if found.movable and row.refused and found.quality[-1].idle:
                line += "; no change within their budgets helps"
            elif found.movable and row.within is not None:
                line += (
                    f"; {as_percent(row.within):.1f}% of these get accepted within their budgets, "
                    f"half need {times_budgets(row.q50)}"
                )
            lines.append(wrapped(line))
        return lines

    def record(self) -> dict[str, Any]:
        """The audit as JSON holds it."""
        return {**self.audit.record(), "notes": self.notes}

    def write_page(self, path: str | Path, *, command: str = "") -> None:
        """Writes the audit as one HTML file with figures, which needs no network."""
        digests = {self.model.name: self.model.digest, self.table.source: self.table.digest}
        write_audit(
            path,
            self.audit,
            f"Audit of {self.model.short_name}",
            subtitle=self.description,
            command=command,
            data={name: digest for name, digest in digests.items() if digest},
            notes=self.case.notes,
        )

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        """The verdict, a table, and everything else on request, for notebooks."""
        return summary_html(self.audit, self.lines(full=True))


def audit_table(
    model: Any,
    table: Any,
    *,
    target: str | None = None,
    favourable: Any = None,
    rest: bool = False,
    budgets: Mapping[str, Any] | None = None,
    power: float | None = None,
    label_cost: float | None = None,
    groups: str | None = None,
    measure: str | None = None,
    cost_accept_bad: float = 1.0,
    cost_refuse_good: float = 1.0,
    engine: EngineName | None = None,
    scheduler: str | None = None,
    progress: bool | None = None,
) -> TableAudit:
    """Shows what gaming does to a model in use, on the rows of a table.

    This is what ``gameproof audit`` does. `audit` does the same on arrays.

    Parameters
    ----------
    model : path or TableModel
        A file that ``gameproof fit`` or skops wrote, or a model that `fit_table` or `load_model`
        returned.
    table : path, data frame or mapping
        A file, a directory, a pattern, a data frame or a mapping from column names to values, as in
        `fit_table`.
    target, favourable, rest, budgets : optional
        As in `fit_table`. A model of gameproof knows them; a model of scikit-learn does not.
    power, label_cost : float, optional
        By default what the model was fitted for, or else the defaults of `fit_table`.
    groups : str, optional
        A column of the table; everything is then also reported by its values.
    measure : {"accuracy", "balanced", "auc", "ks", "cost"}, optional
        The measure of the verdict, as in `fit_table`.
    cost_accept_bad, cost_refuse_good : float, default 1
        What a wrong decision costs, in any unit.
    engine : {"dask"}, optional
        Work on a Dask cluster.
    scheduler : str, optional
        The address of a Dask scheduler, as in `fit_table`.
    progress : bool, optional
        Report long steps on stderr. By default only on a terminal.

    Returns
    -------
    TableAudit
        The audit, notes, and a method to write a page. Printed, it is a summary.

    Raises
    ------
    DataError
        If the table cannot be read or used: the message names the column and the row.
    ModelFileError
        If the model cannot be read, or is not linear.
    ValueError
        If a setting is out of range, or a budget does not fit its column.
    ClusterError
        If the cluster cannot be reached, or is lost.

    Examples
    --------
    >>> import gameproof as gp
    >>> people = {"savings": [0, 900, 5000, 6200] * 20, "repaid": ["no", "no", "yes", "yes"] * 20}
    >>> options = {"target": "repaid", "favourable": "yes", "budgets": {"savings": (0, 500)}}
    >>> model = gp.fit_table(people, radius=0.0, **options).model
    >>> found = audit_table(model, people, budgets={"savings": (0, 6000)})
    >>> found.audit.at("model", 1.0).accuracy
    0.5
    """
    used = load_model_in_use(model)
    costs = (cost_accept_bad, cost_refuse_good)
    stated = Stated(target, favourable, rest, budgets, power, label_cost, groups)
    on_cluster = engine is not None or scheduler is not None
    given = as_rows_or_files(table, on_cluster=on_cluster)
    if isinstance(given, Table):
        case = table_case(used.model, given, stated)
        sampled = SampledCase(case, given, case.y.size, float((case.y > 0).mean()))
        return _audited(used, sampled, costs, measure, progress)
    with open_engine(engine, scheduler) as where:
        sampled = files_case(used.model, given, where, stated, progress)
        return _audited(used, sampled, costs, measure, progress)


def _audited(
    used: ModelInUse,
    sampled: SampledCase,
    costs: tuple[float, float],
    measure: str | None,
    progress: bool | None,
) -> TableAudit:
    case = sampled.case
    with step(f"auditing on {sampled.n:,} rows", progress):
        found = compare_models(
            {used.short_name: case.model},
            case.X,
            case.y if case.labels is None else case.labels,
            favourable=case.favourable,
            budgets=case.budgets.value,
            prepare=case.prepare,
            cost_accept_bad=costs[0],
            cost_refuse_good=costs[1],
            radii=[*RADII, case.radius or 0.0],
            label_cost=case.label_cost.value,
            power=case.power.value,
            scale=case.scale,
            groups=case.groups,
            measure=as_measure(measure or case.measure, sampled.good_share, *costs),
        )
        found = sampled.audited(found, used.short_name)
    found = replace(
        found,
        radius=case.radius,
        outcomes=case.target.outcomes,
        why_budgets=case.budgets.reason,
        why_power=case.power.reason,
        why_label_cost=case.label_cost.reason,
        learned_from=case.learned_from,
        grouped_by=case.grouped_by,
    )
    return TableAudit(used, sampled.table, case, found)
