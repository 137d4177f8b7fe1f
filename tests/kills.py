"""Kills programs that ask people, starts them again, and checks that no answer was lost.

    python tests/kills.py [--kill 200] [--terminate 50] [--interrupt 50] [--seed 0]

Every program has a journal. The people keep a list of every question that they were asked. After
each kill the questions in the list must be the answers in the journal, and at most the one question
that was being asked. When a program ends at last, its result must be the same to the bit as that of
a program that was never killed. Prints the table of docs/reliability.md.
"""

import argparse
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

import gameproof as gp

X, Y = gp.synthetic_people(n=60, d=4, seed=1)
PAUSE = 0.002  # seconds that people think about a question
LONG_PAUSE = 0.05  # for programs that ask few questions, or kills would rarely hit one
ESTIMATES = {
    "OnePoint": gp.OnePoint(),
    "OnePoint, baseline": gp.OnePoint(baseline=True),
    "TwoPoint": gp.TwoPoint(),
    "TwoPoint, symmetric": gp.TwoPoint(symmetric=True),
    "Residual": gp.Residual(),
    "Gaussian": gp.Gaussian(),
    "Coordinates": gp.Coordinates(),
    "Directions": gp.Directions(),
    "Envelope": gp.Envelope(),
}
KINDS = {"kill": "SIGKILL", "terminate": "SIGTERM", "interrupt": "Ctrl-C twice"}
FINISHED, STOPPED = 0, 3


class People:
    """Noisy people who write down every question before they answer."""

    def __init__(self, folder: Path, pause: float = PAUSE) -> None:
        self._list, self._pause = folder / "asked", pause

    def __call__(self, theta: Any, agents: Any) -> Any:
        with open(self._list, "a") as file:
            file.write(f"{theta.astype('<f8').tobytes().hex()} {','.join(map(str, agents))}\n")
        time.sleep(self._pause)
        noise = [
            np.random.default_rng([crc32(theta.tobytes()), int(agent)]).standard_normal(4)
            for agent in agents
        ]
        return X[agents] + 0.1 * theta + 0.05 * np.array(noise)


def problem(folder: Path, pause: float = PAUSE) -> gp.StrategicProblem:
    """A problem with a journal and a budget that is never reached."""
    box = gp.BlackBox(People(folder, pause))
    people = gp.Population(X, Y, box, budget=5000, journal=folder / "answers.db")
    return gp.StrategicProblem(people, radius=0.1, label_cost=0.5)


def solved(gradient: gp.Gradient, batch: int, checkpoint: bool, folder: Path) -> Any:
    solver = gp.ogda_rr(gradient=gradient, step=gp.Power(0.02, 0.5), radius=0.5, batch=batch)
    options: dict[str, Any] = {"seed": 0}
    path = folder / "run.state"
    if checkpoint and path.exists():
        options = {"resume": path}
    if checkpoint:
        options["checkpoint"] = path
    epochs = 12 if batch == 50 else 1
    result = gp.solve(problem(folder), solver, epochs=epochs, **options)
    if result.reason == "interrupted":
        return None
    return np.concatenate([result.x, result.y, result.last_x, [result.n_queries]])


def auto(folder: Path) -> Any:
    task = problem(folder, LONG_PAUSE)
    solver = gp.Solver.auto(task, seed=0, queries=60)
    result = gp.solve(task, solver, queries=60, seed=0)
    return None if result.reason == "interrupted" else np.concatenate([result.x, result.y])


def learned(folder: Path) -> Any:
    found = gp.learn_response(problem(folder, LONG_PAUSE).population, seed=0)
    return np.array([found.power, found.degree, *found.intervals["power"]])


def risks(folder: Path) -> Any:
    task, rng = problem(folder), np.random.default_rng(0)
    thetas = rng.standard_normal((30, 4))
    found = [gp.estimate_risk(task, theta, queries=5, seed=0) for theta in thetas]
    return np.array([[risk.value, risk.low, risk.high] for risk in found])


