"""Services as processes of their own: one beside another, killed, and ended in order."""

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import gameproof as gp
from gameproof.live.facts import Status
from live_service import events, eventually, served, served_by_process
from studies import answer, complete, problem

TELLERS = 8
SETTINGS = {"method": "ogda-rr", "batch": 40, "seed": 3, "max_answers": 120}
KILLED = Path(__file__).parents[1] / "live_service_killed.py"


def test_eight_tellers_at_two_services_give_the_bits_of_one_process(new_database) -> None:
    alone, crowded = new_database(), new_database()
    with gp.live.create(alone, problem(), **SETTINGS) as study:
        complete(study)
        expected = study.recommend()
    gp.live.create(crowded, problem(), **SETTINGS).close()
    with (
        gp.live.open(crowded) as study,
        gp.live.open(crowded) as other,
        served(other) as one,
        served_by_process(crowded) as (two, _),
        ThreadPoolExecutor(TELLERS) as pool,
    ):
        told = list(pool.map(lambda k: tell_all(study, (one, two)[k % 2], k), range(TELLERS)))
        found = study.recommend()
        assert study.verify() == []
        assert study.status().n_conflicts == 0
    assert found.theta.tobytes() == expected.theta.tobytes()
    assert found.risk == expected.risk
    assert sum(told) == expected.n_answers


def tell_all(study, url: str, number: int) -> int:
    """Asks and tells until the study is finished; every third answer is told twice."""
    rng, told = np.random.default_rng(number), 0
    with gp.live.connect(url) as remote:
        while remote.status().state != "finished":
            for question in remote.ask(limit=5, holder=f"teller {number}"):
                for _ in range(2 if rng.random() < 1 / 3 else 1):
                    receipt = remote.tell(
                        question.id, answer(study, question), key=f"question {question.id}"
                    )
                assert receipt.status is Status.COUNTED
                told += 1
    return told


def test_an_answer_stored_by_a_killed_service_is_not_stored_twice(new_database) -> None:
    where = new_database()
    with gp.live.create(where, problem(), **SETTINGS) as study:
        [question, *_] = study.ask()
        reply = answer(study, question)
        with served_by_process(where, [str(KILLED), where]) as (url, process):
            remote = gp.live.connect(url, tries=1)
            with pytest.raises(gp.live.LedgerError) as error:
                remote.tell(question.id, reply, key="crm-1")
            assert error.value.code == "service-unreachable"
            assert process.wait(30) == -signal.SIGKILL
        with served(study) as url, gp.live.connect(url) as remote:
            told = remote.tell(question.id, reply, key="crm-1")
        assert told.status is Status.COUNTED
        assert study.history()["answer"].tolist() == [told.answer_id]
        assert study.status().n_answers == 1


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_a_service_ends_in_order_while_a_page_is_open(tmp_path, end) -> None:
    where = str(tmp_path / "study.db")
    gp.live.create(where, problem(), **SETTINGS).close()
    with served_by_process(where) as (url, process):
        stream = events(url)
        assert next(stream)[0] == "overview"
        seen: list[object] = []
        reader = threading.Thread(target=lambda: seen.extend(stream))
        reader.start()
        process.send_signal(end)
        assert process.wait(30) == 0
        reader.join(30)
        assert not reader.is_alive()
        assert "Traceback" not in process.stderr.read()
    assert not list(tmp_path.glob("*.lock"))
    with gp.live.open(where) as study:
        assert eventually(lambda: study.verify() == [])
