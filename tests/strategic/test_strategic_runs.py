"""Runs on the strategic problem: step by step as the formulas say, and the same when they go on."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from listings import Listing, Vector, permutation, run_listing
from methods import ALGORITHMS
from methods import QUERYING as ESTIMATES
from plain_strategic import EPS, ETA, SOLVERS, Crowd, N, Plain

# --- trajectories


def listed(
    plain: Plain, algorithm: str, estimate: str, scale: Any, batch: int, everything: bool
) -> Listing:
    _, optimistic, reshuffle = ALGORITHMS[algorithm]
    size = plain.dx + N
    return Listing(
        n=N,
        dx=plain.dx,
        value=plain.value,
        gradient=plain.linear_gradient,
        project=plain.project,
        perturbed=np.arange(size) < (size if everything else plain.dx - 1),
        optimistic=optimistic,
        reshuffle=reshuffle,
        estimate=estimate,
        eta=ETA,
        eps=EPS,
        scale=scale or (1.0, 1.0),
        batch=batch,
    )


def hold_to_the_listing(
    plain: Plain,
    algorithm: str,
    estimate: str,
    scale: tuple[float, float] | None,
    batch: int,
    steps: int = 500,
    blocks: Any = None,
) -> None:
    """Iterate, average, and the values of -1 agents, which alone are counted."""
    part = ESTIMATES[estimate] if blocks is None else type(ESTIMATES[estimate])(blocks=blocks)
    make = ALGORITHMS[algorithm][0]
    problem = plain.problem()
    solver = make(gradient=part, step=ETA, radius=EPS, scale=scale, batch=batch)
    run = gp.Run(problem, solver, seed=11)
    listing = listed(plain, algorithm, estimate, scale, batch, blocks == "all")
    start = np.concatenate([plain.problem().start[0], np.zeros(N)])
    slow = run_listing(listing, start, steps, np.random.default_rng(11))
    asked, position = np.zeros(N, dtype=int), 0
    for step in range(1, steps + 1):
        plain.log.clear()
        u, average, _ = next(slow)
        size = min(batch, N - position)
        position = (position + size) % N
        # The listing evaluates the current samples once more, for its offsets.
        np.add.at(asked, [i for i in plain.log[:-size] if plain.y[i] < 0], 1)
        if step % 83 and step not in (1, 2, steps):
            continue
        run.advance(step, max_queries=10**9, compiled=True)
        np.testing.assert_allclose(np.concatenate(run.state.last), u, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(np.concatenate(run.recommend()), average, rtol=1e-10, atol=1e-12)
        assert run.state.queries == asked.sum()
        assert np.array_equal(problem.population.answers_by_agent, asked)
    assert run.state.steps == steps
    moved = np.abs(np.concatenate(run.state.last) - start)
    assert moved[: plain.dx].min() > 1e-5
    assert (moved[plain.dx :] > 0).any()


@pytest.mark.parametrize(
    ("algorithm", "estimate", "scale", "batch"),
    list(
        product(
            ALGORITHMS,
            ["plain", "baseline", "two-point", "residual"],
            [(1.0, 1000.0), None],
            [1, 7],
        )
    ),
)
def test_trajectory_equals_the_listing(
    algorithm: str, estimate: str, scale: tuple[float, float] | None, batch: int
) -> None:
    plain = Plain(positive="estimated")
    hold_to_the_listing(plain, algorithm, estimate, scale, batch)


@pytest.mark.parametrize(
    "case",
    [
        {"intercept": 2.0},
        {"form": "printed"},
        {"flips": "both", "zeta": 0.0},
        {"loss": "huber", "norm": 1.5, "degree": 3.0},
        {"loss": "pseudo-huber", "zeta": np.arange(N) / N, "intercept": 0.1},
        {"degree": np.inf},
        {"degree": np.inf, "norm": 3.0, "zeta": np.arange(N) / N, "loss": "huber"},
        {"budget": "box", "intercept": 2.0},
        {"budget": "box", "zeta": np.arange(N) / N},
        {"budget": "prices", "loss": "pseudo-huber"},
    ],
    ids=str,
)
def test_trajectory_of_variants_equals_the_listing(case: dict[str, Any]) -> None:
    plain = Plain(**case, positive="estimated")
    hold_to_the_listing(plain, "OGDA-RR", "plain", (1.0, 1000.0), 7, steps=200)


@pytest.mark.parametrize("positive", ["exact", "estimated"])
def test_trajectory_with_all_blocks_estimated_equals_the_listing(positive: str) -> None:
    plain = Plain(positive=positive)
    hold_to_the_listing(plain, "OGDA-RR", "plain", None, 7, blocks="all")


@pytest.mark.parametrize("estimate", ["plain", "baseline", "two-point", "residual"])
@pytest.mark.parametrize("optimistic", [True, False])
@pytest.mark.parametrize("batch", [1, 7])
def test_exact_positive_agents_follow_their_formula(
    estimate: str, optimistic: bool, batch: int
) -> None:
    """Known agents give their gradient; nobody is deployed to where only they are in the batch."""
    plain, rng = Plain(intercept=2.0), np.random.default_rng(7)
    problem = plain.problem()
    make = gp.ogda_rr if optimistic else gp.sgda_rr
    part = ESTIMATES[estimate]
    solver = make(gradient=part, step=ETA, radius=EPS, scale=(1.0, 50.0), batch=batch)
    run = gp.Run(problem, solver, seed=7)
    u = np.concatenate(run.state.last)
    d = plain.dx - 1
    sign = np.where(np.arange(u.size) < plain.dx, 1.0, -50.0)
    mean, seen, last = 0.0, 0, 0.0
    kept, previous = np.zeros_like(u), []
    queries = deployments = 0
    points = 2 if estimate == "two-point" else 1

    def operator(samples: list[int], v: Vector, eps: float) -> Vector:
        total = np.zeros_like(u)
        for i in samples:
            if plain.y[i] > 0:
                total += plain.positive_gradient(i, u)
                continue
            centre = plain.value(i, u) if estimate == "two-point" else 0.0
            offset = {"baseline": mean, "residual": last}.get(estimate, centre)
            total += plain.linear_gradient(i, u)
            total += d / eps * (plain.value(i, u + eps * v) - offset) * v
        return total / batch

    for epoch in range(6):
        eta, eps, order = ETA(epoch), EPS(epoch), permutation(rng, N)
        for at in range(0, N, batch):
            current = order[at : at + batch]
            asked = [i for i in current + (previous if optimistic else []) if plain.y[i] < 0]
            v = np.zeros_like(u)
            if asked:
                draw = rng.standard_normal(d)
                v[:d] = draw / np.linalg.norm(draw)
                deployments += points
                queries += points * len(asked)
            new = operator(current, v, eps)
            step = new
            if optimistic and previous:
                step = new + operator(previous, v, eps) - kept
            own = [plain.value(i, u + eps * v) for i in current if plain.y[i] < 0]
            if own:
                last = float(np.mean(own))
                seen = min(seen + 1, -(-N // batch))
                mean += (last - mean) / seen
            u = plain.project(u - eta * sign * step)
            kept, previous = new, current
    run.advance(6 * run.steps_per_epoch, max_queries=10**9, compiled=True)
    np.testing.assert_allclose(np.concatenate(run.state.last), u, rtol=1e-10, atol=1e-12)
    assert (run.state.queries, run.state.deployments) == (queries, deployments)
    assert problem.population.n_answers == queries
    assert problem.population.n_deployments == deployments


def assert_same_run(one: gp.Result, other: gp.Result) -> None:
    for name, ours in one.state.memory._asdict().items():
        assert np.array_equal(ours, getattr(other.state.memory, name)), name
    assert np.array_equal(one.x, other.x)
    assert np.array_equal(one.y, other.y)
    assert one.state.rng.bit_generator.state == other.state.rng.bit_generator.state
    assert (one.n_queries, one.n_deployments) == (other.n_queries, other.n_deployments)


@pytest.mark.parametrize("positive", ["exact", "estimated"])
@pytest.mark.parametrize("estimate", ESTIMATES)
@pytest.mark.parametrize("make", SOLVERS)
def test_ask_tell_equals_compiled_bit_for_bit(
    make: Callable[..., gp.Solver], estimate: str, positive: str
) -> None:
    plain = Plain(positive=positive, norm=3.0, intercept=2.0)
    solver = make(gradient=ESTIMATES[estimate], step=ETA, radius=EPS)
    one, other = plain.problem(), plain.problem()
    fast = gp.solve(one, solver, epochs=5, seed=3)
    slow = gp.solve(other, solver, epochs=5, seed=3, compiled=False)
    assert_same_run(fast, slow)
    ours, theirs = one.population.answers_by_agent, other.population.answers_by_agent
    assert np.array_equal(ours, theirs)
    assert ours.sum() == fast.n_queries > 0


def test_exact_run_asks_nobody_and_is_the_same_in_python() -> None:
    for positive in ("exact", "estimated"):
        plain = Plain(positive=positive)
        one, other = plain.problem(), plain.problem()
        solver = gp.ogda_rr(gradient=gp.Exact(), step=ETA, batch=4)
        fast = gp.solve(one, solver, epochs=5, seed=3)
        assert_same_run(fast, gp.solve(other, solver, epochs=5, seed=3, compiled=False))
        assert fast.n_queries == one.population.n_answers == other.population.n_answers == 0
        assert one.population.n_deployments == fast.n_deployments == 0


# --- going on


@pytest.mark.parametrize("positive", ["exact", "estimated"])
@pytest.mark.parametrize("kind", ["model", "box"])
def test_resumed_run_equals_uninterrupted_run(kind: str, positive: str, tmp_path: Path) -> None:
    plain = Plain(positive=positive, intercept=2.0)

    def make() -> gp.StrategicProblem:
        return plain.problem() if kind == "model" else Crowd(plain).problem()

    estimate = gp.OnePoint(baseline=True)
    solver = gp.ogda_rr(gradient=estimate, step=ETA, radius=EPS, batch=3, average=gp.Suffix())
    whole_problem, problem = make(), make()
    whole = gp.solve(whole_problem, solver, epochs=9, seed=6)
    half = gp.solve(problem, solver, queries=37, seed=6, checkpoint=tmp_path / "state")
    assert 0 < half.n_queries <= 37
    for resume in (half.state, tmp_path / "state"):
        assert_same_run(gp.solve(make(), solver, epochs=9, resume=resume), whole)
    gp.solve(problem, solver, epochs=9, resume=half.state)
    ours, theirs = problem.population, whole_problem.population
    assert np.array_equal(ours.answers_by_agent, theirs.answers_by_agent)


FAULTS: dict[str, Callable[[Vector], Any]] = {
    "nan": lambda given: given * np.nan,
    "too few rows": lambda given: given[:-1],
    "a column short": lambda given: given[:, :-1],
    "raised": lambda given: given[999],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_run_continues_after_a_bad_answer_as_if_nothing_had_happened(fault: str) -> None:
    plain = Plain()
    good, bad = Crowd(plain), Crowd(plain)
    bad.fail_at[9] = FAULTS[fault]
    solver = gp.ogda_rr(step=ETA, radius=EPS, batch=7)
    whole = gp.solve(good.problem(), solver, epochs=5, seed=8)
    problem = bad.problem()
    with pytest.raises(gp.EvaluationError, match=r"deployment 9, agents? ") as caught:
        gp.solve(problem, solver, epochs=5, seed=8)
    assert caught.value.state.queries == bad.tally.sum() > 0
    result = gp.solve(problem, solver, epochs=5, resume=caught.value.state)
    assert_same_run(result, whole)
    assert np.array_equal(bad.tally, good.tally)
    assert problem.population.n_deployments == whole.n_deployments


def test_state_of_one_treatment_of_positive_agents_is_refused_by_the_other() -> None:
    solver = gp.ogda_rr(step=ETA, radius=EPS)
    state = gp.solve(Plain().problem(), solver, epochs=1, seed=0).state
    with pytest.raises(gp.StateFileError, match="another problem"):
        gp.solve(Plain(positive="estimated").problem(), solver, epochs=2, resume=state)


@pytest.mark.parametrize(
    "change",
    [
        {"delta": 0.46},
        {"kappa": 0.51},
        {"loss": "huber"},
        {"flips": "none"},
        {"zeta": 0.31},
        {"norm": 3.0},
        {"degree": 3.0},
        {"mask": None},
        {"cap": 4.0},
        {"intercept": 1.0},
    ],
    ids=str,
)
def test_state_of_another_strategic_problem_is_refused(change: dict[str, Any]) -> None:
    solver = gp.ogda_rr(step=ETA, radius=EPS)
    state = gp.solve(Plain().problem(), solver, epochs=1, seed=0).state
    with pytest.raises(gp.StateFileError, match="another problem"):
        gp.solve(Plain(**change).problem(), solver, epochs=2, resume=state)
