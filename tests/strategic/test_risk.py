"""The worst-case risk from fresh answers, against `worst_case` of the same people.

`worst_case` itself is compared with a linear program in its own tests.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gameproof as gp

N, D = 400, 3
X = np.random.default_rng(0).standard_normal((N, D))
Y = np.sign(X[:, 0] + 0.5 * np.random.default_rng(1).standard_normal(N))
THETA = np.array([0.9, -0.2, 0.4])
MODEL = gp.QuadraticCost(0.3)
NEGATIVE = int((Y < 0).sum())


def asked(**more: Any) -> gp.Population:
    """A black box that answers as MODEL does."""
    box = gp.BlackBox(lambda theta, agents: MODEL.answers(theta, X[agents], agents))
    return gp.Population(X, Y, box, **more)


CASES: dict[str, dict[str, Any]] = {
    "one-way": {"radius": 0.1, "label_cost": 0.5},
    "cheap labels": {"radius": 0.1, "label_cost": 0.05},
    "labels that stay": {"radius": 0.2},
    "printed": {"radius": 0.4, "label_cost": 0.5, "form": "printed"},
    "radius 0": {"radius": 0.0, "label_cost": 0.5},
    "hinge": {"radius": 0.1, "label_cost": 0.5, "loss": gp.HuberHinge(0.5)},
}


@pytest.mark.parametrize("offset", [0.0, -0.7])
@pytest.mark.parametrize("case", CASES)
def test_asking_everybody_gives_the_worst_case_itself(case: str, offset: float) -> None:
    more = CASES[case] | {"intercept": 2.0}
    known = gp.worst_case(gp.StrategicProblem(gp.Population(X, Y, MODEL), **more), THETA, offset)
    people = asked()
    found = gp.estimate_risk(gp.StrategicProblem(people, **more), THETA, offset)
    assert found.value == pytest.approx(known.value, rel=1e-12)
    assert found.alpha == pytest.approx(known.alpha, rel=1e-12)
    assert found.low == found.value == found.high
    assert found.n_queries == people.n_answers == NEGATIVE
    assert people.n_deployments == 1


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    """2,000 samples: the share that covers is binomial, and is outside its own interval of 99.9 %
    once in a thousand seeds. Student's interval is not exact here, which a hundredth allows for."""
    problem = gp.StrategicProblem(asked(), **CASES["one-way"])
    truth = gp.estimate_risk(problem, THETA).value
    rng = np.random.default_rng(5)
    runs, level = 2000, 0.9
    found = [
        gp.estimate_risk(problem, THETA, queries=40, confidence=level, seed=rng)
        for _ in range(runs)
    ]
    covered = sum(risk.low <= truth <= risk.high for risk in found)
    low, high = stats.binom.interval(0.999, runs, level)
    assert low - 0.01 * runs <= covered <= high + 0.01 * runs
    mean = np.mean([risk.value for risk in found])
    error = np.std([risk.value for risk in found]) / np.sqrt(runs)
    assert abs(mean - truth) < 3.3 * error  # unbiased; false alarm 1e-3


def test_more_answers_and_less_confidence_make_it_narrower() -> None:
    problem = gp.StrategicProblem(asked(), **CASES["one-way"])
    width = {
        (m, level): (
            r := gp.estimate_risk(problem, THETA, queries=m, confidence=level, seed=0)
        ).high
        - r.low
        for m in (20, 180)
        for level in (0.5, 0.99)
    }
    assert width[180, 0.5] < width[20, 0.5] < width[20, 0.99]
    assert width[180, 0.99] < width[20, 0.99] / 3  # the root of 9, and fewer are left out


def test_scores_are_enough() -> None:
    def scores(theta: Any, agents: Any) -> Any:
        return MODEL.answers(theta, X[agents], agents) @ theta

    people = gp.Population(X, Y, gp.BlackBox(scores, scores=True))
    by_scores = gp.estimate_risk(
        gp.StrategicProblem(people, **CASES["one-way"]), THETA, queries=50, seed=2
    )
    by_answers = gp.estimate_risk(
        gp.StrategicProblem(asked(), **CASES["one-way"]), THETA, queries=50, seed=2
    )
    assert by_scores.value == pytest.approx(by_answers.value, rel=1e-12)


def test_a_budget_is_kept_and_nobody_asked_beyond_it() -> None:
    people = asked(budget=30)
    problem = gp.StrategicProblem(people, **CASES["one-way"])
    with pytest.raises(gp.BudgetExceeded, match="the question needs 31 answers"):
        gp.estimate_risk(problem, THETA, queries=31)
    assert people.n_answers == 0
    assert gp.estimate_risk(problem, THETA, queries=30).n_queries == people.n_answers == 30


