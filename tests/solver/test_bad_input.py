"""Bad input: refused before the first query where it can be, and without loss where it cannot."""

import re
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import gameproof as gp
from gameproof import kernels

SameState = Callable[[gp.State, gp.State], None]
SEED, EPOCHS = 3, 4
METHODS = {
    "OGDA": {"batch": 3},
    "two-point": {"gradient": gp.TwoPoint(), "batch": 3},
    "symmetric WR": {
        "update": gp.SGDA(),
        "order": gp.WithReplacement(),
        "gradient": gp.TwoPoint(symmetric=True),
        "batch": 5,
    },
    "extragradient": {"update": gp.Extragradient(), "gradient": gp.Residual(), "batch": 3},
}
every_method = pytest.mark.parametrize("parts", METHODS.values(), ids=METHODS)


class Sour(Exception):
    """What a user's function raises."""


def raising(error: BaseException) -> Callable[[], Any]:
    def fault() -> Any:
        raise error

    return fault


def failure_of(problem: gp.Problem, solver: gp.Solver, **options: Any) -> gp.EvaluationError:
    with pytest.raises(gp.EvaluationError) as caught:
        gp.solve(problem, solver, **({"epochs": EPOCHS} | options))
    return caught.value


def numbers_after(word: str, message: str) -> list[float]:
    """The vector that a message shows after ``word = ``."""
    shown = re.search(rf"{word} = \[([^\]]*)\]", message)
    assert shown is not None, message
    return [float(part) for part in shown.group(1).split(",")]


# --- a value that cannot be had


@pytest.mark.parametrize(
    "bad", [np.nan, np.inf, -np.inf, None, "much", 1 + 2j, [1.0, 2.0], {}], ids=repr
)
def test_value_that_is_no_finite_number_names_sample_step_and_point(
    bad: Any, teller: Any, schedules: Any
) -> None:
    # OGDA with one sample a step asks 1, 2, 2, … values: call 17 is the second of step 9, and
    # that is the second step of epoch 2 of seven samples.
    told = teller({17: lambda: bad})
    error = failure_of(told.problem, gp.ogda_rr(**schedules), seed=SEED)
    sample, x, y = told.last
    message = str(error)
    assert message.startswith(f"sample {sample} gave ")
    assert str(bad) in message
    assert "in step 9 (epoch 2)" in message
    np.testing.assert_allclose(numbers_after("x", message), x, atol=1e-6)
    np.testing.assert_allclose(numbers_after("y", message), y, atol=1e-6)
    assert "go on with resume=error.state" in message
    assert (error.state.steps, told.calls) == (8, 17)


def test_callable_that_raises_is_named_and_its_exception_chained(
    teller: Any, schedules: Any
) -> None:
    sour = Sour("the milk was off")
    error = failure_of(teller({5: raising(sour)}).problem, gp.ogda_rr(**schedules), seed=SEED)
    assert error.__cause__ is sour
    assert re.match(
        r"sample \d raised Sour: the milk was off, in step 3 \(epoch 1\), at x = ", str(error)
    )


@every_method
@pytest.mark.parametrize("fault", [lambda: np.nan, raising(Sour("off"))], ids=["nan", "raises"])
def test_run_mended_after_a_failure_at_any_call_equals_the_run_that_never_failed(
    parts: dict[str, Any], fault: Any, teller: Any, schedules: Any, same_state: SameState
) -> None:
    solver, clean = gp.Solver(**parts, **schedules), teller()
    whole = gp.solve(clean.problem, solver, seed=SEED, epochs=EPOCHS)
    # Of every step's values, of which there are up to a dozen: the first, some middle, the last.
    for call in range(1, clean.calls + 1):
        told = teller({call: fault})
        error = failure_of(told.problem, solver, seed=SEED)
        assert told.calls == call
        again = gp.solve(told.problem, solver, resume=error.state, epochs=EPOCHS)
        assert told.answered == clean.answered  # so nothing was asked in vain or twice
        assert told.calls == clean.calls + 1
        if again.n_queries != whole.n_queries:  # see the test of what counts as received
            again.state.memory.counts[kernels.QUERIES] = whole.n_queries
            again.state.rows[:] = whole.state.rows
        same_state(again.state, whole.state)


