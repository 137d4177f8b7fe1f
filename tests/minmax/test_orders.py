"""Which samples a step sees."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

import gameproof as gp
from gameproof.kernels.random import shuffle
from gameproof.minmax.plan import plan

N = 12


def visits(solver: gp.Solver, epochs: int) -> np.ndarray:
    """The samples of SGDA steps, one row an epoch, as a value function sees them."""
    seen = []

    def value(i: int, x: np.ndarray, y: np.ndarray) -> float:
        seen.append(i)
        return 0.0

    problem = gp.SaddleProblem(value, n=N, x_set=gp.Ball([0.0], 1.0), y_set=gp.Ball([0.0], 1.0))
    gp.solve(problem, solver, epochs=epochs, seed=0)
    return np.array(seen).reshape(epochs, N)


@pytest.mark.parametrize("batch", [1, 5, 12, 50])
def test_reshuffle_visits_every_sample_once_an_epoch(batch: int) -> None:
    rows = visits(gp.sgda_rr(batch=batch), epochs=20)
    assert all(sorted(row) == list(range(N)) for row in rows)
    assert len({tuple(row) for row in rows}) == 20


def test_shuffle_once_keeps_its_permutation() -> None:
    rows = visits(gp.Solver(update=gp.SGDA(), order=gp.ShuffleOnce()), epochs=5)
    assert sorted(rows[0]) == list(range(N))
    assert (rows == rows[0]).all()
    assert list(rows[0]) != list(range(N))


ORDERS = [gp.Reshuffle(), gp.ShuffleOnce(), gp.WithReplacement()]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.name)
def test_more_samples_than_32_bits_can_number_are_rejected(order: gp.Order) -> None:
    """Before the order is made: 2**32 numbers take 16 GiB."""
    ball = gp.Ball([0.0], 1.0)

    def huge(n: int) -> gp.SaddleProblem:
        return gp.SaddleProblem(lambda i, x, y: 0.0, n=n, x_set=ball, y_set=ball)

    with pytest.raises(ValueError, match=r"fewer than 4,294,967,296 samples, .* 4,294,967,296$"):
        gp.Run(huge(2**32), gp.Solver(order=order), seed=0)
    assert plan(huge(2**32 - 1), gp.Solver(order=order)).method.n == 2**32 - 1


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.name)
def test_compiled_order_is_the_one_that_draw_gives(order: gp.Order) -> None:
    solver = gp.Solver(update=gp.SGDA(), order=order)
    run = gp.Run(gp.QuadraticGame.random(n=N, seed=0), solver, seed=4)
    rng = np.random.default_rng(4)
    run.ask()
    np.testing.assert_array_equal(run.state.memory.order, order.draw(rng, N, 0))


def test_with_replacement_repeats_samples_within_an_epoch() -> None:
    rows = visits(gp.sgda_wr(), epochs=20)
    assert any(len(set(row)) < N for row in rows)


@pytest.mark.parametrize("solver", [gp.sgda_rr(), gp.sgda_wr()])
def test_every_position_of_an_epoch_is_uniform_over_samples(solver: gp.Solver) -> None:
    epochs = 1_000
    rows = visits(solver, epochs)
    for position in (0, 5, N - 1):
        counts = np.bincount(rows[:, position], minlength=N)
        statistic = ((counts - epochs / N) ** 2 / (epochs / N)).sum()
        # Three positions at 1e-6 each: a false alarm in 330 thousand seeds.
        assert statistic < chi2.isf(1e-6, N - 1)


def test_shuffle_is_uniform_over_permutations() -> None:
    seen: Counter[tuple[int, ...]] = Counter()
    rng = np.random.default_rng(0)
    order = np.zeros(3, dtype=np.int64)
    for _ in range(6_000):
        shuffle(order, rng)
        seen[tuple(order.tolist())] += 1
    statistic = sum((count - 1_000) ** 2 / 1_000 for count in seen.values())
    assert len(seen) == 6
    # A false alarm in a million seeds.
    assert statistic < chi2.isf(1e-6, 5)


def test_optimistic_step_asks_the_current_and_the_previous_samples_at_one_point() -> None:
    run = gp.Run(gp.QuadraticGame.random(n=10), gp.ogda_rr(batch=4), seed=0)
    game, previous = gp.QuadraticGame.random(n=10), []
    for _ in range(7):
        question = run.ask()
        current = question.indices[: len(question.indices) - len(previous)].tolist()
        assert question.indices[len(current) :].tolist() == previous
        run.tell(question, game.values(question.indices, question.x, question.y))
        previous = current
    # Epochs of 4 + 4 + 2 samples: the previous batch carries over their boundary.
    assert run.state.epoch == 2
