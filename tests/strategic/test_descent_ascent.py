"""Gradient descent-ascent as a reference: its steps, stretches and cost."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.strategic import descent_ascent
from strategic_problems import KINDS, make, paper

Vector = np.ndarray[Any, np.dtype[np.float64]]


def numerically(problem: gp.StrategicProblem, x: Vector, y: Vector) -> tuple[Vector, Vector]:
    """The gradient of L by central differences."""
    step, parts = 1e-6, []
    for which, u in enumerate((x, y)):
        part = np.empty(u.size)
        for c in range(u.size):
            ends = []
            for sign in (1, -1):
                point = [x.copy(), y.copy()]
                point[which][c] += sign * step
                ends.append(problem.value(*point))
            part[c] = (ends[0] - ends[1]) / (2 * step)
        parts.append(part)
    return parts[0], parts[1]


@pytest.mark.parametrize("name", ["quadratic", "intercept", "labels both ways", "degree 3"])
def test_steps_are_full_gradient_steps_with_projections(name: str, monkeypatch) -> None:
    """Ten steps by hand, with the step size of the module's formula."""
    problem = KINDS[name]()
    monkeypatch.setattr(descent_ascent, "FIRST_STRETCH", 10)
    monkeypatch.setattr(descent_ascent, "MAX_STEPS", 10)
    ends = []
    original = descent_ascent.solve

    def noted(*arguments: Any, **options: Any) -> Any:
        ends.append(original(*arguments, **options))
        return ends[-1]

    monkeypatch.setattr(descent_ascent, "solve", noted)
    descent_ascent.descend_ascend(problem, 0.0)

    people, loss, n = problem.population, problem.loss, problem.n
    A = people.X if problem.intercept is None else np.column_stack([np.ones(n), people.X])
    free = people.y > 0 if problem.flips == "one-way" else np.ones(n, dtype=bool)
    T = np.column_stack([loss.s * A, -problem.label_cost * people.y])[free]
    zeta = np.mean(np.where(people.y < 0, people.response.power, 0.0))
    ell = 0.25 * np.linalg.eigvalsh(A.T @ A / n)[-1] + 2 * zeta
    ell += np.sqrt(np.linalg.eigvalsh(T.T @ T / n)[-1])
    x, y = problem.start
    for _ in range(10):
        gx, gy = numerically(problem, x, y)
        x, y = problem.x_set.project(x - gx / ell), problem.y_set.project(y + n * gy / ell)
    assert len(ends) == 1
    np.testing.assert_allclose(ends[0].last_x, x, atol=1e-7)
    np.testing.assert_allclose(ends[0].last_y, y, atol=1e-6)
    assert np.linalg.norm(problem.split(x)[0]) > 0.1


def test_nobody_is_asked() -> None:
    problem = paper("printed")
    gp.saddle_point(problem, "gda")
    people = problem.population
    assert people.n_answers == people.n_deployments == people.answers_by_agent.sum() == 0


def test_out_of_steps_the_best_is_returned_with_its_gap_and_a_warning(monkeypatch) -> None:
    problem = paper("printed")
    monkeypatch.setattr(descent_ascent, "MAX_STEPS", 1)
    with pytest.warns(UserWarning, match=r'certified to .* only.*method="newton" may come closer'):
        saddle = gp.saddle_point(problem, "gda")
    assert 1e-6 < saddle.duality_gap < gp.duality_gap(problem, *problem.start)
    assert saddle.value - saddle.duality_gap <= 0.6172372893 <= saddle.value


def test_what_was_best_is_kept_though_later_steps_are_worse(monkeypatch) -> None:
    problem = paper("printed")
    best, start = gp.saddle_point(problem), problem.start
    ends = iter([(best.x, best.y), start, start, start])

    def wandering(*_: Any, **__: Any) -> Any:
        x, y = next(ends)
        return SimpleNamespace(reason="epochs", x=x, y=y, last_x=start[0], last_y=start[1])

    monkeypatch.setattr(descent_ascent, "solve", wandering)
    monkeypatch.setattr(descent_ascent, "MAX_STEPS", 7 * descent_ascent.FIRST_STRETCH)
    x, y, gap = descent_ascent.descend_ascend(problem, 0.0)
    np.testing.assert_array_equal(x, best.x)
    np.testing.assert_array_equal(y, best.y)
    assert gap < 1e-9


def test_ctrl_c_ends_it(monkeypatch) -> None:
    interrupted = SimpleNamespace(reason="interrupted")
    monkeypatch.setattr(descent_ascent, "solve", lambda *_, **__: interrupted)
    with pytest.raises(KeyboardInterrupt):
        gp.saddle_point(make(), "gda")
