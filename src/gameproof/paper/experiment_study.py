"""A study: the folder of one experiment, and the calls that fill it.

An experiment calls plain functions with plain arguments. Each result is written at once to a file
named by the function, its arguments and the source of the package. An interrupted study resumes
where it stopped, and results of another version are never reused.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

from gameproof.auditing.figures import draw_files
from gameproof.auditing.page_model import Panels
from gameproof.core.atomic_files import require_inside, write_rules, write_whole
from gameproof.core.progress import Progress
from gameproof.core.source_digest import source_digest
from gameproof.paper.paper_claims import JudgedClaim, PaperClaim
from gameproof.paper.sealed_files import sealed, unsealed
from gameproof.tables.parquet_files import parquet_bytes

Row = dict[str, Any]
Say = Callable[[str], None]
FINDINGS = "findings.json"
# Findings in another format were written by another version and are ignored.
FORMAT = 3
# Columns that depend on the clock. All others are reproducible.
CLOCKED = ("seconds", "when", "machine")


@final
@dataclass(eq=False)
class ExperimentStudy:
    """The folder of one experiment, which runs `seeds` seeds in `jobs` processes."""

    name: str
    folder: Path
    seeds: int = 20
    quick: bool = False
    jobs: int = 1
    progress: bool | None = None
    say: Say = lambda sentence: None
    claims: list[PaperClaim] = field(default_factory=list)
    # The claims, corrected for the number of claims of all finished experiments.
    judged: list[JudgedClaim] = field(default_factory=list)
    figures: list[tuple[str, Panels]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._parts.mkdir(parents=True, exist_ok=True)

    @property
    def _parts(self) -> Path:
        return self.folder / "parts"

    def map(self, function: Callable[..., Any], calls: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Returns the results of the calls, in order. Calls with a stored result are not made."""
        paths = [self._parts / f"{_key(function, call)}.json" for call in calls]
        todo = [(p, c) for p, c in zip(paths, calls, strict=True) if not self._is_done(p)]
        title = f"{self.name}, {function.__name__.replace('_', ' ')}"
        with Progress(self.progress, len(calls), "parts", title) as bar:
            done = len(calls) - len(todo)
            bar.show(done)
            for path, part in _in_parallel(function, todo, self.jobs):
                self._write(path, sealed(part, path.stem))
                done += 1
                bar.show(done)
        return [json.loads(path.read_bytes())["result"] for path in paths]

    def _write(self, path: Path, content: bytes) -> None:
        """Writes a file, unless a link leads it out of the folder of all studies."""
        with write_rules(folder=self.folder.parent):
            write_whole(path, content)

    def _is_done(self, path: Path) -> bool:
        """True if a part is stored and sound. A damaged part is named and computed again."""
        if not path.exists():
            return False
        if unsealed(path, path.stem) is None:
            self.say(f"{path} is damaged; this part is computed again")
            return False
        return True

    def table(self, name: str, rows: Iterable[Row]) -> None:
        """Writes rows, with their provenance, as CSV and Parquet."""
        import pandas as pd
        import pyarrow as pa

        frame = pd.DataFrame(list(rows)).assign(experiment=self.name, **self._origin)
        self._write(self.folder / f"{name}.csv", frame.to_csv(index=False).encode())
        table = pa.Table.from_pandas(frame, preserve_index=False)
        self._write(self.folder / f"{name}.parquet", parquet_bytes(table))

    def draw(self, name: str, figure: Panels) -> None:
        """Writes a figure as SVG and PNG, and keeps it for a page."""
        for kind, content in draw_files(figure).items():
            self._write(self.folder / f"{name}.{kind}", content)
        self.figures.append((name, figure))

    def note(self, sentence: str) -> None:
        """Adds a sentence to the summary."""
        self.notes.append(sentence)

    def forget(self) -> None:
        """Removes the results of earlier runs."""
        require_inside(self._parts, self.folder.parent)
        for path in self._parts.glob("*.json"):
            path.unlink()

    def finish(self) -> None:
        """Writes claims, notes and captions, from which summaries are made."""
        self.table("claims", [{**asdict(c), "verdict": c.verdict} for c in self.claims])
        figures = [(name, figure.caption) for name, figure in self.figures]
        parts = {
            "format": FORMAT,
            "seeds": self.seeds,
            "quick": self.quick,
            "figures": figures,
        }
        found = {**parts, "notes": self.notes, "claims": [asdict(claim) for claim in self.claims]}
        self._write(self.folder / FINDINGS, sealed(found, self.name))

    @classmethod
    def finished(
        cls, name: str, folder: Path, say: Say = lambda sentence: None
    ) -> ExperimentStudy | None:
        """Returns the finished study in this folder, or None. Its figures have captions only."""
        path = folder / FINDINGS
        if not path.exists():
            return None
        found = unsealed(path, name)
        if found is None:
            say(f"{path} is damaged or of another version; gameproof reproduce {name} restores it")
            return None
        if found.pop("format") != FORMAT:
            return None
        found["figures"] = [(name, Panels(caption)) for name, caption in found["figures"]]
        found["claims"] = [PaperClaim(**claim) for claim in found["claims"]]
        return cls(name, folder, **found)

    @cached_property
    def _origin(self) -> Row:
        return {
            "gameproof": version("gameproof"),
            "versions": versions(),
            "machine": machine(),
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
        }


def versions() -> str:
    """Returns the versions of Python and of the packages that the numbers depend on."""
    parts = [f"python {platform.python_version()}"]
    return ", ".join(parts + [f"{name} {version(name)}" for name in ("numpy", "scipy", "numba")])


def machine() -> str:
    """Returns a description of the machine."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def _key(function: Callable[..., Any], call: Mapping[str, Any]) -> str:
    what = [function.__module__, function.__qualname__, call, source_digest()]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:24]


def _part(function: Callable[..., Any], path: Path, call: Mapping[str, Any]) -> tuple[Path, Row]:
    began = time.perf_counter()
    result = function(**call)
    seconds = time.perf_counter() - began
    return path, {"call": dict(call), "result": result, "seconds": seconds}


def _exit_with(parent: int) -> None:
    """Ends this process when its parent ends: a process whose parent has ended gets another one."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _in_parallel(
    function: Callable[..., Any], todo: Sequence[tuple[Path, Mapping[str, Any]]], jobs: int
) -> Iterable[tuple[Path, Row]]:
    """Yields the parts as they finish. With one job, they run in this process.

    joblib may have been given the backend of a cluster, whose workers are left alone: they ignore
    the initializer."""
    if jobs == 1 or len(todo) < 2:
        return (_part(function, path, call) for path, call in todo)
    with _children_ignoring_interrupts():
        from joblib import Parallel, delayed

        parallel = Parallel(
            n_jobs=jobs,
            return_as="generator_unordered",
            initializer=_exit_with,
            initargs=(os.getpid(),),
        )
        parts: Iterable[tuple[Path, Row]] = parallel(
            delayed(_part)(function, path, call) for path, call in todo
        )
    return parts


@contextmanager
def _children_ignoring_interrupts() -> Iterator[None]:
    """Child processes started here ignore Ctrl-C, which a terminal sends to the whole group.

    They end when this process does, without a traceback of their own. They inherit the signal mask,
    which this process then restores.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
