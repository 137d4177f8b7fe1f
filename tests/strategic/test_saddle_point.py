"""Reference saddle points against printed numbers, a conic solver and general optimisers."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import gameproof as gp
from gameproof.strategic.conic import conic_minimum
from strategic_problems import KINDS, make, paper, random_problem, synthetic

Vector = np.ndarray[Any, np.dtype[np.float64]]
CERTIFIED = 1e-8

# Some of the problems are capped on purpose; the warning has a test of its own.
pytestmark = pytest.mark.filterwarnings("ignore::gameproof.core.errors.CapWarning")


# --- the printed numbers


def test_printed_form_of_the_paper_has_its_reference_value() -> None:
    problem = paper("printed")
    saddle = gp.saddle_point(problem)
    theta, alpha = problem.split(saddle.x)
    assert round(saddle.value, 6) == 0.617237
    assert round(alpha, 6) == round(float(np.linalg.norm(theta)), 6) == 0.940066
    assert 0 <= saddle.duality_gap <= CERTIFIED


# Mean and sd over 20 seeds, after 1, 5, 20 and 100 epochs.
EXPECTED = {
    "OGDA-RR": (gp.ogda_rr, [0.142, 0.081, 0.047, 0.0255], [0.008, 0.010, 0.007, 0.0031]),
    "OGDA-WR": (gp.ogda_wr, [0.155, 0.095, 0.055, 0.0293], [0.015, 0.013, 0.008, 0.0038]),
    "SGDA-RR": (gp.sgda_rr, [0.164, 0.101, 0.057, 0.0298], [0.010, 0.007, 0.004, 0.0019]),
    "SGDA-WR": (gp.sgda_wr, [0.167, 0.106, 0.060, 0.0320], [0.011, 0.014, 0.009, 0.0037]),
}


@pytest.mark.parametrize("algorithm", EXPECTED)
def test_gaps_after_1_5_20_and_100_epochs_are_the_expected_ones(algorithm: str) -> None:
    """Within 4 standard errors of the difference of two means of 20: of 16 such, with seeds drawn
    anew, one would fail in about 1 of 1000 runs of this file."""
    solver, mean, sd = EXPECTED[algorithm]
    problem = paper("printed", positive="estimated")
    saddle = gp.saddle_point(problem)
    gaps = np.empty((20, 4))
    for seed in range(20):
        state = None
        for k, epochs in enumerate((1, 5, 20, 100)):
            begin: Any = {"resume": state} if state else {"seed": seed}
            result = gp.solve(problem, solver(scale=(1, 1000)), epochs=epochs, **begin)
            gaps[seed, k], state = gp.gap(problem, result.x, result.y, saddle), result.state
    error = np.sqrt((gaps.var(axis=0, ddof=1) + np.square(sd)) / 20)
    assert (np.abs(gaps.mean(axis=0) - mean) <= 4 * error).all(), (gaps.mean(axis=0), error)


# --- certificates


def awkward() -> tuple[Vector, Vector]:
    """A constant, a zero and a duplicate column."""
    X, y = synthetic(200, 3, 3)
    return np.column_stack([X, X[:, 0], np.ones(200), np.zeros(200)]), y


def imbalanced(share: float) -> tuple[Vector, Vector]:
    rng = np.random.default_rng(4)
    y = np.where(np.arange(300) < share * 300, 1.0, -1.0)
    return rng.standard_normal((300, 3)) + 0.7 * y[:, None], y


PROBLEMS: dict[str, Callable[[], gp.StrategicProblem]] = {
    "radius 0": lambda: make(radius=0.0),
    "small radius": lambda: make(300, 10, radius=1e-3, label_cost=0.5),
    "middle radius": lambda: make(300, 10, radius=0.1, label_cost=0.5),
    "printed": lambda: make(300, 10, radius=0.5, label_cost=0.8, form="printed"),
    "free labels": lambda: make(radius=0.05, label_cost=0.0),
    "cheap labels": lambda: make(radius=0.02, label_cost=0.01),
    "dear labels": lambda: make(300, 5, radius=0.05, label_cost=5.0),
    "fixed labels": lambda: make(300, 5, label_cost=np.inf),
    "labels both ways": lambda: make(300, 5, response=gp.NoResponse(), flips="both"),
    "no power": lambda: make(response=gp.QuadraticCost(0.0)),
    "great power": lambda: make(response=gp.QuadraticCost(5.0)),
    "power by agent": lambda: make(300, 5, response=gp.QuadraticCost(np.linspace(0, 1, 300))),
    "mask": lambda: make(300, 5, response=gp.QuadraticCost(0.3, features=[1, 3])),
    "low cap": lambda: make(alpha_max=0.5),
    "intercept": lambda: make(300, 5, intercept=3.0),
    "tight intercept": lambda: make(300, 5, intercept=0.01),
    "Huber": lambda: make(300, 5, loss=gp.HuberHinge(0.5)),
    "narrow Huber with intercept": lambda: make(loss=gp.HuberHinge(0.05), intercept=1.0),
    "pseudo-Huber": lambda: make(300, 5, loss=gp.PseudoHuberHinge()),
    "degree 1.5": lambda: make(300, 5, response=gp.PowerCost(0.2, degree=1.5)),
    "degree 3": lambda: make(300, 5, response=gp.PowerCost(0.2, degree=3.0)),
    "norm 1.5": lambda: make(300, 5, response=gp.PowerCost(0.2, norm=1.5)),
    "norm 3": lambda: make(300, 5, response=gp.PowerCost(0.2, norm=3.0)),
    "norm 3, degree 3, mask": lambda: make(
        response=gp.PowerCost(0.2, degree=3.0, norm=3.0, features=[0, 2])
    ),
    "few positive": lambda: make(data=imbalanced(0.1)),
    "few negative": lambda: make(data=imbalanced(0.9)),
    "awkward columns": lambda: make(data=awkward()),
    "awkward columns, intercept": lambda: make(data=awkward(), intercept=5.0, radius=0.01),
    "large features": lambda: make(data=(10 * synthetic(200, 3)[0], synthetic(200, 3)[1])),
    "one feature": lambda: make(200, 1),
    "two agents": lambda: make(data=(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1.0, -1.0]))),
    "n 1000": lambda: make(1000, 10),
    "n 5000": lambda: make(5000, 10, radius=0.1, label_cost=0.5),
    "d 25, intercept": lambda: make(1000, 25, intercept=3.0),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_saddle_point_is_certified(name: str) -> None:
    problem = PROBLEMS[name]()
    saddle = gp.saddle_point(problem)
    assert problem.x_set.contains(saddle.x)
    assert problem.y_set.contains(saddle.y)
    assert saddle.value == pytest.approx(problem.robust_value(saddle.x), abs=1e-12)
    assert -1e-12 <= saddle.duality_gap <= CERTIFIED
    assert -1e-12 <= gp.duality_gap(problem, saddle.x, saddle.y) <= CERTIFIED


@pytest.mark.parametrize("block", range(10))
def test_saddle_points_of_200_random_problems_are_certified(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        problem = random_problem(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gp.IgnoresDataWarning)
            saddle = gp.saddle_point(problem)
        assert problem.x_set.contains(saddle.x), seed
        assert -1e-12 <= saddle.duality_gap <= CERTIFIED, seed


@pytest.mark.parametrize("norm", [1.0, 1.02, 10.0, np.inf])
@pytest.mark.parametrize("loss", [gp.Logistic(), gp.HuberHinge(0.1)])
def test_features_of_any_size_and_norms_with_kinks_are_certified(
    norm: float, loss: gp.Loss
) -> None:
    X, y = synthetic(200, 6)
    problem = make(
        data=(X * 10.0 ** np.arange(6), y), response=gp.PowerCost(0.1, norm=norm), loss=loss
    )
    saddle = gp.saddle_point(problem)
    assert -1e-12 <= saddle.duality_gap <= CERTIFIED


# --- the conic solver


@pytest.mark.parametrize("name", KINDS)
def test_saddle_point_agrees_with_a_conic_solver(name: str) -> None:
    problem = KINDS[name]()
    saddle, conic = gp.saddle_point(problem), conic_minimum(problem)
    theta, _ = problem.split(saddle.x)
    assert saddle.value == pytest.approx(conic.value, abs=1e-8)
    np.testing.assert_allclose(saddle.x, conic.x, atol=1e-4)
    assert np.linalg.norm(theta) > 0.05


@pytest.mark.parametrize("name", KINDS)
def test_both_sides_of_the_game_have_one_value(name: str) -> None:
    """The conic solver's best response to gamma gives a lower bound, the best gamma an upper bound;
    a wrong gamma would leave a gap between them."""
    problem = KINDS[name]()
    saddle = gp.saddle_point(problem)
    below = conic_minimum(problem, saddle.y).value
    assert below == pytest.approx(saddle.value, abs=1e-8)
    assert problem.value(saddle.x, saddle.y) == pytest.approx(saddle.value, abs=1e-8)


@pytest.mark.parametrize("name", KINDS)
def test_duality_gap_is_that_of_a_conic_solver(name: str) -> None:
    problem, rng = KINDS[name](), np.random.default_rng(8)
    for x, y in random_points(problem, rng, 3):
        expected = problem.robust_value(x) - conic_minimum(problem, y).value
        assert gp.duality_gap(problem, x, y) == pytest.approx(expected, abs=1e-7)


def random_points(
    problem: gp.StrategicProblem, rng: np.random.Generator, number: int
) -> list[tuple[Vector, Vector]]:
    """Points of the sets, some of them on the boundary."""
    points = []
    for k in range(number):
        gamma = rng.uniform(-1, 1, problem.n) * (1 + k % 2)
        x = 2 * rng.standard_normal(problem.x_set.dim)
        x[-1] = abs(x[-1])
        points.append((problem.x_set.project(x), problem.y_set.project(gamma)))
    return points


@pytest.mark.parametrize("name", KINDS)
def test_duality_gap_is_at_least_the_gap_and_that_is_not_negative(name: str) -> None:
    problem, rng = KINDS[name](), np.random.default_rng(9)
    saddle = gp.saddle_point(problem)
    sizes = []
    for x, y in random_points(problem, rng, 6):
        gap = gp.gap(problem, x, y, saddle)
        assert gap >= -1e-9
        assert gp.duality_gap(problem, x, y) >= gap - 1e-9
        sizes.append(gap)
    # Close to the saddle point the gap is small, and here most easily negative.
    for scale in (1e-3, 1e-5):
        for x, y in random_points(problem, rng, 2):
            near = problem.x_set.project((1 - scale) * saddle.x + scale * x)
            also = (1 - scale) * saddle.y + scale * y
            gap = gp.gap(problem, near, also, saddle)
            assert -1e-9 <= gap <= gp.duality_gap(problem, near, also) + 1e-9
    assert max(sizes) > 0.1


# --- independent methods


@pytest.mark.parametrize("name", ["quadratic", "Huber", "degree 3"])
def test_saddle_point_agrees_with_a_general_optimiser(name: str) -> None:
    """SLSQP on (x, e), with e_i >= |s z_i - alpha kappa| in place of gamma."""
    problem = KINDS[name]()
    people, loss, kappa = problem.population, problem.loss, problem.label_cost
    model, at = people.response, problem.x_set.dim
    dual, q = model.norm / (model.norm - 1), model.degree / (model.degree - 1)
    c, bend, lift = loss.K + loss.s, people.y < 0, int(problem.intercept is not None)
    positive, share = people.X[~bend], float(np.mean(~bend))

    def scores(w: Vector) -> Vector:
        theta = w[lift : at - 1]
        risen = np.where(bend, np.broadcast_to(model.power, people.n), 0.0)
        moved = risen * (np.abs(theta) ** dual).sum() ** (q / dual)
        return people.X @ theta + (w[0] if lift else 0.0) + moved

    def risk(w: Vector) -> float:
        z = scores(w)
        terms = loss.phi(z).sum() + loss.s * z[bend].sum() + w[at:].sum()
        return float(w[at - 1] * (problem.radius - kappa * share) + terms / people.n)

    rows = np.zeros((len(positive), at + len(positive)))
    rows[:, lift : at - 1], rows[:, at - 1] = loss.s * positive, -kappa
    rows[:, :lift] = loss.s
    epigraph = np.hstack([np.zeros((len(positive), at)), np.eye(len(positive))])
    both = np.vstack([epigraph - rows, epigraph + rows])
    start = np.concatenate([np.full(at - 1, 0.1), [1.0], np.full(len(positive), 3.0)])
    bounds = [(-b, b) for b in [problem.intercept] * lift] + [(None, None)] * (at - 1 - lift)
    found = minimize(
        risk,
        start,
        method="SLSQP",
        bounds=[*bounds, (0, problem.alpha_max), *[(None, None)] * len(positive)],
        constraints=[
            {"type": "ineq", "fun": lambda w: both @ w, "jac": lambda w: both},
            {"type": "ineq", "fun": lambda w: w[at - 1] - c * np.linalg.norm(w[lift : at - 1])},
        ],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    saddle = gp.saddle_point(problem)
    assert saddle.value == pytest.approx(found.fun, abs=1e-6)
    np.testing.assert_allclose(saddle.x[: at - 1], found.x[: at - 1], atol=1e-3)


@pytest.mark.parametrize("name", ["quadratic", "intercept", "pseudo-Huber", "fixed labels"])
def test_long_runs_with_exact_gradients_come_to_the_saddle_point(name: str) -> None:
    problem = KINDS[name]()
    saddle = gp.saddle_point(problem)
    # All agents a step, so that a constant step converges.
    solver = gp.ogda_rr(
        gradient=gp.Exact(), step=0.2, scale=(1, problem.n), batch=problem.n, average=gp.Last()
    )
    result = gp.solve(problem, solver, epochs=20_000, seed=0, record_every=20_000)
    assert gp.duality_gap(problem, result.x, result.y) < 1e-5
    assert problem.value(result.x, result.y) == pytest.approx(saddle.value, abs=1e-5)
    theta, _ = problem.split(saddle.x)
    np.testing.assert_allclose(problem.split(result.x)[0], theta, atol=1e-3)


@pytest.mark.parametrize("intercept", [None, 5.0])
@pytest.mark.parametrize("radius", [0.01, 0.1])
def test_nobody_responding_and_no_flips_is_logistic_regression_with_a_norm(
    radius: float, intercept: float | None
) -> None:
    X, y = synthetic(400, 5, 6)
    people = gp.Population(X + 0.3, y)
    problem = gp.StrategicProblem(people, radius, intercept=intercept)
    lift = int(intercept is not None)

    def risk(w: Vector) -> tuple[float, Vector]:
        theta, own = w[lift:], (w[0] if lift else 0.0)
        margins, length = y * (people.X @ theta + own), np.linalg.norm(theta)
        pulls = -y * np.exp(-np.logaddexp(0, margins)) / y.size
        gradient = people.X.T @ pulls + radius * theta / length
        value = np.logaddexp(0, -margins).mean() + radius * length
        return float(value), np.concatenate([[pulls.sum()] * lift, gradient])

    start = np.full(5 + lift, 0.1)
    found = minimize(risk, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-10, "ftol": 0})
    saddle = gp.saddle_point(problem)
    np.testing.assert_allclose(saddle.x[:-1], found.x, atol=1e-4)
    assert saddle.value == pytest.approx(found.fun, abs=1e-8)
    assert saddle.x[-1] == pytest.approx(np.linalg.norm(saddle.x[lift:-1]), abs=1e-6)


def test_duplicate_columns_share_their_weight_and_a_zero_column_has_none() -> None:
    X, y = awkward()
    problem = make(data=(X, y), response=gp.NoResponse())
    theta, _ = problem.split(gp.saddle_point(problem).x)
    assert theta[0] == pytest.approx(theta[3], abs=1e-6)
    assert abs(theta[0]) > 0.05
    assert theta[5] == pytest.approx(0, abs=1e-6)


# --- the three methods


@pytest.mark.parametrize(
    ("method", "name"),
    [(method, name) for method in ("conic", "gda") for name in KINDS],
)
def test_other_methods_come_to_the_same_saddle_point(method: Any, name: str) -> None:
    problem = KINDS[name]()
    newton, other = gp.saddle_point(problem), gp.saddle_point(problem, method)
    assert problem.x_set.contains(other.x)
    assert problem.y_set.contains(other.y)
    assert other.value == pytest.approx(problem.robust_value(other.x), abs=1e-12)
    assert other.duality_gap == pytest.approx(gp.duality_gap(problem, other.x, other.y), abs=1e-12)
    assert -1e-12 <= other.duality_gap <= (1e-8 if method == "conic" else 1e-6)
    # Both values are from above, so they differ by no more than the larger gap.
    assert abs(other.value - newton.value) <= other.duality_gap + newton.duality_gap
    np.testing.assert_allclose(other.x, newton.x, atol=1e-4 if method == "conic" else 2e-2)


@pytest.mark.parametrize("method", ["conic", "gda"])
def test_printed_form_of_the_paper_has_its_reference_value_by_other_methods(method: Any) -> None:
    problem = paper("printed")
    saddle = gp.saddle_point(problem, method)
    assert saddle.value == pytest.approx(0.617237, abs=1.5e-6)
    assert saddle.duality_gap <= 1e-6
    theta, alpha = problem.split(saddle.x)
    assert alpha == pytest.approx(0.940066, abs=1e-3)
    assert np.linalg.norm(theta) == pytest.approx(0.940066, abs=1e-3)


def test_unknown_method_is_an_error_that_names_the_three() -> None:
    with pytest.raises(ValueError, match="method must be one of newton, conic, gda, got 'scs'"):
        gp.saddle_point(make(), "scs")  # type: ignore[arg-type]


# --- refusals


@pytest.mark.parametrize("scores", [False, True])
def test_saddle_point_of_a_black_box_is_refused_with_a_sentence(scores: bool) -> None:
    X, y = synthetic(20, 2)
    calls = []

    def crowd(theta: Vector, agents: Vector) -> Vector:
        calls.append(agents)
        return X[agents] @ theta if scores else X[agents]

    people = gp.Population(X, y, gp.BlackBox(crowd, scores=scores))
    problem = gp.StrategicProblem(people, 0.1, 0.5)
    shown = "scores" if scores else "answers"
    message = f"saddle_point needs the response function, .* shows {shown} only"
    for method in ("newton", "conic", "gda"):
        with pytest.raises(TypeError, match=message):
            gp.saddle_point(problem, method)
    with pytest.raises(TypeError, match="needs the response function"):
        gp.duality_gap(problem, *problem.start)
    assert not calls


def test_printed_form_works_at_its_smallest_radius_whatever_the_rounding() -> None:
    for n in range(3, 40):
        X = np.linspace(-1, 1, n)[:, None]
        y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
        people, least = gp.Population(X, y), 0.7 * (1 - np.mean(y > 0))
        for radius in (least, np.nextafter(least, 0)):
            gp.StrategicProblem(people, radius=radius, label_cost=0.7, form="printed")


def small_features() -> gp.Population:
    rng = np.random.default_rng(0)
    X = 1e-3 * rng.standard_normal((60, 3))
    return gp.Population(X, np.where(X[:, 0] + 1e-3 * rng.standard_normal(60) > 0, 1.0, -1.0))


def test_a_bound_that_binds_is_told_of() -> None:
    people = small_features()
    with pytest.warns(gp.CapWarning, match=r"alpha_max = 20 binds, .* unit size, or give a larger"):
        gp.saddle_point(gp.StrategicProblem(people, radius=1e-5, label_cost=1e-3))
    with pytest.warns(gp.CapWarning, match="bound = 20 binds"):
        gp.plain_regression(people)


@pytest.mark.filterwarnings("error::gameproof.core.errors.CapWarning")
def test_a_bound_that_is_large_enough_is_not_told_of() -> None:
    people = small_features()
    gp.saddle_point(gp.StrategicProblem(people, radius=1e-5, label_cost=1e-3, alpha_max=1e5))
    gp.plain_regression(people, bound=1e5)
    gp.saddle_point(gp.StrategicProblem(gp.Population(1e3 * people.X, people.y), 0.05, 0.5))


@pytest.mark.parametrize("given", [gp.QuadraticGame.random(n=3), "a problem"])
def test_what_is_no_strategic_problem_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match="solves a StrategicProblem"):
        gp.saddle_point(given)


@pytest.mark.parametrize("label_cost", [1e3, 1e5, 1e8])
@pytest.mark.parametrize("method", ["newton", "conic"])
def test_labels_too_dear_to_change_are_those_that_stay(method: Any, label_cost: float) -> None:
    """The certificate holds however much cancels: the true value is that of labels that stay. The
    warning of what rounding takes is another test's."""
    X, y = gp.synthetic_people(n=60, d=4, seed=0)
    people = gp.Population(X, y, gp.QuadraticCost(0.05, features=[0]))
    truth = gp.saddle_point(gp.StrategicProblem(people, radius=0.02)).value
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the saddle point is certified to")
        saddle = gp.saddle_point(gp.StrategicProblem(people, 0.02, label_cost), method)
    assert abs(saddle.value - truth) <= saddle.duality_gap + 1e-11
    assert 0 <= saddle.duality_gap < 1e-14 * label_cost + 1e-6


