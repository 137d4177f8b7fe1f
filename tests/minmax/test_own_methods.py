"""Estimates, updates, orders and sets of one's own: they run in the Python loop as built-in ones
run compiled, and a saved run resumes exactly."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.kernels.layout import CENTRE, PHASE, PLAIN, RESHUFFLE, SPHERE
from gameproof.minmax.estimates.gradient import Compiled
from gameproof.minmax.updates.update import Phase
from momentum import Momentum
from solving import SameState

N = 6


class OwnGradient(gp.Gradient):
    """The NumPy form of a built-in estimate, as a user would write it."""

    def __init__(self, form: gp.Gradient) -> None:
        self.form, self.blocks = form, form.blocks

    def __repr__(self) -> str:
        return f"OwnGradient({self.form!r})"

    def n_points(self, dim: int) -> int:
        return self.form.n_points(dim)

    def offsets(self, rng: np.random.Generator, space: Any, radius: float) -> Any:
        return self.form.offsets(rng, space, radius)

    def estimate(self, values: Any, offsets: Any, radius: float, context: Any) -> Any:
        return self.form.estimate(values, offsets, radius, context)


class OwnUpdate(gp.Update):
    """A built-in update whose move is in Python."""

    def __init__(self, form: gp.Update) -> None:
        self.phases = form.phases  # type: ignore[misc]

    def move(self, phase: int, estimates: Any, arrays: Any, step: int) -> Any:
        return super().move(phase, estimates, arrays, step)


class OwnOrder(gp.Order):
    """A built-in order, drawn in Python."""

    def __init__(self, form: gp.Order) -> None:
        self.form = form

    def __repr__(self) -> str:
        return f"OwnOrder({self.form!r})"

    def draw(self, rng: np.random.Generator, n: int, epoch: int) -> Any:
        return self.form.draw(rng, n, epoch)


class OwnSet(gp.ConvexSet):
    """A built-in set without its compiled form."""

    def __init__(self, form: gp.ConvexSet) -> None:
        self.form, self.dim = form, form.dim

    diameter = property(lambda self: self.form.diameter)  # type: ignore[assignment]
    center = property(lambda self: self.form.center)  # type: ignore[assignment]
    fixed_sums = property(lambda self: self.form.fixed_sums)  # type: ignore[assignment]
    inner_radius = property(lambda self: self.form.inner_radius)  # type: ignore[assignment]

    def project(self, point: Any) -> Any:
        return self.form.project(point)

    def step(self, origin: Any, move: Any) -> Any:
        return self.form.step(origin, move)

    def sample(self, rng: np.random.Generator) -> Any:
        return self.form.sample(rng)


def quadratic() -> gp.QuadraticGame:
    return gp.QuadraticGame.random(n=N, dx=3, dy=2, seed=1)


def matrix() -> gp.MatrixGame:
    return gp.MatrixGame.random(n=N, dx=3, dy=3, seed=1)


def assert_close(one: gp.Result, other: gp.Result) -> None:
    for name in ("x", "y", "last_x", "last_y"):
        ours, theirs = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
    assert one.n_queries == other.n_queries
    assert one.n_deployments == other.n_deployments


FORMS = [
    gp.OnePoint(),
    gp.OnePoint(baseline=True),
    gp.Residual(),
    gp.TwoPoint(),
    gp.TwoPoint(symmetric=True),
    gp.Gaussian(),
    gp.Directions(),
    gp.Coordinates(),
    gp.Coordinates(symmetric=True),
]


@pytest.mark.parametrize("form", FORMS, ids=repr)
@pytest.mark.parametrize(
    ("game", "update"),
    [(quadratic, gp.OGDA()), (matrix, gp.Extragradient()), (quadratic, gp.Alternating())],
    ids=["balls", "simplices", "alternating"],
)
def test_estimate_in_python_runs_as_the_compiled_one(
    form: gp.Gradient, game: Any, update: gp.Update
) -> None:
    results = [
        gp.solve(
            game(),
            gp.Solver(update=update, gradient=gradient, step=0.01, radius=0.3, batch=4),
            epochs=3,
            seed=2,
        )
        for gradient in (form, OwnGradient(form))
    ]
    assert_close(*results)


@pytest.mark.parametrize(
    ("gradient", "snapshot"),
    [(gp.TwoPoint(), None), (gp.Directions(k=2), gp.Directions(k=3)), (gp.Coordinates(), None)],
    ids=["two-point", "directions", "coordinates"],
)
def test_estimate_in_python_is_reduced_as_the_compiled_one(
    gradient: gp.Gradient, snapshot: gp.Gradient | None
) -> None:
    game = gp.QuadraticGame.random(n=6, dx=3, dy=2, seed=3)
    compiled = gp.VarianceReduced(gradient, snapshot=snapshot)
    python = gp.VarianceReduced(OwnGradient(gradient), snapshot=OwnGradient(compiled.at_snapshot))
    one, other = (
        gp.solve(game, gp.ogda_rr(gradient=g, step=0.02, radius=0.1, batch=4), epochs=3, seed=2)
        for g in (compiled, python)
    )
    assert_close(one, other)


UPDATES = [
    gp.SGDA(),
    gp.OGDA(),
    gp.Extragradient(),
    gp.PastExtragradient(),
    gp.Anchored(),
    gp.Alternating(ascent_steps=2),
]


@pytest.mark.parametrize("form", UPDATES, ids=repr)
def test_update_in_python_runs_as_the_compiled_one(form: gp.Update) -> None:
    results = [
        gp.solve(
            quadratic(),
            gp.Solver(update=update, gradient=gp.TwoPoint(), step=0.1, radius=0.3, batch=4),
            epochs=3,
            seed=2,
        )
        for update in (form, OwnUpdate(form))
    ]
    assert_close(*results)


@pytest.mark.parametrize(
    "form", [gp.Reshuffle(), gp.WithReplacement()], ids=lambda order: order.name
)
@pytest.mark.parametrize("private", [False, True])
def test_order_in_python_runs_as_the_compiled_one(
    form: gp.Order, private: bool, same_memory: Any
) -> None:
    game = gp.RobustLeastSquares.random(n=N, dx=3, seed=1) if private else quadratic()
    states = [
        gp.solve(game, gp.Solver(order=order, step=0.01, batch=4), epochs=3, seed=2).state
        for order in (form, OwnOrder(form))
    ]
    same_memory(*states)


@pytest.mark.parametrize("entropy", [False, True])
def test_set_in_python_runs_as_the_compiled_one(entropy: bool) -> None:
    results = []
    for own in (False, True):
        game = matrix()
        game.x_set, game.y_set = (gp.Simplex(3, entropy=entropy) for _ in range(2))
        if own:
            game.x_set, game.y_set = OwnSet(game.x_set), OwnSet(game.y_set)
        solver = gp.Solver(update=gp.Anchored(), gradient=gp.TwoPoint(), step=0.3, radius=0.3)
        results.append(gp.solve(game, solver, epochs=3, seed=2))
    assert_close(*results)


def test_momentum_equals_its_formula() -> None:
    game = quadratic()
    solver = gp.Solver(update=Momentum(), gradient=gp.Exact(), step=0.1, batch=N, scale=None)
    result = gp.solve(game, solver, epochs=5, seed=0)
    u, velocity = np.concatenate(game.start), np.zeros(5)
    for _ in range(5):
        parts = [np.concatenate(game.gradient(i, u[:3], u[3:])) for i in range(N)]
        velocity = 0.5 * velocity + np.mean(parts, axis=0) * [1, 1, 1, -1, -1]
        u = u - 0.1 * velocity
        u = np.concatenate([game.x_set.project(u[:3]), game.y_set.project(u[3:])])
    np.testing.assert_allclose(np.append(result.last_x, result.last_y), u, rtol=1e-12)


def own_run(state: gp.State | None = None) -> gp.Run:
    """A run with an estimate, an update, an order and a set in Python."""
    game = quadratic()
    game.x_set = OwnSet(game.x_set)
    solver = gp.Solver(
        update=Momentum(),
        gradient=OwnGradient(gp.OnePoint(baseline=True)),
        order=OwnOrder(gp.Reshuffle()),
        step=gp.PerStep(gp.Power(0.05, 0.5)),
        radius=0.3,
        batch=4,
    )
    return gp.Run(game, solver, state=state) if state else gp.Run(game, solver, seed=2)


def test_run_with_parts_in_python_is_saved_and_resumed_exactly(
    tmp_path: Path, same_state: SameState, same_memory: Any
) -> None:
    whole = own_run()
    for _ in range(6):
        whole.step()
    assert whole.state.arrays["velocity"].any()
    run = own_run()
    while run.state.steps < 6:  # saved after every question, and after every answer
        question = run.ask()
        run.state.save(tmp_path / "state")
        run = own_run(gp.State.load(tmp_path / "state"))
        question = run.ask()
        run.tell(question, run.problem.values(question.indices, question.x, question.y))
        run.state.save(tmp_path / "state")
        loaded = gp.State.load(tmp_path / "state")
        same_state(loaded, run.state)
        same_memory(loaded, run.state)
        run = own_run(loaded)
    same_memory(run.state, whole.state)


def test_state_without_the_arrays_of_its_update_is_rejected() -> None:
    state = own_run().state.copy()
    for arrays in ({}, {"velocity": np.zeros(3)}):
        state.arrays = arrays
        with pytest.raises(gp.StateFileError, match="velocity has shape"):
            own_run(state)


def test_state_of_multiplicative_steps_does_not_resume_with_projected_ones() -> None:
    solver, games = gp.ogda_rr(step=0.05, radius=0.3), (matrix(), matrix())
    games[1].x_set = gp.Simplex(3, entropy=True)
    state = gp.solve(games[0], solver, epochs=1, seed=0).state
    with pytest.raises(gp.StateFileError, match="another problem"):
        gp.solve(games[1], solver, epochs=2, resume=state)


# --- what is rejected before the first query


class Claims(OwnGradient):
    """Claims a compiled form."""

    def __init__(self, offset: int, drawn: int) -> None:
        super().__init__(gp.OnePoint())
        self.claimed = Compiled(offset, drawn)

    @property
    def code(self) -> Compiled:
        return self.claimed


class ClaimsOrder(OwnOrder):
    def __init__(self, code: int) -> None:
        super().__init__(gp.Reshuffle())
        self.code = code  # type: ignore[misc]


@pytest.mark.parametrize(
    "part",
    [
        {"gradient": Claims(PLAIN, SPHERE)},
        {"gradient": Claims(99, SPHERE)},
        {"gradient": Claims(-1, SPHERE)},
        {"gradient": Claims(PLAIN, -1)},
        {"gradient": gp.VarianceReduced(Claims(CENTRE, SPHERE))},
        {"gradient": gp.VarianceReduced(snapshot=Claims(CENTRE, SPHERE))},
        {"order": ClaimsOrder(RESHUFFLE)},
        {"order": ClaimsOrder(99)},
    ],
    ids=str,
)
def test_part_that_claims_a_compiled_form_is_rejected(part: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="leave `code` out of a part of your own"):
        gp.Solver(**part)


@pytest.mark.parametrize(
    "phases",
    [
        (),
        (Phase(blocks="z"),),  # type: ignore[arg-type]
        (Phase(new=np.nan),),
        (Phase(kept="1"),),  # type: ignore[arg-type]
        ((1.0, 0.0),),
    ],
    ids=["none", "unknown block", "not finite", "not a number", "plain tuple"],
)
def test_table_of_phases_that_makes_no_sense_is_rejected(phases: Any) -> None:
    update = gp.Update()
    update.phases = phases  # type: ignore[misc]
    with pytest.raises((ValueError, TypeError), match="phase"):
        gp.Run(quadratic(), gp.Solver(update=update))


class Fixed(OwnGradient):
    """Gives what it is told to give."""

    def __init__(self, offsets: Any = None, estimate: Any = None) -> None:
        super().__init__(gp.OnePoint())
        self.given, self.found = offsets, estimate

    def offsets(self, rng: np.random.Generator, space: Any, radius: float) -> Any:
        return super().offsets(rng, space, radius) if self.given is None else self.given

    def estimate(self, values: Any, offsets: Any, radius: float, context: Any) -> Any:
        return np.zeros(5) if self.found is None else self.found


class FixedMove(gp.Update):
    def __init__(self, found: Any) -> None:
        self.found = found

    def move(self, phase: int, estimates: Any, arrays: Any, step: int) -> Any:
        return self.found


class FixedOutput(gp.Average):
    def __init__(self, found: Any) -> None:
        self.found = found

    def read(self, state: Any) -> Any:
        return self.found


class Sized(Fixed):
    """Names its blocks and its number of points."""

    def __init__(self, blocks: Any = None, points: Any = 1) -> None:
        super().__init__()
        self.blocks, self.points = blocks, points

    def n_points(self, dim: int) -> Any:
        return self.points


class FixedOrder(OwnOrder):
    def __init__(self, found: Any) -> None:
        super().__init__(gp.Reshuffle())
        self.found = found

    def draw(self, rng: np.random.Generator, n: int, epoch: int) -> Any:
        return self.found


BAD = {
    "short offsets": ({"gradient": Fixed(np.zeros((1, 4)))}, r"offsets of shape \(1, 5\)"),
    "offsets not finite": ({"gradient": Fixed(np.full((1, 5), np.nan))}, "finite offsets"),
    "short estimate": ({"gradient": Fixed(estimate=np.zeros(4))}, "must estimate 5 finite"),
    "estimate not finite": ({"gradient": Fixed(estimate=np.full(5, np.inf))}, "must estimate 5"),
    "short move": ({"update": FixedMove(np.zeros(4))}, "must move by 5 finite numbers"),
    "move not finite": ({"update": FixedMove(np.full(5, np.nan))}, "must move by 5 finite"),
    "short order": ({"order": FixedOrder([0, 1])}, "expected 6 sample numbers"),
    "order of floats": ({"order": FixedOrder(np.zeros(6))}, "expected 6 sample numbers"),
    "order beyond the end": ({"order": FixedOrder(np.full(6, 6))}, "outside 0 to 5"),
    "negative order": ({"order": FixedOrder(np.full(6, -1))}, "outside 0 to 5"),
    "unknown blocks": ({"gradient": Sized(blocks="z")}, "blocks must be None, .* got 'z'"),
    "no points": ({"gradient": Sized(points=0)}, "n_points .* must be at least 1, got 0"),
    "fewer than no points": ({"gradient": Sized(points=-1)}, "n_points .* at least 1, got -1"),
    "no output": ({"average": FixedOutput(None)}, r"must read a pair .* of 3 and 2 numbers"),
    "output of one block": ({"average": FixedOutput(np.zeros(2))}, "must read a pair"),
    "short output": ({"average": FixedOutput((np.zeros(3), np.zeros(1)))}, "must read a pair"),
}


@pytest.mark.parametrize(("parts", "said"), BAD.values(), ids=BAD)
def test_what_a_part_gives_is_checked(parts: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said) as failed:
        gp.solve(quadratic(), gp.Solver(step=0.01, **parts), epochs=1, seed=0)
    assert " at 0x" not in str(failed.value)


def test_output_may_be_lists() -> None:
    average = FixedOutput([[1, 2, 3], [4, 5]])
    result = gp.solve(quadratic(), gp.Solver(average=average), epochs=1, seed=0, callback=print)
    np.testing.assert_array_equal(np.append(result.x, result.y), [1, 2, 3, 4, 5])


class Sour(Exception):
    """What a part of one's own raises."""


