"""A run that stops and goes on is the run that never stopped, to the last bit."""

import subprocess
import sys
from copy import deepcopy
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from methods import ESTIMATES
from solving import GAMES, N, SameState

SEED = 7
UPDATES = {"ogda": gp.OGDA(), "sgda": gp.SGDA(), "extragradient": gp.Extragradient()}
ORDERS = [gp.Reshuffle(), gp.WithReplacement(), gp.ShuffleOnce()]
# An epoch is 16 steps of one sample, or 3 of 7, 7 and 2; both runs are longer than 50 steps.
EPOCHS = {1: 4, 7: 18}


def crossed() -> dict[str, tuple[str, gp.Solver, int]]:
    """Every update with every estimate; orders, batches, averages and games take turns."""
    cases = {}
    for (u, update), (e, estimate) in product(enumerate(UPDATES), enumerate(ESTIMATES)):
        batch = (1, 7)[(u + e // 3) % 2]
        solver = gp.Solver(
            update=UPDATES[update],
            gradient=ESTIMATES[estimate],
            order=ORDERS[(u + e) % 3],
            step=gp.Power(0.02, 0.76),
            radius=gp.Power(0.5, 0.25),
            batch=batch,
            average=(gp.Suffix(), gp.StepWeighted())[e % 2],
        )
        game = ("dense", "private")[(u + e) % 2]
        cases[f"{update} {estimate} {solver.name[-2:]} of {batch} {game}"] = (
            game,
            solver,
            EPOCHS[batch],
        )
    return cases


CROSSED = crossed()
Case = tuple[str, gp.Solver, int]
every_case = pytest.mark.parametrize("case", CROSSED.values(), ids=CROSSED)
some_cases = pytest.mark.parametrize("case", list(CROSSED.values())[::4], ids=list(CROSSED)[::4])
both_paths = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])


def score(x: Any, y: Any) -> float:
    return float(x.sum() - 2 * y.sum())


def states_by_step(path: Path, problem: gp.Problem, solver: gp.Solver, **limits: Any) -> Any:
    """The states of one run at its start and after each of its steps, as it checkpoints them."""
    taken: dict[int, gp.State] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gp.State, "save", lambda self, _: taken.update({self.steps: deepcopy(self)}))
        gp.solve(problem, solver, checkpoint=path / "unused", checkpoint_every=1, **limits)
    return taken


def stopped(problem: gp.Problem, solver: gp.Solver, queries: int) -> gp.State:
    """A state in the middle of an epoch."""
    return gp.solve(problem, solver, queries=queries, seed=SEED).state


@every_case
@both_paths
def test_resumed_run_equals_uninterrupted_run_wherever_it_was_stopped(
    case: Case, compiled: bool, tmp_path: Path, same_state: SameState
) -> None:
    game, solver, epochs = case
    problem, options = GAMES[game], {"epochs": epochs, "score": score, "compiled": compiled}
    whole = gp.solve(problem, solver, seed=SEED, **options)
    taken = states_by_step(tmp_path, problem, solver, seed=SEED, **options)
    assert sorted(taken) == list(range(whole.n_steps + 1))
    assert whole.n_steps > 50
    # Both paths go through the same stages, and the one through Python takes ten times as long.
    for state in list(taken.values())[:: 1 if compiled else 5]:
        again = gp.solve(problem, solver, resume=state, **options)
        same_state(again.state, whole.state)
        np.testing.assert_array_equal(np.append(again.x, again.y), np.append(whole.x, whole.y))


@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("batch", [1, 3])
def test_resumed_run_of_a_plain_function_with_one_known_block_equals_uninterrupted_run(
    update: gp.Update,
    batch: int,
    teller: Any,
    schedules: Any,
    tmp_path: Path,
    same_state: SameState,
) -> None:
    solver = gp.Solver(update=update, batch=batch, average=gp.Suffix(), **schedules)
    problem = teller(gradient=(teller.x_gradient, None)).problem
    whole = gp.solve(problem, solver, seed=SEED, epochs=8)
    taken = states_by_step(tmp_path, problem, solver, seed=SEED, epochs=8)
    assert len(taken) == whole.n_steps + 1
    for state in taken.values():
        same_state(gp.solve(problem, solver, resume=state, epochs=8).state, whole.state)


