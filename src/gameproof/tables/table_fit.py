"""`TableFit`: what `fit_table` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, final

import numpy as np

from gameproof.auditing.accuracy_section import cautions
from gameproof.auditing.audit_result import Audit
from gameproof.auditing.audit_summary import summary_html
from gameproof.estimators.radius_curve import RadiusCurve
from gameproof.tables.audit_lines import (
    budget_lines,
    gaming_lines,
    scale_lines,
    worst_lines,
    wrapped,
)
from gameproof.tables.classifiers_page import write_classifiers_page
from gameproof.tables.group_lines import group_lines
from gameproof.tables.metric_lines import (
    metric_lines,
    threshold_lines,
    verdict_lines,
)
from gameproof.tables.setting_lines import MORE_ROWS, setting_lines
from gameproof.tables.table_model import TableModel
from gameproof.tables.three_classifiers import ROBUST, ThreeClassifiers
from gameproof.tables.training_table import TrainingTable


@final
@dataclass(frozen=True, eq=False, repr=False)
class TableFit:
    """A robust classifier and two baselines, fitted to a table and evaluated under gaming.

    Printed, it is the summary that ``gameproof fit`` prints; ``lines(full=True)`` has all tables.

    Parameters
    ----------
    training : TrainingTable
        The labelled rows, how their columns are used, and the budgets.
    classifiers : ThreeClassifiers
        The fitted classifiers and their split into training and test rows.
    audit : Audit
        Accuracy, approvals and costs of all three classifiers on the test rows.

    Examples
    --------
    >>> import gameproof as gp
    >>> from gameproof.tables.made_up_people import made_up_people
    >>> budgets = {"savings": (0, 5000)}
    >>> fit = gp.fit_table(
    ...     made_up_people(300), target="repaid", favourable="yes", budgets=budgets, radius=0.05
    ... )
    >>> sorted(fit.models), fit.radius, fit.radius_reason
    (['logistic', 'robust', 'strategic'], 0.05, 'as given')
    >>> print(fit.verdict[:4], fit.training.lines()[0])
    Use  the table: 300 rows, 11 columns
    """

    training: TrainingTable
    classifiers: ThreeClassifiers
    audit: Audit

    @property
    def radius(self) -> float:
        """The radius of the robust classifier."""
        return self.classifiers.radius

    @property
    def radius_reason(self) -> str:
        """Why this radius."""
        return self.classifiers.radius_reason

    @property
    def radius_curve(self) -> RadiusCurve | None:
        """Cross-validated accuracy over radii; None if the radius was given."""
        return self.classifiers.radius_curve

    @cached_property
    def notes(self) -> list[str]:
        """What to keep in mind when the numbers are read."""
        return [*self.classifiers.notes, *cautions(self.audit, MORE_ROWS)]

    @cached_property
    def models(self) -> Mapping[str, TableModel]:
        """The models by name: "logistic", "strategic" and "robust". Each takes whole tables."""
        plan, prepare = self.training.plan, self.classifiers.prepare
        return {
            name: TableModel(
                plan,
                prepare,
                classifier,
                {**self.record(), "model": name},
                self.training.budgets,
                self.classifiers.calibrations[name],
                self.classifiers.cuts[name],
            )
            for name, classifier in self.classifiers.models.items()
        }

    @property
    def model(self) -> TableModel:
        """The robust model."""
        return self.models[ROBUST]

    @property
    def recommended(self) -> TableModel | None:
        """The model that the verdict recommends; None if it says that none should be used."""
        name = self.audit.verdict.model
        return None if name is None else self.models[name]

    @property
    def verdict(self) -> str:
        """Which model to use, or that none should be used, in a sentence."""
        return self.audit.verdict.sentence

    @property
    def accuracy(self) -> dict[str, dict[str, float]]:
        """Test accuracy of each model: "clean", "gamed" and "worst_case".

        Clean: nobody moves. Gamed: applicants who should be refused use their budgets. Worst case:
        in addition, the data is inaccurate by up to the radius.
        """
        return {
            name: {case: row.accuracy for case, row in self._cases(name).items()}
            for name in self.audit.models
        }

    @property
    def intervals(self) -> dict[str, dict[str, tuple[float, float]]]:
        """95 % intervals of `accuracy`."""
        return {
            name: {case: (row.low, row.high) for case, row in self._cases(name).items()}
            for name in self.audit.models
        }

    def _cases(self, name: str) -> dict[str, Any]:
        audit = self.audit
        (worst,) = [row for row in audit.of(audit.shifts, name) if row.radius == self.radius]
        gamed = audit.at(name, 1.0 if audit.movable else 0.0)
        return {"clean": audit.at(name, 0.0), "gamed": gamed, "worst_case": worst}

    def with_curves(self) -> TableFit:
        """This fit, with an audit over grids of powers and radii, as a page draws them."""
        return replace(self, audit=self.classifiers.audit_with_curves)

    def evaluation(self) -> dict[str, Any]:
        """The fit and its evaluation as JSON holds them, without the table's columns."""
        classifiers = self.classifiers
        return {
            "rows_trained": classifiers.split.n_train,
            "rows_tested": classifiers.split.n_test,
            "rows_for_choice": classifiers.rows_for_choice,
            "seed": classifiers.settings.seed,
            "verdict": self.audit.verdict.record(),
            "measure": classifiers.measure.name,
            "balanced": classifiers.balanced,
            "base_rate": classifiers.split.good_share,
            "thresholds": {
                name: float(classifiers.calibrations[name].probability(np.array([cut]))[0])
                for name, cut in classifiers.cuts.items()
            },
            "train_for": classifiers.train_for,
            "split_by": self.training.split_by,
            "quartiles": self.training.quartiles,
            "power": classifiers.settings.power,
            "label_cost": classifiers.settings.label_cost,
            "radius": self.radius,
            "why_this_radius": self.radius_reason,
            "worst_case_risk": classifiers.models[ROBUST].worst_case_risk_,
            "accuracy": self.accuracy,
            "intervals": self.intervals,
            "notes": self.notes,
        }

    def record(self) -> dict[str, Any]:
        """The table's columns, the fit and its evaluation, as JSON holds them."""
        return {**self.training.record(), **self.evaluation()}

    def save(self, path: str | Path, *, model: str = ROBUST, command: str = "") -> None:
        """Writes a model to a file that `load_model` reads.

        Parameters
        ----------
        path : str or Path
            The file.
        model : {"robust", "strategic", "logistic"}, optional
            Which of the models, by default the robust one.
        command : str, optional
            What the user typed, to be stored with the model.
        """
        if model not in self.models:
            raise ValueError(f"model must be one of {', '.join(self.models)}, got {model!r}")
        chosen = self.models[model]
        made_by = {"command": command} if command else {}
        replace(chosen, training={**chosen.training, **made_by}).save(path)

    def write_page(self, path: str | Path, *, command: str = "") -> None:
        """Writes the evaluation as one HTML file with figures, which needs no network."""
        shown = (
            "measure",
            "balanced",
            "train_for",
            "radius",
            "why_this_radius",
            "label_cost",
            "rows_trained",
            "rows_tested",
            *(["rows_for_choice"] if self.classifiers.rows_for_choice else []),
        )
        evaluation = self.evaluation()
        settings = {name: evaluation[name] for name in shown}
        audit = self.classifiers.audit_with_curves
        notes = self.classifiers.notes
        write_classifiers_page(
            path, audit, self.training, self.classifiers, settings, command, notes
        )

    def lines(self, full: bool = False) -> list[str]:
        """The summary, line by line: what a decision needs, or with all tables if it is `full`."""
        classifiers, audit = self.classifiers, self.audit
        lines = [
            *verdict_lines(audit),
            *self.training.lines(),
            *setting_lines(self.training, classifiers),
            *(wrapped(f"note: {note}") for note in self.notes),
            *metric_lines(audit, full),
            *(budget_lines(audit) if full or not audit.movable else gaming_lines(audit)),
            *threshold_lines(audit, full),
            *group_lines(audit, full),
            *worst_lines(audit, self.radius),
        ]
        if full:
            risk = classifiers.models[ROBUST].worst_case_risk_
            lines += scale_lines(audit, [audit.power], self.radius)
            lines.append(f"  worst-case log loss on the training rows: {risk:.4f}")
        return lines

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        """The verdict, a table, and everything else on request, for notebooks."""
        return summary_html(self.audit, self.lines(full=True))
