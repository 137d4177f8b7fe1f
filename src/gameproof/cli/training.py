"""The three classifiers side by side on one split of a table: logistic regression, strategic
regression (the paper's response, by power), and the robust classifier, trained for the budgets."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, final

from gameproof.cli.audit_input import outcomes
from gameproof.cli.console import Console
from gameproof.cli.options import GIVEN, number, whole
from gameproof.cli.results import add_costs

if TYPE_CHECKING:
    from gameproof.auditing.audit_result import Audit
    from gameproof.cli.table_options import People
    from gameproof.estimators.prepare import Prepare
    from gameproof.estimators.select_radius import RadiusCurve
    from gameproof.estimators.table_budgets import Budgets
    from gameproof.tables.dataset import Dataset

LOGISTIC, STRATEGIC, ROBUST = "logistic", "strategic", "robust"
# More rows than these hardly change which radius is chosen, and each is fitted dozens of times.
ROWS_FOR_RADIUS = 5000


def add_training(parser: argparse.ArgumentParser) -> None:
    """How to fit, and on which part of the table."""
    parser.add_argument(
        "--radius",
        type=radius,
        default="auto",
        metavar="R",
        help="how inaccurate the data may be, in standard deviations; auto chooses (%(default)s)",
    )
    parser.add_argument(
        "--label-cost",
        type=number(0, infinite=True),
        default=0.5,
        metavar="K",
        help="what it costs to flip a favourable label; inf if labels are sure (%(default)s)",
    )
    parser.add_argument(
        "--power",
        type=number(0),
        default=0.05,
        metavar="Z",
        help="how far people move for a higher score, for the strategic classifier and for the "
        "secondary numbers (%(default)s)",
    )
    parser.add_argument(
        "--test",
        type=number(0, 1, open_ends=True),
        default=0.2,
        metavar="SHARE",
        help="the share of rows to test on (%(default)s)",
    )
    parser.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of the split (0)")
    add_costs(parser)


def radius(text: str) -> float | str:
    """A number, or auto."""
    if text == "auto":
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of at least 0, or auto, got {text!r}")
    return number


@final
@dataclass(frozen=True)
class Trained:
    """Three fitted classifiers on one preparation, and what they were fitted to and tested on."""

    prepare: Prepare
    models: Mapping[str, Any]
    train: Dataset
    test: Dataset
    radius: float
    why: str
    curve: RadiusCurve | None
    outcomes: tuple[str, str]
    budgets: Budgets
    notes: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The columns that the classifiers see."""
        return [str(name) for name in self.prepare.get_feature_names_out()]

    def audit(
        self, options: argparse.Namespace, powers: Sequence[float], radii: Sequence[float]
    ) -> Audit:
        """The rows of all three on the test part, in the units of the fit."""
        from gameproof.auditing.audit import compare_models
        from gameproof.auditing.linear_model import LinearModel

        lines = [
            LinearModel(model.coef_[0], float(model.intercept_[0]), self.names, name)
            for name, model in self.models.items()
        ]
        found = compare_models(
            lines,
            self.test.X,
            self.test.y,
            budgets=self.budgets,
            prepare=self.prepare,
            cost_accept_bad=options.cost_accept_bad,
            cost_refuse_good=options.cost_refuse_good,
            powers=powers,
            radii=[*radii, self.radius],
            label_cost=options.label_cost,
            power=options.power,
            scale=self.models[ROBUST].units_.scale,
        )
        return replace(found, radius=self.radius, outcomes=self.outcomes)


def split(data: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset]:
    """Rows to learn from and rows to test on, the classes in the same shares."""
    n_test = min(max(round(share * len(data)), 2), len(data) - 2)
    train, test = data.split(len(data) - n_test, seed=seed)
    for part, what in ((train, "learn from"), (test, "test on")):
        if not (part.y > 0).any() or not (part.y < 0).any():
            raise ValueError(
                f"with --test {share:g} the rows to {what} have one class only; give more rows, or "
                "another share"
            )
    return train, test


def trained(
    people: People,
    options: argparse.Namespace,
    console: Console,
    *,
    seed: int | None = None,
    radius: float | None = None,
) -> Trained:
    """Splits, prepares, chooses the radius and fits the three; `seed` and `radius` stand in for
    those of the options."""
    from gameproof.auditing.number_format import listed
    from gameproof.estimators.logistic import StrategicLogisticRegression
    from gameproof.estimators.prepare import Prepare
    from gameproof.estimators.robust import RobustStrategicClassifier

    own = options.seed if seed is None else seed
    train, test = split(people.data, options.test, own)
    prepare = Prepare(people.plan.features).fit(train.X)
    X, y = train.X, train.y
    numbers = {people.data.features.names[at] for at in people.budgets.ranges}
    features = [k for k, owner in enumerate(prepare.owners_) if owner in numbers]
    robust = RobustStrategicClassifier(
        label_cost=options.label_cost,
        budgets=people.budgets,
        prepare=Prepare(people.plan.features),
    )
    notes: dict[str, list[str]] = {}
    with collected(notes, "choice of the radius"):
        given = options.radius if radius is None else radius
        chosen, why, curve = given, GIVEN, None
        if given == "auto":
            curve = _curve(X, y, robust, own, console)
            chosen, why = curve.recommended, " ".join(filter(None, (curve.reason, curve.note)))
    models = {
        LOGISTIC: StrategicLogisticRegression(features=features, power=0.0),
        STRATEGIC: StrategicLogisticRegression(features=features, power=options.power),
        ROBUST: robust.set_params(radius=chosen),
    }
    for name, model in models.items():
        step = console.step(f"fitting the {name} classifier to {len(train):,} rows")
        with step, collected(notes, name):
            model.fit(X if name == ROBUST else prepare.transform(X), y)
    told = [f"{listed(about)}: {text}" for text, about in notes.items()]
    named = outcomes(people.plan.target)
    made = robust.prepare_
    return Trained(made, models, train, test, chosen, why, curve, named, people.budgets, told)


def _curve(X: Any, y: Any, robust: Any, seed: int, console: Console) -> RadiusCurve:
    """What each radius would do, and which is recommended."""
    import numpy as np

    from gameproof.estimators.select_radius import select_radius

    rows = np.arange(y.size)
    if y.size > ROWS_FOR_RADIUS:
        rows = np.random.default_rng(seed).permutation(y.size)[:ROWS_FOR_RADIUS]
    # Every fold needs some of both classes.
    folds = max(2, min(5, int((y[rows] > 0).sum()), int((y[rows] < 0).sum())))
    with console.step(f"choosing the radius on {rows.size:,} rows"):
        return select_radius(X[rows], y[rows], robust, folds=folds, seed=seed)


@contextmanager
def collected(notes: dict[str, list[str]], about: str) -> Iterator[None]:
    """Warnings as notes, each once with all that it is about."""
    from gameproof.core.errors import BudgetWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if issubclass(
            warning.category, (DeprecationWarning, PendingDeprecationWarning, FutureWarning)
        ):
            continue  # for programmers
        if issubclass(warning.category, BudgetWarning):
            continue  # the audit has the same note
        text = " ".join(str(warning.message).split())
        text = text.removesuffix(", or give a larger bound")  # no option of the command
        if about != ROBUST:
            text = text.removesuffix("; a larger radius keeps it finite as well")  # it has none
        text = text.replace("a larger radius keeps", "a larger --radius keeps")
        known = notes.setdefault(text, [])
        if about not in known:
            known.append(about)