@some_cases
def test_resumed_run_equals_uninterrupted_run_through_a_file(
    case: Case, tmp_path: Path, same_state: SameState
) -> None:
    game, solver, epochs = case
    problem, options = GAMES[game], {"epochs": epochs, "score": score}
    whole = gp.solve(problem, solver, seed=SEED, **options)
    for step, state in states_by_step(tmp_path, problem, solver, seed=SEED, **options).items():
        path = tmp_path / f"{step}.npz"
        state.save(path)
        same_state(gp.State.load(path), state)
        again = gp.solve(problem, solver, resume=str(path) if step % 2 else path, **options)
        same_state(again.state, whole.state)


@some_cases
def test_run_resumes_to_the_same_bits_on_the_other_path(
    case: Case, tmp_path: Path, same_state: SameState
) -> None:
    game, solver, epochs = case
    problem = GAMES[game]
    whole = gp.solve(problem, solver, seed=SEED, epochs=epochs, compiled=True)
    for first in (True, False):
        taken = states_by_step(tmp_path, problem, solver, seed=SEED, epochs=epochs, compiled=first)
        for state in list(taken.values())[::3]:
            again = gp.solve(problem, solver, resume=state, epochs=epochs, compiled=not first)
            same_state(again.state, whole.state)


@pytest.mark.parametrize("order", ORDERS, ids=["RR", "WR", "SO"])
@pytest.mark.parametrize("batch", [1, 7])
@both_paths
def test_run_stopped_after_every_epoch_equals_uninterrupted_run(
    order: gp.Reshuffle, batch: int, compiled: bool, same_state: SameState
) -> None:
    solver = gp.Solver(order=order, batch=batch, average=gp.Suffix(), step=0.02, radius=0.5)
    problem, options = GAMES["dense"], {"compiled": compiled, "score": score}
    whole = gp.solve(problem, solver, seed=SEED, epochs=9, **options)
    result = gp.solve(problem, solver, seed=SEED, epochs=1, **options)
    for epochs in range(2, 10):
        result = gp.solve(problem, solver, resume=result.state, epochs=epochs, **options)
    same_state(result.state, whole.state)


@both_paths
def test_run_stopped_by_a_budget_at_every_step_equals_uninterrupted_run(
    compiled: bool, same_state: SameState
) -> None:
    problem, solver = GAMES["private"], gp.sgda_wr(average=gp.Suffix(), step=0.02, radius=0.5)
    whole = gp.solve(problem, solver, seed=SEED, epochs=4, compiled=compiled)
    result = gp.solve(problem, solver, seed=SEED, queries=1, compiled=compiled)
    for queries in range(2, 4 * N + 1):  # plain descent-ascent asks one value a step
        assert (result.reason, result.n_steps) == ("queries", queries - 1)
        result = gp.solve(problem, solver, resume=result.state, queries=queries, compiled=compiled)
    same_state(result.state, whole.state)


