"""Classifiers for Dask arrays and data frames.

They take the parameters of gameproof's classifiers, and `client`. `fit` works where the partitions
are, and certifies its result as on one machine. `predict` and the other methods that return one
value per row are lazy. `to_local` gives the ordinary classifier, for files, audits and single
machines.

    from gameproof.dask import RobustStrategicClassifier
    model = RobustStrategicClassifier(radius=0.05).fit(X, y)
    model.to_local().save("model.json")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from gameproof.core.arguments import shown
from gameproof.core.errors import ClusterError
from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.gamed_decisions import Who
from gameproof.estimators.logistic import (
    StrategicLogisticRegression as LocalStrategicLogisticRegression,
)
from gameproof.estimators.robust import RobustStrategicClassifier as LocalRobustStrategicClassifier
from gameproof.estimators.row_fit import fit_blocks
from gameproof.estimators.table_budgets import Budgets
from gameproof.rows.dask_source import DaskSource
from gameproof.rows.row_source import RawRows
from gameproof.strategic.responses import Response


class DaskClassifier(BaseStrategicClassifier):
    """What both classifiers share: collections in, lazy collections out."""

    local: ClassVar[type[BaseStrategicClassifier]]
    client: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fits the classifier to people before they respond.

        A fit that fails leaves the model unchanged.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame
            True features, before anyone moves. Sizes of partitions may be unknown.
        y : dask.array.Array or dask.dataframe.Series
            True classes, with the same partitions.
        sample_weight : dask.array.Array or dask.dataframe.Series, optional
            Sample weights.

        Returns
        -------
        self
            The fitted classifier.
        """
        blocks = _blocks(X, y, sample_weight)
        names = [str(name) for name in X.columns] if _is_frame(X) else None
        return fit_blocks(self, DaskSource(self._client(), blocks), X.shape[1], names)

    def to_local(self) -> Any:
        """The ordinary classifier with the same parameters and the same fit.

        Returns
        -------
        RobustStrategicClassifier or StrategicLogisticRegression
            A classifier for arrays and data frames in memory.
        """
        parameters = self.get_params(deep=False)
        del parameters["client"]
        found = self.local(**parameters)
        fitted = {name: value for name, value in self.__dict__.items() if name != "client"}
        found.__dict__.update(fitted)
        return found

    def decision_function(self, X: Any) -> Any:
        """Scores of reported features; lazy if X is a Dask collection."""
        return self._lazily("decision_function", X, np.float64)

    def predict(self, X: Any) -> Any:
        """Classes of reported features; lazy if X is a Dask collection."""
        return self._lazily("predict", X, self._fitted().classes_.dtype)

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of both classes, uncalibrated; lazy if X is a Dask collection."""
        return self._lazily("predict_proba", X, np.float64, columns=2)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of `predict_proba`; lazy if X is a Dask collection."""
        return self._lazily("predict_log_proba", X, np.float64, columns=2)

    def gamed_decisions(self, X: Any, *, multiple: float = 1.0) -> Any:
        """The class that each person can get; lazy if X is a Dask collection."""
        dtype = self._fitted().classes_.dtype
        return self._lazily("gamed_decisions", X, dtype, multiple=multiple)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy on reported features."""
        return self._share("score", X, y, sample_weight)

    def gamed_score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        multiple: float = 1.0,
        who: Who = "unfavourable",
    ) -> float:
        """Accuracy after people have gamed the classifier; see the ordinary classifier."""
        return self._share("gamed_score", X, y, sample_weight, multiple=multiple, who=who)

    def save(self, path: str | Path, *, command: str | None = None) -> None:
        """Writes the model to a text file; `load_model` then gives the ordinary classifier."""
        self._fitted().save(path, command=command)

    def _client(self) -> Any:
        """The client: the given one, or the default one of Dask."""
        from distributed import default_client

        if self.client is not None:
            return self.client
        try:
            return default_client()
        except ValueError as error:
            raise ClusterError(
                "there is no Dask cluster: start one with dask.distributed.Client(), or give "
                "client=Client(address)"
            ) from error

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.to_local()

    def _lazily(self, method: str, X: Any, dtype: Any, columns: int = 0, **options: Any) -> Any:
        """A method of the ordinary classifier on each partition."""
        local = self._fitted()
        if _is_frame(X):
            shape = (0, columns) if columns else (0,)
            meta = np.empty(shape, dtype=dtype)
            return X.map_partitions(_applied, local, method, options, meta=meta)
        if not _is_array(X):
            return getattr(local, method)(X, **options)
        rows = _whole_rows(X)
        chunks = {"chunks": (rows.chunks[0], (columns,))} if columns else {"drop_axis": 1}
        return rows.map_blocks(_applied, local, method, options, dtype=dtype, **chunks)

    def _share(self, method: str, X: Any, y: Any, sample_weight: Any, **options: Any) -> float:
        """A share of rows, by weight, that a method of the ordinary classifier computes."""
        local = self._fitted()
        if not (_is_frame(X) or _is_array(X)):
            found: float = getattr(local, method)(X, y, sample_weight, **options)
            return found
        source = DaskSource(self._client(), _blocks(X, y, sample_weight))
        parts = list(source.map(_weighted_share, local, method, options))
        return float(sum(good for good, _ in parts) / sum(mass for _, mass in parts))

    def __getstate__(self) -> Any:
        """A client belongs to its process, and is never copied."""
        state = super().__getstate__()
        return {**state, "client": None}

    def __sklearn_clone__(self) -> Any:
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        copies = {name: clone(value, safe=False) for name, value in parameters.items()}
        return type(self)(**{**copies, "client": client})


@final
class RobustStrategicClassifier(DaskClassifier):
    """`gameproof.RobustStrategicClassifier` for Dask arrays and data frames.

    Parameters
    ----------
    radius, label_cost, response, features, budgets, prepare, power, favourable, class_weight, \