def test_value_received_counts_as_asked_even_if_it_is_bad(teller: Any, schedules: Any) -> None:
    solver, whole = gp.ogda_rr(**schedules), teller()
    clean = gp.solve(whole.problem, solver, seed=SEED, epochs=EPOCHS).n_queries
    for fault, more in ((lambda: np.nan, 1), (raising(Sour()), 0)):
        told = teller({10: fault})
        error = failure_of(told.problem, solver, seed=SEED)
        again = gp.solve(told.problem, solver, resume=error.state, epochs=EPOCHS)
        assert again.n_queries == clean + more


def test_run_that_fails_several_times_in_one_step_still_loses_nothing(
    teller: Any, schedules: Any
) -> None:
    solver, clean = gp.ogda_rr(batch=3, **schedules), teller()
    whole = gp.solve(clean.problem, solver, seed=SEED, epochs=EPOCHS)
    told = teller({call: raising(Sour()) for call in (5, 6, 8, 9)})
    state, failures = None, 0
    while True:
        begin = {"seed": SEED} if state is None else {"resume": state}
        try:
            again = gp.solve(told.problem, solver, epochs=EPOCHS, **begin)
            break
        except gp.EvaluationError as error:
            state, failures = error.state, failures + 1
    assert failures == 4
    assert told.answered == clean.answered
    np.testing.assert_array_equal(again.x, whole.x)


def test_stop_iteration_from_a_callable_is_a_failure_like_any_other(
    teller: Any, schedules: Any
) -> None:
    solver, clean = gp.ogda_rr(batch=3, **schedules), teller()
    whole = gp.solve(clean.problem, solver, seed=SEED, epochs=EPOCHS)
    told = teller({6: raising(StopIteration())})  # as next() raises at the end of a recording
    error = failure_of(told.problem, solver, seed=SEED)
    again = gp.solve(told.problem, solver, resume=error.state, epochs=EPOCHS)
    assert told.answered == clean.answered
    np.testing.assert_array_equal(again.x, whole.x)


class Counted(gp.Problem):
    """A problem of one's own that answers `extra` more values than it is asked."""

    n, name = 4, "counted"

    def __init__(self, extra: int) -> None:
        self.x_set, self.y_set, self.extra = gp.Box([-1], [1]), gp.Box([-1], [1]), extra

    def evaluate(self, indices: Any, x: Any, y: Any) -> Any:
        return [float(x[0] - y[0])] * (len(indices) + self.extra)


@pytest.mark.parametrize("extra", [-1, 1])
def test_problem_that_gives_too_few_or_too_many_values_is_refused(
    extra: int, schedules: Any
) -> None:
    error = failure_of(Counted(extra), gp.ogda_rr(batch=2, **schedules), seed=SEED)
    assert f"gave {2 + extra} values for 2 samples" in str(error)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (lambda indices, x, y: np.zeros(len(indices) - 1), r"2 values|\(2,\)"),
        (lambda indices, x, y: np.zeros(len(indices) + 1), r"4 values|\(4,\)"),
        (lambda indices, x, y: np.zeros((len(indices), 2)), r"\(3, 2\)"),
        (lambda indices, x, y: 0.0, r"\(\)|not iterable"),
        (lambda indices, x, y: None, r"\(\)|not iterable"),
    ],
    ids=["few", "many", "matrix", "number", "nothing"],
)
def test_batch_function_with_the_wrong_shape_is_refused(
    values: Any, said: str, schedules: Any
) -> None:
    sets = {"x_set": gp.Box([-1], [1]), "y_set": gp.Box([-1], [1])}
    problem = gp.SaddleProblem(values, n=7, vectorized=True, **sets)
    error = failure_of(problem, gp.ogda_rr(batch=3, **schedules), seed=SEED)
    assert re.search(said, str(error))
    assert error.state.queries == 0


