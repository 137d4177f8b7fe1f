"""Damaged files of every format do no harm: a short version of ``python tests/fuzz.py``."""

import pytest

from fuzz import FORMATS, failures, run

CASES = 100


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_do_no_harm(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAMEPROOF_MAX_BYTES", "")  # restored after `run` has set it
    table = run(CASES, 0, [name])
    assert len(table[name]) == CASES
    assert failures(table) == []
