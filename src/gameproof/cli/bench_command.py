"""``gameproof bench``: how fast, and with how few queries, measured here and now.

The programs are those of the folder ``benchmarks`` of the source, which an installed package
carries along. Each runs in a process of its own, prints its tables and keeps them, with machine
and versions, in a file.
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
from gameproof.cli.options import Help, one_of
from gameproof.cli.outputs import make_sure_of_folder

PROGRAMS = {
    "steps": "the time of a step: against C, against NumPy, as n and d grow",
    "reference": "certified saddle points: Newton's method against a conic solver",
    "command": "the command itself: its help, and a large table from file to model",
    "variance": "the variance of the estimates",
    "queries": "queries to a certified gap: hand-tuned methods against Solver.auto",
    "varied": "Solver.auto on thirty varied problems, and on people who break the model",
    "against_dro": "saddle points against the package dro, which has to be installed",
}
# The others take long, and the last asks for a package with a large framework behind it.
DEFAULT = ("steps", "reference", "command", "variance")


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``bench``."""
    listed = "\n".join(f"  {name:12s} {about}" for name, about in PROGRAMS.items())
    parser = words.add_parser(
        "bench",
        parents=[shared],
        help="measure time and queries on this machine, as ratios",
        description="Measures, prints tables and keeps them with machine and versions. Contenders "
        "take turns within one run, so that their ratios mean something on a busy machine too.",
        epilog=f"benchmarks:\n{listed}\n\nexample: gameproof bench steps --quick",
        formatter_class=Help,
    )
    parser.add_argument(
        "names",
        nargs="*",
        type=one_of("benchmark", PROGRAMS),
        metavar="NAME",
        help=f"some of them; by default {', '.join(DEFAULT)}",
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer rounds")
    parser.add_argument(
        "--out", type=Path, default=Path("out/bench"), metavar="DIR", help="where to (%(default)s)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> None:
    """Runs the programs one after the other, and with --json shows what they kept."""
    make_sure_of_folder(options.out)
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
                f"the benchmark {name} ended with exit code {done.returncode}; what went before it "
                f"is kept in {options.out}"
            )
        if console.as_json:
            records[name] = json.loads((options.out / f"{name}.json").read_text())
    if console.as_json:
        console.show("", records)


def programs() -> Path:
    """The folder of the programs: beside the rooms where the package is installed, beside the
    source where it is a clone."""
    package = Path(__file__).parents[1]
    for folder in (package / "benchmarks", package.parents[1] / "benchmarks"):
        if (folder / "harness.py").is_file():
            return folder
    raise FileNotFoundError(
        "the benchmarks are not here: they come with the source and with a built package"
    )
