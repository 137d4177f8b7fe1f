"""The command on made-up people, as several tests call it."""

from pathlib import Path

from gameproof.cli.main import main

MEANING = ["--target", "repaid", "--favourable", "yes", "--movable", "savings,utilisation"]


def fit(table: Path, out: Path, *options: str) -> int:
    """``gameproof fit`` on a table of such people."""
    return main(["fit", str(table), *MEANING, "-o", str(out), *options])
