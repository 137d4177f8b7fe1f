"""`Solver.auto` with people: when it stops, what happens after a refutation, and the same bits
whoever drives the inquiry."""

from typing import Any

import numpy as np
import pytest

import gameproof as gp
from gameproof.minmax.auto_options import AutoOptions
from gameproof.strategic.auto.auto_inquiry import AutoInquiry
from gameproof.strategic.auto.choose import Choice
from gameproof.strategic.auto.pilot_study import PilotStudy
from gameproof.strategic.auto.race import SolverRace
from gameproof.strategic.auto.simulation import ModelOfPeople
from gameproof.strategic.inquiry import Deployment, Replies, ask_now
from strategic_problems import synthetic

POWER = gp.QuadraticCost(0.3, features=[0, 1, 2])
X, Y = synthetic(400, 6, seed=1)


def subgroup(theta: Any, agents: Any) -> Any:
    """Three of ten are three times as strong, on the other features."""
    strong = gp.QuadraticCost(0.9, features=[3, 4, 5]).answers(theta, X[agents], agents)
    usual = POWER.answers(theta, X[agents], agents)
    return np.where((agents % 10 < 3)[:, None], strong, usual)


def problem_with(response: gp.Response, **options: Any) -> gp.StrategicProblem:
    people = gp.Population(X, Y, response, budget=options.pop("budget", None))
    return gp.StrategicProblem(people, **({"radius": 0.05, "label_cost": 0.5} | options))


def exact(**options: Any) -> gp.StrategicProblem:
    return problem_with(gp.BlackBox(lambda theta, i: POWER.answers(theta, X[i], i)), **options)


def refuting(**options: Any) -> gp.StrategicProblem:
    return problem_with(gp.BlackBox(subgroup), **options)


def true_risk(problem: gp.StrategicProblem, answers: Any, x: Any) -> float:
    """The worst-case risk if everybody is asked, apart from the population's counts."""
    twin = problem.with_population(gp.Population(X, Y, gp.BlackBox(answers)))
    return gp.estimate_risk(twin, problem.split(x)[0], queries=int((Y < 0).sum())).value


# --- it stops when fresh answers agree


def test_run_asks_nobody_if_fresh_answers_agree() -> None:
    # The oracle is the certified saddle point of the people themselves.
    problem, known = exact(), problem_with(POWER)
    solver = gp.Solver.auto(problem, seed=0)
    before = problem.population.n_answers, problem.population.n_deployments
    assert before == (84, 7)
    result = gp.solve(problem, solver, queries=2000, seed=0)
    assert result.reason == "settled"
    assert "24 agents agree with the start" in result.status
    assert (problem.population.n_answers, problem.population.n_deployments) == before
    assert result.n_queries == 0
    assert gp.gap(known, result.x, result.y, gp.saddle_point(known)) < 1e-6


def test_settled_run_runs_if_it_is_resumed_or_started_elsewhere() -> None:
    problem = exact()
    solver = gp.Solver.auto(problem, queries=400, seed=0)
    settled = gp.solve(problem, solver, queries=400, seed=0)
    resumed = gp.solve(problem, solver, queries=400, resume=settled.state)
    elsewhere = gp.solve(problem, solver, queries=400, seed=0, start=problem.start)
    for result in (resumed, elsewhere):
        assert result.reason == "queries"
        assert 300 < result.n_queries <= 400


def test_own_start_is_never_settled() -> None:
    assert not gp.Solver.auto(exact(), start=False, queries=100).settled


def test_noise_is_part_of_the_model() -> None:
    # Errors raise the risk. The oracle is the mean risk over other draws of the errors; a run that
    # ignores them, as the noiseless saddle point does, is worse by 0.06. Seeds are fixed.
    noisy = gp.Noisy(POWER, 1.0)
    problem = problem_with(gp.BlackBox(lambda theta, i: noisy.answers(theta, X[i], i)))
    result = gp.solve(problem, gp.Solver.auto(problem, seed=0), queries=1000, seed=0)
    others = [gp.Noisy(POWER, 1.0, seed) for seed in range(1, 16)]

    def mean_risk(x: Any) -> float:
        answers = [lambda t, i, r=r: r.answers(t, X[i], i) for r in others]
        return float(np.mean([true_risk(problem, each, x) for each in answers]))

    errors = np.random.default_rng(0).standard_normal((2000, 6))
    best = ModelOfPeople.of(problem, POWER, errors)
    assert best is not None
    assert mean_risk(result.x) < mean_risk(best.x) + 0.015
    assert mean_risk(gp.saddle_point(problem_with(POWER)).x) > mean_risk(result.x) + 0.03


