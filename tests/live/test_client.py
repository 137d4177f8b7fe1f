"""`gp.live.connect`: the methods of a study over HTTP, repeated only where that is safe."""

import inspect
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
from gameproof.live.client import RemoteStudy
from gameproof.live.study import Study
from gameproof.live.study_table import problem_from_table
from gameproof.tables.made_up_people import made_up_people
from live_service import served
from studies import answer, complete, problem

SETTINGS = {"method": "ogda-rr", "batch": 8, "seed": 3, "max_answers": 40}
METHODS = ("ask", "tell", "withdraw", "close_deployment", "pause", "resume", "status", "recommend")


@pytest.fixture
def study(tmp_path) -> Iterator[Study]:
    with gp.live.create(tmp_path / "study.db", problem(), **SETTINGS) as made:
        yield made


@contextmanager
def losing_replies(url: str, lost: int) -> Iterator[tuple[str, list[bytes]]]:
    """A proxy that passes requests on and drops the first replies, and what was requested."""
    host, _, port = url.removeprefix("http://").rstrip("/").partition(":")
    requests: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def pass_on() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            with client, socket.create_connection((host, int(port))) as server:
                head = read_request(client)
                requests.append(head.split(b"\r\n")[0])
                server.sendall(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
                reply = b"".join(iter(lambda: server.recv(1 << 16), b""))
                if len(requests) > lost:
                    client.sendall(reply)

    thread = threading.Thread(target=pass_on)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", requests
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


def read_request(client: socket.socket) -> bytes:
    found = b""
    while b"\r\n\r\n" not in found:
        found += client.recv(1 << 16)
    head, _, body = found.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(lengths[0].split(b":")[1]) if lengths else 0
    while len(body) < length:
        body += client.recv(1 << 16)
    return head + b"\r\n\r\n" + body


@pytest.mark.parametrize("name", METHODS)
def test_methods_take_what_those_of_a_study_take(name) -> None:
    own = inspect.signature(getattr(RemoteStudy, name)).parameters
    local = inspect.signature(getattr(Study, name)).parameters
    known = [(p.name, p.default) for p in local.values() if p.name != "advance"]
    assert [(p.name, p.default) for p in own.values()] == known


def test_everything_read_is_what_the_study_gives(study) -> None:
    with served(study) as url, gp.live.connect(url) as remote:
        assert remote.name == study.name
        local, found = study.deployment, remote.deployment
        assert found.theta.tobytes() == local.theta.tobytes()
        assert {**vars(found), "theta": 0} == {**vars(local), "theta": 0}
        [question] = remote.ask(1, "tester", 60.0)
        [same] = study.ask(1, "tester", 60.0)
        assert question.theta.tobytes() == same.theta.tobytes()
        assert (question.id, question.agent, question.person) == (same.id, same.agent, same.person)
        complete(study)
        assert remote.status() == study.status()
        assert remote.deployment is None
        assert remote.recommend().risk == study.recommend().risk
        pd.testing.assert_frame_equal(remote.history(), study.history(), check_exact=True)


def test_a_long_history_comes_in_pages(study, monkeypatch) -> None:
    monkeypatch.setattr("gameproof.live.client.PAGE", 1)
    with served(study) as url, gp.live.connect(url) as remote:
        assert len(remote.history()) == 0
        complete(study)
        assert remote.history()["answer"].tolist() == study.history()["answer"].tolist()


def test_a_row_of_the_table_is_an_answer_and_the_model_takes_rows(tmp_path) -> None:
    people = made_up_people(200)
    task, table = problem_from_table(
        people, target="repaid", favourable="yes", budgets=["savings"], key="id"
    )
    made = gp.live.create(tmp_path / "s.db", task, table=table, method="ogda-rr", batch=20)
    frame = pd.DataFrame(people)
    with made as study, served(study) as url, gp.live.connect(url) as remote:
        [question] = remote.ask()
        row = frame[frame["id"] == question.person].iloc[0]
        assert remote.tell(question.id, row.to_dict()).status is gp.live.Status.COUNTED
        told = study.history()[study.answer_names].to_numpy()[0]
        np.testing.assert_allclose(told, study.problem.population.X[question.agent])
        local = study.deployment.model.decision_function(people)
        np.testing.assert_array_equal(remote.deployment.model.decision_function(people), local)
        with pytest.raises(gp.AnswerError, match="lacks the column"):
            remote.tell(question.id, {"age": 3})
        with pytest.raises(gp.AnswerError, match="no usable value in the column 'savings'"):
            remote.tell(question.id, {**row.to_dict(), "savings": None})
        for reached in (study, remote):
            with pytest.raises(gp.AnswerError, match="'lots'"):
                reached.tell(question.id, {**row.to_dict(), "savings": "lots"})


def test_an_answer_whose_receipt_is_lost_is_stored_once(study) -> None:
    with served(study) as url, gp.live.connect(url) as direct:
        [question, *_] = direct.ask()
        with losing_replies(url, lost=3) as (lossy, requests):
            remote = RemoteStudy(lossy, None, 10.0, 6, None)
            told = remote.tell(question.id, answer(study, question), key="crm-1")
            remote.close()
        assert requests == [b"POST /v1/tell HTTP/1.1"] * 4
    assert told.status is gp.live.Status.COUNTED
    assert study.history()["answer"].tolist() == [told.answer_id]


def test_a_deployment_is_closed_once_whatever_is_lost(study) -> None:
    with served(study) as url, gp.live.connect(url) as direct:
        [question, *_] = direct.ask()
        direct.tell(question.id, answer(study, question))
        with losing_replies(url, lost=2) as (lossy, _):
            remote = RemoteStudy(lossy, None, 10.0, 6, None)
            assert remote.close_deployment() is True
            remote.close()
    assert study.deployment.number == 1


@pytest.mark.parametrize("action", ["pause", "resume"])
def test_what_might_undo_somebody_elses_action_is_not_repeated(study, action) -> None:
    with served(study) as url, losing_replies(url, lost=1) as (lossy, requests):
        remote = RemoteStudy(lossy, None, 10.0, 6, None)
        with pytest.raises(gp.live.LedgerError) as error:
            getattr(remote, action)()
        remote.close()
        assert error.value.code == "service-unreachable"
        assert len(requests) == 1


def test_errors_carry_the_code_of_the_service(study) -> None:
    with served(study) as url, gp.live.connect(url) as remote:
        with pytest.raises(gp.live.LedgerError) as error:
            remote.tell(999, [1.0, 2.0, 3.0])
        assert error.value.code == "unknown-question"
        with pytest.raises(gp.AnswerError, match="expects 3 features, got 1"):
            remote.tell(1, [1.0])
        with pytest.raises(gp.AnswerError, match="not finite"):
            remote.tell(1, [1.0, np.nan, 2.0])


def test_nobody_there_is_one_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(gp.live.LedgerError, match="did not reply") as error:
        gp.live.connect(f"http://127.0.0.1:{port}", tries=2)
    assert error.value.code == "service-unreachable"


@pytest.mark.parametrize("url", ["study.db", "ftp://127.0.0.1", "http://"])
def test_an_address_is_http(url) -> None:
    with pytest.raises(ValueError, match="url must begin with http"):
        gp.live.connect(url)
