"""The command on made-up people, as several tests call it."""

import json
from pathlib import Path
from typing import Any

from gameproof.cli.main import main

MEANING = ["--target", "repaid", "--favourable", "yes", "--movable", "savings,utilisation"]
NUMBERS = ["age", "savings", "utilisation", "late_payments"]


def fit(table: Path, out: Path, *options: str) -> int:
    """``gameproof fit`` on a table of such people."""
    return main(["fit", str(table), *MEANING, "-o", str(out), *options])


def audit(capsys: Any, *arguments: object) -> dict[str, Any]:
    """What ``gameproof audit`` tells machines."""
    assert main(["audit", *map(str, arguments), "--json", "--quiet"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def audit_refused(capsys: Any, *arguments: object) -> str:
    """What it says where it refuses to."""
    assert main(["audit", *map(str, arguments)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    return printed.err
