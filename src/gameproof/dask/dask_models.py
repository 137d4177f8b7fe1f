"""The two classifiers for Dask collections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, final

from numpy.typing import ArrayLike

from gameproof.dask.dask_classifier import DaskClassifier
from gameproof.estimators.logistic import (
    StrategicLogisticRegression as LocalStrategicLogisticRegression,
)
from gameproof.estimators.robust import RobustStrategicClassifier as LocalRobustStrategicClassifier
from gameproof.estimators.table_budgets import Budgets
from gameproof.strategic.responses import Response


@final
class RobustStrategicClassifier(DaskClassifier):
    """`gameproof.RobustStrategicClassifier` for Dask arrays and data frames.

    Parameters
    ----------
    radius, label_cost, response, features, budgets, prepare, power, favourable, class_weight, \
standardise, fit_intercept, bound
        As for `gameproof.RobustStrategicClassifier`. The response must be known and the same for
        all rows. `prepare` is `Prepare`, or a fitted transformer inside scikit-learn's
        `FrozenEstimator`. Default budgets, and parameters that are "auto", come from a sample of
        100,000 rows.
    client : dask.distributed.Client, optional
        The cluster, by default Dask's default client. It is never pickled.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> import gameproof as gp
    >>> from gameproof.dask import RobustStrategicClassifier
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> with Client(processes=False, dashboard_address="127.0.0.1:0") as client:
    ...     X, y = da.from_array(X, chunks=(100, 4)), da.from_array(y, chunks=100)
    ...     model = RobustStrategicClassifier(features=[0, 1], client=client).fit(X, y)
    ...     round(model.score(X, y), 2)
    0.83
    """

    local = LocalRobustStrategicClassifier

    def __init__(
        self,
        radius: float | Literal["auto"] = 0.05,
        label_cost: float = 0.5,
        response: Response | None = None,
        features: Sequence[int | str] | None = None,
        *,
        budgets: Mapping[int | str, Any] | Sequence[int | str] | Budgets | str | None = None,
        prepare: Any = None,
        power: float | ArrayLike | None = None,
        favourable: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        standardise: bool = True,
        fit_intercept: bool = True,
        bound: float = 20.0,
        client: Any = None,
    ) -> None:
        super().__init__(
            response,
            features,
            budgets=budgets,
            prepare=prepare,
            power=power,
            favourable=favourable,
            class_weight=class_weight,
            standardise=standardise,
            fit_intercept=fit_intercept,
            bound=bound,
        )
        self.radius, self.label_cost, self.client = radius, label_cost, client


@final
class StrategicLogisticRegression(DaskClassifier):
    """`gameproof.StrategicLogisticRegression` for Dask arrays and data frames.

    Parameters
    ----------
    response, features, budgets, prepare, power, favourable, class_weight, standardise, \
fit_intercept, bound
        As for `gameproof.StrategicLogisticRegression`, with the restrictions of
        `RobustStrategicClassifier`.
    client : dask.distributed.Client, optional
        The cluster, by default Dask's default client. It is never pickled.
    """

    local = LocalStrategicLogisticRegression

    def __init__(
        self,
        response: Response | None = None,
        features: Sequence[int | str] | None = None,
        *,
        budgets: Mapping[int | str, Any] | Sequence[int | str] | Budgets | str | None = None,
        prepare: Any = None,
        power: float | ArrayLike | None = None,
        favourable: Any = None,
        class_weight: Mapping[Any, float] | str | None = None,
        standardise: bool = True,
        fit_intercept: bool = True,
        bound: float = 20.0,
        client: Any = None,
    ) -> None:
        super().__init__(
            response,
            features,
            budgets=budgets,
            prepare=prepare,
            power=power,
            favourable=favourable,
            class_weight=class_weight,
            standardise=standardise,
            fit_intercept=fit_intercept,
            bound=bound,
        )
        self.client = client