def test_trace_of_a_run_stopped_between_records_equals_that_of_an_uninterrupted_run() -> None:
    problem, solver = GAMES["dense"], gp.sgda_rr(step=0.02, radius=0.5)
    whole = gp.solve(problem, solver, seed=SEED, epochs=4)
    half = stopped(problem, solver, queries=N + N // 2)
    again = gp.solve(problem, solver, resume=half, epochs=4)
    assert again.trace["steps"].tolist() == whole.trace["steps"].tolist() == [16, 32, 48, 64]


def test_resume_leaves_the_state_it_was_given_as_it_was(same_state: SameState) -> None:
    problem, solver = GAMES["dense"], gp.ogda_rr(average=gp.Suffix(), step=0.02, radius=0.5)
    state = stopped(problem, solver, queries=50)
    before = deepcopy(state)
    for compiled in (True, False):
        gp.solve(problem, solver, resume=state, epochs=5, compiled=compiled)
        same_state(state, before)
        assert state.seconds == before.seconds
    run = gp.Run(problem, solver, state=state)
    run.step()
    same_state(state, before)


def test_copy_of_a_state_shares_nothing_with_it(same_state: SameState) -> None:
    problem, solver = GAMES["dense"], gp.ogda_rr(average=gp.Suffix(), step=0.02, radius=0.5)
    state = stopped(problem, solver, queries=100)
    before, copy = deepcopy(state), state.copy()
    for array in copy.memory:
        array.fill(1)
    for mark in copy.marks:
        mark.x.fill(1)
    copy.rng.random()
    copy.rows.clear()
    same_state(state, before)


@pytest.mark.parametrize(
    "parts",
    [
        {"gradient": gp.OnePoint(baseline=True), "batch": 3},
        {"gradient": gp.TwoPoint(), "update": gp.SGDA(), "order": gp.WithReplacement()},
        {"gradient": gp.TwoPoint(symmetric=True), "update": gp.Extragradient()},
        {"gradient": gp.Residual(), "order": gp.ShuffleOnce(), "batch": 7},
        {"gradient": gp.VarianceReduced(every=2), "order": gp.ShuffleOnce(), "batch": 3},
    ],
    ids=["one-point", "two-point", "extragradient", "residual", "variance-reduced"],
)
def test_state_saved_in_the_middle_of_a_step_resumes_to_the_same_bits(
    parts: dict[str, Any], teller: Any, schedules: Any, tmp_path: Path, same_state: SameState
) -> None:
    solver, path = gp.Solver(**parts, **schedules), tmp_path / "state.npz"
    whole = gp.solve(teller().problem, solver, seed=SEED, epochs=3)
    answered = []
    for call in range(1, whole.n_queries + 1, 2):
        with pytest.raises(gp.EvaluationError) as failure:
            gp.solve(teller({call: lambda: 1 / 0}).problem, solver, seed=SEED, epochs=3)
        failure.value.state.save(path)
        answered.append(gp.State.load(path).queries)
        again = gp.solve(teller().problem, solver, resume=path, epochs=3)
        same_state(again.state, whole.state)
    assert answered == list(range(0, whole.n_queries, 2))


@pytest.mark.parametrize(
    "bits", [np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM]
)
@both_paths
def test_every_bit_generator_of_numpy_survives_a_file(
    bits: Any, compiled: bool, tmp_path: Path, same_state: SameState
) -> None:
    problem, solver = GAMES["dense"], gp.ogda_wr(batch=3, step=0.02, radius=0.5)
    path, options = tmp_path / "state.npz", {"epochs": 6, "compiled": compiled}
    whole = gp.solve(problem, solver, seed=np.random.Generator(bits(SEED)), **options)
    seed = np.random.Generator(bits(SEED))
    gp.solve(problem, solver, seed=seed, queries=60, checkpoint=path, compiled=compiled)
    assert isinstance(gp.State.load(path).rng.bit_generator, bits)
    same_state(gp.solve(problem, solver, resume=path, **options).state, whole.state)


CHILD = """
import json, sys
from math import cos
import gameproof as gp

folder = sys.argv[1]
def wave(i, x, y):
    return x[0] ** 2 + cos(i) * x[0] + x[1] * y[0] - y[0] ** 2
def halved(t):
    return 0.04 / (t + 2)
plain = gp.SaddleProblem(wave, n=9, x_set=gp.Ball([0.0, 0.0], 2.0), y_set=gp.Box([-1.0], [1.0]))
CASES = {
    "dense": (gp.QuadraticGame.random(n=16, dx=3, dy=2, seed=1),
              gp.ogda_rr(average=gp.Suffix(), step=halved, radius=0.5)),
    "private": (gp.RobustLeastSquares.random(n=16, dx=3, seed=1),
                gp.ogda_wr(batch=7, gradient=gp.OnePoint(baseline=True), step=0.02, radius=0.5)),
    "plain": (plain, gp.Solver(update=gp.Extragradient(), order=gp.ShuffleOnce(),
                               gradient=gp.TwoPoint(), batch=2, step=halved, radius=0.5)),
}
"""
CHILD_RESUMES = """
for name, (problem, solver) in CASES.items():
    path = f"{folder}/{name}"
    gp.solve(problem, solver, epochs=6, resume=f"{path}.npz", checkpoint=f"{path}-child.npz")
    gp.solve(problem, solver, queries=55, seed=8, checkpoint=f"{path}-begun.npz")
"""


def test_run_resumes_to_the_same_bits_in_another_process(
    tmp_path: Path, same_state: SameState
) -> None:
    room: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["", str(tmp_path)])
        exec(CHILD, room)
    for name, (problem, solver) in room["CASES"].items():
        gp.solve(problem, solver, queries=47, seed=SEED, checkpoint=tmp_path / f"{name}.npz")
    subprocess.run([sys.executable, "-c", CHILD + CHILD_RESUMES, tmp_path], check=True, timeout=120)
    for name, (problem, solver) in room["CASES"].items():
        there = gp.State.load(tmp_path / f"{name}-child.npz")
        same_state(there, gp.solve(problem, solver, epochs=6, seed=SEED).state)
        begun = tmp_path / f"{name}-begun.npz"
        here = gp.solve(problem, solver, epochs=6, resume=begun)
        same_state(here.state, gp.solve(problem, solver, epochs=6, seed=8).state)


