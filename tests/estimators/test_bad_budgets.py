"""Unusable budgets and preparations raise readable errors."""

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)

import gameproof as gp

BOTH = [gp.RobustStrategicClassifier, gp.StrategicLogisticRegression]
NAMES = ["savings", "job"]
FEATURES = gp.Features(("savings", "job"), {"job": ("none", "retired", "student")})


def people(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(1, 100, n), rng.integers(0, 3, n)]).astype(float)
    return X, np.sign(X[:, 0] - 50 + 30 * rng.standard_normal(n))


@pytest.mark.parametrize("kind", BOTH)
def test_names_of_budgets_that_a_pipeline_has_dropped_are_missed(kind) -> None:
    X, y = people()
    frame = pd.DataFrame(X, columns=["savings", "visits"])
    model = kind(budgets={"savings": (0, 5)})
    with pytest.raises(ValueError, match=r"'savings', and X has no column names; .* as prepare="):
        make_pipeline(StandardScaler(), model).fit(frame, y)
    model.set_params(prepare=StandardScaler()).fit(frame, y)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    ("budgets", "message"),
    [
        ({"savings": (5, 0)}, "'savings' is empty: it goes from 5 to 0; give the lower end first"),
        ({"savings": (1, 5)}, "from 1 to 5, and must include 0"),
        ({"savings": (-5, -1)}, "from -5 to -1, and must include 0"),
        ({"income": (0, 1)}, "'income', which is not among savings, job"),
        ({7: (0, 1)}, "the column 7, and X has columns 0 to 1"),
        ({True: (0, 1)}, "columns by name or position, got True"),
        ({"savings": (0, 1), 0: (0, 1)}, "names the column 'savings' twice"),
        ({"savings": (0, np.nan)}, "must be finite, got 0 to nan"),
        ({"savings": (0, np.inf)}, "must be finite, got 0 to inf"),
        ({"savings": 5}, r"a pair such as \(0, 5000\), got 5"),
        ({"savings": (0, [1.0, 2.0])}, r"a pair such as \(0, 5000\)"),
        ({"savings": ["retired"]}, r"a pair such as \(0, 5000\)"),
        ({"job": (0, 1)}, "'job' is a category: its budget is a list of levels, not the range"),
        ({"job": 3}, "'job' is a category: its budget is a list of the levels"),
        (
            {"job": ["retired", "king"]},
            "the level 'king', which is not among none, retired, student",
        ),
        ({"job": []}, "has no level; leave the column out"),
        ("savings", "budgets must map columns to ranges or levels"),
        (3.5, "budgets must map columns to ranges or levels"),
    ],
)
def test_unusable_budgets_are_refused(kind, budgets, message: str) -> None:
    X, y = people()
    with pytest.raises((ValueError, TypeError), match=message):
        kind(budgets=budgets, prepare=gp.Prepare(FEATURES)).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"power": 0.1}, "budgets and power both say how people move; give one of them"),
        ({"response": gp.NoResponse()}, "budgets and response both say"),
        ({"features": [0]}, "budgets and features both say"),
        ({"prepare": 3}, "prepare must be a transformer such as .* got 3"),
        ({"prepare": gp.Prepare}, r"must be a transformer such as .* got <class"),
        ({"prepare": PCA(2)}, "it enters 2 prepared columns, which people cannot move separately"),
        ({"prepare": PolynomialFeatures(2)}, "PolynomialFeatures is not affine and mixes columns"),
        ({"prepare": FunctionTransformer(lambda X: -X)}, "this one decreases in 'x0'"),
        (
            {"prepare": FunctionTransformer(lambda X: np.log(X))},
            r"cannot take 'x0' changed by -20, .* in row \d+ has no finite value",
        ),
        ({"prepare": PowerTransformer("box-cox")}, "cannot take 'x0' changed by -20, .*positive"),
        ({"prepare": OneHotEncoder()}, "'x0' is a category: its budget is a list of levels"),
    ],
)
def test_parameters_that_contradict_budgets_are_refused(parameters, message: str) -> None:
    X, y = people()
    X[:, 1] += 1  # a Box-Cox transformation takes positive numbers
    with pytest.raises((ValueError, TypeError), match=message):
        gp.StrategicLogisticRegression(budgets={0: (-20, 10)}, **parameters).fit(X, y)


def test_levels_need_a_preparation_that_knows_them() -> None:
    X, y = people()
    checked = gp.Budgets.of({"job": ["retired"]}, FEATURES, X)
    with pytest.raises(ValueError, match="are for the columns savings, job, and the table has x0"):
        gp.StrategicLogisticRegression(budgets=checked).fit(X, y)
    with pytest.raises(TypeError, match=r"a pair such as"):
        gp.StrategicLogisticRegression(budgets={1: ["retired"]}).fit(X, y)


