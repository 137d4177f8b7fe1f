"""Models that judge whether moves help."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gameproof as gp
from movers import NAMES, told

PEOPLE = told(500, seed=0)
Z = (PEOPLE.before[NAMES] - [10_000, 0.5, 1, 45]).to_numpy() @ PEOPLE.model.weights
LABELS = np.where(Z > 0, "granted", "refused")


def learn(model, **options):
    return gp.learn_budgets(PEOPLE.before, PEOPLE.after, "id", model=model, **options)


def fitted(X) -> LogisticRegression:
    return make_pipeline(StandardScaler(), LogisticRegression(C=100.0)).fit(X, LABELS)


def test_names_and_positions_give_the_same() -> None:
    """Classes are granted and refused, so that people want the first."""
    named = learn(fitted(PEOPLE.before[NAMES]), favourable="granted")
    numbered = learn(fitted(PEOPLE.before[NAMES].to_numpy()), favourable="granted")
    assert named.budgets == numbered.budgets
    assert {"savings", "utilisation"} <= named.budgets.keys()
    assert [row.why for row in named.rows] == [row.why for row in numbered.rows]
    assert any("they are assumed to be savings, util" in note for note in numbered.notes)


def test_favourable_class_decides_who_is_refused() -> None:
    model = fitted(PEOPLE.before[NAMES])
    one, other = learn(model, favourable="granted"), learn(model, favourable="refused")
    assert one.acceptance is not None
    assert other.acceptance is not None
    assert one.acceptance.before.value == pytest.approx(1 - other.acceptance.before.value)
    assert "savings" not in other.budgets
    with pytest.raises(ValueError, match=r"favourable must be one of \['granted', 'refused'\]"):
        learn(model, favourable="yes")


def test_classifier_of_gameproof_knows_what_people_want() -> None:
    model = gp.RobustStrategicClassifier(radius=0.02, favourable="granted")
    model.fit(PEOPLE.before[NAMES], LABELS)
    found = learn(model)
    assert found.acceptance is not None
    accepted = (model.predict(PEOPLE.before[NAMES]) == "granted").mean()
    assert found.acceptance.before.value == accepted
    assert {"savings", "utilisation"} <= found.budgets.keys()


@pytest.mark.parametrize(
    ("model", "kind", "message"),
    [
        (3, TypeError, "fitted classifier with decision_function, got 3"),
        (
            RandomForestClassifier(),
            TypeError,
            r"with decision_function, got RandomForestClassifier\(\)",
        ),
        ("nowhere.json", FileNotFoundError, "nowhere.json"),
        (
            fitted(PEOPLE.before[NAMES].to_numpy()[:, :2]),
            gp.DataError,
            r"does not name them, but the table before has 4 numeric columns.*--drop",
        ),
        (
            fitted(PEOPLE.before[NAMES].rename(columns={"age": "years"})),
            gp.DataError,
            "no column of the model 'years'",
        ),
    ],
)
def test_models_that_cannot_judge_are_refused(model, kind, message: str) -> None:
    with pytest.raises(kind, match=message):
        learn(model)


def test_too_few_refused_people_are_noted_and_moves_judged_without_them() -> None:
    class Lenient:
        feature_names_in_ = NAMES

        def decision_function(self, table: pd.DataFrame) -> np.ndarray:
            return np.ones(len(table))

    found = learn(Lenient())
    assert any("fewer than 5 people were refused" in note for note in found.notes)
    assert found.row("savings").people == "everyone"
    assert found.acceptance is not None
    assert found.acceptance.won is None
