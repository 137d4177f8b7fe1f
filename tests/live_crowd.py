"""Many processes tell a study at once, while two processes try to advance it.

    python tests/live_crowd.py [--answers 15000] [--tellers 8]

Every teller tells its share of the answers in a random order, a tenth of them twice. The result
must be the same to the bit as that of one process that tells everything in order.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gameproof as gp
from postgres_server import PROGRAMS, running_server
from studies import complete, problem

CONTEXT = multiprocessing.get_context("fork")


def create(where: str, answers: int) -> None:
    task = problem(n=max(60, answers // 4))
    batch = task.population.n // 2
    gp.live.create(where, task, method="ogda-rr", batch=batch, seed=1, max_answers=answers).close()


def teller(where: str, number: int, tellers: int, told: Any) -> None:
    """Tells its share of every deployment, shuffled and with a tenth duplicated."""
    rng, count = np.random.default_rng(number), 0
    with gp.live.open(where) as study:
        while (deployment := study.deployment) is not None:
            questions = study.ledger.questions(study.id, deployment.number)
            mine = [q for q in questions if q.position % tellers == number]
            again = [q for q in mine if rng.random() < 0.1]
            for k in rng.permutation(len(mine) + len(again)):
                question = [*mine, *again][k]
                reply = study.problem.population.X[question.agent] + 0.1 * deployment.theta
                study.tell(question.id, reply, key=f"q{question.id}")
                count += 1
            while (now := study.deployment) is not None and now.number == deployment.number:
                time.sleep(0.01)
    told.put(count)


def advancer(where: str) -> None:
    with gp.live.open(where) as study:
        while study.deployment is not None:
            study.advance()
            time.sleep(0.002)


def run(new_database: Callable[[], str], answers: int, tellers: int) -> tuple[int, int, float]:
    """The answers that were told and that count, and the seconds."""
    alone, crowded = new_database(), new_database()
    for where in (alone, crowded):
        create(where, answers)
    with gp.live.open(alone) as study:
        complete(study)
        expected = study.recommend().theta
    told = CONTEXT.Queue()
    processes = [
        *(CONTEXT.Process(target=teller, args=(crowded, k, tellers, told)) for k in range(tellers)),
        *(CONTEXT.Process(target=advancer, args=(crowded,)) for _ in range(2)),
    ]
    began = time.monotonic()
    for process in processes:
        process.start()
    total = sum(told.get() for _ in range(tellers))
    for process in processes:
        process.join()
        assert process.exitcode == 0, "a process failed"
    seconds = time.monotonic() - began
    with gp.live.open(crowded) as study:
        assert study.recommend().theta.tobytes() == expected.tobytes(), "theta differs"
        assert study.verify() == []
        status = study.status()
    assert (status.n_conflicts, status.n_late) == (0, 0)
    assert status.n_answers <= answers
    return total, status.n_answers, seconds


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--answers", type=int, default=15000, help="the most; the last deployment is left out"
    )
    parser.add_argument("--tellers", type=int, default=8)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        files = iter(range(10))
        show("SQLite", *run(lambda: f"{name}/{next(files)}.db", given.answers, given.tellers))
        if PROGRAMS:
            with running_server() as server:
                show("PostgreSQL", *run(server.new_database, given.answers, given.tellers))


def show(database: str, told: int, counted: int, seconds: float) -> None:
    print(
        f"{database}: {told:,} tells, {counted:,} counted answers, theta the same to the bit; "
        f"{told / seconds:,.0f} tells per second",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
