"""`LinearModel`: a linear classifier in the units of the table that it decides about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from gameproof.core.arguments import Matrix, Vector, as_numbers, as_vector, require_finite
from gameproof.core.naming import quoted_list
from gameproof.estimators.features import default_names
from gameproof.estimators.probability_calibration import LOGISTIC, Calibration


@final
@dataclass(frozen=True, eq=False)
class LinearModel:
    """A linear classifier that accepts people with a positive score <x, theta> + intercept.

    Parameters
    ----------
    theta : array-like of shape (n_features,)
        Coefficients in the units of the table.
    intercept : float, optional
        The intercept.
    feature_names : sequence of str, optional
        Names of the features, by default x0, x1, …
    name : str, optional
        The name of the model in tables and charts.
    calibration : Calibration, optional
        How scores become probabilities, by default as in logistic regression. None if the model
        has no probabilities.

    Raises
    ------
    ValueError
        If a number is not finite, or the names do not fit the coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> import gameproof as gp
    >>> gp.LinearModel([1.0, -2.0], 0.5, ("income", "debt")).scores(np.array([[1.0, 0.0]]))
    array([1.5])
    """

    theta: ArrayLike
    intercept: float = 0.0
    feature_names: Sequence[str] | None = None
    name: str = "model"
    calibration: Calibration | None = LOGISTIC

    def __post_init__(self) -> None:
        theta = as_vector("theta", self.theta)
        object.__setattr__(self, "theta", theta)
        offset = as_numbers("intercept", self.intercept, "a number")
        require_finite("intercept", np.atleast_1d(offset))
        object.__setattr__(self, "intercept", float(offset))
        named = self.feature_names
        names = default_names(theta.size) if named is None else tuple(str(name) for name in named)
        if len(names) != theta.size:
            raise ValueError(
                f"feature_names has {len(names)} names, and theta has {theta.size} coefficients"
            )
        if len(set(names)) < len(names):
            raise ValueError(f"features must have different names, got {quoted_list(names)}")
        object.__setattr__(self, "feature_names", names)

    @property
    def coefficients(self) -> Vector:
        """`theta` as an array."""
        return np.asarray(self.theta, dtype=np.float64)

    @property
    def named(self) -> bool:
        """Whether the features have names other than x0, x1, …"""
        return self.names != default_names(len(self.names))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(self.feature_names or ())

    def scores(self, X: Matrix) -> Vector:
        """The score of each row."""
        found: Vector = X @ self.coefficients + self.intercept
        return found

    @classmethod
    def of(cls, estimator: Any, name: str | None = None, *, favourable: Any = None) -> LinearModel:
        """The linear model of a fitted scikit-learn classifier of two classes.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier with ``coef_`` and ``classes_``.
        name : str, optional
            The name of the model, by default the name of its class.
        favourable : label, optional
            The class that people want, by default the estimator's own or ``classes_[1]``.

        Returns
        -------
        LinearModel
            A model with positive scores for the favourable class.
        """
        called = type(estimator).__name__ if name is None else name
        if not (hasattr(estimator, "coef_") and hasattr(estimator, "classes_")):
            raise TypeError(
                f"an audit needs a LinearModel or a fitted linear classifier with coef_ and "
                f"classes_, got {estimator!r}"
            )
        coef = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
        classes = list(estimator.classes_)
        if len(classes) != 2 or coef.shape[0] != 1:
            raise ValueError(f"an audit needs a classifier of two classes, got {classes}")
        if favourable is not None and favourable not in classes:
            raise ValueError(f"favourable must be one of {classes}, got {favourable!r}")
        wanted = getattr(estimator, "favourable", None) if favourable is None else favourable
        sign = -1.0 if wanted is not None and wanted == classes[0] else 1.0
        offset = float(np.ravel(getattr(estimator, "intercept_", 0.0))[0])
        names = getattr(estimator, "feature_names_in_", None)
        if getattr(estimator, "prepare_", None) is not None:
            names = estimator.coef_names_
        calibration = LOGISTIC if hasattr(estimator, "predict_proba") else None
        return cls(sign * coef[0], sign * offset, names, called, calibration)