@pytest.mark.parametrize("place", [0, 1, 2])
def test_batch_function_keeps_the_values_before_a_bad_one(
    place: int, teller: Any, schedules: Any
) -> None:
    asked: list[list[int]] = []
    broken = False

    def values(indices: Any, x: Any, y: Any) -> Any:
        asked.append(indices.tolist())
        found = np.array([teller.value(i, x, y) for i in indices.tolist()])
        if broken and len(asked) == 2:
            found[place] = np.nan
        return found

    sets = {"x_set": gp.Ball([0, 0], 2), "y_set": gp.Box([-1], [1])}
    problem = gp.SaddleProblem(values, n=7, vectorized=True, **sets)
    solver = gp.sgda_rr(batch=3, **schedules)
    whole = gp.solve(problem, solver, seed=SEED, epochs=EPOCHS)
    broken = True
    asked.clear()
    error = failure_of(problem, solver, seed=SEED)
    assert str(error).startswith(f"sample {asked[1][place]} gave nan, in step 2 ")
    again = gp.solve(problem, solver, resume=error.state, epochs=EPOCHS)
    assert asked[2] == asked[1][place:]
    np.testing.assert_array_equal(again.x, whole.x)


# --- a gradient that cannot be had


def half_known(teller: Any, fault: Any, call: int) -> Any:
    """The gradient of y is given, but for one call of it."""
    calls = 0

    def y_gradient(i: int, x: Any, y: Any) -> Any:
        nonlocal calls
        calls += 1
        return fault(x, y) if calls == call else teller.y_gradient(i, x, y)

    return teller(gradient=(None, y_gradient))


BAD_GRADIENTS = {
    "nan": (lambda x, y: np.array([np.nan]), "not finite"),
    "infinite": (lambda x, y: [np.inf], "not finite"),
    "too long": (lambda x, y: np.zeros(2), r"shape \(2,\), expected \(1,\)"),
    "a number": (lambda x, y: 0.0, r"shape \(\), expected \(1,\)"),
    "a column": (lambda x, y: np.zeros((1, 1)), r"shape \(1, 1\), expected \(1,\)"),
    "no numbers": (lambda x, y: ["a"], "ValueError"),
    "nothing": (lambda x, y: None, ""),
    "raises": (lambda x, y: raising(Sour("off"))(), "Sour: off"),
}


@pytest.mark.parametrize(("fault", "said"), BAD_GRADIENTS.values(), ids=BAD_GRADIENTS)
def test_gradient_that_cannot_be_used_names_sample_and_step(
    fault: Any, said: str, teller: Any, schedules: Any
) -> None:
    told = half_known(teller, fault, call=4)  # OGDA needs 1, 2, 2, … gradients
    error = failure_of(told.problem, gp.ogda_rr(**schedules), seed=SEED)
    assert re.match(r"sample \d gave no usable gradient .*in step 3 \(epoch 1\)", str(error))
    assert re.search(said, str(error))
    assert error.__cause__ is not None


@pytest.mark.parametrize(
    "parts",
    [
        {"batch": 3},
        {"gradient": gp.TwoPoint(), "batch": 3},
        {"gradient": gp.TwoPoint(symmetric=True), "update": gp.Extragradient()},
        {"gradient": gp.OnePoint(blocks="x"), "order": gp.WithReplacement()},
    ],
    ids=["OGDA", "two-point", "extragradient", "WR"],
)
@pytest.mark.parametrize("call", [1, 2, 3, 4, 5, 10, 11])
def test_run_mended_after_a_bad_gradient_equals_the_run_that_never_failed(
    parts: dict[str, Any], call: int, teller: Any, schedules: Any, same_state: SameState
) -> None:
    solver = gp.Solver(**parts, **schedules)
    clean = half_known(teller, None, call=0)
    whole = gp.solve(clean.problem, solver, seed=SEED, epochs=EPOCHS)
    told = half_known(teller, lambda x, y: [np.nan], call)
    error = failure_of(told.problem, solver, seed=SEED)
    again = gp.solve(told.problem, solver, resume=error.state, epochs=EPOCHS)
    assert told.answered == clean.answered
    same_state(again.state, whole.state)


