"""``gameproof live serve`` and ``token``."""

import json
from pathlib import Path

import pytest

import gameproof as gp
from gameproof.cli.main import main
from gameproof.live.tokens import Scope, TokenFile
from studies import problem


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.db"
    gp.live.create(path, problem(), method="ogda-rr", batch=8).close()
    return path


def run(capsys, *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["live", *map(str, arguments)])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_a_token_is_printed_once_and_then_known_by_its_hash(capsys, tmp_path) -> None:
    path = tmp_path / "tokens.json"
    code, out, _ = run(capsys, "token", path, "--name", "crm", "--scope", "ask,tell", "--quiet")
    secret = out.strip()
    assert code == 0
    assert TokenFile(path).find(secret).scopes == {Scope.ASK, Scope.TELL}
    code, out, _ = run(capsys, "token", path, "--list", "--json")
    [listed] = json.loads(out)["tokens"]
    assert (listed["name"], listed["scopes"]) == ("crm", ["ask", "tell"])
    assert secret not in out
    assert run(capsys, "token", path, "--revoke", "crm")[0] == 0
    assert TokenFile(path).find(secret) is None


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--name", "crm"], 2, "belong together"),
        (["--list", "--scope", "ask"], 2, "belong together"),
        (["--name", " ", "--scope", "ask"], 1, "needs a name"),
        (["--revoke", "nobody"], 1, "no token 'nobody'"),
    ],
)
def test_a_token_command_that_makes_no_sense_is_refused(
    capsys, tmp_path, arguments, code, said
) -> None:
    found, out, err = run(capsys, "token", tmp_path / "tokens.json", *arguments)
    assert (found, out) == (code, "")
    assert said in err
    assert not (tmp_path / "tokens.json").exists()


def test_an_unknown_scope_is_named(capsys, tmp_path) -> None:
    with pytest.raises(SystemExit) as error:
        main(["live", "token", str(tmp_path / "t.json"), "--name", "a", "--scope", "ask,write"])
    assert error.value.code == 2
    assert "unknown scope 'write'; choose from ask, tell, read, manage" in capsys.readouterr().err


def test_other_machines_are_not_served_without_tokens(capsys, study, tmp_path) -> None:
    code, _, err = run(capsys, "serve", study, "--host", "0.0.0.0")
    assert code == 1
    assert "needs tokens" in err
    code, _, err = run(capsys, "serve", study, "--tokens", tmp_path / "none.json")
    assert code == 1
    assert "has no token; create one" in err


def test_a_port_in_use_is_one_clear_error(capsys, study) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, _, err = run(capsys, "serve", study, "--port", port)
    assert code == 1
    assert f"cannot listen at 127.0.0.1, port {port}" in err
    assert err.count("\n") == 1


def test_a_missing_study_is_not_created(capsys, tmp_path) -> None:
    code, _, err = run(capsys, "serve", tmp_path / "none.db", "--port", 0)
    assert code == 1
    assert "there is no study" in err
    assert not (tmp_path / "none.db").exists()
