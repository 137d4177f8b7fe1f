"""`StrategicLogisticRegression`: for people who answer, with nothing robust about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from numpy.typing import ArrayLike

from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.table_budgets import Budgets
from gameproof.minmax.solver import Solver
from gameproof.strategic.responses import Response


@final
class StrategicLogisticRegression(BaseStrategicClassifier):
    """Minimises the mean of log(1 + exp(-y <b(theta), theta>)), the logistic loss at what people
    report: the robust classifier with radius 0 and labels that stay.

    Parameters and attributes are those of `RobustStrategicClassifier`, without radius and label
    cost. With ``response=NoResponse()`` it is plain logistic regression without a penalty.
    ``worst_case_risk_`` is then the mean loss itself.

    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> model = gp.StrategicLogisticRegression(power=0.1, features=[0, 1]).fit(X, y)
    >>> round(model.score(X, y), 2), round(model.gamed_score(X, y), 2)
    (0.86, 0.85)
    """

    def __init__(
        self,
        response: Response | None = None,
        features: Sequence[int | str] | None = None,
        *,
        budgets: Mapping[int | str, Any] | Sequence[int | str] | Budgets | None = None,
        prepare: Any = None,
        power: float | ArrayLike | None = None,
        favourable: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        standardise: bool = True,
        fit_intercept: bool = True,
        bound: float = 20.0,
        solver: Solver | str | None = None,
        queries: int | None = None,
        epochs: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.response = response
        self.features = features
        self.budgets = budgets
        self.prepare = prepare
        self.power = power
        self.favourable = favourable
        self.class_weight = class_weight
        self.standardise = standardise
        self.fit_intercept = fit_intercept
        self.bound = bound
        self.solver = solver
        self.queries = queries
        self.epochs = epochs
        self.warm_start = warm_start
        self.random_state = random_state

    @property
    def _ball(self) -> tuple[float, float]:
        return 0.0, float("inf")