def test_frame_and_preparation_must_name_the_same_columns() -> None:
    X, y = people()
    frame = pd.DataFrame(X, columns=["savings", "work"])
    with pytest.raises(
        ValueError, match="columns of X are savings, work, and prepare was made for"
    ):
        gp.StrategicLogisticRegression(budgets=[0], prepare=gp.Prepare(FEATURES)).fit(frame, y)


def test_gaps_need_a_preparation_that_fills_them() -> None:
    X, y = people()
    X[3, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        gp.StrategicLogisticRegression(budgets=[0]).fit(X, y)
    with pytest.raises(ValueError, match="prepare gives NaN in row 3, column 0 of its output"):
        gp.StrategicLogisticRegression(budgets=[0], prepare=StandardScaler()).fit(X, y)
    model = gp.StrategicLogisticRegression(budgets={0: (0, 5)}, prepare=gp.Prepare()).fit(X, y)
    assert model.gamed_decisions(X)[3] == model.predict(X)[3]  # a missing number cannot be changed


def test_budget_beyond_the_whole_column_is_noted_once() -> None:
    X, y = people()
    model = gp.StrategicLogisticRegression(budgets={"savings": (0, 5000)})
    frame = pd.DataFrame(X, columns=NAMES)
    with pytest.warns(gp.BudgetWarning, match="'savings', 0 to .5,000, exceeds") as caught:
        model.fit(frame, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(gp.BudgetWarning) as caught:
        gp.select_budget(frame, y, model, folds=2, multiples=[0, 1])
    assert len(caught) == 1


@pytest.mark.parametrize("rows", [1, 59])
def test_budgets_of_each_agent_must_be_as_many_as_agents(rows: int) -> None:
    X, y = people()
    box = gp.BoxBudget(np.zeros((rows, 2)), np.ones((rows, 2)))
    if rows == 1:
        gp.StrategicLogisticRegression(box).fit(X, y)
        return
    with pytest.raises(ValueError, match="lower has 59 rows, the population 60 agents"):
        gp.StrategicLogisticRegression(box).fit(X, y)


def test_parameters_that_contradict_each_other_after_the_fit_are_refused_too() -> None:
    X, y = people()
    model = gp.StrategicLogisticRegression(budgets={0: (0, 5)}).fit(X, y)
    with pytest.raises(TypeError, match="multiple must be a number, got '2'"):
        model.gamed_decisions(X, multiple="2")
    with pytest.raises(ValueError, match="budgets and power both say how people move"):
        model.set_params(power=0.1).gamed_decisions(X)
    model.set_params(power=None, budgets=None, response=gp.Noisy(gp.QuadraticCost(0.1), 0.1))
    with pytest.raises(TypeError, match="can be multiplied: multiple must be 1, got 2"):
        model.gamed_score(X, y, multiple=2)


def test_failed_fit_leaves_budgets_and_preparation_as_they_were() -> None:
    X, y = people()
    model = gp.StrategicLogisticRegression(budgets={0: (0, 5)}, prepare=StandardScaler()).fit(X, y)
    before = (model.budgets_, model.prepare_, model.gamed_score(X, y))
    with pytest.raises(ValueError, match="has the column 9"):
        model.set_params(budgets={9: (0, 1)}).fit(X, y)
    model.set_params(budgets={0: (0, 5)})
    assert (model.budgets_, model.prepare_, model.gamed_score(X, y)) == before


class Interrupting(StandardScaler):
    """A preparation during whose fit the user presses Ctrl-C."""

    def fit(self, X: np.ndarray, y: None = None) -> "Interrupting":
        raise KeyboardInterrupt


def test_interrupted_fit_leaves_a_model_whose_budgets_are_the_ones_that_are_set() -> None:
    X, y = people()
    wide, interrupted = {0: (0, 5), 1: (-5, 5)}, Interrupting()
    first = gp.StrategicLogisticRegression(prepare=interrupted, budgets=wide)
    with pytest.raises(KeyboardInterrupt):
        first.fit(X, y)
    with pytest.raises(NotFittedError):
        first.gamed_score(X, y)
    model, other = (gp.StrategicLogisticRegression(budgets={0: (0, 1)}).fit(X, y) for _ in "ab")
    with pytest.raises(KeyboardInterrupt):
        model.set_params(prepare=interrupted, budgets=wide).fit(X, y)
    assert model.gamed_score(X, y) != other.gamed_score(X, y)
    assert model.gamed_score(X, y) == other.set_params(budgets=wide).gamed_score(X, y)
