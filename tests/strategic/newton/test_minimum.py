"""Minima over many agents: certified, equal to the barrier's, independent of the number of cores,
and in memory proportional to the data."""

import os
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import gameproof as gp
from gameproof.rows import array_rows, row_blocks
from gameproof.strategic.newton import barrier, minimum, polish
from gameproof.strategic.newton.convex_objective import ConvexObjective
from strategic_problems import KINDS, make, random_problem, synthetic

Vector = np.ndarray[Any, np.dtype[np.float64]]
MANY = 100_000

pytestmark = pytest.mark.filterwarnings("ignore::gameproof.core.errors.CapWarning")


def at_scale(n: int, d: int = 10, **options: Any) -> gp.StrategicProblem:
    """The paper's problem, exact form."""
    people = gp.Population(*synthetic(n, d), gp.QuadraticCost(0.05, features=range(d // 2)))
    return gp.StrategicProblem(people, **({"radius": 0.15, "label_cost": 0.5} | options))


@pytest.fixture
def no_barrier_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The barrier method may use a sample and the active agents, but never all of many agents."""

    def checked(objective: Any, *arguments: Any) -> barrier.Minimum:
        assert not isinstance(objective, ConvexObjective) or objective.n < minimum.FEW
        return barrier.minimise(objective, *arguments)

    monkeypatch.setattr(minimum, "FEW", 3000)
    monkeypatch.setattr(minimum, "minimise", checked)


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solves small problems like large ones, in many blocks."""
    monkeypatch.setattr(minimum, "FEW", 30)
    monkeypatch.setattr(minimum, "FEW_EACH", 3)
    monkeypatch.setattr(minimum, "THINNER", 4)
    monkeypatch.setattr(array_rows, "BLOCK", 74)
    monkeypatch.setattr(row_blocks, "PIECE", 37)


LARGE: dict[str, Any] = {
    "strategic": lambda: at_scale(MANY),
    "intercept": lambda: at_scale(MANY, intercept=3.0),
    "labels that stay": lambda: at_scale(MANY, label_cost=np.inf),
    "Huber": lambda: at_scale(MANY, loss=gp.HuberHinge(0.5)),
}


@pytest.mark.usefixtures("no_barrier_for_all")
@pytest.mark.parametrize("name", LARGE)
def test_saddle_point_of_100_000_agents_is_certified(name: str) -> None:
    problem, rng = LARGE[name](), np.random.default_rng(0)
    saddle = gp.saddle_point(problem)
    assert -1e-12 <= saddle.duality_gap <= 1e-9
    # The upper bound is the value with the best gamma; no x, near or far, is below the lower bound.
    assert saddle.value == pytest.approx(problem.robust_value(saddle.x), abs=1e-12)
    for size in (1e-4, 1e-2, 1.0):
        x = problem.x_set.project(saddle.x + size * rng.standard_normal(saddle.x.size))
        assert problem.value(x, saddle.y) >= saddle.value - saddle.duality_gap - 1e-12


@pytest.mark.usefixtures("no_barrier_for_all")
def test_minimum_of_many_agents_is_that_of_a_general_optimiser() -> None:
    """With fixed labels and no response: norm-regularised logistic regression, by L-BFGS."""
    X, y = synthetic(20_000, 5, 6)
    saddle = gp.saddle_point(gp.StrategicProblem(gp.Population(X, y), 0.05))

    def risk(theta: Vector) -> tuple[float, Vector]:
        margins, length = y * (X @ theta), np.linalg.norm(theta)
        pulls = -y * np.exp(-np.logaddexp(0, margins)) / y.size
        value = np.logaddexp(0, -margins).mean() + 0.05 * length
        return float(value), X.T @ pulls + 0.05 * theta / length

    options = {"gtol": 1e-10, "ftol": 0}
    found = minimize(risk, np.full(5, 0.1), jac=True, method="L-BFGS-B", options=options)
    assert saddle.value == pytest.approx(found.fun, abs=1e-9)
    np.testing.assert_allclose(saddle.x[:-1], found.x, atol=1e-5)


@pytest.mark.usefixtures("no_barrier_for_all")
def test_saddle_point_of_many_agents_agrees_with_a_conic_solver() -> None:
    problem = at_scale(4000, 5)
    newton, conic = gp.saddle_point(problem), gp.saddle_point(problem, "conic")
    assert abs(newton.value - conic.value) <= newton.duality_gap + conic.duality_gap
    np.testing.assert_allclose(newton.x, conic.x, atol=1e-4)


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("block", range(4))
def test_random_problems_are_certified_the_way_of_large_ones(block: int) -> None:
    for seed in range(15 * block, 15 * block + 15):
        problem = random_problem(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gp.IgnoresDataWarning)
            saddle = gp.saddle_point(problem)
        assert problem.x_set.contains(saddle.x), seed
        assert -1e-12 <= saddle.duality_gap <= 1e-8, seed


@pytest.mark.parametrize("n", [2000, MANY])
@pytest.mark.parametrize("kind", ["cost", "ball", "box"])
def test_labels_that_may_be_wrong_leave_a_minimum_its_last_digits(
    n: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[minimum.Solution] = []

    def recorded(*arguments: Any) -> minimum.Solution | None:
        found = polish.polished(*arguments)
        ends.extend([] if found is None else [found])
        return found

    monkeypatch.setattr(minimum, "polished", recorded)
    responses = {
        "cost": gp.QuadraticCost(0.05, features=range(5)),
        "ball": gp.BallBudget(0.3, features=range(5)),
        "box": gp.BoxBudget([-0.3] * 5 + [0] * 5, [0.3] * 5 + [0] * 5),
    }
    people = gp.Population(*synthetic(n, 10), responses[kind])
    gp.saddle_point(gp.StrategicProblem(people, radius=0.1, label_cost=0.5))
    assert ends
    assert ends[-1].gap < 1e-13


def test_where_all_agents_are_near_0_the_barrier_takes_them() -> None:
    problem = at_scale(2 * minimum.FEW, 4, radius=1.0)
    found = minimum.minimum(problem)
    assert found.gap <= 1e-9
    assert np.linalg.norm(problem.split(found.v)[0]) < 1e-6


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("given", [False, True])
def test_expansion_is_that_of_the_value_with_the_best_gamma(name: str, given: bool) -> None:
    problem, rng = KINDS[name](), np.random.default_rng(0)
    gamma = rng.uniform(-1, 1, problem.n) if given else None
    objective, step = ConvexObjective(problem, gamma), 1e-6

    def value(v: Vector) -> float:
        return objective.at(v).value + float(np.abs(objective.pulls(v)).sum()) / objective.n

    x = 0.3 * rng.standard_normal(problem.x_set.dim)
    x[-1] = 1.0
    v = objective.lift(x, 0.2)
    found = objective.expand(v)
    assert found.value == pytest.approx(value(v), abs=1e-12)
    t = objective.selected(v, objective.free).t
    np.testing.assert_allclose(t, objective.pulls(v), atol=1e-12)
    assert np.abs(t).min(initial=1.0) > 1e-4  # no kink within a step
    expected = objective.derivatives(objective.at(v), np.zeros(objective.free.size)).hessian
    np.testing.assert_allclose(found.hessian, expected, atol=1e-5)
    for c, direction in enumerate(step * np.eye(v.size)):
        slope = (value(v + direction) - value(v - direction)) / (2 * step)
        assert found.gradient[c] == pytest.approx(slope, abs=1e-7)


@pytest.mark.parametrize("order", ["alternating", "sorted"])
def test_a_sample_has_the_labels_of_all_whatever_their_order(order: str) -> None:
    n = 10_000
    y = np.where(np.arange(n) % 2 if order == "alternating" else np.arange(n) < n / 2, 1.0, -1.0)
    objective = ConvexObjective(make(data=(np.ones((n, 1)), y)))
    for number in (100, 1000, 5000):
        sample = objective.sample(number)
        assert 0.98 * number <= sample.n <= number
        assert sample.free.size == pytest.approx(sample.n / 2, rel=0.02)


PROGRAM = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from test_minimum import at_scale
import gameproof as gp
saddle = gp.saddle_point(at_scale(20_000, 20))
digest = hashlib.sha256(saddle.x.tobytes() + saddle.y.tobytes()).hexdigest()
print(digest, saddle.value.hex(), saddle.duality_gap.hex())
"""


def test_saddle_point_is_the_same_to_the_last_bit_on_one_core_and_on_two() -> None:
    here = Path(__file__)
    path = os.pathsep.join([str(here.parents[2]), os.environ.get("PYTHONPATH", "")])
    shown = []
    for threads in ("1", "2"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, threads) | {"PYTHONPATH": path}
        command = [sys.executable, "-c", PROGRAM, str(here.parent)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        shown.append(done.stdout)
    assert shown[0] == shown[1]


def test_memory_is_of_the_size_of_the_data() -> None:
    """At most two more copies of the features, and 30 numbers per agent."""
    for n in (20_000, 80_000):
        problem = at_scale(n)
        gp.saddle_point(problem)
        tracemalloc.start()
        gp.saddle_point(problem)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 8 * n * (2 * 10 + 30)