@pytest.mark.parametrize(
    "joint",
    [
        lambda i, x, y: np.zeros(3),
        lambda i, x, y: (np.zeros(2),),
        lambda i, x, y: (np.zeros(2), None),
        lambda i, x, y: (None, np.zeros(1)),
        lambda i, x, y: (np.zeros(1), np.zeros(2)),
    ],
    ids=["one vector", "one block", "no y", "no x", "swapped"],
)
def test_joint_gradient_must_give_both_blocks(joint: Any, teller: Any, schedules: Any) -> None:
    solver = gp.ogda_rr(gradient=gp.Exact(), **schedules)
    error = failure_of(teller(gradient=joint).problem, solver, seed=SEED)
    assert "gave no usable gradient" in str(error)
    assert error.state.steps == 0


# --- a user's compiled function

HARD = {"n": 7, "x_set": gp.Ball([0.0, 0.0], 2.0), "y_set": gp.Box([-1.0], [1.0])}


@numba.njit
def cracked(i: int, x: Any, y: Any) -> float:
    if i == 3:
        return np.nan
    if i == 5:
        raise ValueError("five")
    return 0.5 * (x[0] - 0.1 * i) ** 2 + 0.25 * x[1] ** 2 + x[0] * y[0] - y[0] ** 2 + 0.05 * i


def seed_that_meets(sample: int, before: int, problem: gp.Problem) -> int:
    """A seed under which one sample comes before the other, and not in the first step."""
    for seed in range(100):
        order = gp.Run(problem, gp.sgda_rr(radius=0.5), seed=seed)
        seen = []
        while len(seen) < 7:
            seen.append(int(order.ask().indices[0]))
            order.step()
        if 2 <= seen.index(sample) < seen.index(before):
            return seed
    raise AssertionError("no such seed")


def test_compiled_value_that_is_not_finite_fails_as_in_python_and_goes_on_mended(
    compiled_functions: Any, schedules: Any, same_state: SameState
) -> None:
    broken = gp.SaddleProblem(cracked, name="mine", **HARD)
    mended = gp.SaddleProblem(compiled_functions.value, name="mine", **HARD)
    solver, seed = gp.ogda_rr(batch=2, **schedules), seed_that_meets(3, 5, mended)
    assert broken.data is not None
    error = failure_of(broken, solver, seed=seed, compiled=True)
    in_python = failure_of(broken, solver, seed=seed, compiled=False)
    assert str(error) == str(in_python)
    assert str(error).startswith("sample 3 gave nan, in step ")
    whole = gp.solve(mended, solver, seed=seed, epochs=EPOCHS)
    for state, compiled in ((error.state, True), (in_python.state, False), (error.state, False)):
        again = gp.solve(mended, solver, resume=state, epochs=EPOCHS, compiled=compiled)
        assert again.n_queries == whole.n_queries + 1
        again.state.memory.counts[kernels.QUERIES] -= 1
        again.state.rows[:] = whole.state.rows
        same_state(again.state, whole.state)


def test_compiled_function_that_raises_fails_as_in_python_and_goes_on_mended(
    compiled_functions: Any, schedules: Any, same_state: SameState
) -> None:
    broken = gp.SaddleProblem(cracked, name="mine", **HARD)
    mended = gp.SaddleProblem(compiled_functions.value, name="mine", **HARD)
    solver, seed = gp.ogda_rr(batch=2, **schedules), seed_that_meets(5, 3, mended)
    in_python = failure_of(broken, solver, seed=seed, compiled=False)
    error = failure_of(broken, solver, seed=seed, compiled=True)
    assert str(error).startswith("sample 5 raised ValueError: five, in step ")
    assert str(error) == str(in_python)
    assert isinstance(error.__cause__, ValueError)
    whole = gp.solve(mended, solver, seed=seed, epochs=EPOCHS)
    again = gp.solve(mended, solver, resume=error.state, epochs=EPOCHS)
    same_state(again.state, whole.state)


