"""`solve`: where it stops and what it counts, where it starts, and what it returns."""

import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from solving import GAME, SEED, SameState

METHODS = {
    "OGDA": {},
    "OGDA in batches": {"batch": 3},
    "SGDA": {"update": gp.SGDA()},
    "WR": {"order": gp.WithReplacement(), "batch": 2},
    "baseline": {"gradient": gp.OnePoint(baseline=True)},
    "two-point": {"gradient": gp.TwoPoint(), "batch": 3},
    "symmetric": {"gradient": gp.TwoPoint(symmetric=True), "update": gp.SGDA(), "batch": 9},
    "extragradient": {"update": gp.Extragradient(), "gradient": gp.Residual()},
    "extragradient two-point": {"update": gp.Extragradient(), "gradient": gp.TwoPoint()},
}
every_method = pytest.mark.parametrize("parts", METHODS.values(), ids=METHODS)


def costs(solver: gp.Solver, n: int) -> Iterator[int]:
    """The values each step asks, from the definition of the method alone."""
    points = 2 if isinstance(solver.gradient, gp.TwoPoint) else 1
    phases = 2 if isinstance(solver.update, gp.Extragradient) else 1
    again = isinstance(solver.update, gp.OGDA)
    before, left = 0, n
    while True:
        size = min(solver.batch, left)
        yield points * phases * (size + before)
        before, left = size if again else 0, left - size or n


# --- where it stops, and what it counts


