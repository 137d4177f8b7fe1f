"""`check_ledger`: the contract of `Ledger`, for ours and for anyone's."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from gameproof.core.contracts import check_that
from gameproof.core.exact_bits import exact_bytes
from gameproof.live.facts import LedgerError, QuestionRow, Status, StudyRow
from gameproof.live.ledger import Ledger, NextDeployment, Told
from gameproof.live.verify import verify

THETA = exact_bytes(np.array([0.1, -0.0, 5e-324]))
BODY = exact_bytes(np.array([1.0, 2.0, 3.0]))
TELLERS = 8


def check_ledger(make: Callable[[], Ledger]) -> None:
    """Checks that a store keeps the contract of `Ledger`.

    Parameters
    ----------
    make
        Returns a ledger without studies; called once for each check.

    Raises
    ------
    AssertionError
        If a promise is broken; the message says which one.
    """
    for check in CHECKS:
        check(make())


def _begun(ledger: Ledger, agents: int = 3) -> tuple[StudyRow, list[QuestionRow]]:
    """A study with one open deployment, and its questions."""
    study = ledger.create("study", "{}", "data", now=0.0)
    opened = ledger.advance(study.id, None, [], NextDeployment(THETA, range(10, 10 + agents)), 1.0)
    check_that(opened, "the first deployment of a study could not be opened")
    return study, ledger.questions(study.id)


def _refused(code: str, call: Callable[[], object]) -> None:
    found = "nothing"
    try:
        call()
    except LedgerError as error:
        found = error.code
    check_that(found == code, f"refused {found}, expected {code}")


def names_are_unique(ledger: Ledger) -> None:
    first = ledger.create("credit", '{"a": 1}', "f", now=1.5)
    check_that(ledger.study("credit") == first, "a study is not read back as it was created")
    _refused("name-taken", lambda: ledger.create("credit", "{}", "g", now=2.0))
    _refused("unknown-study", lambda: ledger.study("bank"))
    ledger.create("bank", "{}", "f", now=3.0)
    check_that(ledger.names() == ["bank", "credit"], "names are not all there, or not sorted")


def deployments_keep_their_bits(ledger: Ledger) -> None:
    study, questions = _begun(ledger)
    check_that([row.theta for row in ledger.deployments(study.id)] == [THETA], "theta lost bits")
    whom = [(q.deployment, q.position, q.attempt, q.agent) for q in questions]
    check_that(whom == [(0, 0, 0, 10), (0, 1, 0, 11), (0, 2, 0, 12)], "questions are not as opened")


def leases_are_exclusive_until_they_expire(ledger: Ledger) -> None:
    study, questions = _begun(ledger)
    for _ in range(2):
        found = ledger.available(study.id, 2, "a", now=2.0)
        check_that(found == questions[:2], "what is available is not what a lease gives")
    check_that(not ledger.exposures(study.id), "a look at questions counts as an exposure")
    mine = ledger.lease(study.id, 2, "a", until=10.0, now=2.0)
    check_that(mine == questions[:2], "a lease does not follow the order of positions")
    left = ledger.available(study.id, 5, "b", now=3.0)
    check_that(left == questions[2:], "questions that others hold are available")
    again = ledger.lease(study.id, 2, "a", until=10.0, now=3.0)
    check_that(again == mine, "asking again gives a holder other questions")
    check_that(
        ledger.lease(study.id, 5, "b", until=9.0, now=3.0) == questions[2:], "shared a lease"
    )
    late = ledger.lease(study.id, 5, "b", until=30.0, now=10.0)
    check_that(late == [questions[2], *questions[:2]], "an expired lease is still held")
    shown = [(each.question, each.holder) for each in ledger.exposures(study.id)]
    check_that(len(shown) == len(set(shown)) == 5, "exposures are missing, or recorded twice")


def askers_never_share_a_question(ledger: Ledger) -> None:
    study, questions = _begun(ledger, agents=20)

    def ask_all(asker: int) -> list[QuestionRow]:
        holders = [f"{asker}-{k}" for k in range(len(questions) // TELLERS + 1)]
        return [q for h in holders for q in ledger.lease(study.id, 1, h, until=9.0, now=2.0)]

    with ThreadPoolExecutor(TELLERS) as pool:
        asked = [q.id for found in pool.map(ask_all, range(TELLERS)) for q in found]
    check_that(
        sorted(asked) == sorted(q.id for q in questions), "a question was leased twice or never"
    )


def a_lease_from_the_future_is_void(ledger: Ledger) -> None:
    study, questions = _begun(ledger)
    ahead = 1e9
    ledger.lease(study.id, 9, "a", until=ahead + 10.0, now=ahead)
    check_that(ledger.counts(study.id, ahead).leased == len(questions), "a lease is not counted")
    check_that(ledger.counts(study.id, 2.0).leased == 0, "a lease from the future is counted")
    mine = ledger.lease(study.id, 9, "b", until=9.0, now=2.0)
    check_that(mine == questions, "a clock that was set back blocks every question")


def the_same_key_gives_the_same_receipt(ledger: Ledger) -> None:
    study, questions = _begun(ledger)
    first = ledger.tell(study.id, questions[0].id, "k", BODY, now=2.0)
    check_that(first.status is Status.COUNTED, "an answer to an open question does not count")
    again = ledger.tell(study.id, questions[0].id, "k", BODY, now=9.0)
    check_that(again == first, "the same key and body give another receipt")
    _refused("key-reused", lambda: ledger.tell(study.id, questions[0].id, "k", THETA, now=9.0))
    _refused("key-reused", lambda: ledger.tell(study.id, questions[1].id, "k", BODY, now=9.0))
    _refused("unknown-question", lambda: ledger.tell(study.id, 10**6, "other", BODY, now=9.0))
    stored = ledger.answers(study.id)
    check_that([(a.body, a.told) for a in stored] == [(BODY, 2.0)], "a refused answer was stored")


def a_second_answer_is_a_conflict(ledger: Ledger) -> None:
    study, questions = _begun(ledger)
    ledger.tell(study.id, questions[0].id, "a", BODY, now=2.0)
    second = ledger.tell(study.id, questions[0].id, "b", BODY, now=3.0)
    check_that(second.status is Status.CONFLICT, "two answers to one question count")
    left = ledger.lease(study.id, 9, "a", until=9.0, now=4.0)
    check_that(left == questions[1:], "an answered question is asked again")


def answers_told_together_are_as_if_told_in_turn(ledger: Ledger) -> None:
    study, questions = _begun(ledger)
    first, second, third = (question.id for question in questions)
    ledger.tell(study.id, first, "a", BODY, now=2.0)
    group = [
        Told(second, "b", BODY),
        Told(second, "c", BODY),  # a second answer to the same question
        Told(second, "b", BODY),  # the same again
        Told(third, "b", BODY),  # its key with another question
        Told(first, "a", BODY),  # as stored before
        Told(first, "d", THETA),
        Told(10**6, "e", BODY),
        Told(third, "f", THETA),
    ]
    found = ledger.tell_many(study.id, group, now=3.0)
    said = [each.code if isinstance(each, LedgerError) else each.status.value for each in found]
    expected = ["counted", "conflict", "counted", "key-reused", "counted", "conflict"]
    check_that(said == [*expected, "unknown-question", "counted"], f"told together: {said}")
    check_that(found[2] == found[0], "the same answer twice in a group has two receipts")
    again = ledger.tell_many(study.id, group[::-1], now=4.0)[::-1]
    check_that(
        list(map(str, again)) == list(map(str, found)), "a repeated group has other receipts"
    )
    stored = [(a.question, a.key, a.status.value) for a in ledger.answers(study.id)]
    check_that(
        sorted(stored)
        == [
            (first, "a", "counted"),
            (first, "d", "conflict"),
            (second, "b", "counted"),
            (second, "c", "conflict"),
            (third, "f", "counted"),
        ],
        "what is stored differs from the receipts",
    )
    check_that(ledger.tell_many(study.id, [], now=5.0) == [], "no answer has a receipt")


def a_withdrawn_answer_can_be_given_again(ledger: Ledger) -> None:
    study, questions = _begun(ledger)
    first = ledger.tell(study.id, questions[0].id, "a", BODY, now=2.0)
    for _ in range(2):
        ledger.withdraw(study.id, first.answer_id, "wrong person", now=3.0)
    check_that(
        ledger.answers(study.id)[0].status is Status.WITHDRAWN, "a withdrawal changes nothing"
    )
    second = ledger.tell(study.id, questions[0].id, "b", BODY, now=4.0)
    check_that(second.status is Status.COUNTED, "a question stays closed after a withdrawal")
    _refused("unknown-answer", lambda: ledger.withdraw(study.id, 10**6, "", now=5.0))
    check_that(verify(ledger, study) == [], "a withdrawal breaks the chain")


def closing_is_final(ledger: Ledger) -> None:
    study, questions = _begun(ledger)
    group = [Told(q.id, f"k{q.id}", BODY) for q in questions]
    told = ledger.tell_many(study.id, group, now=2.0)
    used = [each.answer_id for each in told if not isinstance(each, LedgerError)]
    opening = NextDeployment(BODY, [7])
    check_that(not ledger.advance(study.id, 0, used[:2], opening, 3.0), "closed with other answers")
    check_that(ledger.advance(study.id, 0, used, opening, 3.0), "a deployment could not be closed")
    check_that(not ledger.advance(study.id, 0, used, opening, 4.0), "closed twice")
    check_that(
        [row.closed for row in ledger.deployments(study.id)] == [3.0, None], "wrong closing time"
    )
    late = ledger.tell(study.id, questions[0].id, "late", BODY, now=5.0)
    check_that(late.status is Status.LATE, "an answer to a closed deployment counts")
    [new] = ledger.questions(study.id, 1)
    check_that(
        ledger.lease(study.id, 9, "a", until=9.0, now=4.0) == [new], "closed questions are asked"
    )
    last = ledger.tell(study.id, new.id, "last", BODY, now=6.0).answer_id
    check_that(
        ledger.advance(study.id, 1, [last], None, 7.0), "the last deployment cannot be closed"
    )
    newest = ledger.newest(study.id)
    check_that(
        newest == ledger.deployments(study.id)[-1] != ledger.deployments(study.id)[0], "newest"
    )
    check_that(verify(ledger, study) == [], "closing breaks the chain")


def all_facts_are_read_at_once(ledger: Ledger) -> None:
    study, questions = _begun(ledger)
    check_that(
        ledger.newest(study.id) == ledger.deployments(study.id)[0], "the newest is another one"
    )
    ledger.lease(study.id, 2, "a", until=9.0, now=2.0)
    told = ledger.tell(study.id, questions[0].id, "k", BODY, now=3.0)
    ledger.advance(study.id, 0, [told.answer_id], NextDeployment(BODY, [7]), 4.0)
    found = ledger.facts(study.id)
    check_that(found.deployments == ledger.deployments(study.id), "facts have other deployments")
    check_that(found.questions == ledger.questions(study.id), "facts have other questions")
    check_that(found.answers == ledger.answers(study.id), "facts have other answers")
    check_that(found.exposures == ledger.exposures(study.id), "facts have other exposures")
    check_that(found.events == ledger.events(study.id), "facts have other events")


def a_silent_person_is_replaced(ledger: Ledger) -> None:
    study, questions = _begun(ledger)
    new = ledger.replace_silent(study.id, questions[1].id, agent=77, now=2.0)
    check_that(
        (new.deployment, new.position, new.attempt, new.agent) == (0, 1, 1, 77), "other place"
    )
    late = ledger.tell(study.id, questions[1].id, "late", BODY, now=3.0)
    check_that(late.status is Status.LATE, "both persons of a position count")
    told = ledger.tell(study.id, new.id, "new", BODY, now=3.0)
    check_that(told.status is Status.COUNTED, "the answer of a replacement does not count")
    _refused("question-closed", lambda: ledger.replace_silent(study.id, new.id, 78, now=4.0))
    check_that(verify(ledger, study) == [], "a replacement breaks the chain")


def studies_do_not_mix(ledger: Ledger) -> None:
    study, questions = _begun(ledger)
    other = ledger.create("other", "{}", "data", now=0.0)
    opened = ledger.advance(other.id, None, [], NextDeployment(THETA, [1]), 1.0)
    check_that(opened, "a second study could not be opened")
    _refused("unknown-question", lambda: ledger.tell(other.id, questions[0].id, "k", BODY, 2.0))
    ledger.tell(study.id, questions[0].id, "k", BODY, now=2.0)
    [own] = ledger.questions(other.id)
    same_key = ledger.tell(other.id, own.id, "k", BODY, now=2.0)
    check_that(same_key.status is Status.COUNTED, "keys of one study are taken in another")
    check_that(len(ledger.answers(other.id)) == 1, "answers of one study show in another")


def many_tellers_count_each_question_once(ledger: Ledger) -> None:
    study, questions = _begun(ledger, agents=20)

    def tell_all(teller: int) -> list[Status]:
        """Half of the tellers tell in turn, half of them together."""
        order = np.random.default_rng(teller).permutation(len(questions))
        group = [Told(questions[k].id, f"{teller}-{k}", BODY) for k in order]
        if teller % 2:
            return [ledger.tell(study.id, *told, now=2.0).status for told in group]
        found = [ledger.tell_many(study.id, group[k : k + 5], 2.0) for k in range(0, 20, 5)]
        return [e.status for part in found for e in part if not isinstance(e, LedgerError)]

    with ThreadPoolExecutor(TELLERS) as pool:
        found = [status for statuses in pool.map(tell_all, range(TELLERS)) for status in statuses]
    check_that(found.count(Status.COUNTED) == len(questions), "a question counts twice or never")
    check_that(found.count(Status.CONFLICT) == len(found) - len(questions), "an answer is neither")
    counted = [a.question for a in ledger.answers(study.id) if a.status is Status.COUNTED]
    check_that(sorted(counted) == [q.id for q in questions], "stored answers differ from receipts")


def one_at_a_time_advances(ledger: Ledger) -> None:
    study, _ = _begun(ledger)
    with ledger.advancing(study.id) as first, ledger.advancing(study.id) as second:
        check_that(first, "nobody holds the lock, and it is refused")
        check_that(not second, "two hold the lock")
    with ledger.advancing(study.id) as third:
        check_that(third, "the lock was not given back")


def notes_join_the_chain(ledger: Ledger) -> None:
    study, _ = _begun(ledger)
    ledger.note(study.id, "paused", "{}", now=5.0)
    kinds = [event.kind for event in ledger.events(study.id)]
    check_that(kinds == ["created", "deployed", "paused"], "events are missing, or not in order")
    check_that(verify(ledger, study) == [], "a note breaks the chain")


CHECKS: tuple[Callable[[Ledger], None], ...] = (
    names_are_unique,
    deployments_keep_their_bits,
    leases_are_exclusive_until_they_expire,
    askers_never_share_a_question,
    a_lease_from_the_future_is_void,
    the_same_key_gives_the_same_receipt,
    a_second_answer_is_a_conflict,
    answers_told_together_are_as_if_told_in_turn,
    a_withdrawn_answer_can_be_given_again,
    closing_is_final,
    all_facts_are_read_at_once,
    a_silent_person_is_replaced,
    studies_do_not_mix,
    many_tellers_count_each_question_once,
    one_at_a_time_advances,
    notes_join_the_chain,
)
