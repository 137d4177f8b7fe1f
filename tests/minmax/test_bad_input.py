"""Bad input, refused before the first query."""

import os
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from solving import HARD, SEED


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epochs": 0}, "epochs must be at least 1, got 0"),
        ({"epochs": -3}, "epochs must be at least 1, got -3"),
        ({"epochs": 2.5}, "epochs must be an integer, got 2.5"),
        ({"epochs": "3"}, "epochs must be an integer, got '3'"),
        ({"epochs": True}, "epochs must be an integer, got True"),
        ({"queries": 0}, "queries must be at least 1, got 0"),
        ({"queries": 1e3}, "queries must be an integer, got 1000.0"),
        ({"tolerance": -0.1, "score": max}, "tolerance must be positive and finite, got -0.1"),
        ({"tolerance": np.nan, "score": max}, "tolerance must be positive and finite, got nan"),
        ({"tolerance": "a", "score": max}, "tolerance must be a number, got 'a'"),
        ({"tolerance": 0.1}, "teller knows neither its duality gap nor a saddle.*pass score="),
        ({"score": 3}, "score must be a function, got 3"),
        ({"callback": "stop"}, "callback must be a function, got 'stop'"),
        ({"record_every": 0}, "record_every must be at least 1, got 0"),
        ({"record_every": 0.5}, "record_every must be an integer, got 0.5"),
        ({"checkpoint": "x", "checkpoint_every": 0}, "checkpoint_every must be at least 1, got 0"),
        ({"checkpoint": "x", "checkpoint_every": 2.5}, "checkpoint_every must be an integer"),
        ({"checkpoint": "no/such/folder/x"}, "folder of the checkpoint .*x does not exist"),
        ({"checkpoint": "."}, "is a folder, expected the name of a file"),
        ({"checkpoint": os.devnull}, "is a device or a pipe, expected the name of a file"),
        ({"compiled": True}, "teller cannot run compiled: .* leave out compiled=True"),
        ({"start": ([0.0], [0.0])}, "x has 1 coordinates, the set has 2"),
        ({"start": ([0.0, 0.0], [0.0, 1.0])}, "y has 2 coordinates, the set has 1"),
        ({"start": ([0.0, np.nan], [0.0])}, "x must be finite, got nan at coordinate 1"),
        ({"start": ([0.0, 0.0], [np.inf])}, "y must be finite, got inf at coordinate 0"),
        ({"start": ([[0.0, 0.0]], [0.0])}, r"x must be one-dimensional, got shape \(1, 2\)"),
        ({"start": ("ab", [0.0])}, "x must be .*numbers, got 'ab'"),
        ({"start": [0.0]}, r"start must be a pair \(x, y\), got \[0.0\]"),
        ({"start": 0.0}, r"start must be a pair \(x, y\), got 0.0"),
        ({"seed": -1}, "seed must be an integer of at least 0, .*got -1"),
        ({"seed": "dice"}, "seed must be an integer of at least 0, .*got 'dice'"),
        ({"resume": 17}, "resume must be .*, got 17"),
        ({"resume": {"a": 1}}, r"resume must be .*, got \{'a': 1\}"),
    ],
    ids=lambda part: str(part) if isinstance(part, dict) else "",
)
def test_argument_of_solve_that_makes_no_sense_is_refused_before_the_first_query(
    options: dict[str, Any], said: str, teller: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    told = teller()
    with pytest.raises((ValueError, TypeError, OSError), match=said):
        gp.solve(told.problem, **options)
    assert told.calls == 0


def test_result_in_place_of_its_state_is_refused_with_a_hint(teller: Any) -> None:
    result = gp.solve(teller().problem, epochs=1, seed=SEED)
    with pytest.raises(TypeError, match=r"resume must be .*state"):
        gp.solve(teller().problem, epochs=2, resume=result)


@pytest.mark.parametrize("solver", ["ogda", gp.ogda_rr, gp.OGDA()], ids=["str", "function", "part"])
def test_what_is_no_solver_is_refused_before_the_first_query(solver: Any, teller: Any) -> None:
    told = teller()
    with pytest.raises(TypeError, match=r"solver must be a Solver, such as ogda_rr\(\), got "):
        gp.solve(told.problem, solver)
    assert told.calls == 0


def test_what_is_no_problem_is_refused(teller: Any) -> None:
    with pytest.raises(TypeError, match=r"problem must be a Problem, such as SaddleProblem.*got "):
        gp.solve(teller.value)


def test_table_in_place_of_a_problem_is_refused_by_its_shape() -> None:
    table: Any = np.zeros((3, 2))
    for take in (gp.solve, gp.saddle_point):
        with pytest.raises(TypeError, match=r", got ndarray of shape \(3, 2\) and type float64$"):
            take(table)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"step": -0.1}, "step must be positive and finite, got -0.1"),
        ({"step": 0}, "step must be positive and finite, got 0"),
        ({"step": np.nan}, "step must be positive and finite, got nan"),
        ({"step": "fast"}, "step must be a number, got 'fast'"),
        ({"step": None}, "step must be a number, got None"),
        ({"radius": -1.0}, "radius must be positive and finite, got -1.0"),
        ({"radius": np.inf}, "radius must be positive and finite, got inf"),
        ({"step": lambda t: -1.0}, "step must be positive at every epoch, got -1.0 at epoch 0"),
        ({"radius": lambda t: 0.0}, "radius must be positive at every epoch, got 0.0 at epoch 0"),
        ({"step": lambda t: [0.1]}, r"step at epoch 0 must be a number, got \[0.1\]"),
        ({"step": lambda t: "0.1"}, "step at epoch 0 must be a number, got '0.1'"),
        ({"radius": lambda t: None}, "radius at epoch 0 must be a number, got None"),
        ({"radius": lambda t: np.ones(1)}, "radius at epoch 0 must be a number, got array"),
        ({"batch": 0}, "batch must be at least 1, got 0"),
        ({"batch": -2}, "batch must be at least 1, got -2"),
        ({"batch": 1.5}, "batch must be an integer, got 1.5"),
        ({"scale": 2.0}, r'scale must be "auto", None or \(x multiplier, y .*, got 2.0'),
        ({"scale": "big"}, r'scale must be "auto", None or \(x multiplier, y .*, got \'big\''),
        ({"scale": (1.0,)}, r"scale must be .*, got \(1.0,\)"),
        ({"scale": (1.0, 2.0, 3.0)}, r"scale must be .*, got \(1.0, 2.0, 3.0\)"),
        ({"scale": np.ones(3)}, r"scale must be .*, got array"),
        ({"scale": (1.0, -2.0)}, "y multiplier must be positive and finite, got -2.0"),
        ({"scale": (0.0, 1.0)}, "x multiplier must be positive and finite, got 0.0"),
        ({"scale": ("a", 1.0)}, "x multiplier must be a number, got 'a'"),
        ({"update": "ogda"}, r"update must be .*, such as OGDA\(\), got 'ogda'"),
        ({"update": gp.OGDA}, r"update must be .*, such as OGDA\(\), got <class"),
        ({"gradient": "exact"}, r"gradient must be .*, such as OnePoint\(\), got 'exact'"),
        ({"order": "RR"}, r"order must be .*, such as Reshuffle\(\), got 'RR'"),
        ({"average": None}, r"average must be .*, such as StepWeighted\(\), got None"),
    ],
    ids=lambda part: part if isinstance(part, str) else ", ".join(part),
)
def test_part_of_a_solver_that_makes_no_sense_is_refused_when_it_is_made(
    parts: dict[str, Any], said: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        gp.Solver(**parts)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: gp.Power(-1.0, 0.5), "initial must be positive and finite, got -1.0"),
        (lambda: gp.Power(1.0, -0.5), "exponent must be finite and at least 0, got -0.5"),
        (lambda: gp.Power(1.0, np.nan), "exponent must be finite and at least 0, got nan"),
        (lambda: gp.Power(1.0, "0.5"), "exponent must be a number, got '0.5'"),  # type: ignore
        (lambda: gp.Constant(0.0), "value must be positive and finite, got 0.0"),
        (lambda: gp.OnePoint(blocks="z"), 'blocks must be None, "x", "y" or "all", got \'z\''),
        (lambda: gp.TwoPoint(blocks=1), "blocks must be None, .* got 1"),
        (lambda: gp.Envelope("a"), "degree must be a number, got 'a'"),  # type: ignore[arg-type]
        (lambda: gp.Envelope(1.0), "degree must exceed 1, got 1.0"),
        (lambda: gp.VarianceReduced("exact"), "gradient must be a Gradient, .* got 'exact'"),  # type: ignore
        (lambda: gp.VarianceReduced(every=0), "every must be at least 1, got 0"),
        (lambda: gp.VarianceReduced(gp.OnePoint()), r"OnePoint\(.*\) has noise of the size of"),
        (lambda: gp.VarianceReduced(gp.OnePoint(baseline=True)), "subtracts the mean of earlier"),
        (lambda: gp.VarianceReduced(gp.Residual()), "subtracts the value of the step before"),
        (lambda: gp.VarianceReduced(gp.Envelope()), "needs answers that are observed at the it"),
        (lambda: gp.VarianceReduced(gp.VarianceReduced()), "has snapshots already"),
        (lambda: gp.VarianceReduced(snapshot=gp.OnePoint()), "snapshot OnePoint.* has noise"),
        (lambda: gp.VarianceReduced(snapshot=gp.Exact()), "do not fit together: both must ask"),
        (
            lambda: gp.VarianceReduced(gp.TwoPoint(blocks="x"), snapshot=gp.Coordinates()),
            "do not fit together: both must ask",
        ),
        (
            lambda: gp.VarianceReduced(gp.TwoPoint(feasible=True), snapshot=gp.Coordinates()),
            "asks at feasible points only, so snapshot=Coordinates.* must too",
        ),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_piece_of_a_part_that_makes_no_sense_is_refused_when_it_is_made(
    make: Any, said: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        make()


@pytest.mark.parametrize("chi", [0.0, 0.25, -0.1, 0.3, 1.0, np.nan])
def test_chi_outside_its_open_interval_is_refused(chi: float) -> None:
    with pytest.raises(ValueError, match=f"chi must lie strictly between 0 and 1/4, got {chi}"):
        gp.theory.schedules(0.1, 1.0, chi)


@pytest.mark.parametrize(
    ("step0", "radius0", "said"),
    [(-0.1, 1.0, "got -0.1"), (0.1, 0.0, "got 0"), (np.nan, 1.0, "got nan")],
)
def test_schedule_of_the_theorem_needs_positive_numbers(
    step0: float, radius0: float, said: str
) -> None:
    with pytest.raises(ValueError, match=f"must be positive and finite, {said}"):
        gp.theory.schedules(step0, radius0, 0.1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n": 0}, "n must be at least 1, got 0"),
        ({"n": -1}, "n must be at least 1, got -1"),
        ({"n": 7.0}, "n must be an integer, got 7.0"),
        ({"x_set": (0, 1)}, r"x_set must be a set such as Ball or Box, got \(0, 1\)"),
        ({"y_set": gp.Box}, "y_set must be a set such as Ball or Box, got <class"),
        ({"gradient": 1}, r"gradient must be a function \(i, x, y\).*, got 1"),
        ({"gradient": (max,)}, "gradient must be a function .* or a pair of functions"),
        ({"gradient": (max, 2)}, "gradient must be a function .* or a pair of functions"),
    ],
    ids=str,
)
def test_problem_that_makes_no_sense_is_refused_when_it_is_made(
    options: dict[str, Any], said: str, teller: Any
) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        teller(**options)


