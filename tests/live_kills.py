"""Kills programs that run a live study, starts them again, and checks that nothing was lost.

    python tests/live_kills.py [--kills 200] [--seed 0]

A program asks, answers and advances a study of its own in SQLite or PostgreSQL. It writes down
every receipt after `tell` has returned. Each kill (-9) comes at a random moment: a random number of
statements after the program's start, just before or just after that statement. After every kill,
each written receipt must be in the database. In the end, the questions must be those of an
uninterrupted study, each with one counted answer, and theta must be the same to the bit.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import event

import gameproof as gp
from gameproof.live.facts import Status
from postgres_server import MISSING, PROGRAMS, running_server
from studies import answer, problem

METHODS = ("auto", "ogda-rr")
SETTINGS = {"batch": 12, "seed": 5, "max_answers": 90}
# No program has more statements than this between two kills, or few kills would hit it.
LONGEST = 400


@dataclass
class Count:
    """One row of the table."""

    kills: int = 0
    trials: int = 0
    statements: set[str] = field(default_factory=set)  # where kills came


def work(where: str, receipts: Path) -> None:
    """Answers the study to its end, and writes down every receipt."""
    with gp.live.open(where) as study, open(receipts, "a", buffering=1) as written:
        while questions := study.ask(limit=1000, holder="worker"):
            for question in questions:
                told = study.tell(question.id, answer(study, question), key=f"q{question.id}")
                written.write(f"{told.answer_id} {question.id}\n")


def killed_at(statement: int, before: bool, where: str, receipts: Path) -> str | None:
    """Runs `work` in a forked process that kills itself at a statement.

    Returns the statement, or None if the work ended first."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        try:
            _arm(statement, before, writer)
            work(where, receipts)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(writer)
    with open(reader) as said:
        text = said.read()
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the program failed"
    return text if os.WIFSIGNALED(status) else None


def _arm(statement: int, before: bool, writer: int) -> None:
    """Kills this process at the given statement, begins and commits included."""
    from sqlalchemy import Engine

    seen = 0

    def strike(text: str) -> None:
        nonlocal seen
        seen += 1
        if seen == statement:
            os.write(writer, text.encode())
            os.kill(os.getpid(), signal.SIGKILL)

    name = "before_cursor_execute" if before else "after_cursor_execute"
    event.listen(Engine, name, lambda *given: strike(" ".join(given[2].split()[:3])))
    event.listen(Engine, "commit", lambda _: strike("COMMIT"))


def require_nothing_lost(where: str, receipts: Path) -> None:
    """Every written receipt is a counted answer, and no question has two."""
    with gp.live.open(where) as study:
        answers = study.ledger.answers(study.id)
        stored = {(each.id, each.question) for each in answers}
        counted = [each.question for each in answers if each.status is Status.COUNTED]
    written = set()
    with suppress(FileNotFoundError):
        for line in receipts.read_text().splitlines():
            number, question = line.split()
            written.add((int(number), int(question)))
    assert written <= stored, "an acknowledged answer was lost"
    assert len(counted) == len(set(counted)) == len(answers), "a question was answered twice"


def outcome(where: str) -> tuple[bytes, list[tuple[int, ...]]]:
    """What must not depend on kills: theta, and who was asked at which place."""
    with gp.live.open(where) as study:
        assert study.verify() == []
        assert study.status().state == "finished"
        asked = [tuple(question[1:]) for question in study.ledger.questions(study.id)]
        return study.recommend().theta.astype("<f8").tobytes(), asked


def created(where: str, method: str) -> str:
    gp.live.create(where, problem(), method=method, **SETTINGS).close()
    return where


def run(kills: int, seed: int, new_database: Callable[[], str], folder: Path) -> dict[str, Count]:
    """Spreads kills over the methods; several kills per study."""
    rng, table = random.Random(seed), {method: Count() for method in METHODS}
    expected = {}
    for method in METHODS:
        where = created(new_database(), method)
        work(where, folder / f"{method}.reference")
        expected[method] = outcome(where)
    while sum(count.kills for count in table.values()) < kills:
        method = min(table, key=lambda name: table[name].kills)
        count = table[method]
        count.trials += 1
        where, receipts = created(new_database(), method), folder / f"{method}{count.trials}"
        finished = False
        while not finished and sum(each.kills for each in table.values()) < kills:
            hit = killed_at(rng.randint(1, LONGEST), rng.random() < 0.5, where, receipts)
            finished = hit is None
            if hit is not None:
                count.kills += 1
                count.statements.add(hit)
            require_nothing_lost(where, receipts)
        work(where, receipts)
        assert outcome(where) == expected[method], "kills changed the outcome"
    return table


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200, help="kills on each database")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    print("| database | method | studies | kills | different statements |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        names = iter(range(10**6))
        show("SQLite", run(given.kills, given.seed, lambda: f"{name}/{next(names)}.db", folder))
        if not PROGRAMS:
            print(MISSING)
            return
        (folder / "postgresql").mkdir()
        with running_server() as server:
            found = run(given.kills, given.seed, server.new_database, folder / "postgresql")
            show("PostgreSQL", found)
    print("No acknowledged answer was lost, and every theta is the same to the bit.")


def show(database: str, table: dict[str, Count]) -> None:
    for method, count in table.items():
        print(
            f"| {database} | {method} | {count.trials} | {count.kills} | {len(count.statements)} |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