@pytest.mark.parametrize("delay", [1, 2])
def test_late_answers_are_assigned_to_the_theta_that_they_answer(delay: int) -> None:
    # Without noise the older theta explains everything: the oracle is the certified saddle point.
    problem, known = problem_with(gp.Stale(POWER, delay)), problem_with(POWER)
    solver = gp.Solver.auto(problem, seed=0)
    assert solver.settled
    assert gp.gap(known, *solver.start, gp.saddle_point(known)) < 1e-6
    assert f"{delay} deployment" in solver.why


def test_uncertain_model_is_refined_until_little_can_be_gained() -> None:
    noisy = gp.Noisy(POWER, 0.3)
    few, many = (PilotStudy(problem_with(noisy), None, most, seed=0) for most in (120, 1000))
    for study in (few, many):
        ask_now(study.inquiry(), study.people)
        assert study.holds
        assert study.n_answers <= 1000
    assert few.n_answers <= 120 < many.n_answers
    assert many.regret <= 1e-3 < few.regret
    assert many.learned is not None
    low, high = many.learned.intervals["power"]
    assert low < 0.3 < high


# --- after a refutation


def test_after_a_refutation_the_better_estimate_wins_on_fresh_answers() -> None:
    # These people best-respond, so Envelope is exact, and no single power fits.
    problem = refuting()
    solver = gp.Solver.auto(problem, queries=1000, seed=0)
    assert "The model is not relied on" in solver.why
    assert "At equal cost, fresh answers give the worst-case risks" in solver.why
    assert solver.gradient == gp.Envelope(2.0)
    result = gp.solve(problem, solver, queries=1000, seed=0)
    plain = refuting()
    own = gp.Solver.auto(plain, estimate=gp.Envelope(), start=False, queries=1000, seed=0)
    rival = gp.solve(plain, own, queries=1900, seed=0)
    assert true_risk(problem, subgroup, result.x) < true_risk(plain, subgroup, rival.x) + 0.01


def test_nothing_is_started_from_that_is_worse_than_ignoring_the_data() -> None:
    # People who stay during the pilot, and then move so far that most classifiers are worse than 0.
    deployed: list[Any] = []

    def late(theta: Any, agents: Any) -> Any:
        deployed.append(theta.copy())
        return X[agents] + (50.0 if len(deployed) > 6 else 0.0) * theta

    problem = problem_with(gp.BlackBox(late))
    solver = gp.Solver.auto(problem, seed=0)
    assert "do not agree" in solver.why or len(deployed) > 7
    first = deployed[6]  # the saddle point of a model in which nobody moves
    risks = [
        true_risk(problem, lambda t, i: X[i] + 50.0 * t, problem.join(theta, 1.0))
        for theta in (first, problem.split((solver.start or problem.start)[0])[0])
    ]
    assert risks[0] > 1.0
    assert risks[1] < np.log(2) + 1e-3


def test_race_costs_every_solver_the_same_and_ranks_by_true_risk() -> None:
    # Everybody is asked in the comparison, so the ranking is that of the true risks.
    problem, asked = refuting(), []
    solvers = {
        name: gp.sgda_rr(gradient=gp.Envelope(), batch=40, step=step)
        for name, step in (("good", 0.1), ("poor", 1e-6))
    }
    start = problem.start
    race = SolverRace(problem, solvers, start, answers=4000, seed=0)
    inquiry = race.inquiry()
    deployment = next(inquiry)
    while True:
        asked.append(deployment)
        replies = Replies(deployment.agents, subgroup(deployment.theta, deployment.agents))
        try:
            deployment = inquiry.send(replies)
        except StopIteration as end:
            ranked = end.value
            break
    assert sum(d.agents.size for d in asked) <= 4000
    assert ranked[0].name == "good"
    for entrant in ranked:
        truth = true_risk(problem, subgroup, entrant.point[0])
        assert entrant.risk == pytest.approx(truth, abs=1e-12)
        assert entrant.error == 0.0
    # The legs come one after the other; both deploy about equally often.
    runs = asked[: -len(ranked)]
    moved = [float(np.abs(d.theta).max()) for d in runs]
    first_of_second = next(k for k in range(1, len(moved)) if moved[k] == 0.0)
    sizes = _answers_of_legs(runs, first_of_second)
    assert abs(sizes[0] - sizes[1]) <= 40