@pytest.mark.parametrize(
    ("y", "said"),
    [(0.75, "not finite"), (-0.75, r"\(0,\), expected"), (0.25, "ValueError: a quarter")],
    ids=["nan", "too short", "raises"],
)
def test_compiled_gradient_that_cannot_be_used_fails_as_in_python(
    y: float, said: str, compiled_functions: Any, schedules: Any
) -> None:
    problem = gp.SaddleProblem(
        compiled_functions.value, gradient=(None, compiled_functions.y_gradient), **HARD
    )
    options = {"seed": SEED, "start": ([0.0, 0.0], [y])}
    solver = gp.ogda_rr(**schedules)
    in_python = failure_of(problem, solver, compiled=False, **options)
    assert re.search(said, str(in_python))
    assert str(failure_of(problem, solver, compiled=True, **options)) == str(in_python)


# --- values too large to compute with


def test_iterate_that_is_no_longer_finite_is_an_error_and_spares_the_checkpoint(
    tmp_path: Any, schedules: Any
) -> None:
    calls = 0

    def growing(i: int, x: Any, y: Any) -> float:
        nonlocal calls
        calls += 1
        return 1e308 if calls > 30 else 1.0

    problem = gp.SaddleProblem(growing, **HARD)
    solver = gp.sgda_rr(step=0.1, radius=0.01)
    with pytest.raises(FloatingPointError, match="SGDA-RR is no longer finite at step 31"):
        gp.solve(
            problem, solver, seed=SEED, epochs=9, checkpoint=tmp_path / "state", checkpoint_every=1
        )
    assert np.isfinite(gp.State.load(tmp_path / "state").memory.x).all()


# --- schedules that go wrong on the way


def schedule(later: float) -> Callable[[int], float]:
    """Bad from epoch 3 on, unless mended."""

    def by_epoch(t: int) -> float:
        return 0.02 if t < 3 else later

    return by_epoch


@pytest.mark.parametrize("name", ["step", "radius"])
@pytest.mark.parametrize("later", [-1.0, 0.0, np.nan, np.inf])
def test_schedule_that_turns_bad_is_named_with_its_epoch(
    name: str, later: float, teller: Any
) -> None:
    parts = {"step": 0.02, "radius": 0.5} | {name: schedule(later)}
    told = teller()
    with pytest.raises(
        ValueError, match=f"{name} must be positive at every epoch, got {later} at epoch 3"
    ):
        gp.solve(told.problem, gp.sgda_rr(**parts), seed=SEED, epochs=9)
    assert told.calls <= 3 * 7


@pytest.mark.parametrize("order", [gp.Reshuffle(), gp.WithReplacement(), gp.ShuffleOnce()])
@pytest.mark.parametrize("game", ["plain", "built in"])
def test_run_whose_schedule_is_mended_goes_on_from_its_checkpoint(
    order: Any, game: str, teller: Any, tmp_path: Any, same_state: SameState
) -> None:
    problem = teller().problem if game == "plain" else gp.QuadraticGame.random(n=7, seed=0)

    def solver(later: float) -> gp.Solver:
        return gp.Solver(order=order, step=schedule(later), radius=0.5)

    whole = gp.solve(problem, solver(0.01), seed=SEED, epochs=6)
    path = tmp_path / "state"
    with pytest.raises(ValueError, match="at epoch 3"):
        gp.solve(problem, solver(-1.0), seed=SEED, epochs=6, checkpoint=path)
    again = gp.solve(problem, solver(0.01), resume=path, epochs=6)
    same_state(again.state, whole.state)


