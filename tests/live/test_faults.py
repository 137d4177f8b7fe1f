"""Databases that are full or gone, clocks that jump, and many processes at once."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError

import gameproof as gp
from gameproof.live import sql_ledger
from gameproof.live.facts import Status
from gameproof.live.ledger import Told
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
    acknowledged = [told.answer_id]

    def tell_until_full():
        for number in range(1000):
            receipt = study.tell(second.id, answer(study, second), key=f"{number:0500}")
            acknowledged.append(receipt.answer_id)

    with pytest.raises(gp.live.LedgerError, match="full") as error:
        tell_until_full()
    assert error.value.code == "store-unavailable"
    assert [a.id for a in study.ledger.answers(study.id)] == acknowledged
    event.remove(engine, "checkout", fill)
    engine.dispose()
    assert study.tell(first.id, answer(study, first)) == told
    complete(study)
    assert study.verify() == []
    assert study.recommend().final


def test_answers_that_meet_others_at_every_question_are_stored(make_ledger, monkeypatch) -> None:
    study = gp.live.create(make_ledger(), problem(), **SETTINGS)
    questions = study.ask(limit=5, holder="tester")
    store, met = sql_ledger.tell_together, iter(questions)

    def meet(*given):
        """Another teller is first, at one question after the other."""
        if next(met, None) is not None:
            raise IntegrityError("", {}, Exception("one_counted_answer"))
        return store(*given)

    monkeypatch.setattr(sql_ledger, "tell_together", meet)
    mine = [Told(q.id, str(q.id), b"answer") for q in questions]
    receipts = study.ledger.tell_many(study.id, mine, 2.0)
    assert [receipt.status for receipt in receipts] == [Status.COUNTED] * 5


def test_a_file_that_returns_has_every_acknowledged_answer(tmp_path) -> None:
    path, away = tmp_path / "study.db", tmp_path / "away.db"
    study = gp.live.create(path, problem(), **SETTINGS)
    [first, second, *_] = study.ask(limit=5, holder="tester")
    told = study.tell(first.id, answer(study, first))
    path.rename(away)
    for _ in range(2):
        with pytest.raises(gp.live.LedgerError) as error:
            study.tell(second.id, answer(study, second))
        assert error.value.code == "store-unavailable"
        assert not path.exists(), "an empty database took the place of the one that is gone"
    away.rename(path)
    assert study.tell(first.id, answer(study, first)) == told
    assert study.tell(second.id, answer(study, second)).status is Status.COUNTED
    complete(study)
    assert study.recommend().final
    assert study.verify() == []
    study.close()


@pytest.mark.parametrize("where", ["links/study.db", "sqlite:///study.db"])
def test_a_study_under_two_names_is_advanced_by_one(tmp_path, monkeypatch, where) -> None:
    study = gp.live.create(tmp_path / "study.db", problem(), **SETTINGS)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "study.db").symlink_to(tmp_path / "study.db")
    monkeypatch.chdir(tmp_path)
    same = gp.live.open(where)
    monkeypatch.chdir(tmp_path / "links")
    with study.ledger.advancing(study.id) as first, same.ledger.advancing(same.id) as second:
        assert first
        assert not second
    same.close()
    study.close()


@pytest.mark.parametrize("what", ["missing", "empty", "byte", "text", "other"])
def test_what_is_no_study_is_refused_and_left_as_it_was(tmp_path, what) -> None:
    path = tmp_path / "study.db"
    if what == "other":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE event (id INTEGER)")
    elif what != "missing":
        path.write_text({"empty": "", "byte": "S", "text": "no database" * 100}[what])
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(gp.live.LedgerError) as error:
        gp.live.open(path)
    assert error.value.code == ("no-store" if what == "missing" else "not-a-store")
    assert (path.read_bytes() if path.exists() else None) == before
    if what in ("byte", "other"):
        with pytest.raises(gp.live.LedgerError, match="not a database"):
            gp.live.create(path, problem(), **SETTINGS)
    if what == "byte":
        assert path.read_bytes() == before
    if what == "other":
        with closing(sqlite3.connect(path)) as connection:
            names = connection.execute("SELECT name FROM sqlite_master").fetchall()
        assert names == [("event",)]


@pytest.mark.parametrize("set_back", [1e9, -1e9])
def test_a_clock_that_was_wrong_does_not_block_a_study(make_ledger, set_back) -> None:
    made = gp.live.create(make_ledger(), problem(), patience=100.0, **SETTINGS)
    now = [1e9 + 1e6]
    study = made.with_clock(lambda: now[0])
    questions = study.ask(limit=100, holder="a")
    now[0] -= set_back
    study.advance()  # everybody counts as silent, and others are asked
    again = study.ask(limit=100, holder="b")
    assert [question.position for question in again] == [q.position for q in questions]
    for question in again:
        study.tell(question.id, answer(study, question))
    assert study.advance() == 1
    assert study.verify() == []


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


@pytest.mark.parametrize(
    ("make_ledger", "jump"),
    [("memory", -1e9), ("sqlite", -3600.0), ("postgresql", -1e9), ("postgresql", 1e9)],
    indirect=["make_ledger"],
)
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
