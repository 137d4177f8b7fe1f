"""`RobustStrategicClassifier`: for people who adapt to it, and data that may be inaccurate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, final

from numpy.typing import ArrayLike

from gameproof.estimators.choosing_classifier import ChoosingClassifier
from gameproof.estimators.folds import is_auto
from gameproof.estimators.table_budgets import Budgets
from gameproof.minmax.solver import Solver
from gameproof.strategic.responses import Response


@final
class RobustStrategicClassifier(ChoosingClassifier):
    """A classifier for people who adapt to it and for data that may be inaccurate.

    It minimises the worst-case logistic risk: people respond to the classifier, then an adversary
    moves the reported features by `radius` on average and flips favourable labels at a cost.

    Fit it on people as they are, with features and labels from before anyone responds. Use it on
    what people report: `predict` and `decision_function` expect reported features, as in
    deployment.

    Parameters
    ----------
    radius : float or "auto", default=0.05
        How far the adversary may move people on average, in standard deviations. "auto" chooses it
        as `select_radius` does, on at most 5,000 rows.
    label_cost : float, default=0.5
        Half the price of flipping a label, in the same unit; infinite for labels that are certain.
    response : Response, optional
        How people respond if there are no budgets. By default `QuadraticCost` with `power` on
        `features`. Costs are in the units of the fit (standard deviations). A `BlackBox`, and a
        response that modifies one, uses the units of X, or of the columns that `prepare` makes; its
        theta points towards the favourable class.
    features : sequence of int or str, optional
        Columns that people can move under a response without features of its own, by name or
        position. By default all columns.
    budgets : mapping, sequence, Budgets or "auto", optional
        What people can change, in the units of X, keyed by column name or position:
        ``{"savings": (0, 5000), "utilisation": (-0.2, 0), "job": ["retired"]}``. A pair is the
        lowest and highest change of a number; a list holds the levels of a category that people
        can claim. None instead of a pair, or a list of columns instead of a mapping, means half a
        standard deviation of the training rows in either direction. "auto" means this for all
        columns, or for those in `features`, and trains for the multiple that `select_budget`
        recommends on at most 5,000 rows.
    prepare : transformer, optional
        A transformer that `fit` fits to X, such as `Prepare` or one of scikit-learn's. With
        budgets it must map columns one to one and increase in each column, as StandardScaler,
        QuantileTransformer and FunctionTransformer(np.log1p) do.
    power : float or array-like of shape (n_samples,), optional
        The power of the default response, 0.05 by default.
    favourable : label, optional
        The class that people want, by default ``classes_[1]``. People of the other class move.
    class_weight : dict, "balanced" or None, optional
        Weights of the classes in the risk; "balanced" gives both classes the same total weight.
        They do not affect the units of the fit.
    standardise : bool, default=True
        Whether features are standardised before the fit.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    bound : float, default=20.0
        The largest norm of theta, in the units of the fit, if nothing else bounds it.
    solver : Solver, "auto" or None, optional
        None, the default, solves the problem exactly, which needs a known response. A `Solver`
        queries people for their responses; "auto" chooses one.
    queries : int, optional
        The largest number of answers that a solver may use; by default there is no limit.
    epochs : int, optional
        The number of epochs of a solver, by default 100 if `queries` is not given either.
    warm_start : bool, default=False
        Whether a fit starts where the previous one ended. An exact fit then takes less time, and
        has the same solution up to its certificate.
    random_state : int, RandomState or None, optional
        Seed of the solver.
    journal : str or Path, optional
        A file that stores the answers that a solver asks for, as in `Population`. The same fit,
        with an integer as random_state, never asks for an answer again. One journal belongs to the
        rows of one fit.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_columns)
        Coefficients in the units of X, or of the columns that `prepare` makes.
    intercept_ : ndarray of shape (1,)
        Intercept in the same units.
    classes_ : ndarray of shape (2,)
        The two classes. Scores are positive for ``classes_[1]``.
    coef_names_ : list of str
        Names of the columns of ``coef_``.
    worst_case_risk_ : float
        The largest risk of the training rows within the radius, NaN if the response is a black box
        (see `estimate_risk`).
    n_queries_ : int
        Number of answers that the fit used.
    result_ : Saddle or Result
        The solution of the strategic problem.
    units_ : Units
        Mean and scale of the units of the fit.
    theta_ : ndarray of shape (n_columns,)
        Coefficients in the units of the fit, positive towards the favourable class.
    offset_ : float
        Intercept in the units of the fit.
    movable_ : ndarray of int
        Positions of the columns of ``coef_`` that people can move.
    budgets_ : Budgets or None
        The budgets with defaults filled in.
    prepare_ : transformer or None
        The fitted preparation.
    radius_, radius_curve_ : float and RadiusCurve
        The radius that was chosen, and what it was chosen from; only if `radius` is "auto".
    budget_curve_ : BudgetCurve
        What the multiple of the budgets was chosen from; only if `budgets` is "auto".

    See Also
    --------
    StrategicLogisticRegression : The same without robustness.
    select_radius : Chooses a radius by cross-validation.
    select_budget : Chooses the multiple of the budgets to train for.

    Examples
    --------
    >>> import gameproof as gp
    >>> X, y = gp.synthetic_people(n=300, d=4, seed=0)
    >>> model = gp.RobustStrategicClassifier(radius=0.05, features=[0, 1]).fit(X, y)
    >>> round(model.score(X, y), 2), round(model.gamed_score(X, y), 2)
    (0.83, 0.83)
    >>> round(model.worst_case_risk_, 3), model.n_queries_
    (0.516, 0)
    """

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
        solver: Solver | str | None = None,
        queries: int | None = None,
        epochs: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        journal: str | Path | None = None,
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
            solver=solver,
            queries=queries,
            epochs=epochs,
            warm_start=warm_start,
            random_state=random_state,
            journal=journal,
        )
        self.radius = radius
        self.label_cost = label_cost

    @property
    def _ball(self) -> tuple[float, float]:
        radius: Any = self.radius_ if is_auto(self.radius) else self.radius
        if isinstance(radius, str):
            raise TypeError(f'radius must be a number or "auto", got {radius!r}')
        return radius, self.label_cost
