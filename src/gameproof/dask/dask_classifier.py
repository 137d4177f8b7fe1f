"""`DaskClassifier`: collections in, lazy collections out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.choosing_classifier import ChoosingClassifier
from gameproof.estimators.gamed_decisions import Who
from gameproof.estimators.row_fit import fit_blocks
from gameproof.rows.dask_partitions import (
    collection_names,
    is_array_collection,
    is_frame_collection,
    partition_blocks,
    whole_rows,
)
from gameproof.rows.dask_source import DaskSource, client_or_default
from gameproof.rows.row_source import RawRows


class DaskClassifier(BaseStrategicClassifier):
    """What both classifiers share: collections in, lazy collections out."""

    local: ClassVar[type[ChoosingClassifier]]
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
        source = self._source(X, y, sample_weight)
        fitted = fit_blocks(self.to_local(), source, X.shape[1], collection_names(X))
        self.__dict__.update(fitted.__dict__)
        return self

    def to_local(self) -> Any:
        """The ordinary classifier with the same parameters and the same fit.

        Returns
        -------
        RobustStrategicClassifier or StrategicLogisticRegression
            A classifier for arrays and data frames in memory.
        """
        parameters = self.get_params(deep=False)
        del parameters["client"]
        found: Any = self.local(**parameters)
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

    @property
    def _ball(self) -> tuple[float, float]:
        ball: tuple[float, float] = self.to_local()._ball
        return ball

    def _source(self, X: Any, y: Any, sample_weight: Any) -> DaskSource:
        blocks = partition_blocks(X, y, sample_weight)
        return DaskSource(client_or_default(self.client), blocks)

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.to_local()

    def _lazily(self, method: str, X: Any, dtype: Any, columns: int = 0, **options: Any) -> Any:
        """A method of the ordinary classifier on each partition."""
        local = self._fitted()
        if is_frame_collection(X):
            shape = (0, columns) if columns else (0,)
            meta = np.empty(shape, dtype=dtype)
            return X.map_partitions(_applied, local, method, options, meta=meta)
        if not is_array_collection(X):
            return getattr(local, method)(X, **options)
        rows = whole_rows(X)
        chunks = {"chunks": (rows.chunks[0], (columns,))} if columns else {"drop_axis": 1}
        return rows.map_blocks(_applied, local, method, options, dtype=dtype, **chunks)

    def _share(self, method: str, X: Any, y: Any, sample_weight: Any, **options: Any) -> float:
        """A share of rows, by weight, that a method of the ordinary classifier computes."""
        local = self._fitted()
        if not (is_frame_collection(X) or is_array_collection(X)):
            found: float = getattr(local, method)(X, y, sample_weight, **options)
            return found
        source = self._source(X, y, sample_weight)
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