# --- a projection that fails


class Slippery(gp.ConvexSet):
    """An interval whose projection fails at one call."""

    dim, diameter = 1, 2.0

    def __init__(self, fails_at: int) -> None:
        self.calls, self.fails_at = 0, fails_at

    @property
    def center(self) -> Any:
        return np.zeros(1)

    def project(self, point: Any) -> Any:
        self.calls += 1
        if self.calls == self.fails_at:
            raise Sour("slipped")
        return np.clip(point, -1.0, 1.0)

    def sample(self, rng: np.random.Generator) -> Any:
        return rng.uniform(-1.0, 1.0, 1)


@pytest.mark.parametrize(
    ("parts", "known"),
    [
        ({}, "both"),
        ({}, "x"),
        ({"gradient": gp.OnePoint(baseline=True), "batch": 2}, "both"),
        ({"gradient": gp.Residual(), "update": gp.Extragradient()}, "x"),
        ({"gradient": gp.Exact()}, "both"),
    ],
    ids=["all estimated", "y estimated", "baseline", "extragradient", "exact"],
)
def test_run_whose_projection_is_mended_goes_on_from_its_checkpoint(
    parts: dict[str, Any],
    known: str,
    teller: Any,
    schedules: Any,
    tmp_path: Any,
    same_state: SameState,
) -> None:
    gradient = (teller.x_gradient, teller.y_gradient if known == "both" else None)
    solver, path = gp.Solver(**parts, **schedules), tmp_path / "state"

    def problem(fails_at: int) -> gp.Problem:
        found: gp.Problem = teller(y_set=Slippery(fails_at), gradient=gradient).problem
        return found

    whole = gp.solve(problem(0), solver, seed=SEED, epochs=EPOCHS)
    for fails_at in (1, 2, 5, 10):
        with pytest.raises(Sour, match="slipped"):
            gp.solve(problem(fails_at), solver, seed=SEED, epochs=EPOCHS, checkpoint=path)
        again = gp.solve(problem(0), solver, resume=path, epochs=EPOCHS)
        same_state(again.state, whole.state)


# --- refused before the first query


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
        ({"compiled": True}, "teller cannot run compiled: .* leave out compiled=True"),
        ({"start": ([0.0], [0.0])}, "x has 1 coordinates, the set has 2"),
        ({"start": ([0.0, 0.0], [0.0, 1.0])}, "y has 2 coordinates, the set has 1"),
        ({"start": ([0.0, np.nan], [0.0])}, "x must be finite, got nan at coordinate 1"),
        ({"start": ([0.0, 0.0], [np.inf])}, "y must be finite, got inf at coordinate 0"),
        ({"start": ([[0.0, 0.0]], [0.0])}, r"x must be one-dimensional, got shape \(1, 2\)"),
        ({"start": ("ab", [0.0])}, "x must be .*numbers, got 'ab'"),
        ({"start": [0.0]}, r"start must be a pair \(x, y\), got \[0.0\]"),
        ({"start": 0.0}, r"start must be a pair \(x, y\), got 0.0"),
        ({"seed": -1}, "non-negative"),
        ({"seed": "dice"}, "dice"),
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
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=said):
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
        (lambda: gp.Power(1.0, -0.5), "exponent must not be negative, got -0.5"),
        (lambda: gp.Power(1.0, np.nan), "exponent must not be negative, got nan"),
        (lambda: gp.Constant(0.0), "value must be positive and finite, got 0.0"),
        (lambda: gp.OnePoint(blocks="z"), 'blocks must be None, "x", "y" or "all", got \'z\''),
        (lambda: gp.TwoPoint(blocks=1), "blocks must be None, .* got 1"),
    ],
    ids=["initial", "exponent", "nan exponent", "constant", "blocks", "blocks of two points"],
)
def test_piece_of_a_part_that_makes_no_sense_is_refused_when_it_is_made(
    make: Any, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
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
