"""A study: the same answers give the same bits, and nothing is counted twice."""

import numpy as np
import pytest

import gameproof as gp
from gameproof.live.facts import Status
from studies import answer, complete, problem, shuffled

SETTINGS = {"method": "ogda-rr", "batch": 8, "seed": 3, "max_answers": 60}


def make(make_ledger, **changes):
    return gp.live.create(make_ledger(), problem(), **(SETTINGS | changes))


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def with_clock(study):
    clock = Clock()
    return study.with_clock(clock), clock


def test_a_study_is_what_solve_does(make_ledger) -> None:
    study = make(make_ledger, max_answers=None, max_deployments=5)
    complete(study)
    X, y = study.problem.population.X, study.problem.population.y
    box = gp.BlackBox(lambda theta, agents: X[agents] + 0.1 * theta)
    known = gp.StrategicProblem(gp.Population(X, y, box), radius=0.05, label_cost=0.5)
    run = gp.Run(known, gp.ogda_rr(batch=8), seed=3)
    for _ in range(5):
        question = run.ask()
        run.tell(question, known.evaluate(question.indices, question.x, question.y))
    np.testing.assert_array_equal(study.recommend().theta, run.recommend()[0][:-1])


@pytest.mark.parametrize(
    ("make_ledger", "method"),
    [("memory", "ogda-wr"), ("memory", "sgda-wr"), ("sqlite", "auto"), ("postgresql", "sgda-rr")],
    indirect=["make_ledger"],
)
def test_the_order_of_arrival_changes_no_bit(make_ledger, method) -> None:
    one, other = (make(make_ledger, method=method, max_answers=90) for _ in range(2))
    complete(one)
    complete(other, shuffled(1))
    a, b = one.recommend(), other.recommend()
    np.testing.assert_array_equal(a.theta, b.theta)
    assert a.final
    assert a.risk == b.risk
    assert a.risk is not None
    assert one.verify() == other.verify() == []


def test_a_study_that_is_opened_again_continues(make_ledger) -> None:
    whole, study = make(make_ledger), make(make_ledger)
    complete(whole)
    while questions := study.ask(limit=3, holder="a"):
        study = gp.live.open(study.ledger, study.name)
        for question in questions:
            study.tell(question.id, answer(study, question))
    np.testing.assert_array_equal(study.recommend().theta, whole.recommend().theta)


def test_limits_hold_exactly(make_ledger) -> None:
    study = make(make_ledger, max_answers=40, max_per_person=2)
    complete(study)
    asked = [question.agent for question in study.ledger.questions(study.id)]
    assert study.status().n_answers <= 40
    assert max(map(asked.count, asked)) <= 2
    short = make(make_ledger, max_deployments=2)
    complete(short)
    assert short.status().n_deployments == 2
    assert short.status().state == "finished"


def test_answers_that_do_not_count(make_ledger) -> None:
    study = make(make_ledger)
    first, *rest = study.ask(limit=100, holder="a")
    told = study.tell(first.id, answer(study, first), key="k")
    assert study.tell(first.id, answer(study, first), key="k") == told
    with pytest.raises(gp.live.LedgerError, match="'k'") as error:
        study.tell(first.id, answer(study, first) + 1, key="k")
    assert error.value.code == "key-reused"
    assert study.tell(first.id, answer(study, first) + 1).status is Status.CONFLICT
    study.withdraw(told.answer_id, "asked to")
    assert first.id in [question.id for question in study.ask(limit=100, holder="a")]
    for question in [first, *rest]:
        study.tell(question.id, answer(study, question))
    assert study.advance() == 1
    assert study.tell(first.id, answer(study, first) + 2).status is Status.LATE
    status = study.status()
    assert (status.n_conflicts, status.n_withdrawn, status.n_late) == (1, 1, 1)


def test_an_answer_withdrawn_after_its_deployment_changes_no_later_one(make_ledger) -> None:
    one, other = make(make_ledger), make(make_ledger)
    complete(one)
    questions = other.ask(limit=100, holder="a")
    [told, *_] = [other.tell(q.id, answer(other, q)) for q in questions]
    other.advance()
    other.withdraw(told.answer_id, "asked to")
    complete(other)
    again = gp.live.open(other.ledger, other.name)
    np.testing.assert_array_equal(again.recommend().theta, one.recommend().theta)
    assert again.verify() == []


@pytest.mark.parametrize("bad", [[1.0, 2.0], 1.0, [1.0, np.nan, 0.0], ["a", "b", "c"], {"x": 1}])
def test_a_bad_answer_is_refused_and_the_question_stays_open(make_ledger, bad) -> None:
    study = make(make_ledger)
    [question] = study.ask()
    with pytest.raises(gp.AnswerError):
        study.tell(question.id, bad)
    assert isinstance(study.tell_many([(question.id, bad)])[0], gp.AnswerError)
    assert study.status().n_answers == 0
    assert study.tell(question.id, answer(study, question)).status is Status.COUNTED


