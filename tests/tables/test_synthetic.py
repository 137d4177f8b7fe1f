"""The paper's synthetic people, compared with their description."""

import math

import numpy as np
import pytest

import gameproof as gp


@pytest.mark.parametrize(("n", "d", "noise", "seed"), [(500, 10, 0.1, 0), (7, 3, 2.5, 4)])
def test_people_are_drawn_in_the_order_of_the_description(
    n: int, d: int, noise: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=d)
    features = rng.normal(size=(n, d))
    scores = features @ hidden + math.sqrt(noise) * rng.normal(size=n)
    X, y = gp.synthetic_people(n, d, noise, seed)
    np.testing.assert_array_equal(X, features)
    np.testing.assert_array_equal(y, np.sign(scores))


def test_labels_without_noise_can_be_separated() -> None:
    X, y = gp.synthetic_people(400, 5, noise=0, seed=1)
    theta = np.zeros(5)
    for _ in range(10_000):  # the perceptron stops if and only if there is a separating theta
        wrong = np.flatnonzero(y * (X @ theta) <= 0)
        if wrong.size == 0:
            break
        theta += y[wrong[0]] * X[wrong[0]]
    assert wrong.size == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n": 1}, "n must be at least 2, got 1"),
        ({"d": 0}, "d must be at least 1, got 0"),
        ({"noise": -0.1}, "noise must be positive and finite, got -0.1"),
        ({"noise": math.nan}, "noise must be positive and finite, got nan"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        gp.synthetic_people(**arguments)
