"""`RobustStrategicClassifier`: for people who adapt to it, and data that may be inaccurate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

from numpy.typing import ArrayLike

from gameproof.estimators.base import BaseStrategicClassifier
from gameproof.estimators.table_budgets import Budgets
from gameproof.minmax.solver import Solver
from gameproof.strategic.responses import Response


@final
class RobustStrategicClassifier(BaseStrategicClassifier):
    """Minimises the worst-case logistic risk where people answer and an adversary then moves what
    they report by `radius`, in the mean, and flips favourable labels at a cost.

    It is fitted to people as they are, features and labels before anyone answers, and used on what
    people report: `predict` and `decision_function` see answered features, as any deployed
    classifier does. Scikit-learn's conventions hold: ``coef_`` and ``intercept_`` are in the units
    of X, or of what `prepare` makes of X, and scores are positive for ``classes_[1]``.

    budgets
        What people can change, column by column, in the units of X:
        ``{"savings": (0, 5000), "utilisation": (-0.2, 0), "job": ["retired"]}``, by name or
        position. A pair is the lowest and the highest change of a number, a list has the levels of
        a category that people can claim. None in place of a pair, or a list of columns, stands for
        half a standard deviation of the training rows in either direction.
    prepare
        None, or a transformer that is fitted to X inside `fit` and applied everywhere: `Prepare`,
        or one of scikit-learn's. With budgets it must keep the columns one to one and rise with
        each column, as StandardScaler, QuantileTransformer and FunctionTransformer(np.log1p) do.
    radius, label_cost
        How far the adversary may move people, in standard deviations, and half the price of a
        label in the same unit; infinite for labels that stay. `select_radius` helps to choose.
    response, power, features
        How people answer where there are no budgets: by default with `QuadraticCost` of this power
        (0.05) on these features, names or positions, by default all. A cost lives in the units of
        the fit, standard deviations; a `BlackBox`, with what is put around it, speaks those of X
        (of what `prepare` makes of it), and its theta points to the favourable class.
    favourable
        The class that people want, by default ``classes_[1]``: those of the other one move.
    class_weight
        None; "balanced", for classes that count the same; or a dict of a number a class. It decides
        how much people count in the risk, not the units of the fit. The weights that `fit` takes
        multiply it, and are as good as rows written out.
    standardise, fit_intercept
        Whether features are brought to unit size first, and whether there is an intercept.
    bound
        The largest length of theta, in the units of the fit, where nothing else bounds it.
    solver, queries, epochs
        None: solved exactly, which needs a response that is known. A `Solver` asks people for
        their answers instead, up to that many, or for that many epochs; "auto" chooses one.
    warm_start
        Whether a solver starts where the fit before ended; an exact fit has nothing to gain.
    random_state
        Seeds the solver.

    After `fit`: ``coef_``, ``intercept_``, ``classes_``, ``worst_case_risk_`` (no adversary within
    the radius does worse on the people it was fitted to; NaN where the response is a black box, see
    `estimate_risk`), ``n_queries_``, ``result_`` (a `Saddle` or a `Result`), ``units_`` and
    ``theta_``, ``offset_`` in them, ``movable_``, ``budgets_`` (checked, with defaults filled in),
    ``prepare_`` and ``coef_names_``, the columns that ``coef_`` is about.

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
        solver: Solver | str | None = None,
        queries: int | None = None,
        epochs: int | None = None,
        warm_start: bool = False,
        random_state: Any = None,
    ) -> None:
        self.radius = radius
        self.label_cost = label_cost
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
        return self.radius, self.label_cost
