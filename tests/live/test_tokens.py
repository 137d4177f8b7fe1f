"""Tokens: what they permit, and that nobody needs to trust the file that holds them."""

import json
import stat

import pytest

import gameproof as gp
from gameproof.core.errors import DataError
from gameproof.live.host_names import HostNames
from gameproof.live.serving import Place
from gameproof.live.tokens import Scope, TokenFile
from live_service import call, events, eventually, served
from studies import problem

# What each path needs; whoever adds a path decides here who may use it.
SCOPES = {
    ("GET", "/v1/access"): set(Scope),
    ("GET", "/v1/status"): set(Scope),
    ("GET", "/v1/deployment"): {Scope.READ, Scope.ASK},
    ("GET", "/v1/recommendation"): {Scope.READ},
    ("GET", "/v1/history"): {Scope.READ},
    ("GET", "/v1/people"): {Scope.READ},
    ("GET", "/v1/overview"): {Scope.READ},
    ("GET", "/v1/events"): {Scope.READ},
    ("POST", "/v1/ask"): {Scope.ASK},
    ("POST", "/v1/tell"): {Scope.TELL},
    ("POST", "/v1/tell-many"): {Scope.TELL},
    ("POST", "/v1/answers/{answer}/withdraw"): {Scope.MANAGE},
    ("POST", "/v1/deployments/{number}/close"): {Scope.MANAGE},
    ("POST", "/v1/pause"): {Scope.MANAGE},
    ("POST", "/v1/resume"): {Scope.MANAGE},
}


@pytest.fixture
def tokens(tmp_path) -> TokenFile:
    return TokenFile(tmp_path / "tokens.json")


@pytest.fixture
def study(tmp_path):
    options = {"name": "secret-study", "method": "ogda-rr", "batch": 8, "max_answers": 40}
    with gp.live.create(tmp_path / "study.db", problem(), **options) as made:
        yield made


def test_the_file_keeps_hashes_for_its_owner_alone(tokens) -> None:
    secret = tokens.add("crm", [Scope.TELL])
    assert secret not in tokens.path.read_text()
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600
    assert tokens.find(secret).scopes == {Scope.TELL}
    assert tokens.find(secret[:-1]) is None
    assert tokens.find("") is None


def test_a_name_is_used_once_and_a_revoked_token_ends(tokens) -> None:
    secret = tokens.add("crm", [Scope.TELL])
    with pytest.raises(ValueError, match="already"):
        tokens.add("crm", [Scope.READ])
    with pytest.raises(ValueError, match="the file has 'crm'"):
        tokens.revoke("other")
    tokens.revoke("crm")
    assert tokens.find(secret) is None


@pytest.mark.parametrize("content", ["", "[]", '{"version": 2, "tokens": []}', '{"version": 1}'])
def test_a_damaged_file_permits_nothing(tokens, study, content) -> None:
    secret = tokens.add("crm", [Scope.READ])
    with served(study, tokens=tokens) as url:
        assert call(url, "GET", "/v1/status", secret).status == 200
        tokens.path.write_text(content)
        with pytest.raises(DataError):
            tokens.find(secret)
        reply = call(url, "GET", "/v1/status", secret)
        assert (reply.status, reply.json()["code"]) == (503, "tokens-unreadable")
        tokens.path.unlink()
        assert call(url, "GET", "/v1/status", secret).status == 401


def test_every_path_needs_its_scope(tokens, study) -> None:
    secrets = {scope: tokens.add(scope.value, [scope]) for scope in Scope}
    with served(study, tokens=tokens) as url:
        described = json.loads(call(url, "GET", "/openapi.json").data)["paths"]
        found = {(m.upper(), path) for path, methods in described.items() for m in methods}
        assert found == set(SCOPES)
        for (method, path), permitted in SCOPES.items():
            real = path.format(answer=999, number=999)
            assert call(url, method, real).json()["code"] == "no-token"
            assert call(url, method, real, "gplive_wrong").json()["code"] == "no-token"
            for scope, secret in secrets.items():
                if path == "/v1/events" and scope is Scope.READ:
                    continue  # it does not end
                body = {"json": {}} if method == "POST" else {}
                reply = call(url, method, real, secret, **body)
                refused = reply.status == 403 and reply.json()["code"] == "scope-missing"
                assert refused == (scope not in permitted), (path, scope, reply.data)


def test_the_page_needs_no_token_but_has_no_data(tokens, study) -> None:
    tokens.add("reader", [Scope.READ])
    with served(study, tokens=tokens) as url:
        for path in ("/", "/live_page.js", "/openapi.json"):
            reply = call(url, "GET", path)
            assert reply.status == 200
            assert study.name not in reply.data.decode()


def test_a_stream_ends_when_its_token_is_revoked(tokens, study, monkeypatch) -> None:
    monkeypatch.setattr("gameproof.live.broadcast.QUIET", 0.1)
    secret = tokens.add("reader", [Scope.READ])
    with served(study, tokens=tokens) as url:
        stream = events(url, secret)
        assert next(stream)[0] == "overview"
        tokens.revoke("reader")
        assert eventually(lambda: next(stream)[1].get("code") == "no-token")
        assert list(stream) == []


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_other_machines_need_a_token(tokens, host) -> None:
    with pytest.raises(ValueError, match="needs tokens"):
        Place(host=host).check()
    with pytest.raises(ValueError, match="has no token"):
        Place(host=host, tokens=tokens).check()
    tokens.add("crm", [Scope.READ])
    Place(host=host, tokens=tokens).check()


def test_a_port_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 65535, got 99999"):
        Place(port=99999).check()


def test_a_certificate_that_cannot_be_used_is_named(tmp_path) -> None:
    missing, empty = tmp_path / "none.pem", tmp_path / "empty.pem"
    empty.touch()
    with pytest.raises(ValueError, match="needs both"):
        Place(certificate=empty).check()
    for certificate in (missing, empty):
        with pytest.raises(ValueError, match=f"{certificate.name} and .* are not a certificate"):
            Place(certificate=certificate, certificate_key=empty).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.9"])
def test_loopback_needs_none(host) -> None:
    Place(host=host).check()


@pytest.mark.parametrize(
    ("host", "header", "allowed"),
    [
        ("127.0.0.1", "localhost:8642", True),
        ("127.0.0.1", "LOCALHOST", True),
        ("127.0.0.1", "[::1]:8642", True),
        ("127.0.0.1", "127.0.0.1", True),
        ("127.0.0.1", "192.168.1.5", False),
        ("127.0.0.1", "localhost.evil.example", False),
        ("127.0.0.1", "", False),
        ("127.0.0.1", "[::1", False),
        ("0.0.0.0", "192.168.1.5:8642", True),
        ("0.0.0.0", "evil.example", False),
        ("0.0.0.0", "study.example", True),
        ("study.example", "study.example:8642", True),
    ],
)
def test_a_service_answers_to_its_own_names_only(host, header, allowed) -> None:
    assert HostNames(host, ["study.example"]).allow(header) is allowed
