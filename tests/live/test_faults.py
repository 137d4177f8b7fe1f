"""Databases that are full, gone or changed, clocks that jump, and many processes at once."""

import numpy as np
import pytest
from sqlalchemy import create_engine, event, text

import gameproof as gp
from gameproof.live.facts import Status
from live_crowd import run
from studies import answer, complete, problem

SETTINGS = {"method": "ogda-rr", "batch": 8, "seed": 3, "max_answers": 40}


def test_many_processes_give_the_same_bits_as_one(new_database) -> None:
    told, counted, _ = run(new_database, answers=200, tellers=4)
    assert told > counted > 100


def test_a_full_disk_loses_nothing(tmp_path) -> None:
    study = gp.live.create(tmp_path / "study.db", problem(), **SETTINGS)
    [first, second, *_] = study.ask(limit=5, holder="tester")
    told = study.tell(first.id, answer(study, first))
    engine = study.ledger.engine

    def fill(connection, record, proxy):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(engine, "checkout", fill)
    with pytest.raises(gp.live.LedgerError, match="full") as error:
        study.tell(second.id, answer(study, second), key="x" * 100_000)
    assert error.value.code == "store-unavailable"
    event.remove(engine, "checkout", fill)
    engine.dispose()
    assert study.tell(first.id, answer(study, first)) == told
    complete(study)
    assert study.verify() == []
    assert study.recommend().final


def test_a_database_that_returns_has_every_acknowledged_answer(postgresql) -> None:
    study = gp.live.create(postgresql.new_database(), problem(), **SETTINGS)
    [first, second, *_] = study.ask(limit=5, holder="tester")
    told = study.tell(first.id, answer(study, first))
    postgresql.stop()
    try:
        with pytest.raises(gp.live.LedgerError) as error:
            study.tell(second.id, answer(study, second))
        assert error.value.code == "store-unavailable"
    finally:
        postgresql.start()
    assert study.tell(first.id, answer(study, first)) == told
    assert study.tell(second.id, answer(study, second)).status is Status.COUNTED
    complete(study)
    assert study.recommend().final
    study.close()


CHANGES = {
    "UPDATE answer SET body = (SELECT body FROM answer WHERE id = 2) WHERE id = 1": "answer 1 ",
    "UPDATE answer SET status = 'late' WHERE id = 2": "answer 2 ",
    "UPDATE deployment SET theta = theta_hash WHERE number = 1": "deployment 1 ",
    "UPDATE question SET agent = agent + 1 WHERE id = 1": "deployment 0 ",
    "UPDATE event SET body = '{}' WHERE number = 3": "event 3 ",
    "UPDATE study SET fingerprint = 'other'": "specification",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_row_is_named(tmp_path, change) -> None:
    path = tmp_path / "study.db"
    with gp.live.create(path, problem(), **SETTINGS) as study:
        complete(study)
        assert study.verify() == []
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        assert connection.execute(text(change)).rowcount == 1
    engine.dispose()
    with gp.live.open(path) as study:
        assert any(CHANGES[change] in sentence for sentence in study.verify())


@pytest.mark.parametrize("jump", [-1e9, -3600.0, 1e9])
def test_a_clock_that_jumps_changes_no_bit(make_ledger, jump) -> None:
    usual = gp.live.create(make_ledger(), problem(), silence="wait", **SETTINGS)
    complete(usual)
    now = [1e6]
    made = gp.live.create(make_ledger(), problem(), silence="wait", **SETTINGS)
    study = made.with_clock(lambda: now[0])
    while questions := study.ask(limit=3, holder="a"):
        now[0] += jump
        for question in questions:
            study.tell(question.id, answer(study, question))
        now[0] -= jump
    np.testing.assert_array_equal(study.recommend().theta, usual.recommend().theta)
    assert study.verify() == []
