"""Long steps are reported, short ones are not."""

import time

import pytest

from gameproof.cli.console import Console
from gameproof.core import progress


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