def test_label_cost_that_takes_the_digits_is_named() -> None:
    X, y = gp.synthetic_people(n=60, d=4, seed=0)
    for fit in (
        lambda: gp.saddle_point(gp.StrategicProblem(gp.Population(X, y), 0.02, 1e12)),
        lambda: gp.RobustStrategicClassifier(0.02, 1e12).fit(X, y),
    ):
        with pytest.warns(UserWarning, match=r"label_cost = 1e\+12 .* give label_cost=inf"):
            fit()


@pytest.mark.parametrize("norm", [1.00001, 1.001, 1.01])
@pytest.mark.parametrize(("power", "degree"), [(0.1, 2.0), (10.0, 1.2), (10.0, 5.0)])
def test_norms_close_to_1_are_as_good_as_1(norm: float, power: float, degree: float) -> None:
    """Powers of 1 / (norm - 1) overflow for long theta and vanish for short ones."""
    X, y = gp.synthetic_people(n=60, d=3, seed=0)

    def value(norm: float) -> float:
        people = gp.Population(X, y, gp.PowerCost(power, degree, norm))
        saddle = gp.saddle_point(gp.StrategicProblem(people, 0.02, 0.5))
        assert saddle.duality_gap < CERTIFIED
        return saddle.value

    assert value(norm) == pytest.approx(value(1.0), abs=0.1 * (norm - 1))
