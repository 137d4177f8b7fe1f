"""`check_response` lets sound responses pass and names the claim that a broken one breaks."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.strategic.gauge import NormGauge
from gameproof.strategic.responses import EncodedResponse
from strategic_problems import box_by_agent, random_budget, with_category

N, D = 12, 6
X = np.random.default_rng(0).standard_normal((N, D))
Y = np.where(np.arange(N) % 3 == 0, 1.0, -1.0)
COST = gp.QuadraticCost(0.3, features=[0, 2])
EACH = np.linspace(0.0, 1.0, N)


class Halfway(gp.Response):
    """A user's response that equals a quadratic cost of power 0.5."""

    def answers(self, theta: Any, features: Any, agents: Any) -> Any:
        return features + 0.5 * theta

    def fit(self, n: int, d: int) -> None:
        pass


def in_a_box(theta: Any, indices: Any) -> Any:
    return X[indices] + np.sign(theta)


SOUND: dict[str, Any] = {
    "nobody": gp.NoResponse(),
    "quadratic": COST,
    **{
        f"degree {degree}, norm {norm}": gp.PowerCost(EACH, degree, norm, [1, 2, 5])
        for degree, norm in [(1.5, 1.0), (2.0, 1.5), (3.0, 2.0), (5.0, 3.0), (1.2, np.inf)]
    },
    **{f"ball, norm {p}": gp.BallBudget(0.4, norm=p) for p in (1.0, 1.3, 2.0, 4.0, np.inf)},
    "box": gp.BoxBudget(-0.3 * np.ones(D), np.linspace(0, 1, D)),
    "box by agent": box_by_agent(N, D),
    "prices": gp.PriceBudget(EACH, [1.0, 0.5, np.inf, 2.0, 0.4, np.inf]),
    "category": with_category(N, D),
    "noisy": gp.Noisy(COST, 0.1),
    "limited": gp.Limited(COST, 0.1),
    "boxed": gp.Boxed(COST, -1.0, 1.0),
    "rounded": gp.Rounded(COST, 0.1),
    "reluctant": gp.Reluctant(COST, 0.5),
    "stale": gp.Stale(COST),
    "a user's own": Halfway(),
    "black box": gp.BlackBox(in_a_box),
    "function": in_a_box,
    "scores": gp.BlackBox(lambda theta, indices: in_a_box(theta, indices) @ theta, scores=True),
}


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("y", [None, Y], ids=["all move", "some move"])
def test_sound_response_passes(name: str, y: Any) -> None:
    assert gp.check_response(SOUND[name], X, y) is None


@pytest.mark.parametrize("name", ["function", "black box", "scores", "limited"])
def test_best_responses_pass_when_told_to_be(name: str) -> None:
    gp.check_response(SOUND[name], X, Y, best_response=True)


@pytest.mark.parametrize("seed", range(20))
def test_random_budgets_pass(seed: int) -> None:
    response = random_budget(np.random.default_rng(seed), N, D)
    gp.check_response(response, 10.0 ** (seed - 10) * X, seed=seed)


