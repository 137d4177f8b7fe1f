"""Messages of every part show control characters escaped: in names of columns and in paths."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gameproof as gp
from gameproof.core.atomic_files import write_rules, write_whole
from gameproof.core.naming import CONTROL
from gameproof.tables.write_table import check_table_name

EVIL, SHOWN = "evil\x1b[2J\x07\u202e", "evil\\x1b[2J\\x07\\u202e"
Y = np.array([1.0, -1.0] * 10)
ROWS = np.random.default_rng(0).normal(size=(20, 2))
FRAME = pd.DataFrame(ROWS, columns=["a", EVIL])
OTHER = pd.DataFrame(ROWS, columns=["a", "b"])


def fitted(X: Any, **options: Any) -> Any:
    return gp.RobustStrategicClassifier(radius=0.1, **options).fit(X, Y)


def unreplaced(folder: Path) -> None:
    (folder / EVIL).write_text("")
    with write_rules(replace=False):
        write_whole(folder / EVIL, b"")


def folder_named(folder: Path) -> Path:
    (folder / EVIL).mkdir()
    return folder / EVIL


def linked_out(folder: Path) -> None:
    (folder / "inside").mkdir()
    (folder / "inside" / "link").symlink_to(folder / EVIL)
    with write_rules(folder=folder / "inside"):
        write_whole(folder / "inside" / "link", b"")


def problem() -> gp.StrategicProblem:
    people = gp.Population(ROWS, Y, gp.BlackBox(print))
    return gp.StrategicProblem(people, radius=0.1, label_cost=0.5)


def run(**options: Any) -> None:
    gp.solve(gp.QuadraticGame.random(n=5, seed=0), gp.ogda_rr(), epochs=1, seed=0, **options)


def foreign_checkpoint(folder: Path) -> None:
    (folder / EVIL).write_text("a,b\n")
    run(checkpoint=folder / EVIL)


CASES: dict[str, Callable[[Path], Any]] = {
    "journal": lambda folder: gp.Population(
        ROWS, Y, gp.BlackBox(print), journal=folder / EVIL / "answers.db"
    ),
    "checkpoint in no folder": lambda folder: run(checkpoint=folder / EVIL / "run.state"),
    "checkpoint": foreign_checkpoint,
    "file that exists": unreplaced,
    "folder": lambda folder: write_whole(folder_named(folder), b""),
    "link": linked_out,
    "study": lambda folder: gp.live.open(folder / EVIL / "study.db"),
    "new study": lambda folder: gp.live.create(folder / EVIL / "study.db", problem(), name="a"),
    "table": lambda folder: check_table_name(folder / f"t.{EVIL}"),
    "columns of prepare": lambda folder: fitted(
        FRAME, budgets={"a": (0, 1)}, prepare=gp.Prepare(gp.Features(("a", "b")))
    ),
    "columns of an audit": lambda folder: gp.audit(
        fitted(OTHER, budgets={"a": (0, 1)}), FRAME, Y, budgets={"a": (0, 1)}
    ),
    "columns of budgets": lambda folder: fitted(
        OTHER, budgets=gp.Budgets(gp.Features(("a", EVIL)), {0: (0.0, 1.0)}, {})
    ),
    "column of a data set": lambda folder: gp.Dataset(
        "d", ROWS, Y, gp.Features(("a", EVIL))
    ).column("b"),
}


@pytest.mark.parametrize("case", CASES)
def test_control_characters_are_escaped(case: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, KeyError, OSError, gp.GameproofError)) as caught:
        CASES[case](tmp_path)
    message = str(caught.value)
    assert not CONTROL.search(message)
    assert SHOWN in message.replace("\\\\", "\\")  # a KeyError shows its message quoted
