"""The service of a study: it behaves as the study does, and every refusal is JSON."""

import json
from collections.abc import Iterator

import numpy as np
import pytest

import gameproof as gp
from gameproof.live.study import Study
from live_service import call, events, eventually, first_event, served
from studies import answer, complete, problem

SETTINGS = {"method": "ogda-rr", "batch": 8, "seed": 3, "max_answers": 40}
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def study(tmp_path) -> Iterator[Study]:
    with gp.live.create(tmp_path / "study.db", problem(), **SETTINGS) as made:
        yield made


@pytest.fixture
def url(study) -> Iterator[str]:
    with served(study, most_bytes=100_000) as address:
        yield address


def refusal(reply, status: int) -> str:
    """The code of a refusal, which is JSON with a sentence."""
    body = json.loads(reply.data)
    assert reply.status == status, body
    assert reply.headers["Content-Type"] == "application/json"
    assert set(body) == {"code", "message"}
    assert len(body["message"]) > 10
    return body["code"]


def test_a_served_study_ends_with_the_bits_of_a_local_one(study, url, tmp_path) -> None:
    with gp.live.create(tmp_path / "local.db", problem(), **SETTINGS) as local:
        complete(local)
        expected = local.recommend()
    with gp.live.connect(url) as remote:
        while remote.deployment is not None:  # on a busy machine, questions may be late
            for question in remote.ask(limit=100, holder="remote"):
                remote.tell(question.id, answer(study, question))
        found = remote.recommend()
    assert found.theta.tobytes() == expected.theta.tobytes()
    assert (found.risk, found.final, found.sentence) == (expected.risk, True, expected.sentence)
    assert study.verify() == []


def test_the_last_answer_completes_a_deployment_without_another_question(study, url) -> None:
    for question in study.ask(limit=100, holder="tester", advance=False):
        body = {"question": question.id, "answer": answer(study, question).tolist()}
        assert call(url, "POST", "/v1/tell", json=body).status == 200
    eventually(lambda: study.status().n_deployments == 2)


def test_answers_of_another_process_complete_a_deployment_too(study, url, monkeypatch) -> None:
    monkeypatch.setattr("gameproof.live.driver.TICK", 0.1)
    for question in study.ask(limit=100, holder="tester", advance=False):
        study.tell(question.id, answer(study, question))
    eventually(lambda: study.status().n_deployments == 2)


BAD_REQUESTS = {
    "no such path": ("GET", "/v1/nothing", {}, 404, "not-found"),
    "no such page": ("GET", "/nothing", {}, 404, "not-found"),
    "another method": ("PUT", "/v1/tell", {}, 405, "method-not-allowed"),
    "no body": ("POST", "/v1/tell", {}, 422, "bad-request"),
    "no JSON": ("POST", "/v1/tell", {"body": b"{", "headers": JSON}, 422, "bad-request"),
    "another field": ("POST", "/v1/ask", {"json": {"limits": 1}}, 422, "bad-request"),
    "text for a number": ("POST", "/v1/ask", {"json": {"limit": "1"}}, 422, "bad-request"),
    "nothing to ask": ("POST", "/v1/ask", {"json": {"limit": 0}}, 422, "bad-request"),
    "a zero character": ("POST", "/v1/ask", {"json": {"holder": "a\0b"}}, 422, "bad-request"),
    "NaN": (
        "POST",
        "/v1/tell",
        {"body": b'{"question": 1, "answer": [NaN, 1, 2]}', "headers": JSON},
        422,
        "bad-request",
    ),
    "half a character": (
        "POST",
        "/v1/ask",
        {"body": b'{"holder": "\\ud800"}', "headers": JSON},
        422,
        "bad-request",
    ),
    "too few numbers": (
        "POST",
        "/v1/tell",
        {"json": {"question": 1, "answer": [1]}},
        422,
        "bad-answer",
    ),
    "columns without a table": (
        "POST",
        "/v1/tell",
        {"json": {"question": 1, "answer": {"age": 3}}},
        422,
        "bad-answer",
    ),
    "an unknown question": (
        "POST",
        "/v1/tell",
        {"json": {"question": 999, "answer": [1, 2, 3]}},
        404,
        "unknown-question",
    ),
    "an unknown answer": (
        "POST",
        "/v1/answers/999/withdraw",
        {"json": {"reason": "x"}},
        404,
        "unknown-answer",
    ),
    "no reason": ("POST", "/v1/answers/1/withdraw", {"json": {"reason": ""}}, 422, "bad-request"),
    "another deployment": ("POST", "/v1/deployments/7/close", {}, 409, "deployment-closed"),
    "a deployment to come": ("GET", "/v1/people?deployment=7", {}, 404, "unknown-deployment"),
    "a long body": ("POST", "/v1/tell", {"body": b" " * 100_001}, 413, "body-too-large"),
    "a rebound name": (
        "GET",
        "/v1/status",
        {"headers": {"Host": "evil.example"}},
        421,
        "wrong-host",
    ),
    "a rebound page": ("GET", "/", {"headers": {"Host": "evil.example:80"}}, 421, "wrong-host"),
    "another origin": (
        "POST",
        "/v1/pause",
        {"json": {}, "headers": {"Origin": "https://evil.example"}},
        403,
        "wrong-origin",
    ),
    "another port": (
        "POST",
        "/v1/pause",
        {"json": {}, "headers": {"Origin": "http://127.0.0.1:1"}},
        403,
        "wrong-origin",
    ),
    "no origin": (
        "POST",
        "/v1/pause",
        {"json": {}, "headers": {"Origin": "null"}},
        403,
        "wrong-origin",
    ),
    "an image elsewhere": (
        "GET",
        "/v1/status",
        {"headers": {"Sec-Fetch-Site": "same-site"}},
        403,
        "wrong-origin",
    ),
}