def test_it_reads_as_a_sentence() -> None:
    problem = gp.StrategicProblem(asked(), **CASES["one-way"])
    text = str(gp.estimate_risk(problem, THETA, queries=50, seed=0))
    assert "with 95 % confidence, from 50 answers" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": 1}, "ask at least 2"),
        ({"queries": 0}, "queries must be at least 1"),
        ({"queries": N}, f"there are {NEGATIVE} agents with label -1 to ask, not {N}"),
        ({"queries": 2.5}, "queries must be an integer"),
        ({"confidence": 1.0}, "confidence must be below 1"),
        ({"confidence": 0.0}, "confidence must be positive"),
        ({"theta": [1.0, 2.0]}, "the population 3 features"),
        ({"theta": [1.0, 2.0, np.nan]}, "theta must be finite"),
        ({"intercept": np.inf}, "intercept must be finite"),
    ],
)
def test_what_cannot_be_estimated_is_refused_before_anybody_is_asked(
    arguments: dict[str, Any], message: str
) -> None:
    people = asked()
    with pytest.raises((TypeError, ValueError), match=message):
        gp.estimate_risk(
            gp.StrategicProblem(people, **CASES["one-way"]), **({"theta": THETA} | arguments)
        )
    assert people.n_answers == 0


def test_where_nobody_moves_the_worst_case_is_known() -> None:
    problem = gp.StrategicProblem(gp.Population(X, Y), 0.1, 0.5, flips="both")
    with pytest.raises(ValueError, match="so there is nothing to estimate: use worst_case"):
        gp.estimate_risk(problem, THETA)


def test_an_answer_that_cannot_be_used_names_the_agents() -> None:
    box = gp.BlackBox(lambda theta, agents: np.full((agents.size, D), np.nan))
    problem = gp.StrategicProblem(gp.Population(X, Y, box), 0.1, 0.5)
    with pytest.raises(gp.AnswerError, match="agents"):
        gp.estimate_risk(problem, THETA, queries=5)


def test_an_intercept_is_not_forgotten() -> None:
    problem = gp.StrategicProblem(asked(), **CASES["one-way"], intercept=2.0)
    with pytest.raises(ValueError, match=r"pass it, for example problem\.offset\(x\)"):
        gp.estimate_risk(problem, THETA)
    assert problem.population.n_answers == 0
    known = gp.StrategicProblem(gp.Population(X, Y, MODEL), **CASES["one-way"], intercept=2.0)
    with pytest.raises(ValueError, match=r"pass it, for example problem\.offset\(x\)"):
        gp.worst_case(known, THETA)


def test_the_known_part_is_a_sum_over_blocks_wherever_the_rows_are(tmp_path: Path) -> None:
    """70,000 people fill three blocks. In memory and mapped from a file, the bits are the same."""
    rng = np.random.default_rng(4)
    features = rng.standard_normal((70_000, D))
    labels = np.sign(features[:, 0] + rng.standard_normal(70_000))
    np.save(tmp_path / "features.npy", features)
    mapped = np.load(tmp_path / "features.npy", mmap_mode="r")

    def problem(X: np.ndarray, response: Any) -> gp.StrategicProblem:
        weights = 1 + (X[:, 1] > 0)
        people = gp.Population(X, labels, response, weights=weights)
        return gp.StrategicProblem(people, radius=0.1, label_cost=0.5)

    box = gp.BlackBox(lambda theta, agents: MODEL.answers(theta, features[agents], agents))
    everybody = int((labels < 0).sum())
    found = [
        gp.estimate_risk(problem(X, box), THETA, queries=everybody, seed=0)
        for X in (features, mapped)
    ]
    assert found[0] == found[1]
    known = gp.worst_case(problem(features, MODEL), THETA)
    assert found[0].value == pytest.approx(known.value, rel=1e-12)
    assert found[0].alpha == pytest.approx(known.alpha, rel=1e-12)


def test_estimate_with_a_journal_and_without_a_seed_warns(tmp_path: Path) -> None:
    problem = gp.StrategicProblem(asked(journal=tmp_path / "answers.db"), 0.1, 0.5)
    with pytest.warns(UserWarning, match="without a seed every estimate asks different people"):
        gp.estimate_risk(problem, THETA, queries=5)
    gp.estimate_risk(problem, THETA, queries=5, seed=0)
    gp.estimate_risk(problem, THETA, queries=NEGATIVE)  # everybody, whatever the seed
