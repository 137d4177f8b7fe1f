"""Damages files of every format that gameproof reads, and checks that no damage does harm.

    python tests/fuzz.py [NUMBER] [--formats state,journal] [--seed 0]

Each case damages a sound file: flipped, lost, repeated and exchanged bytes, swapped members, odd
numbers, other types and shapes, and forged values with a valid digest. Then it is read and used in
a worker process. A case fails if the process dies or hangs, if an exception is not one of
gameproof's own, or if the file is accepted with another content than the sound file. Values that
were forged together with their digest may be accepted: if they are in range, the file is a sound
file of another model, state or table. Prints the table of docs/reliability.md.
"""

import argparse
import multiprocessing
import multiprocessing.connection
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from fuzzing.file_format import Format
from fuzzing.models import Models, Skops
from fuzzing.run_files import Journals, States
from fuzzing.table_files import Npz, Parquet, Tables
from gameproof.core.errors import GameproofError

FORMATS: dict[str, type[Format]] = {
    "model": Models,
    "state": States,
    "journal": Journals,
    "table": Tables,
    "parquet": Parquet,
    "npz": Npz,
    "skops": Skops,
}
NUMBER = 2000  # cases per format
CPU, PATIENCE = 60, 900.0  # seconds per case: of the processor, and by the clock
LIMIT = "20MB"  # of what a file may unpack to
ROOM = 2**30  # bytes that a worker may use in addition to what it has at its start
WORKERS = 2
REFUSED, SAME, FORGED = "refused", "same content", "forged, in range"
ACCEPTED, FOREIGN = "damage accepted", "other exceptions"
CRASH, HANG = "crashes", "hangs"
COLUMNS = (REFUSED, SAME, FORGED, ACCEPTED, FOREIGN, CRASH, HANG)
FAILURES = COLUMNS[3:]


class Finding(NamedTuple):
    """What became of one case."""

    case: int
    verdict: str
    detail: str = ""


def judge(form: Format, seed: int, case: int, folder: Path) -> Finding:
    """Damages a file, reads it, and compares its content with that of the sound file."""
    rng = random.Random(f"{type(form).__name__} {seed} {case}")
    damaged = form.damaged(rng)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            content = form.content(damaged.data, damaged.original, folder)
    except GameproofError as error:
        return Finding(case, REFUSED, f"{type(error).__name__}: {error}")
    except BaseException:
        return Finding(case, FOREIGN, f"{damaged.how}\n{traceback.format_exc()}")
    if content == form.reference(damaged.original):
        return Finding(case, SAME, damaged.how)
    if damaged.forged:
        return Finding(case, FORGED, damaged.how)
    return Finding(case, ACCEPTED, damaged.how)


def work(form: Format, seed: int, cases: list[int], pipe: Connection) -> None:
    """Judges cases one by one, in a process of its own."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, resource.RLIM_INFINITY))
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            # A busy machine makes a case slow, and a hang is no matter of the clock.
            end = int(time.process_time()) + CPU
            resource.setrlimit(resource.RLIMIT_CPU, (end, resource.RLIM_INFINITY))
            pipe.send(judge(form, seed, case, Path(folder)))
    pipe.close()
    sys.stdout.flush()
    os._exit(0)


def findings(form: Format, seed: int, cases: list[int]) -> Iterator[Finding]:
    """The findings of these cases; a worker that dies or hangs is replaced."""
    context = multiprocessing.get_context("fork")
    left = [cases[k::WORKERS] for k in range(WORKERS)]
    active = {}
    while active or any(left):
        for share in left:
            if share and not any(own is share for own, _ in active.values()):
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=work, args=(form, seed, list(share), sender))
                process.start()
                sender.close()
                active[receiver] = (share, process)
        ready = multiprocessing.connection.wait(list(active), PATIENCE)
        for pipe in ready or list(active):
            share, process = active[pipe]
            try:
                if not ready:
                    process.kill()
                    yield Finding(share.pop(0), HANG)
                else:
                    finding = pipe.recv()
                    share.remove(finding.case)
                    yield finding
                    continue
            except EOFError:
                process.join()
                if share:
                    verdict = HANG if process.exitcode == -signal.SIGXCPU else CRASH
                    yield Finding(share.pop(0), verdict, f"exit code {process.exitcode}")
            process.join()
            del active[pipe]


def run(number: int, seed: int, names: list[str]) -> dict[str, list[Finding]]:
    """The findings for every format."""
    os.environ["GAMEPROOF_MAX_BYTES"] = LIMIT
    table = {}
    for name in names:
        form = FORMATS[name]()
        table[name] = sorted(findings(form, seed, list(range(number))))
    return table


def show(table: dict[str, list[Finding]]) -> str:
    """The table in Markdown."""
    lines = ["| file | cases | " + " | ".join(COLUMNS) + " |", "|---|---|" + "---|" * len(COLUMNS)]
    for name, found in table.items():
        counts = Counter(finding.verdict for finding in found)
        numbers = " | ".join(str(counts[column]) for column in COLUMNS)
        lines.append(f"| {name} | {len(found)} | {numbers} |")
    return "\n".join(lines)


def failures(table: dict[str, list[Finding]]) -> list[str]:
    """The cases that failed."""
    return [
        f"{name}, case {case}: {verdict}: {detail}"
        for name, found in table.items()
        for case, verdict, detail in found
        if verdict in FAILURES
    ]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("number", nargs="?", type=int, default=NUMBER)
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    table = run(given.number, given.seed, given.formats.split(","))
    print(show(table))
    wrong = failures(table)
    print("\n".join(wrong) or "No case failed.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
