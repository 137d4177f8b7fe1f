"""How long a live study takes to ask, to store an answer and to open, next to optuna.

The study has 10,000 people and 100,000 answers, or a tenth of both with --quick. optuna asks and
tells trials with as many parameters as a person has features, on the same databases and in the same
run; its study is new, and it samples at random. PostgreSQL is started from Debian's package, in a
clone of the source only; rows say what is missing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from harness import Table, interleaved, median, save, spread
from processors import processor_seconds

import gameproof as gp
from gameproof.core.exact_bits import exact_bytes
from gameproof.live import schema
from gameproof.live.facts import Status, digest
from gameproof.live.study import Study
from gameproof.live.study_state import StudyState

PEOPLE, ANSWERS, FEATURES, ROUNDS, CLIENTS = 10_000, 100_000, 10, 40, 8
BATCH = 100
CONTEXT = multiprocessing.get_context("spawn")


def main() -> None:
    """Measures, prints the tables and keeps them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of people and answers")
    parts = 10 if parser.parse_args().quick else 1
    people, answers = PEOPLE // parts, ANSWERS // parts
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        tables = [
            one_process(Path(folder), people, answers),
            opening(Path(folder), people, answers),
        ]
        server = stack.enter_context(postgresql())
        tables += many_processes(Path(folder), server, people)
    save("live", tables)


# --- one process


def one_process(folder: Path, people: int, answers: int) -> Table:
    """Medians of single calls on SQLite."""
    path = str(folder / "study.db")
    n_answers = fill(path, people, answers, "ogda-rr")
    table = Table(
        f"Milliseconds of a call on SQLite, {people:,} people and {n_answers:,} answers; "
        f"median of {ROUNDS} rounds",
        ("call", "milliseconds", "spread"),
    )
    with gp.live.open(path) as study:
        study.recommend()
        questions = iter(study.ask(ROUNDS + 2, "benchmark"))
        calls = {
            "ask": lambda: study.ask(1, "benchmark"),
            "tell": lambda: answer(study, next(questions)),
        }
        trial = optuna_calls(f"sqlite:///{folder}/optuna.db")
        times = interleaved({name: timed(call) for name, call in (calls | trial).items()}, ROUNDS)
    for name, found in times.items():
        table.row(name, 1e3 * median(found), spread(found))
    if not trial:
        table.row("optuna is not installed: pip install optuna", None, "")
    return table


def opening(folder: Path, people: int, answers: int) -> Table:
    """How long it takes until a study that was opened can ask, and knows its state."""
    table = Table(
        "Milliseconds to open a study on SQLite; median of 3, processor time in brackets",
        ("method", "answers", "and ask", "and know its state", "without a checkpoint"),
    )
    for method in ("ogda-rr", "auto"):
        path = str(folder / f"{method}.db")
        told = fill(path, people, answers, method)
        steps = (lambda study: study.ask(1, "benchmark"), state_of, replayed_state_of)
        table.row(method, told, *(opened(path, step) for step in steps))
    return table


def state_of(study: Study) -> None:
    """Runs the method up to the present state of the study."""
    StudyState(study.ledger, study.id, study.specification).outcome()


def replayed_state_of(study: Study) -> None:
    """The same from all answers."""
    study.ledger.checkpoint = lambda _: None  # type: ignore[method-assign]
    state_of(study)


def opened(path: str, step: Callable[[Study], object]) -> str:
    """Opens a study and does something with it."""
    seconds, processor = [], []
    for _ in range(3):
        clock, own = time.perf_counter(), time.process_time()
        with gp.live.open(path) as study:
            step(study)
        seconds.append(time.perf_counter() - clock)
        processor.append(time.process_time() - own)
    return f"{1e3 * median(seconds):,.0f} ({1e3 * median(processor):,.0f})"


def fill(path: str, people: int, answers: int, method: str) -> int:
    """Creates a study and answers it, in bulk: tell() would sync every answer to disk."""
    settings: dict[str, Any] = {"method": method, "batch": BATCH, "seed": 0}
    if method == "auto":
        settings["max_answers"] = answers
    with gp.live.create(path, problem(people), **settings) as study:
        told = 0
        while told < answers:
            deployment = study.deployment
            if deployment is None:
                break
            rows = [
                stored(study, question.id, question.agent, deployment.theta)
                for question in study.ledger.questions(study.id, deployment.number)
            ]
            with study.ledger.engine.begin() as connection:
                connection.execute(schema.answer.insert(), rows)
            told += len(rows)
            study.advance()
            if deployment.number % 100 == 0:
                print(f"filling: {told:,} answers …", file=sys.stderr, flush=True)
    return told


def stored(study: Study, question: int, agent: int, theta: Any) -> dict[str, Any]:
    """The row of an answer."""
    body = exact_bytes(study.problem.population.X[agent] + moves(agent, theta))
    return {
        "study_id": study.id,
        "question_id": question,
        "key": f"filled {question}",
        "body": body,
        "body_hash": digest(body),
        "status": Status.COUNTED.value,
        "told": time.time(),
    }