def test_value_that_is_no_function_is_refused() -> None:
    with pytest.raises(TypeError, match=r"value must be a function \(i, x, y\) -> float, got 1.0"):
        gp.SaddleProblem(1.0, **HARD)  # type: ignore[arg-type]


def test_estimate_that_needs_a_gradient_the_problem_lacks_is_refused(
    teller: Any, schedules: Any
) -> None:
    x_known = teller(gradient=(teller.x_gradient, None))
    y_known = teller(gradient=(None, teller.y_gradient))
    for told, estimate, said in [
        (teller(), gp.Exact(), r"Exact\(\) needs the gradient of x and y, and teller does not"),
        (x_known, gp.Exact(), r"Exact\(\) needs the gradient of y, and teller does not"),
        (y_known, gp.Exact(), r"Exact\(\) needs the gradient of x, and teller does not"),
        (teller(), gp.OnePoint(blocks="x"), "teller must give the exact gradient of y"),
        (teller(), gp.TwoPoint(blocks="y"), "teller must give the exact gradient of x"),
        (x_known, gp.Residual(blocks="x"), "teller must give the exact gradient of y"),
        (x_known, gp.VarianceReduced(gp.Exact()), r"VarianceReduced.* needs the gradient of y"),
    ]:
        with pytest.raises(ValueError, match=said):
            gp.solve(told.problem, gp.Solver(gradient=estimate, **schedules), epochs=1)
        assert told.calls == 0


