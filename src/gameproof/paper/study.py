"""A study: the folder of one experiment, and the work that fills it.

The work is calls of plain functions with plain arguments. What a call returns is kept in a file of
its own as soon as it is there, under a name made of the function, its arguments and the source of
the package: an interrupted study goes on where it stopped, and nothing old is mistaken for new.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, final

from gameproof.auditing.figures import draw_files
from gameproof.auditing.page_model import Panels
from gameproof.core.atomic_files import write_whole
from gameproof.core.progress import Progress
from gameproof.paper.claims import Claim, Judged

Row = dict[str, Any]
FINDINGS = "findings.json"
# Findings in another format are those of another version: not finished, as far as this one goes.
FORMAT = 2
# Columns that depend on the clock: all others are the same for the same seeds.
CLOCKED = ("seconds", "when", "machine")


@final
@dataclass(eq=False)
class Study:
    """One experiment's folder; `seeds` runs of everything random, `jobs` processes."""

    name: str
    folder: Path
    seeds: int = 20
    quick: bool = False
    jobs: int = 1
    progress: bool | None = None
    say: Callable[[str], None] = lambda sentence: None
    claims: list[Claim] = field(default_factory=list)
    # The same claims, corrected for their number among all that are finished.
    judged: list[Judged] = field(default_factory=list)
    figures: list[tuple[str, Panels]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._parts.mkdir(parents=True, exist_ok=True)

    @property
    def _parts(self) -> Path:
        return self.folder / "parts"

    def map(self, function: Callable[..., Any], calls: Sequence[Mapping[str, Any]]) -> list[Any]:
        """What the function returns for each of the calls, in their order. Calls that were made
        before are not made again."""
        paths = [self._parts / f"{_key(function, call)}.json" for call in calls]
        todo = [(p, c) for p, c in zip(paths, calls, strict=True) if not p.exists()]
        title = f"{self.name}, {function.__name__.replace('_', ' ')}"
        with Progress(self.progress, len(calls), "parts", title) as bar:
            done = len(calls) - len(todo)
            bar.show(done)
            for path, part in _in_parallel(function, todo, self.jobs):
                write_whole(path, json.dumps(part).encode())
                done += 1
                bar.show(done)
        return [json.loads(path.read_bytes())["result"] for path in paths]

    def table(self, name: str, rows: Iterable[Row]) -> None:
        """Writes rows as CSV and Parquet, with where they come from in each."""
        import pandas as pd

        frame = pd.DataFrame(list(rows)).assign(experiment=self.name, **self._origin)
        write_whole(self.folder / f"{name}.csv", frame.to_csv(index=False).encode())
        write_whole(self.folder / f"{name}.parquet", frame.to_parquet(index=False))

    def draw(self, name: str, figure: Panels) -> None:
        """Writes a figure as SVG and PNG, and keeps it for a page."""
        for kind, content in draw_files(figure).items():
            write_whole(self.folder / f"{name}.{kind}", content)
        self.figures.append((name, figure))

    def note(self, sentence: str) -> None:
        """A sentence for the summary."""
        self.notes.append(sentence)

    def forget(self) -> None:
        """Removes what earlier runs found."""
        for path in self._parts.glob("*.json"):
            path.unlink()

    def finish(self) -> None:
        """Keeps what was found beside the tables, for summaries to come."""
        self.table("claims", [{**asdict(c), "verdict": c.verdict} for c in self.claims])
        figures = [(name, figure.caption) for name, figure in self.figures]
        parts = {
            "format": FORMAT,
            "seeds": self.seeds,
            "quick": self.quick,
            "figures": figures,
        }
        found = {**parts, "notes": self.notes, "claims": [asdict(claim) for claim in self.claims]}
        write_whole(self.folder / FINDINGS, json.dumps(found).encode())

    @classmethod
    def finished(cls, name: str, folder: Path) -> Study | None:
        """The study of this name as it was finished, or None; of its figures, the captions."""
        path = folder / FINDINGS
        if not path.exists():
            return None
        found = json.loads(path.read_bytes())
        if found.pop("format", None) != FORMAT:
            return None
        found["figures"] = [(name, Panels(caption)) for name, caption in found["figures"]]
        found["claims"] = [Claim(**claim) for claim in found["claims"]]
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
    """Of Python and of what the numbers depend on."""
    parts = [f"python {platform.python_version()}"]
    return ", ".join(parts + [f"{name} {version(name)}" for name in ("numpy", "scipy", "numba")])


def machine() -> str:
    """What the numbers were computed on."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def _key(function: Callable[..., Any], call: Mapping[str, Any]) -> str:
    what = [function.__module__, function.__qualname__, call, _source()]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:24]


@cache
def _source() -> str:
    """A digest of the package's source."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _part(function: Callable[..., Any], path: Path, call: Mapping[str, Any]) -> tuple[Path, Row]:
    began = time.perf_counter()
    result = function(**call)
    seconds = time.perf_counter() - began
    return path, {"call": dict(call), "result": result, "seconds": seconds}


def _in_parallel(
    function: Callable[..., Any], todo: Sequence[tuple[Path, Mapping[str, Any]]], jobs: int
) -> Iterable[tuple[Path, Row]]:
    """The parts as they are done. With one job, in this process."""
    if jobs == 1 or len(todo) < 2:
        return (_part(function, path, call) for path, call in todo)
    with _deaf_children():
        from joblib import Parallel, delayed

        parallel = Parallel(n_jobs=jobs, return_as="generator_unordered")
        parts: Iterable[tuple[Path, Row]] = parallel(
            delayed(_part)(function, path, call) for path, call in todo
        )
    return parts


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes started here do not hear Ctrl-C, which a terminal sends to all: theirs is to end
    when this one does, not to complain. They inherit the mask, and this process takes it off."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
