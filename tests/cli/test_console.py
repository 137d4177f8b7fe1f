"""Long steps are reported, short ones are not."""

import re
import time

import pytest

import gameproof as gp
from gameproof.cli.console import Console
from gameproof.cli.main import main
from gameproof.core import progress
from gameproof.core.errors import warn
from gameproof.tables import table as tables


def test_long_step_is_reported_repeatedly(monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "PULSE", 0.05)
    with Console().step("counting sheep"):
        time.sleep(0.5)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("counting sheep, ") for line in lines)


@pytest.mark.parametrize(("quiet", "seconds"), [(True, 0.2), (False, 0.0)])
def test_quiet_or_short_step_is_not_reported(quiet, seconds, monkeypatch, capsys) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    with Console(quiet=quiet).step("counting sheep"):
        time.sleep(seconds)
    assert capsys.readouterr() == ("", "")


def test_step_that_fails_passes_the_error_on() -> None:
    with pytest.raises(ZeroDivisionError), Console().step("dividing"):
        _ = 1 / 0


def test_control_characters_in_names_are_escaped_in_every_message(
    people, model, tmp_path, capsys
) -> None:
    """A file name or a column could otherwise move the cursor and rewrite what was printed."""
    evil = "evil\x1b[2J\x07\u202e"
    shown = "evil\\x1b[2J\\x07\\u202e"
    assert main(["audit", str(model), f"{evil}.csv"]) == 1
    assert f"no file matches {shown}.csv" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["audit", str(model), str(people), evil])
    assert shown in capsys.readouterr().err
    (tmp_path / evil).write_text("x,y\n")
    with pytest.raises(gp.DataError) as caught:
        gp.read_table(tmp_path / evil, target="y", favourable="1")
    assert shown in str(caught.value)
    with pytest.warns(UserWarning, match=re.escape(shown)):
        warn(evil)
    Console().say(evil)
    Console().show(evil, None)
    printed = capsys.readouterr()
    assert printed.err == printed.out == f"{shown}\n"


def test_lack_of_memory_is_told_as_such(monkeypatch, people, capsys) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(tables, "parse_text", exhausted)
    assert main(["learn", str(people), str(people)]) == 1
    assert "there is not enough memory" in capsys.readouterr().err