class Counting:
    """Answers that drift from one call to the next."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, theta: Any, indices: Any) -> Any:
        self.calls += 1
        return X[indices] + 0.01 * self.calls


def overwrite(theta: Any, indices: Any) -> Any:
    theta *= 2
    return X[indices]


def with_nan(theta: Any, indices: Any) -> Any:
    return np.where(indices[:, None] == 4, np.nan, X[indices])


def by_rank(theta: Any, indices: Any) -> Any:
    return X[indices] + np.arange(len(indices))[:, None]


BROKEN: dict[str, tuple[Any, dict[str, Any], str]] = {
    "shape": (lambda t, i: X[i][:, :2], {}, rf"answers have shape \({N}, {D}\), got \({N}, 2\)"),
    "score shape": (
        gp.BlackBox(lambda t, i: X[i], scores=True),
        {},
        rf"shape \({N},\), got \({N}, {D}\)",
    ),
    "words": (lambda t, i: "high", {}, "answers are numbers"),
    "nan": (with_nan, {}, "answers are finite; agent 4, theta = "),
    "writes": (overwrite, {}, "leaves its arguments as they are"),
    "drifts": (Counting(), {}, "the same question gets the same answer"),
    "by rank": (by_rank, {}, "does not depend on who else is asked"),
    "wrong features": (in_a_box, {"features": [0, 1]}, "only movable features move; agent 0"),
    "away": (lambda t, i: X[i] - t, {"best_response": True}, "never lower a score"),
    "low scores": (
        gp.BlackBox(lambda t, i: X[i] @ t - 1, scores=True),
        {"best_response": True},
        "never lower a score",
    ),
    "at zero": (
        lambda t, i: X[i] + (not t.any()),
        {"best_response": True},
        "nobody moves when theta = 0",
    ),
    "shrinking": (
        lambda t, i: X[i] + t / max(t @ t, 1e-3),
        {"best_response": True},
        r"monotone: <b\(t1\) - b\(t2\), t1 - t2> >= 0",
    ),
    "late": (gp.Stale(COST), {"best_response": True}, "monotone|never lower"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_response_is_named(name: str) -> None:
    response, options, message = BROKEN[name]
    with pytest.raises(AssertionError, match=f"^broken: .*{message}"):
        gp.check_response(response, X, **options)


def test_drifting_answers_pass_if_they_need_not_repeat() -> None:
    gp.check_response(Counting(), X, repeatable=False)


@dataclass(frozen=True, eq=False)
class Own(NormGauge):
    """A known response with parts of it replaced."""

    power: float = 0.3
    norm: float = 2.0
    features: Any = None
    degree: float = 2.0
    broken: str = ""

    strength_name = "power"

    def answers(self, theta: Any, features: Any, agents: Any) -> Any:
        return super().answers((2 if self.broken == "answers" else 1) * theta, features, agents)

    def gains(self, theta: Any, agents: Any) -> Any:
        return (2 if self.broken == "gains" else 1) * super().gains(theta, agents)

    @property
    def conjugate_degree(self) -> float:
        return 2.0

    def scaled(self, factor: float) -> Any:
        return self if self.broken == "scaled" else super().scaled(factor)

    def of_agents(self, agents: Any) -> Any:
        return replace(self, power=1.0) if self.broken == "of_agents" else self

    def encoded(self, d: int) -> EncodedResponse:
        found = super().encoded(d)
        return found._replace(strength=2 * found.strength) if self.broken == "encoded" else found

    def movable(self, d: int) -> Any:
        return [1] * d if self.broken == "movable" else super().movable(d)

    @property
    def largest(self) -> Any:
        return ("power", -1.0) if self.broken == "largest" else super().largest


class WrongDegree(Own):
    """Moves by the square of theta, and says that the degree is 2."""

    def answers(self, theta: Any, features: Any, agents: Any) -> Any:
        return features + 0.3 * theta * np.linalg.norm(theta)

    def gains(self, theta: Any, agents: Any) -> Any:
        return np.full(agents.shape, 0.3 * np.linalg.norm(theta) ** 3)


class WrongGradient(Own):
    """Gains of a ball of degree 2 with moves along the largest coefficient."""

    def answers(self, theta: Any, features: Any, agents: Any) -> Any:
        first = np.arange(theta.size) == np.argmax(np.abs(theta))
        size = theta @ theta / np.abs(theta).max() if theta.any() else 0.0
        return features + 0.3 * size * first * np.sign(theta)


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (Own(broken="answers"), "gains are <answers - x, theta>"),
        (Own(broken="gains"), "gains are <answers - x, theta>"),
        (Own(broken="scaled"), r"scaled\(c\) has c times the gains"),
        (Own(broken="of_agents"), r"of_agents\(agents\) has the gains of these agents"),
        (Own(broken="encoded"), "the compiled form"),
        (Own(broken="movable"), r"movable\(d\) is a mask of 6 booleans"),
        (Own(broken="largest"), "largest is a name and a size"),
        (WrongDegree(), "homogeneous of degree q = 2"),
        (WrongGradient(), "monotone|subgradient of the gains"),
    ],
    ids=lambda given: getattr(given, "broken", None) or type(given).__name__,
)
def test_broken_closed_form_is_named(response: gp.Response, message: str) -> None:
    gp.check_response(Own(), X)
    with pytest.raises(AssertionError, match=f"^broken: .*{message}"):
        gp.check_response(response, X)


def test_arguments_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="power has 3 numbers, the population 12 agents"):
        gp.check_response(gp.QuadraticCost([0.1] * 3), X)
    with pytest.raises(ValueError, match="y must contain -1"):
        gp.check_response(COST, X, np.ones(N))
    with pytest.raises(ValueError, match="feature 9 cannot move"):
        gp.check_response(in_a_box, X, features=[9])
    with pytest.raises(TypeError, match="function must be callable, got 3"):
        gp.check_response(3, X)
