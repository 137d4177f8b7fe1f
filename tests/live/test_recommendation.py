"""A recommendation says at any time how good it is, and late answers enter that alone."""

import numpy as np
import pytest

import gameproof as gp
from studies import POWER, answer, problem


def study_of(n=200, people=answer, deployments=1000, **options):
    """A study in memory after some deployments."""
    study = gp.live.create(":memory:", problem(n), seed=1, **options)
    while deployments and (questions := study.ask(limit=1000, holder="tester")):
        for question in questions:
            study.tell(question.id, people(study, question))
        study.advance()
        deployments -= 1
    return study


def true_risk(study, found):
    """The worst-case risk, by the answers of everybody."""
    people = study.problem.population
    known = gp.Population(people.X, people.y, gp.QuadraticCost(POWER))
    everybody = int((people.y < 0).sum())
    task = study.problem.with_population(known)
    return gp.estimate_risk(task, found.theta, queries=everybody, seed=0).value


def test_a_start_that_ignores_the_data_has_a_known_risk():
    study = study_of(method="ogda-rr", batch=20, deployments=0)
    found = study.recommend()
    assert found.ground == "known"
    np.testing.assert_allclose(found.risk.value, true_risk(study, found), rtol=1e-12)


def test_the_learned_response_predicts_the_risk_of_a_theta_that_nobody_was_shown():
    study = study_of(method="ogda-rr", batch=20, deployments=8)
    found = study.recommend()
    assert found.ground == "learnt"
    assert "if people respond as was learned from" in found.sentence
    np.testing.assert_allclose(found.risk.value, true_risk(study, found), rtol=1e-6)


def test_answers_to_the_recommended_theta_give_an_interval_that_holds():
    """A 95 % interval misses in 1 of 20 correct cases; the seed is fixed."""
    study = study_of(method="auto", batch=20, max_answers=400, deployments=7)
    found = study.recommend()
    assert (found.final, found.ground) == (False, "answers")
    assert found.risk.low < true_risk(study, found) < found.risk.high
    assert f"from {found.risk.n_queries} answers to this very theta" in found.sentence


def test_rounding_on_another_machine_does_not_hide_the_answers_to_the_recommended_theta():
    study = study_of(method="auto", batch=20, max_answers=400)
    found = study.recommend()
    assert (found.final, found.ground) == (True, "answers")
    rows = study.ledger.deployments(study.id)
    risk = study._learnt.risk(found.theta * (1 + 1e-11), found.intercept, rows, 0.0)
    assert (risk.ground, risk.risk.n_queries) == ("answers", found.risk.n_queries)
    assert risk.risk.value == pytest.approx(found.risk.value, rel=1e-9)


def test_an_interval_without_width_is_not_written_as_one():
    found = study_of(method="ogda-rr", batch=20, deployments=8).recommend()
    assert f"{found.risk.low:.4g}" == f"{found.risk.high:.4g}"
    assert f"Worst-case risk: {found.risk.value:.4g}, known to four digits" in found.sentence


def divided(study, question):
    """A third of the people move on another feature than the rest, which refutes every model."""
    moves = 0.3 * question.theta * ([0, 0, 3] if question.agent % 3 == 0 else [1, 1, 0])
    return study.problem.population.X[question.agent] + moves


def test_without_a_model_the_risk_of_a_near_deployment_is_named_as_such():
    study = study_of(people=divided, method=gp.sgda_rr(gradient=gp.Envelope(), step=0.3, batch=40),
                     deployments=12)  # fmt: skip
    found = study.recommend()
    assert found.ground == "nearest"
    assert "the nearest that people were shown" in found.sentence


def test_a_theta_far_from_all_deployments_has_no_risk():
    study = study_of(people=divided, method="ogda-rr", batch=20, deployments=8)
    found = study.recommend()
    assert found.risk is None
    assert "not known yet" in found.sentence


@pytest.mark.parametrize("method", ["auto", "ogda-rr"])
def test_late_answers_enter_risk_and_learning_and_nothing_else(method):
    usual = study_of(method=method, batch=20, max_answers=400, deployments=7)
    study = gp.live.create(":memory:", problem(200), method=method, batch=20, seed=1,
                           max_answers=400)  # fmt: skip
    silent = []
    for _ in range(7):
        questions = study.ask(limit=1000, holder="tester")
        silent.append(questions[0])
        for question in questions[1:]:
            study.tell(question.id, answer(study, question))
        study.close_deployment()
    before = study.recommend()
    for question in silent:
        assert study.tell(question.id, answer(study, question)).status == "late"
    after = study.recommend()
    assert after.theta.tobytes() == before.theta.tobytes()
    assert (after.n_answers, after.n_deployments) == (before.n_answers, before.n_deployments)
    if method == "auto":
        assert after.risk.n_queries == before.risk.n_queries + 1
    else:
        assert after.risk.n_queries > before.risk.n_queries
    assert after.learnt != before.learnt  # it counts answers
    assert usual.status().n_late == 0