@every_method
def test_epochs_end_a_run_after_n_samples_each(parts: Any, teller: Any, schedules: Any) -> None:
    told, solver = teller(), gp.Solver(**parts, **schedules)
    result = gp.solve(told.problem, solver, epochs=3, seed=SEED)
    steps = 3 * -(-7 // solver.batch)
    values = sum(cost for cost, _ in zip(costs(solver, 7), range(steps), strict=False))
    assert (result.reason, result.epochs, result.n_steps) == ("epochs", 3, steps)
    assert result.n_queries == told.calls == values
    assert result.n_deployments == len(told.points)


@every_method
def test_budget_is_used_up_and_never_exceeded(parts: Any, teller: Any, schedules: Any) -> None:
    solver = gp.Solver(**parts, **schedules)
    for budget in range(1, 60):
        told = teller()
        result = gp.solve(told.problem, solver, queries=budget, seed=SEED)
        spent = steps = 0
        for cost in costs(solver, 7):
            if spent + cost > budget:
                break
            spent, steps = spent + cost, steps + 1
        assert (result.reason, result.n_steps) == ("queries", steps)
        assert result.n_queries == told.calls == sum(told.answered.values()) == spent <= budget
        assert result.n_deployments == len(told.points)


@pytest.mark.parametrize("budget", [1, 2, 10, 47, 500])
@every_method
def test_compiled_run_keeps_to_its_budget(parts: Any, budget: int, schedules: Any) -> None:
    solver = gp.Solver(**parts, **schedules)
    spent = steps = 0
    for cost in costs(solver, GAME.n):
        if spent + cost > budget:
            break
        spent, steps = spent + cost, steps + 1
    result = gp.solve(GAME, solver, queries=budget, seed=SEED, compiled=True)
    assert (result.n_queries, result.n_steps) == (spent, steps)


def test_first_of_two_limits_ends_the_run(schedules: Any) -> None:
    solver = gp.sgda_rr(**schedules)
    assert gp.solve(GAME, solver, epochs=2, queries=40).reason == "epochs"
    assert gp.solve(GAME, solver, epochs=3, queries=40).reason == "queries"
    assert gp.solve(GAME, solver).epochs == 100  # what is promised where none is given


def test_limits_of_a_resumed_run_are_totals(teller: Any, schedules: Any) -> None:
    solver, told = gp.ogda_rr(**schedules), teller()
    first = gp.solve(told.problem, solver, epochs=2, seed=SEED)
    second = gp.solve(told.problem, solver, epochs=5, resume=first.state)
    assert (second.epochs, second.n_queries) == (5, told.calls)
    third = gp.solve(told.problem, solver, queries=100, resume=second.state)
    assert third.n_queries == told.calls == 99  # one in the first step, two in the others
    assert third.n_deployments == len(told.points) == 50
    fourth = gp.solve(told.problem, solver, epochs=5, resume=third.state)
    assert (fourth.n_steps, told.calls) == (50, 99)
    assert third.seconds > second.seconds > first.seconds


def test_step_begun_before_the_limit_was_lowered_ends_alike_on_both_paths(
    schedules: Any,
) -> None:
    solver = gp.ogda_rr(**schedules)
    run = gp.Run(GAME, solver, seed=SEED)
    for _ in range(GAME.n):
        run.step()
    run.ask()  # the first step of the second epoch is under way
    results = [
        gp.solve(GAME, solver, epochs=1, resume=run.state, compiled=compiled).n_steps
        for compiled in (True, False)
    ]
    assert results[0] == results[1]


# --- start and seed


def test_start_outside_the_sets_is_projected_with_a_warning(
    teller: Any, schedules: Any, same_state: SameState
) -> None:
    problem, solver = teller().problem, gp.ogda_rr(**schedules)
    inside = gp.solve(problem, solver, epochs=2, seed=SEED, start=([2.0, 0.0], [1.0]))
    for start, named in [
        (([4.0, 0.0], [1.0]), "of x;"),
        (([2.0, 0.0], [8.0]), "of y;"),
        (([4.0, 0.0], [1.5]), "of x and of y;"),
    ]:
        with pytest.warns(gp.StartProjectedWarning, match=f"outside the set {named}") as caught:
            result = gp.solve(problem, solver, epochs=2, seed=SEED, start=start)
        same_state(result.state, inside.state)
        assert caught[0].filename == __file__
        with pytest.warns(gp.StartProjectedWarning) as caught:
            gp.Run(problem, solver, seed=SEED, start=start)
        assert caught[0].filename == __file__


def test_start_on_the_boundary_brings_no_warning(teller: Any) -> None:
    third = 2 / np.sqrt(3)
    gp.solve(teller().problem, epochs=1, start=([third, third * np.sqrt(2)], [-1.0]))


def test_start_that_multiplicative_steps_cannot_leave_brings_a_warning(teller: Any) -> None:
    corner, solver = [1.0, 0.0], gp.ogda_rr(step=0.1, radius=0.1)
    for x_set in (gp.Simplex(2, entropy=True), gp.Product(gp.Simplex(2, entropy=True))):
        problem = teller(x_set=x_set).problem
        with pytest.warns(UserWarning, match="coordinates of x that are 0, .* give positive ones"):
            stuck = gp.solve(problem, solver, epochs=2, seed=SEED, start=(corner, [0.0]))
        assert stuck.last_x.tolist() == corner
        gp.solve(problem, solver, epochs=2, seed=SEED, start=([0.9, 0.1], [0.0]))
    projected = teller(x_set=gp.Simplex(2)).problem
    free = gp.solve(projected, solver, epochs=20, seed=SEED, start=(corner, [0.0]))
    assert free.last_x.tolist() != corner


def test_start_is_left_as_it_was(teller: Any) -> None:
    x, y = np.array([0.5, 0.5]), np.array([0.5])
    gp.solve(teller().problem, gp.ogda_rr(step=0.1, radius=0.5), epochs=2, start=(x, y))
    assert (x.tolist(), y.tolist()) == ([0.5, 0.5], [0.5])


@pytest.mark.parametrize("kind", ["compiled", "python"])
def test_every_form_of_a_seed_gives_the_same_bits(
    kind: str, teller: Any, schedules: Any, same_state: SameState
) -> None:
    problem, solver = GAME if kind == "compiled" else teller().problem, gp.ogda_wr(**schedules)
    expected = gp.solve(problem, solver, epochs=2, seed=5).state
    for seed in (5, np.int64(5), np.random.SeedSequence(5), np.random.default_rng(5)):
        same_state(gp.solve(problem, solver, epochs=2, seed=seed).state, expected)


def test_different_seeds_and_no_seed_give_different_runs(schedules: Any) -> None:
    solver = gp.ogda_rr(**schedules)
    runs = [gp.solve(GAME, solver, epochs=1, seed=seed).x[0] for seed in (5, 6, None, None)]
    assert len(set(runs)) == 4


def test_generator_given_as_a_seed_is_drawn_from(schedules: Any) -> None:
    rng, solver = np.random.default_rng(5), gp.ogda_rr(**schedules)
    first = gp.solve(GAME, solver, epochs=1, seed=rng)
    second = gp.solve(GAME, solver, epochs=1, seed=rng)
    assert first.x[0] != second.x[0]


# --- the result


def results(teller: Any, schedules: Any) -> dict[str, gp.Result]:
    solver, told = (
        gp.sgda_rr(**schedules),
        teller({11: lambda: signal.raise_signal(signal.SIGINT) or 0.5}),
    )
    return {
        "epochs": gp.solve(GAME, solver, epochs=3),
        "queries": gp.solve(GAME, solver, queries=40),
        "tolerance": gp.solve(GAME, solver, tolerance=99.5, score=lambda x, y: 12.25),
        "callback": gp.solve(GAME, solver, callback=lambda _: True, score=lambda x, y: 12.25),
        "interrupted": gp.solve(told.problem, solver),
    }


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("epochs", ["all 3 epochs", "larger epochs", "resume=result.state"]),
        ("queries", ["2.5 epochs", "40 values", "budget of 40 values", "resume=result.state"]),
        ("tolerance", ["tolerance 99.5", "12.2", "1 epochs"]),
        ("callback", ["callback", "1 epochs", "16 values", "score 12.2"]),
        ("interrupted", ["Interrupted", "11 values", "resume=result.state"]),
    ],
)
def test_status_is_a_sentence_for_every_reason(
    reason: str, said: list[str], teller: Any, schedules: Any
) -> None:
    result = results(teller, schedules)[reason]
    assert result.reason == reason
    assert result.status[0].isupper()
    assert result.status.endswith(".")
    for part in said:
        assert part in result.status
    assert result.status in repr(result)


def test_result_carries_the_average_the_last_iterate_and_their_points_are_inside(
    schedules: Any,
) -> None:
    for average in (gp.StepWeighted(), gp.Suffix(), gp.Last()):
        result = gp.solve(GAME, gp.ogda_rr(average=average, **schedules), epochs=5, seed=SEED)
        assert np.array_equal(result.x, result.last_x) == isinstance(average, gp.Last)
        for x, y in ((result.x, result.y), (result.last_x, result.last_y)):
            assert GAME.x_set.contains(x)
            assert GAME.y_set.contains(y)


def test_suffix_of_steps_that_all_but_vanish_is_the_last_iterate(teller: Any) -> None:
    solver = gp.Solver(step=lambda t: 0.1 * 0.5**t, radius=0.3, average=gp.Suffix())
    result = gp.solve(teller().problem, solver, epochs=140, seed=0)
    np.testing.assert_array_equal(result.x, result.last_x)
