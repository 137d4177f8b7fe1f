"""How three classifiers were fitted, as lines for a terminal."""

from __future__ import annotations

import numpy as np

from gameproof.auditing.number_format import percent
from gameproof.tables.audit_lines import wrapped
from gameproof.tables.defaults import GIVEN
from gameproof.tables.three_classifiers import ThreeClassifiers
from gameproof.tables.training_table import TrainingTable

MORE_ROWS = "more rows, or a larger test share (--test),"  # what narrows wide intervals


def setting_lines(
    training: TrainingTable, classifiers: ThreeClassifiers, splits: int = 1
) -> list[str]:
    """Training and test rows, the measure, class weights, thresholds, and the radius.

    Of several splits, these are the classifiers of the first one."""
    later = f" ({training.split_by})" if training.split_by else ""
    measure, settings = classifiers.measure, classifiers.settings
    split = classifiers.split
    share = split.good_share
    why = f"the rarer outcome has {percent(min(share, 1 - share))} of the rows"
    why = "as given" if settings.measure else why
    said = f"chosen and judged by {measure.spoken} ({why})"
    if classifiers.balanced:
        said += "; both outcomes count the same in the fit, and probabilities fit the base rate"
    elif measure.name == "cost":
        said += "; outcomes are weighted by their costs, and probabilities fit the base rate"
    at = {
        name: classifiers.calibrations[name].probability(np.array([cut]))[0]
        for name, cut in classifiers.cuts.items()
    }
    shown = ", ".join(f"{name} {value:.3f}" for name, value in at.items())
    how = "their own"
    if settings.threshold is not None:
        how = "as given"
    elif settings.approve is not None:
        how = f"to approve {settings.approve:.1%} of the training rows"
    each = f", in each of {splits} splits" if splits > 1 else ""
    first = " of the first split" if splits > 1 else ""
    lines = [
        f"trained on {split.n_train:,} rows, tested on {split.n_test:,}{later}{each}",
        *([_expectations(settings.power)] if training.budgets.columns else []),
        said,
        f"thresholds{first}, {how}: approve from a probability of {shown}",
    ]
    if n_chosen := classifiers.rows_for_choice:
        lines.append(f"settings were chosen on {n_chosen:,} training rows{first}")
    if (curve := classifiers.budget_curve) is not None:
        lines.append(f"budgets: {curve.reason}")
    elif classifiers.train_for != 1:
        lines.append(f"trained for {classifiers.train_for:g} times the budgets, as given")
    radius = _radius_line(classifiers.radius, classifiers.radius_reason)
    return [*(wrapped(line) for line in lines), radius]


def _expectations(power: float) -> str:
    """What each classifier expects of people."""
    return (
        f"logistic expects no gaming, strategic moves of power {power:g} whatever the budgets, "
        "robust is trained for the budgets"
    )


def _radius_line(radius: float, reason: str) -> str:
    """The radius and why it was chosen."""
    line = f"radius {radius:.3g}, as given" if reason == GIVEN else f"radius: {reason}"
    return wrapped(line, 96)
