"""The page shows effects of columns that the deployed model has."""

import numpy as np
import pytest

from gameproof.live.model_columns import model_columns, usual_units
from gameproof.live.study_table import StudyTable, problem_from_table
from gameproof.tables.made_up_people import made_up_people


def log_odds(model, row):
    [probability] = model.probability({name: [value] for name, value in row.items()})
    return np.log(probability / (1 - probability))


def test_effects_are_those_of_the_models_probabilities() -> None:
    people = made_up_people(300)
    problem, table = problem_from_table(
        people, target="repaid", favourable="yes", budgets=["savings"], key="id"
    )
    d = problem.population.d
    model = StudyTable.from_json(table).model(np.linspace(-0.5, 0.7, d), 0.1)
    shown = model_columns(np.zeros(d), 0.0, model, usual_units(problem.population.X))
    row = {name: values[0] for name, values in people.items() if name != "repaid"}
    numbers = [each["name"] for each in shown["numbers"]]
    quartiles = {
        name: np.nanquantile(np.array(people[name], dtype=float), [0.25, 0.5, 0.75])
        for name in numbers
    }
    row |= {name: middle for name, (_, middle, _) in quartiles.items()}
    assert {"savings": 1000.0, "utilisation": 0.1, "age": 10.0}.items() <= {
        each["name"]: each["unit"] for each in shown["numbers"]
    }.items()
    for each in shown["numbers"]:
        low, middle, high = quartiles[each["name"]]
        one_more, at_low, at_high = (
            log_odds(model, {**row, each["name"]: value})
            for value in (middle + each["unit"], low, high)
        )
        assert one_more - log_odds(model, row) == pytest.approx(each["per_unit"], abs=1e-9)
        assert at_high - at_low == pytest.approx(each["between_quartiles"], abs=1e-9)


def test_coefficients_without_a_table_are_for_a_unit_of_the_feature() -> None:
    X = np.linspace(0, 1, 101)[:, None] * [1000.0, 0.01]
    units = usual_units(X)
    assert units == [100.0, 0.001]
    shown = model_columns(np.array([0.002, -50.0]), 0.0, None, units)
    assert [each["per_unit"] for each in shown["numbers"]] == pytest.approx([0.2, -0.05])
