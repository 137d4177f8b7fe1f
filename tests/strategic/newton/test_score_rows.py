"""Products with the derivatives of scores are those of the matrix they stand for."""

from typing import Any

import numpy as np
import pytest

from gameproof.strategic.newton.score_rows import ScoreRows

Array = np.ndarray[Any, np.dtype[np.float64]]

# For each variable of a budget, its column among those that differ.
PLACES = {"none": [], "own columns": [0, 1, 2], "shared columns": [0, 0, 1, 1, 1, 2]}


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> list[int]:
    found: list[int] = PLACES[request.param]
    return found


@pytest.fixture(params=[0, 1])
def rows(request: pytest.FixtureRequest, place: list[int]) -> ScoreRows:
    rng = np.random.default_rng(0)
    own = rng.standard_normal((20, max(place, default=-1) + 1))
    features = rng.standard_normal((20, 4))
    return ScoreRows(request.param, features, own, np.array(place, dtype=np.int64))


def matrix(rows: ScoreRows) -> Array:
    """The matrix, column by column."""
    columns = [np.ones(20)] * rows.intercept + list(rows.features.T)
    return np.column_stack([*columns, *(rows.own[:, k] for k in rows.place)])


def test_the_dense_matrix_has_ones_features_and_variables(rows: ScoreRows) -> None:
    np.testing.assert_array_equal(rows.dense(), matrix(rows))
    np.testing.assert_array_equal(rows.sizes().dense(), np.abs(matrix(rows)))
    np.testing.assert_array_equal(rows.part([3, 5]).dense(), matrix(rows)[[3, 5]])


def test_products_are_those_of_the_matrix(rows: ScoreRows) -> None:
    rng, A = np.random.default_rng(1), matrix(rows)
    v, weights = rng.standard_normal(A.shape[1]), rng.random(20)
    np.testing.assert_allclose(rows.times(v), A @ v, atol=1e-13)
    np.testing.assert_allclose(rows.weighed(weights), weights @ A, atol=1e-13)
    np.testing.assert_allclose(rows.gram(weights), A.T @ (weights[:, None] * A), atol=1e-13)