standardise, fit_intercept, bound
        As for `gameproof.RobustStrategicClassifier`. The response must be known and the same for
        all rows. `prepare` is `Prepare`, or a fitted transformer inside scikit-learn's
        `FrozenEstimator`. A default budget comes from a sample of 100,000 rows.
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
        radius: float = 0.05,
        label_cost: float = 0.5,
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

    @property
    def _ball(self) -> tuple[float, float]:
        return self.radius, self.label_cost


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
        budgets: Mapping[int | str, Any] | Sequence[int | str] | Budgets | None = None,
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

    @property
    def _ball(self) -> tuple[float, float]:
        return 0.0, float("inf")


def _is_frame(X: Any) -> bool:
    return hasattr(X, "to_delayed") and hasattr(X, "columns")


def _is_array(X: Any) -> bool:
    return hasattr(X, "to_delayed") and hasattr(X, "chunks")


def _whole_rows(X: Any) -> Any:
    """A two-dimensional array whose chunks have all columns."""
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def _blocks(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """One delayed `RawRows` per partition."""
    from dask.delayed import delayed

    if not (_is_frame(X) or (_is_array(X) and X.ndim == 2)):
        raise TypeError(
            f"X must be a Dask data frame or a Dask array with two axes, got {shown(X)}; for a "
            "table in memory, use the classifiers of gameproof itself"
        )
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        wrong = not hasattr(given, "to_delayed") or given.ndim != 1
        if wrong and not (given is None and name == "sample_weight"):
            raise TypeError(f"{name} must be a Dask series or vector, got {shown(given)}")
    read = delayed(_raw, pure=False)
    table = X if _is_frame(X) else _whole_rows(X)
    parts = [_partitions(table)]
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is None:
            parts.append(np.full(len(parts[0]), None))
            continue
        own = _partitions(_like(table, given))
        if len(own) != len(parts[0]):
            raise ValueError(
                f"X has {len(parts[0])} partitions and {name} has {len(own)}; give both the same "
                "partitions, for example from one data frame"
            )
        parts.append(own)
    numbered = enumerate(zip(*parts, strict=True))
    return [read(*each, f"partition {k}") for k, each in numbered]


def _partitions(collection: Any) -> Any:
    """The delayed partitions of a collection.

    Optimised, Dask may read fewer and larger partitions if few columns are needed, so that a frame
    and a series of the same files would end up with different partitions."""
    return np.ravel(collection.to_delayed(optimize_graph=False))


def _like(table: Any, given: Any) -> Any:
    """A vector with the chunks of the table, if their sizes are known."""
    if not (_is_array(table) and _is_array(given)):
        return given
    sizes = table.chunks[0]
    if given.chunks[0] == sizes or any(np.isnan([*sizes, *given.chunks[0]])):
        return given
    return given.rechunk((sizes,))


def _raw(X: Any, y: Any, weights: Any, name: str) -> RawRows:
    own = None if weights is None else np.asarray(weights, dtype=np.float64)
    return RawRows(X, np.asarray(y), own, name)


def _applied(part: Any, local: Any, method: str, options: dict[str, Any]) -> Any:
    if not len(part):
        shape = (0, 2) if "proba" in method else (0,)
        classes = method in ("predict", "gamed_decisions")
        return np.empty(shape, dtype=local.classes_.dtype if classes else np.float64)
    return getattr(local, method)(part, **options)


def _weighted_share(
    raw: RawRows, local: Any, method: str, options: dict[str, Any]
) -> tuple[float, float]:
    """The weight of the rows that count, and of all rows, of a partition."""
    weights = np.ones(len(raw.y)) if raw.weights is None else raw.weights
    mass = float(weights.sum())
    if not mass:
        return 0.0, 0.0
    return mass * float(getattr(local, method)(raw.X, raw.y, weights, **options)), mass