@pytest.mark.parametrize(
    "limits", [{"epochs": 2}, {"queries": 11}], ids=lambda limits: next(iter(limits))
)
def test_step_under_way_is_ended_only_within_the_limits(
    limits: dict[str, int], teller: Any, schedules: Any, same_state: SameState
) -> None:
    problem, solver = teller().problem, gp.sgda_rr(batch=4, **schedules)  # 4 and 3 an epoch
    whole = gp.solve(problem, solver, epochs=3, seed=SEED)
    broken = teller({16: lambda: np.nan}).problem
    with pytest.raises(gp.EvaluationError) as failed:
        gp.solve(broken, solver, epochs=3, seed=SEED)
    state = failed.value.state
    assert (state.epoch, state.steps, state.queries) == (2, 4, 15)  # the last one cannot be used
    again = gp.solve(problem, solver, resume=state, **limits)
    assert (again.n_steps, again.n_queries) == (4, 15)
    assert again.reason == next(iter(limits))
    on = gp.solve(problem, solver, resume=again.state, epochs=3)
    np.testing.assert_array_equal(on.x, whole.x)


def test_compiled_run_does_not_overdraw_a_budget_in_a_step_under_way() -> None:
    X, y = gp.synthetic_people(n=40, d=2, seed=0)
    solver = gp.sgda_rr(batch=40, step=0.01, radius=0.5)

    def problem(budget: int | None) -> gp.StrategicProblem:
        people = gp.Population(X, y, gp.QuadraticCost(0.1), budget=budget)
        return gp.StrategicProblem(people, radius=0.1, label_cost=0.5)

    run = gp.Run(problem(None), solver, seed=SEED)
    movers = run.ask().indices.size
    short = problem(movers - 1)
    assert gp.solve(short, solver, resume=run.state, epochs=1).reason == "queries"
    assert short.population.n_answers == 0
    assert gp.solve(problem(movers), solver, resume=run.state, epochs=1).reason == "epochs"


@both_paths
def test_fixed_schedule_holds_from_the_next_epoch_on(compiled: bool) -> None:
    size = 0.02
    solver = gp.sgda_rr(step=lambda t: size, radius=0.5)
    run = gp.Run(GAMES["dense"], solver, seed=SEED)
    run.advance(N + N // 2, 10**9, compiled=True)
    size = 0.005
    result = gp.solve(GAMES["dense"], solver, resume=run.state, epochs=3, compiled=compiled)
    assert result.state.weight == pytest.approx(2 * N * 0.02 + N * 0.005, rel=1e-12)


def test_generator_of_the_caller_may_be_drawn_from_before_the_run_resumes(
    same_state: SameState,
) -> None:
    game, solver, rng = GAMES["dense"], gp.ogda_rr(step=0.02), np.random.default_rng(5)
    half = gp.solve(game, solver, seed=rng, epochs=2)
    assert rng.random() != np.random.default_rng(5).random()  # it is theirs, and moved on
    whole = gp.solve(game, solver, seed=np.random.default_rng(5), epochs=4)
    same_state(gp.solve(game, solver, resume=half.state, epochs=4).state, whole.state)


@pytest.mark.parametrize("name", ["x", "y", "directions", "samples", "order", "counts"])
@pytest.mark.parametrize("wrong", ["shape", "type", "order"])
def test_state_that_does_not_fit_is_refused(name: str, wrong: str) -> None:
    """Compiled code looks neither at shapes nor at types."""
    game, solver = GAMES["dense"], gp.ogda_rr(step=0.02)
    state = gp.solve(game, solver, seed=0, epochs=1).state
    array = getattr(state.memory, name)
    array = {
        "shape": array[..., :-1].copy(),
        "type": array.astype(np.float32),
        "order": np.repeat(array, 2, axis=-1)[..., ::2],
    }[wrong]
    state.memory = state.memory._replace(**{name: array})
    with pytest.raises(gp.StateFileError, match=f"does not fit .*: {name} has shape"):
        gp.solve(game, solver, resume=state, epochs=2)


def test_number_and_constant_schedule_are_one_method() -> None:
    game = GAMES["dense"]
    state = gp.solve(game, gp.ogda_rr(step=0.02), seed=0, epochs=1).state
    for step in (np.array(0.02), gp.Constant(0.02), np.float64(0.02)):
        assert gp.solve(game, gp.ogda_rr(step=step), resume=state, epochs=2).n_steps > state.steps