@pytest.fixture(scope="module")
def refusing(tmp_path_factory) -> Iterator[str]:
    where = tmp_path_factory.mktemp("refusing") / "study.db"
    with (
        gp.live.create(where, problem(), **SETTINGS) as made,
        served(made, most_bytes=100_000) as url,
    ):
        yield url


@pytest.mark.parametrize("case", BAD_REQUESTS)
def test_a_bad_request_gets_a_code_and_a_sentence(refusing, case) -> None:
    method, path, rest, status, code = BAD_REQUESTS[case]
    assert refusal(call(refusing, method, path, **rest), status) == code


def test_a_body_in_chunks_is_limited_too(refusing) -> None:
    chunks = (b" " * 1000 for _ in range(1000))
    reply = call(refusing, "POST", "/v1/tell", body=chunks, chunked=True)
    assert refusal(reply, 413) == "body-too-large"


def test_keys_are_as_long_over_http_as_in_the_study(study, url) -> None:
    [question] = study.ask()
    body = {"question": question.id, "answer": answer(study, question).tolist()}
    long = call(url, "POST", "/v1/tell", json={**body, "key": "k" * 501})
    assert refusal(long, 422) == "bad-request"
    assert call(url, "POST", "/v1/tell", json={**body, "key": "k" * 500}).json()["answer_id"] == 1


def test_a_key_belongs_to_one_answer(study, url) -> None:
    [question, *_] = study.ask(limit=1)
    body = {"question": question.id, "answer": [1.0, 2.0, 3.0], "key": "crm-1"}
    first = call(url, "POST", "/v1/tell", json=body)
    assert first.json() == {"answer_id": 1, "status": "counted"}
    assert call(url, "POST", "/v1/tell", json=body).json() == first.json()
    other = call(url, "POST", "/v1/tell", json={**body, "answer": [1.0, 2.0, 4.0]})
    assert refusal(other, 409) == "key-reused"


def test_many_answers_are_stored_or_refused_one_by_one(study, url) -> None:
    [one, two] = study.ask(limit=2)
    told = [(one.id, answer(study, one), "a"), (999, [1, 2, 3], "b"), (two.id, [1.0], "c")]
    with gp.live.connect(url) as remote:
        stored, unknown, short = remote.tell_many(told)
    assert stored == gp.live.Receipt(1, gp.live.Status.COUNTED)
    assert (type(unknown), unknown.code) == (gp.live.LedgerError, "unknown-question")
    assert type(short) is gp.AnswerError


def test_a_failure_is_json_too(study, url, monkeypatch) -> None:
    monkeypatch.setattr(study.ledger, "counts", lambda *_: 1 / 0)
    assert refusal(call(url, "GET", "/v1/status"), 500) == "internal-error"


def test_every_reply_forbids_what_a_page_does_not_need(refusing) -> None:
    for path in ("/", "/page.js", "/v1/status", "/v1/nothing", "/openapi.json"):
        headers = call(refusing, "GET", path).headers
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Cache-Control"] == "no-store"