class FailingGradient(OwnGradient):
    """Raises at one call of one of its methods, after drawing from the generator."""

    def __init__(self, method: str, fails_at: int) -> None:
        super().__init__(gp.TwoPoint())
        self.method, self.left = method, fails_at

    def _count(self, method: str) -> None:
        self.left -= method == self.method
        if self.left == 0 and method == self.method:
            raise Sour

    def offsets(self, rng: np.random.Generator, space: Any, radius: float) -> Any:
        found = super().offsets(rng, space, radius)
        self._count("offsets")
        return found

    def estimate(self, values: Any, offsets: Any, radius: float, context: Any) -> Any:
        self._count("estimate")
        return super().estimate(values, offsets, radius, context)


class FailingOrder(OwnOrder):
    """Raises at one call, after drawing."""

    def __init__(self, fails_at: int) -> None:
        super().__init__(gp.Reshuffle())
        self.left = fails_at

    def draw(self, rng: np.random.Generator, n: int, epoch: int) -> Any:
        found = super().draw(rng, n, epoch)
        self.left -= 1
        if self.left == 0:
            raise Sour
        return found


@pytest.mark.parametrize("update", [gp.OGDA(), gp.Extragradient()], ids=str)
@pytest.mark.parametrize("at", [1, 2, 3, 4, 7, 12])
@pytest.mark.parametrize("method", ["offsets", "estimate", "draw"])
def test_run_resumed_after_a_part_raised_equals_the_run_that_never_failed(
    method: str, at: int, update: gp.Update, same_memory: Any
) -> None:
    def solver(fails_at: int) -> gp.Solver:
        part: dict[str, Any] = {"gradient": FailingGradient(method, fails_at)}
        if method == "draw":
            part |= {"order": FailingOrder(fails_at)}
        return gp.Solver(update=update, step=0.05, radius=0.3, batch=4, **part)

    whole = gp.solve(quadratic(), solver(0), epochs=13, seed=3)
    with pytest.raises(Sour) as failed:
        gp.solve(quadratic(), solver(at), epochs=13, seed=3)
    state = failed.value.state  # type: ignore[attr-defined]
    again = gp.solve(quadratic(), solver(0), epochs=13, resume=state)
    same_memory(again.state, whole.state)


