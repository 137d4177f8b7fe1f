"""`gamed_scorer`: a scikit-learn scorer that lets people game the classifier first.

It works with every classifier that `read_classifier` takes: linear ones, also at the end of a
pipeline, in a search, or calibrated. Scores of people who move rise by what their budgets allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import as_number, shown
from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.gamed_decisions import Decisions, Who, require_who
from gameproof.estimators.gamed_rows import GamedRows
from gameproof.estimators.measures import ALIASES, MEASURES, Measure, as_measure
from gameproof.estimators.outcomes import Outcomes
from gameproof.estimators.read_classifier import read_classifier
from gameproof.estimators.sample_weight import as_weights
from gameproof.estimators.scored_rows import scored_rows


def gamed_scorer(
    budgets: Any = None,
    metric: str = "accuracy",
    *,
    multiple: float = 1.0,
    who: Who = "unfavourable",
    favourable: Any = None,
    cost_accept_bad: float = 1.0,
    cost_refuse_good: float = 1.0,
) -> GamedScorer:
    """Makes a scorer that applies a metric after people have gamed the classifier.

    It can be used wherever scikit-learn takes a scorer, as in `cross_val_score` and
    `GridSearchCV`, with any linear classifier of two classes or a pipeline that ends in one.

    Parameters
    ----------
    budgets : mapping, sequence or Budgets, optional
        What people can change in X, as in `RobustStrategicClassifier`. Default ranges are half a
        standard deviation of the scored rows. None uses the budgets, or the response, that a
        gameproof classifier was fitted for.
    metric : {"accuracy", "balanced_accuracy", "roc_auc", "ks", "cost"}, optional
        The metric. The cost enters with a minus sign, so that larger is better.
    multiple : float, optional
        The multiple of the budgets that people use.
    who : {"unfavourable", "refused"}, optional
        Who moves: everyone with the unfavourable label, or everyone who is refused.
    favourable : label, optional
        The class that people want, by default the classifier's own or ``classes_[1]``.
    cost_accept_bad, cost_refuse_good : float, optional
        What wrong decisions cost, for the metric "cost".

    Returns
    -------
    GamedScorer
        A callable with the arguments estimator, X, y and sample_weight.

    Raises
    ------
    ValueError
        If an argument is not among the allowed values.

    Examples
    --------
    >>> import gameproof as gp
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> model = LogisticRegression().fit(X, y)
    >>> round(model.score(X, y), 2), round(gp.gamed_scorer({2: (-1, 1)})(model, X, y), 2)
    (0.86, 0.59)
    """
    if metric not in (*MEASURES, *ALIASES):
        known = ", ".join((*MEASURES, *ALIASES))
        raise ValueError(f"metric must be one of {known}, got {shown(metric)}")
    nobody = np.empty(0, dtype=bool)  # a measure that is named does not depend on the labels
    measure = as_measure(metric, nobody, cost_accept_bad, cost_refuse_good)
    require_who(who)
    if not (np.isfinite(as_number("multiple", multiple)) and multiple >= 0):
        raise ValueError(f"multiple must be finite and at least 0, got {multiple}")
    return GamedScorer(budgets, measure, multiple, who, favourable)


@final
@dataclass(frozen=True)
class GamedScorer:
    """The scorer that `gamed_scorer` returns; call it with a fitted classifier, X and y."""

    budgets: Any
    measure: Measure
    multiple: float
    who: str
    favourable: Any

    def __call__(
        self, estimator: Any, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        weights = None if sample_weight is None else as_weights(sample_weight, np.asarray(y))
        model = _best_estimator(estimator)
        read = read_classifier(model)
        own = model.outcomes_.favourable if isinstance(model, BaseStrategicClassifier) else None
        wanted = own if self.favourable is None else self.favourable
        outcomes = Outcomes.learned(read.classes, wanted)
        signs, towards = outcomes.signs(np.asarray(y)), outcomes.towards
        if self.budgets is None:
            own = _own_rows(model, X)
            moving = Decisions(signs, own.scores, towards).moving(self.who)
            gamed = own.gamed_scores(moving, self.multiple)
        else:
            rows = scored_rows(read, X, towards)
            moving = Decisions(signs, towards * rows.scores, towards).moving(self.who)
            budgets = rows.budgets(self.budgets, weights).times(self.multiple)
            gamed = towards * (rows.scores + np.where(moving, rows.gains(budgets), 0.0))
        return Decisions(signs, gamed, towards).measured(self.measure, weights)


def _own_rows(model: Any, X: ArrayLike) -> GamedRows:
    """The rows for a classifier that knows how people move."""
    if not isinstance(model, BaseStrategicClassifier):
        raise ValueError(
            f"gamed_scorer needs budgets for a {type(model).__name__}, such as "
            "gamed_scorer({'savings': (0, 5000)})"
        )
    return GamedRows.of(model, X)


def _best_estimator(estimator: Any) -> Any:
    """The model that a search has chosen, or the estimator itself."""
    while hasattr(estimator, "best_estimator_"):
        estimator = estimator.best_estimator_
    return estimator
