"""How many faults the tests catch: python tests/mutants.py [MODULE …] [--each N] [--seed S].

For each module it puts one fault at a time into a copy of the package, runs the tests of that
module, and counts the mutants that make a test fail (killed) and those that none notices
(survived), whose diffs it prints. The same seed gives the same mutants. A survivor is a missing
test, or a fault that changes nothing a user could see.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from mutations import Mutant, chosen

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "gameproof"
TESTS = ROOT / "tests"

# The tests of each module, the quickest first. Modules are found wherever they lie in the package,
# tests wherever they lie under tests/; a pattern may name more than one file.
TESTS_OF = {
    "sets": ("minmax/test_sets.py", "test_projections.py", "test_own_parts.py"),
    "schedules": ("minmax/test_bad_input.py", "minmax/test_trajectory.py", "test_methods.py"),
    "averages": ("minmax/test_solve.py", "minmax/test_convergence.py", "minmax/test_run.py"),
    "state": (
        "test_state_files.py",
        "test_state_identity.py",
        "test_private.py",
        "test_convergence.py",
        "test_resume.py",
        "test_feasible.py",
        "test_own_methods.py",
    ),
    "budgets": (
        "strategic/test_budgets.py",
        "strategic/test_population.py",
        "strategic/test_saddle_points_with_budgets.py",
    ),
    "worst_case": ("test_worst_case.py", "test_worst_case_distribution.py"),
    "table_budgets": (
        "estimators/test_table_budgets.py",
        "estimators/test_bad_budgets.py",
        "estimators/test_budgets.py",
    ),
    "column_plan": ("test_column_plan.py", "cli/test_bad_tables.py", "cli/test_audit_foreign.py"),
    "gaming_rows": ("auditing/test_audit.py", "auditing/test_prepared_audit.py"),
}
PYTEST = ("pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider")


class Outcome(NamedTuple):
    """What the tests said about the mutants of one module."""

    module: str
    killed: int
    survivors: list[Mutant]
    seconds: float


class Copy:
    """A copy of the package, and the tests run on it."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "src" / PACKAGE.name
        # Compiled kernels come along. Bytecode does not: Python knows it again by the second of
        # the last change, and two mutants may follow within one.
        shutil.copytree(PACKAGE, self.package, ignore=shutil.ignore_patterns("*.pyc"))
        self.environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(self.package.parent), str(TESTS)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "hypothesis"),
        }

    def passes(self, tests: Sequence[Path], timeout: float | None = None) -> tuple[bool, str]:
        """Whether the tests pass in time, and what they printed."""
        command = [sys.executable, "-m", *PYTEST, *map(str, tests)]
        with subprocess.Popen(
            command,
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                printed, _ = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return False, "out of time"
        return process.returncode == 0, printed

    def judge(self, module: str, each: int, seed: int) -> Outcome:
        """The mutants of a module, one after the other."""
        path, tests = _module(module), _tests(module)
        source, place = path.read_bytes(), self.package / path.relative_to(PACKAGE)
        self.passes(tests)  # compiles what has to be compiled
        start = perf_counter()
        sound, printed = self.passes(tests)
        seconds = perf_counter() - start
        if not sound:
            sys.exit(f"the tests of {module} fail without a mutant:\n{printed}")
        sample, survivors = chosen(source, each, seed), []
        for number, mutant in enumerate(sample, start=1):
            place.write_bytes(mutant.applied(source))
            survived, _ = self.passes(tests, 20 + 3 * seconds)
            word = "survived" if survived else "killed"
            print(f"{module} {number}/{len(sample)}: {mutant.kind} {word}", file=sys.stderr)
            if survived:
                survivors.append(mutant)
        place.write_bytes(source)
        killed = len(sample) - len(survivors)
        return Outcome(module, killed, survivors, perf_counter() - start)


def _module(name: str) -> Path:
    found = list(PACKAGE.rglob(f"{name}.py"))
    if len(found) != 1:
        sys.exit(
            f"{len(found)} modules are named {name}; correct TESTS_OF in {Path(__file__).name}"
        )
    return found[0]


def _tests(module: str) -> list[Path]:
    found = {pattern: sorted(TESTS.rglob(pattern)) for pattern in TESTS_OF[module]}
    for pattern in (pattern for pattern, files in found.items() if not files):
        print(f"no tests match {pattern}, which TESTS_OF gives to {module}", file=sys.stderr)
    tests = [path for files in found.values() for path in files]
    if not tests:
        sys.exit(f"{module} has no tests; correct TESTS_OF in {Path(__file__).name}")
    return tests


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the faults that the tests catch.")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=", ".join(TESTS_OF))
    parser.add_argument("--each", type=int, default=10, help="mutants of each module (10)")
    parser.add_argument("--seed", type=int, default=0, help="which mutants are drawn (0)")
    options = parser.parse_args()
    if unknown := set(options.modules) - set(TESTS_OF):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(TESTS_OF)}")
    with TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        modules = options.modules or list(TESTS_OF)
        outcomes = [copy.judge(module, options.each, options.seed) for module in modules]
    for outcome in outcomes:
        path = _module(outcome.module)
        for mutant in outcome.survivors:
            print(mutant.diff(path.read_bytes(), path.relative_to(ROOT).as_posix()))
    row = "{:<16}{:>9}{:>9}{:>10}{:>9}".format
    print(row("module", "mutants", "killed", "survived", "seconds"))
    for module, killed, survivors, seconds in outcomes:
        n = len(survivors)
        print(row(module, killed + n, killed, n, round(seconds)))
    killed, survived = sum(o.killed for o in outcomes), sum(len(o.survivors) for o in outcomes)
    seconds = sum(o.seconds for o in outcomes)
    print(row("all", killed + survived, killed, survived, round(seconds)))


if __name__ == "__main__":
    main()
