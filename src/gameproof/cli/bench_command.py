"""``gameproof bench``: speed and query efficiency, measured on this machine.

The programs are in the folder ``benchmarks`` of the source, which an installed package contains
too. Each runs in its own process, prints its tables and stores them in a file, with the machine and
the versions.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.options import add_command, one_of
from gameproof.cli.outputs import add_folder, require_writable_folder

PROGRAMS = {
    "steps": "time per step: against C, against NumPy, as n and d grow",
    "reference": "certified saddle points: Newton's method against a conic solver",
    "command": "the command: its help, and a large table from file to model",
    "variance": "the variance of the gradient estimates",
    "queries": "queries to a certified gap: hand-tuned methods against Solver.auto",
    "varied": "Solver.auto on thirty varied problems",
    "people": "Solver.auto on people who break its model",
    "scale": "tables in Parquet files and on Dask, against memory and scikit-learn",
    "live": "live studies: ask, tell and open, next to optuna",
    "against_dro": "saddle points against the package dro, which must be installed",
}
# The others take long, and against_dro needs a package that brings a large framework.
DEFAULT = ("steps", "reference", "command", "variance")


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``bench``."""
    about = "\n".join(f"  {name:12s} {text}" for name, text in PROGRAMS.items())
    parser = add_command(
        commands,
        shared,
        "bench",
        run,
        summary="measure speed and queries on this machine, as ratios",
        description="Runs benchmarks, prints their tables and stores them with the machine and the "
        "versions. Contenders alternate within one run, so ratios are meaningful on a busy machine "
        "too.",
        examples=f"benchmarks:\n{about}\n\nexample: gameproof bench steps --quick",
    )
    parser.add_argument(
        "names",
        nargs="*",
        type=one_of("benchmark", PROGRAMS),
        metavar="NAME",
        help=f"the benchmarks to run; by default {', '.join(DEFAULT)}",
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds")
    add_folder(parser, "out/bench", "the output folder")


def run(options: argparse.Namespace, console: Console) -> None:
    """Runs the programs one after the other; with --json, prints what they stored."""
    require_writable_folder(options.out)
    folder, records = programs(), {}
    environment = os.environ | {"GAMEPROOF_BENCH": str(options.out)}
    for name in options.names or DEFAULT:
        console.say(f"{name}: {PROGRAMS[name]} …")
        done = subprocess.run(
            [sys.executable, folder / f"{name}.py", *(["--quick"] if options.quick else [])],
            env=environment,
            stdout=subprocess.DEVNULL if console.as_json else None,
            stderr=subprocess.DEVNULL if console.quiet else None,
            check=False,
        )
        if done.returncode:
            raise ChildProcessError(
                f"the benchmark {name} failed with exit code {done.returncode}; the results of "
                f"earlier benchmarks are in {options.out}"
            )
        if console.as_json:
            records[name] = json.loads((options.out / f"{name}.json").read_text())
    if console.as_json:
        console.show("", records)


def programs() -> Path:
    """The folder of the programs: inside an installed package, or beside the source of a clone."""
    package = Path(__file__).parents[1]
    for folder in (package / "benchmarks", package.parents[1] / "benchmarks"):
        if (folder / "harness.py").is_file():
            return folder
    raise FileNotFoundError(
        "the benchmarks are missing; they come with the source and with a built package"
    )