def test_budget_of_values_alone_cannot_end_a_run_that_asks_none(
    teller: Any, schedules: Any
) -> None:
    problem = teller(gradient=(teller.x_gradient, teller.y_gradient)).problem
    with pytest.raises(ValueError, match=r"Exact\(\) asks for no values.*give epochs"):
        gp.solve(problem, gp.Solver(gradient=gp.Exact(), **schedules), queries=100)


def test_more_queries_than_can_be_counted_are_no_limit() -> None:
    game = gp.QuadraticGame.random(n=5, seed=0)
    assert gp.solve(game, gp.sgda_rr(step=0.01), epochs=2, queries=10**30).reason == "epochs"


@pytest.mark.parametrize(
    "tally",
    [
        np.zeros(4, dtype=np.int32),
        np.zeros(5),
        np.zeros(10, dtype=np.int32)[::2],
        np.broadcast_to(np.int32(0), 5),
        [0] * 5,
    ],
    ids=["short", "of floats", "with gaps", "to be read only", "no array"],
)
def test_counts_that_cannot_be_added_to_are_refused(tally: Any) -> None:
    game = gp.QuadraticGame.random(n=5, seed=0)
    game.queries.tally = tally
    with pytest.raises(ValueError, match=r"must be empty or like np.zeros\(5, np.int32\)"):
        gp.solve(game, gp.sgda_rr(step=0.01), epochs=1)


def test_counts_of_a_problem_of_ones_own_are_added_to() -> None:
    game = gp.QuadraticGame.random(n=5, seed=0)
    game.queries.tally = np.zeros(5, dtype=np.int32)
    gp.solve(game, gp.sgda_rr(step=0.01), epochs=3)
    assert game.queries.tally.tolist() == [3] * 5


@pytest.mark.parametrize("value", [np.inf, 0.0, -1.0, np.nan])
@pytest.mark.parametrize("per_step", [False, True])
def test_schedule_of_a_user_must_give_positive_finite_numbers(value: float, per_step: bool) -> None:
    schedule = gp.PerStep(lambda step: value) if per_step else lambda epoch: value
    unit = "step" if per_step else "epoch"
    with pytest.raises(ValueError, match=f"step must be positive at every {unit}, got {value}"):
        gp.Solver(gradient=gp.Exact(), step=schedule)


def test_schedule_by_step_must_be_a_function() -> None:
    with pytest.raises(TypeError, match=r"schedule must be a function of the step, got 0\.1"):
        gp.PerStep(0.1)  # type: ignore[arg-type]