def classifier(folder: Path) -> Any:
    model = gp.RobustStrategicClassifier(
        radius=0.1,
        response=gp.BlackBox(People(folder)),
        solver=gp.ogda_rr(gradient=gp.TwoPoint(), step=0.02, radius=0.5),
        epochs=1,
        standardise=False,  # the journal has the theta of the fit, people write down their own
        random_state=0,
        journal=folder / "answers.db",
    ).fit(X, Y)
    return np.concatenate([model.coef_[0], model.intercept_])


def programs() -> dict[str, list[Callable[[Path], Any]]]:
    """The rows of the table, and the programs of each."""
    found: dict[str, list[Callable[[Path], Any]]] = {
        f"solve, {name}": [
            partial(solved, gradient, batch, checkpoint)
            for batch in (1, 4, 50)
            for checkpoint in (False, True)
        ]
        for name, gradient in ESTIMATES.items()
    }
    return found | {
        "Solver.auto and solve": [auto],
        "learn_response": [learned],
        "estimate_risk": [risks],
        "query-only classifier": [classifier],
    }


def child(program: Callable[[Path], Any], folder: Path) -> int:
    """Runs a program in a forked process, which has compiled everything already."""
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        result = program(folder)
        code = STOPPED
        if result is not None:
            np.save(folder / "result.npy", result)
            code = FINISHED
    except KeyboardInterrupt:
        code = STOPPED
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def asked(folder: Path) -> list[Counter[tuple[str, int]]]:
    """The questions in people's list: theta and agents."""
    with suppress(FileNotFoundError):
        lines = [line.split() for line in (folder / "asked").read_text().splitlines()]
        return [Counter((theta, int(k)) for k in agents.split(",")) for theta, agents in lines]
    return []


def stored(folder: Path) -> Counter[tuple[str, int]]:
    """The questions whose answers are in the journal."""
    if not (folder / "answers.db").exists():
        return Counter()
    with closing(sqlite3.connect(folder / "answers.db")) as connection:
        if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return Counter()
        rows = connection.execute(
            "SELECT theta, person FROM answer JOIN question ON question.id = question "
            "JOIN deployment ON deployment.id = deployment WHERE status = 'counted'"
        ).fetchall()
    return Counter((theta.hex(), person) for theta, person in rows)


@dataclass
class Count:
    """One cell of the table."""

    kills: int = 0
    repeated: int = 0  # questions that were being asked when the program was killed


class Trial:
    """One program, killed until it ends."""

    def __init__(self, program: Callable[[Path], Any], reference: Any, folder: Path) -> None:
        self._program, self._reference, self._folder = program, reference, folder
        self._lost: Counter[tuple[str, int]] = Counter()

    def strike(self, kind: str, after: float, count: Count) -> bool:
        """Starts the program and stops it after a while; whether it ended first."""
        process = child(self._program, self._folder)
        time.sleep(after)
        if kind == "interrupt":
            os.kill(process, signal.SIGINT)
            time.sleep(PAUSE * (after * 1000 % 1))
        number = {"kill": signal.SIGKILL, "terminate": signal.SIGTERM}.get(kind, signal.SIGINT)
        os.kill(process, number)
        _, status = os.waitpid(process, 0)
        finished = os.WIFEXITED(status) and os.WEXITSTATUS(status) == FINISHED
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) in (FINISHED, STOPPED), "the program failed"
        if not finished:
            count.kills += 1
        self._check(count)
        return finished

    def end(self) -> None:
        """Lets the program end, and compares its result with the uninterrupted one."""
        _, status = os.waitpid(child(self._program, self._folder), 0)
        assert os.waitstatus_to_exitcode(status) == FINISHED
        self.compare()

    def compare(self) -> None:
        self._check(Count(), nothing_lost=True)
        result = np.load(self._folder / "result.npy")
        assert result.tobytes() == self._reference.tobytes(), "the result differs"
        left = {path.name for path in self._folder.iterdir() if path.name.startswith(".gameproof")}
        assert not left, f"files are left: {left}"

    def _check(self, count: Count, nothing_lost: bool = False) -> None:
        """Every question was answered and stored, or was being asked at a kill."""
        questions, answers = asked(self._folder), stored(self._folder)
        every = sum(questions, Counter[tuple[str, int]]())
        missing = every - answers - self._lost
        assert not answers - every, "the journal has answers that nobody gave"
        if missing:
            assert not nothing_lost, "an answer was lost without a kill"
            assert missing == questions[-1], "more than the question in flight was lost"
            self._lost += missing
            count.repeated += 1