def test_silent_people_are_replaced(make_ledger) -> None:
    study, clock = with_clock(make(make_ledger, patience=100.0))
    questions = study.ask(limit=100, holder="a", lease=10.0)
    for question in questions[1:]:
        study.tell(question.id, answer(study, question))
    clock.now += 200
    study.advance()
    [new] = study.ask(limit=100, holder="a")
    assert (new.position, new.attempt) == (questions[0].position, 1)
    assert new.agent not in [question.agent for question in questions]
    study.tell(new.id, answer(study, new))
    assert study.advance() == 1
    assert study.tell(questions[0].id, answer(study, new)).status is Status.LATE
    assert study.status().n_silent == 1
    assert study.status().warnings[0].startswith("1 person did not answer.")
    assert "rarely random" in study.status().warnings[0]


def test_people_who_are_replaced_are_not_shown_their_question_again(make_ledger) -> None:
    """The next interviewer comes after the patience has passed, and asks for more than is open."""
    study, clock = with_clock(make(make_ledger, patience=100.0))
    silent = study.ask(limit=100, holder="a", lease=10.0)
    clock.now += 200
    questions = study.ask(limit=100, holder="b")
    assert [question.attempt for question in questions] == [1] * len(silent)
    for question in questions:
        assert study.tell(question.id, answer(study, question)).status is Status.COUNTED
    assert {e.holder for e in study.ledger.exposures(study.id) if e.shown < clock.now} == {"a"}


def test_a_study_can_continue_with_those_who_answered(make_ledger) -> None:
    study, clock = with_clock(make(make_ledger, silence="continue", patience=100.0))
    questions = study.ask(limit=100, holder="a")
    study.tell(questions[0].id, answer(study, questions[0]))
    assert study.advance() == 0
    clock.now += 200
    assert study.advance() == 1
    assert study.status().n_silent == len(questions) - 1
    assert study.status().warnings[0].startswith(f"{len(questions) - 1} people did not answer.")
    complete(study)
    assert gp.live.open(study.ledger, study.name).recommend().final


def test_a_study_can_wait(make_ledger) -> None:
    study, clock = with_clock(make(make_ledger, silence="wait"))
    [question] = study.ask(holder="a")
    clock.now += 1e9
    assert study.advance() == 0
    assert study.status().n_silent == 0
    assert study.tell(question.id, answer(study, question)).status is Status.COUNTED


def test_pause_close_and_finish(make_ledger) -> None:
    study = make(make_ledger)
    [question] = study.ask(holder="a")
    study.pause("holiday")
    assert study.ask(holder="a") == []
    assert study.status().state == "paused"
    study.tell(question.id, answer(study, question))
    study.resume()
    assert study.close_deployment()
    assert study.deployment.number == 1
    study.finish("enough")
    assert study.deployment is None
    assert study.ask() == []
    assert study.recommend().final
    assert study.verify() == []


def test_tables_of_answers_and_deployments(make_ledger) -> None:
    study = make(make_ledger)
    complete(study)
    history, deployments = study.history(), study.deployments()
    assert len(history) == study.status().n_answers == deployments["n_answers"].sum()
    last = deployments.iloc[-1]
    assert last["risk_low"] < last["risk"] < last["risk_high"]
    assert last["risk"] == study.recommend().risk.value


def test_late_answers_enter_the_audit_and_change_no_deployment(make_ledger) -> None:
    study = make(make_ledger)
    first, *rest = study.ask(limit=100, holder="a")
    for question in rest:
        study.tell(question.id, answer(study, question))
    assert study.close_deployment()
    theta, before = study.deployment.theta, study.deployments().iloc[0]
    assert study.tell(first.id, answer(study, first)).status is Status.LATE
    assert study.tell(first.id, answer(study, first) + 1, key="again").status is Status.LATE
    after = study.deployments().iloc[0]
    assert (before["n_answers"], before["n_late"]) == (after["n_answers"], 0)
    assert (after["n_late"], after["n_answers"]) == (1, len(rest))
    everybody = make(make_ledger)
    for question in everybody.ask(limit=100, holder="a"):
        everybody.tell(question.id, answer(everybody, question))
    everybody.advance()
    assert after["risk"] == pytest.approx(everybody.deployments().iloc[0]["risk"], rel=1e-12)
    np.testing.assert_array_equal(study.deployment.theta, theta)
    assert study.verify() == []