@pytest.mark.parametrize(
    ("gradient", "values"), [(gp.OnePoint(), 1), (gp.TwoPoint(), 2), (gp.Coordinates(), 6)]
)
def test_past_extragradient_asks_in_its_second_phase_only(
    gradient: gp.Gradient, values: int
) -> None:
    game = quadratic()
    solver = gp.Solver(update=gp.PastExtragradient(), gradient=gradient, step=0.1, radius=0.3)
    run = gp.Run(game, solver, seed=0)
    for step in range(1, 15):
        while run.state.steps < step:
            question = run.ask()
            assert question.indices.size == 1
            assert run.state.memory.counts[PHASE] == 1
            run.tell(question, game.values(question.indices, question.x, question.y))
        assert run.state.queries == step * values


def test_phase_that_asks_nothing_is_given_no_new_estimate() -> None:
    """An update with a phase that repeats the kept estimate, as past extragradient has one."""
    seen: list[Any] = []

    class Spy(gp.Update):
        phases = gp.PastExtragradient().phases

        def move(self, phase: int, estimates: Any, arrays: Any, step: int) -> Any:
            if not self.phases[phase].asks:
                seen.append(estimates)
            return super().move(phase, estimates, arrays, step)

    game = gp.QuadraticGame.random(n=N, seed=0)
    for gradient in (gp.TwoPoint(), gp.VarianceReduced(gp.TwoPoint(), every=1)):
        seen.clear()
        gp.solve(game, gp.Solver(update=Spy(), gradient=gradient, step=0.01), epochs=2, seed=0)
        assert len(seen) == 2 * N
        assert not any(each.new.any() or each.previous.any() for each in seen)
        assert not seen[0].kept.any()
        assert all(each.kept.any() for each in seen[1:N])