def uninterrupted(program: Callable[[Path], Any], folder: Path) -> tuple[Any, float]:
    """The result of a program, and its length in a process that has compiled everything."""
    results = []
    for name in ("warm", "timed"):
        (folder / name).mkdir(parents=True)
        began = time.monotonic()
        results.append(program(folder / name))
    assert results[0].tobytes() == results[1].tobytes()
    return results[0], time.monotonic() - began


def run(strikes: dict[str, int], seed: int, folder: Path) -> dict[str, dict[str, Count]]:
    """Strikes until enough programs were stopped, up to three times per trial.

    The next trial belongs to the row that was stopped least so far: short programs often end before
    they are stopped, and would have few stops if all programs ran equally often. The kind of a
    strike is the one that the row lacks most.
    """
    rng, rows = random.Random(seed), programs()
    table = {row: {kind: Count() for kind in strikes} for row in rows}
    trials = Counter[str]()
    left = dict(strikes)
    references: dict[tuple[str, int], tuple[Any, float]] = {}
    while any(left.values()):
        row = min(rows, key=lambda name: (sum(c.kills for c in table[name].values()), rng.random()))
        place = (row, trials[row] % len(rows[row]))
        program = rows[row][place[1]]
        trials[row] += 1
        if place not in references:
            references[place] = uninterrupted(program, folder / f"reference {row} {place[1]}")
        reference, length = references[place]
        own = folder / f"trial {row} {trials[row]}"
        own.mkdir()
        attempt, finished = Trial(program, reference, own), False
        for _ in range(3):
            cells = {kind: cell for kind, cell in table[row].items() if left[kind]}
            if finished or not cells:
                break
            kind = min(cells, key=lambda kind: (cells[kind].kills / strikes[kind], rng.random()))
            before = cells[kind].kills
            finished = attempt.strike(kind, rng.uniform(0.0, 0.7 * length), cells[kind])
            left[kind] -= cells[kind].kills - before
        attempt.compare() if finished else attempt.end()
    return table


def show(table: dict[str, dict[str, Count]]) -> str:
    """The table in Markdown."""
    kinds = list(next(iter(table.values())))
    lines = [
        "| program | " + " | ".join(KINDS[kind] for kind in kinds) + " | questions in flight |"
    ]
    lines.append("|---|" + "---|" * (len(kinds) + 1))
    for row, cells in table.items():
        numbers = [str(cells[kind].kills) for kind in kinds]
        lines.append(
            f"| {row} | {' | '.join(numbers)} | {sum(c.repeated for c in cells.values())} |"
        )
    totals = [sum(cells[kind].kills for cells in table.values()) for kind in kinds]
    repeated = sum(c.repeated for cells in table.values() for c in cells.values())
    lines.append(f"| all | {' | '.join(map(str, totals))} | {repeated} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    for kind, number in (("kill", 200), ("terminate", 50), ("interrupt", 50)):
        parser.add_argument(f"--{kind}", type=int, default=number, help=f"number of {KINDS[kind]}s")
    parser.add_argument("--seed", type=int, default=0)
    given = vars(parser.parse_args(arguments))
    seed = given.pop("seed")
    with tempfile.TemporaryDirectory() as folder:
        print(show(run(given, seed, Path(folder))))
    print("No stored answer was asked for again, and every result is the same to the bit.")


if __name__ == "__main__":
    main(sys.argv[1:])