def moves(agent: int, theta: Any) -> Any:
    """A third of the people move on other features, so that no model fits and "auto" continues."""
    first = [float(k < FEATURES // 2) for k in range(FEATURES)]
    return 0.3 * theta * ([3 - 3 * k for k in first] if agent % 3 == 0 else first)


def problem(people: int) -> gp.StrategicProblem:
    """People who are asked about a model."""
    X, y = gp.synthetic_people(n=people, d=FEATURES, seed=0)
    return gp.StrategicProblem(gp.Population(X, y), radius=0.05, label_cost=0.5)


def answer(study: Any, question: Any) -> None:
    """Tells an answer with a key of its own."""
    told = study.problem.population.X[question.agent] + 0.1 * question.theta
    study.tell(question.id, told, key=f"benchmark {question.id}")


def timed(call: Callable[[], object]) -> Callable[[], float]:
    """The seconds of a call."""

    def seconds() -> float:
        began = time.perf_counter()
        call()
        return time.perf_counter() - began

    return seconds


def optuna_calls(url: str) -> dict[str, Callable[[], object]]:
    """Ask and tell of a new study of optuna; nothing if it is not installed."""
    study = optuna_study(url)
    if study is None:
        return {}
    pending: list[Any] = []

    def ask() -> None:
        trial = study.ask()
        for k in range(FEATURES):
            trial.suggest_float(f"x{k}", -1.0, 1.0)
        pending.append(trial)

    return {"optuna ask": ask, "optuna tell": lambda: study.tell(pending.pop(), 0.5)}


def optuna_study(url: str) -> Any:
    """A study of optuna; None if it is not installed."""
    try:
        import optuna
    except ImportError:
        return None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    sampler = optuna.samplers.RandomSampler(seed=0)
    return optuna.create_study(storage=url, sampler=sampler, study_name="b", load_if_exists=True)


# --- many processes


def many_processes(folder: Path, server: Any, people: int) -> list[Table]:
    """Answers per second that eight processes store at once."""
    table = Table(
        f"Answers stored per second by {CLIENTS} processes at once",
        ("store", "answers", "per second"),
    )

    def add(name: str, tells: int, seconds: float, _: float) -> None:
        table.row(name, tells, round(tells / seconds))

    costs = Table("Processor milliseconds per answer over HTTP", ("part", "milliseconds"))

    add("SQLite", *crowd(told_to_store, begun(str(folder / "crowd.db"), people)))
    if server is None:
        table.row("PostgreSQL is not available: apt-get install postgresql", None, None)
        return [table]
    add("PostgreSQL", *crowd(told_to_store, begun(server.new_database(), people)))
    where = begun(server.new_database(), people)
    with serving(where) as (url, service):
        parts = {"service": service, "PostgreSQL": server.pid}
        before = {name: processor_seconds(pid) for name, pid in parts.items()}
        told, seconds, clients = crowd(told_over_http, where, url)
        add("PostgreSQL over HTTP", told, seconds, clients)
        costs.row("eight clients", 1e3 * clients / told)
        for name, pid in parts.items():
            costs.row(name, 1e3 * (processor_seconds(pid) - before[name]) / told)
    if optuna_study("sqlite://") is not None:
        url = server.new_database().replace("postgresql:", "postgresql+psycopg:")
        optuna_study(url)
        add("optuna, PostgreSQL", *crowd(told_to_optuna, url))
    return [table, costs]


def begun(where: str, people: int) -> str:
    """A study whose first deployment asks everybody who can be asked."""
    gp.live.create(where, problem(people), method="ogda-rr", batch=people, seed=0).close()
    return where


def crowd(teller: Callable[..., Any], *where: str) -> tuple[int, float, float]:
    """The answers that all tellers stored together, the seconds, and the processor seconds."""
    ready, done = CONTEXT.Barrier(CLIENTS + 1), CONTEXT.Queue()
    processes = [
        CONTEXT.Process(target=teller, args=(*where, k, ready, done)) for k in range(CLIENTS)
    ]
    for process in processes:
        process.start()
    ready.wait()
    began = time.perf_counter()
    found = [done.get() for _ in processes]
    seconds = time.perf_counter() - began
    for process in processes:
        process.join()
    return sum(tells for tells, _ in found), seconds, sum(own for _, own in found)


def told_to_store(where: str, number: int, ready: Any, done: Any) -> None:
    """Tells a share of the questions, directly."""
    with gp.live.open(where) as study:
        done.put(tell_share(study, study.tell, number, ready))


def told_over_http(where: str, url: str, number: int, ready: Any, done: Any) -> None:
    """Tells a share of the questions to a service."""
    with gp.live.open(where) as study, gp.live.connect(url) as remote:
        done.put(tell_share(study, remote.tell, number, ready))


def tell_share(
    study: Study, tell: Callable[..., Any], number: int, ready: Any
) -> tuple[int, float]:
    """Tells every eighth question. Returns how many, and the processor seconds."""
    questions = study.ledger.questions(study.id, 0)[number::CLIENTS]
    X = study.problem.population.X
    ready.wait()
    began = time.process_time()
    for question in questions:
        tell(question.id, X[question.agent], key=f"benchmark {question.id}")
    return len(questions), time.process_time() - began


def told_to_optuna(url: str, number: int, ready: Any, done: Any) -> None:
    """Tells trials without parameters, which is the least that optuna can store."""
    study = optuna_study(url)
    trials = [study.ask() for _ in range(50)]
    ready.wait()
    for trial in trials:
        study.tell(trial, 0.5)
    done.put((len(trials), 0.0))


@contextmanager
def serving(where: str) -> Iterator[tuple[str, int]]:
    """The address and the number of a service in a process of its own."""
    import json
    import subprocess

    command = [sys.executable, "-m", "gameproof", "live", "serve", where, "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        text = ""
        while not text.rstrip().endswith("}"):
            text += process.stdout.readline()
        yield json.loads(text)["url"], process.pid
    finally:
        process.terminate()
        process.wait()


@contextmanager
def postgresql() -> Iterator[Any]:
    """A server of PostgreSQL; None where there is none."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    try:
        from postgres_server import PROGRAMS, running_server
    except ImportError:
        PROGRAMS = []
    if not PROGRAMS:
        yield None
        return
    with running_server() as server:
        yield server


if __name__ == "__main__":
    main()