def test_managing_does_what_the_study_does(study, url) -> None:
    [question, *others] = study.ask(limit=100)
    with gp.live.connect(url) as remote:
        told = remote.tell(question.id, answer(study, question))
        remote.withdraw(told.answer_id, "wrong person")
        assert remote.status().n_withdrawn == 1
        assert remote.close_deployment() is False  # nobody has answered any more
        remote.pause("holidays")
        assert (remote.status().state, remote.ask()) == ("paused", [])
        remote.resume()
        remote.tell(others[0].id, answer(study, others[0]))
        assert remote.close_deployment() is True
        with pytest.raises(gp.live.LedgerError) as error:
            remote.close_deployment(0)
        assert error.value.code == "deployment-closed"
        assert remote.deployment.number == 1
    assert study.ledger.events(study.id, ["paused"])[0].body == '{"reason":"holidays"}'


def test_people_are_listed_with_what_became_of_their_questions(study, url) -> None:
    [one, two, *_] = study.ask(limit=2, holder="tester")
    study.tell(one.id, answer(study, one))
    found = call(url, "GET", "/v1/people").json()
    counts = {"answered": 1, "waiting": 1, "not asked": found["total"] - 2}
    assert found["counts"] == {name: count for name, count in counts.items() if count}
    assert [row["state"] for row in found["people"][:3]] == ["answered", "waiting", "not asked"]
    study.close_deployment()
    study.tell(two.id, answer(study, two))
    counts = call(url, "GET", "/v1/people?deployment=0").json()["counts"]
    assert counts == {"answered": 1, "late": 1, "silent": found["total"] - 2}
    [late] = call(url, "GET", "/v1/people?deployment=0&state=late").json()["people"]
    assert (late["person"], late["holder"]) == (str(two.agent), "tester")


def test_the_overview_counts_as_the_study_does(study, url) -> None:
    complete(study)
    [first, *_] = study.history()["answer"]
    study.withdraw(first, "wrong person")
    found = call(url, "GET", "/v1/overview").json()
    frame = study.deployments()
    assert found["status"] == json.loads(json.dumps(study.status().as_dict()))
    assert found["timeline"]["counted"][-1] == study.status().n_answers
    assert found["timeline"]["other"][-1] == 1
    shown = [each["risk"] or [np.nan] * 3 for each in found["results"]]
    np.testing.assert_allclose(shown, frame[["risk", "risk_low", "risk_high"]])
    assert found["people"]["asked"] == study.fact_frames()["questions"]["agent"].nunique()
    assert found["deployment"] is None


def test_people_count_as_asked_once_they_are_shown_their_question(study, url) -> None:
    def asked() -> int:
        return call(url, "GET", "/v1/overview").json()["people"]["asked"]

    assert asked() == 0
    study.ask(limit=2, holder="tester")
    eventually(lambda: asked() == 2)


def test_a_stream_tells_what_changes_and_ends_with_the_service(study) -> None:
    with served(study) as url:
        stream = events(url)
        kind, before = next(stream)
        assert (kind, before["status"]["n_answers"]) == ("overview", 0)
        [question, *_] = study.ask(limit=1)
        study.tell(question.id, answer(study, question))
        eventually(lambda: next(stream)[1]["status"]["n_answers"] == 1)
    assert list(stream) == []


def test_a_database_that_returns_is_used_again(postgresql) -> None:
    with gp.live.create(postgresql.new_database(), problem(), **SETTINGS) as study:
        [question, *_] = study.ask(limit=1)
        body = {"question": question.id, "answer": answer(study, question).tolist(), "key": "k"}
        with served(study) as url:
            stream = events(url)
            assert next(stream)[0] == "overview"
            postgresql.stop()
            try:
                reply = call(url, "POST", "/v1/tell", json=body)
                assert refusal(reply, 503) == "store-unavailable"
                assert reply.headers["Retry-After"]
                assert eventually(lambda: next(stream)[0] == "problem")
            finally:
                postgresql.start()
            assert call(url, "POST", "/v1/tell", json=body).json()["status"] == "counted"
            assert eventually(lambda: next(stream)[0] == "overview")


def test_too_many_listeners_are_refused(study, url, monkeypatch) -> None:
    monkeypatch.setattr("gameproof.live.broadcast.MOST_LISTENERS", 1)
    stream = events(url)
    next(stream)
    assert refusal(call(url, "GET", "/v1/events"), 503) == "too-many-listeners"
    stream.close()
    eventually(lambda: first_event_or_none(url))


def first_event_or_none(url):
    try:
        return first_event(url)
    except AssertionError:
        return None