def _answers_of_legs(runs: list[Deployment], split: int) -> tuple[int, int]:
    return (
        sum(d.agents.size for d in runs[:split]),
        sum(d.agents.size for d in runs[split:]),
    )


# --- batches, budgets


def test_deployments_have_about_a_hundred_answers_by_default() -> None:
    problem = refuting()
    result = gp.solve(problem, gp.Solver.auto(problem, queries=2000, seed=0), queries=2000, seed=0)
    assert result.n_queries / result.n_deployments > 80
    assert problem.population.n_deployments < 60


@pytest.mark.parametrize("budget", [100, 700])
def test_budget_is_never_exceeded(budget: int) -> None:
    problem = refuting(budget=budget)
    solver = gp.Solver.auto(problem, seed=0)
    assert problem.population.n_answers <= budget // 2
    gp.solve(problem, solver, epochs=20, seed=0)
    assert problem.population.n_answers <= budget


def test_given_pilot_limits_the_race_too() -> None:
    problem = refuting()
    gp.Solver.auto(problem, pilot=400, seed=0)
    assert problem.population.n_answers <= 400


# --- one inquiry


@pytest.mark.parametrize("make", [exact, refuting])
def test_one_inquiry_gives_the_bits_of_auto_and_solve(make: Any) -> None:
    answers, seed = 1000, 3
    problem = make()
    pilot = answers // 2
    solver = gp.Solver.auto(problem, queries=answers - pilot, pilot=pilot, batch=60, seed=seed)
    left = answers - problem.population.n_answers
    result = gp.solve(problem, solver, queries=left, seed=seed)
    other = make()
    route = AutoInquiry(other, seed, answers, 60)
    ask_now(route.inquiry(), other.population)
    np.testing.assert_array_equal(route.x, result.x)
    assert other.population.n_answers == problem.population.n_answers <= answers


def test_replies_and_seed_determine_the_choice() -> None:
    first, second = refuting(), refuting()
    told: list[Replies] = []

    def recorded(inquiry: Any, people: gp.Population) -> Any:
        deployment = next(inquiry)
        while True:
            told.append(Replies(deployment.agents, people.ask(deployment.theta, deployment.agents)))
            try:
                deployment = inquiry.send(told[-1])
            except StopIteration as end:
                return end.value

    one = recorded(Choice(first, AutoOptions(queries=600)).inquiry(), first.population)
    replayed = Choice(second, AutoOptions(queries=600)).inquiry()
    next(replayed)
    for replies in told[:-1]:
        replayed.send(replies)
    with pytest.raises(StopIteration) as end:
        replayed.send(told[-1])
    other = end.value.value
    assert (one, one.why, one.settled) == (other, other.why, other.settled)
    np.testing.assert_array_equal(one.start[0], other.start[0])
    assert second.population.n_answers == 0


def test_journal_makes_the_whole_route_repeatable(tmp_path: Any) -> None:
    asked: list[int] = []

    def survey(theta: Any, agents: Any) -> Any:
        asked.extend(agents.tolist())
        return subgroup(theta, agents)

    def route() -> Any:
        people = gp.Population(X, Y, gp.BlackBox(survey), journal=tmp_path / "answers.db")
        problem = gp.StrategicProblem(people, 0.05, 0.5)
        solver = gp.Solver.auto(problem, queries=600, seed=0)
        return gp.solve(problem, solver, queries=300, seed=0).x

    first = route()
    number = len(asked)
    np.testing.assert_array_equal(first, route())
    assert len(asked) == number > 300
