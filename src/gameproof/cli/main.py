"""The command's frame: options that every word shares, errors in one line, exit codes.

0 is success, 1 a failure, 2 a command line that makes no sense, 130 Ctrl-C, 141 a reader who
left. A word is a module with `add_parser`, which names its options and sets ``run``, and
`run(options, console)`. Only `run` may load what takes time.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from gameproof.cli import (
    audit_command,
    bench_command,
    compare_command,
    completion_command,
    data_command,
    demo_command,
    fit_command,
    learn_command,
    predict_command,
    reproduce_command,
)
from gameproof.cli.console import Console, accept_any_letter, tell
from gameproof.cli.options import SenselessOptions

COMMANDS = (
    demo_command,
    fit_command,
    predict_command,
    audit_command,
    compare_command,
    learn_command,
    reproduce_command,
    data_command,
    bench_command,
    completion_command,
)


class Parser(argparse.ArgumentParser):
    """A parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"gameproof: {message}; see {self.prog} --help\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        try:
            tell("", end="")  # notices a reader who left here, where that is no failure
        except BrokenPipeError:
            raise
        except OSError as error:
            status, message = 1, f"gameproof: {_sentence(error)}\n"
        super().exit(status, message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    accept_any_letter()
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(_parser().parse_args(typed, argparse.Namespace(typed=typed)))
    except KeyboardInterrupt:
        print("gameproof: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return _unread()


def _run(options: argparse.Namespace) -> int:
    try:
        options.run(options, Console(options.json, options.quiet))
    except BrokenPipeError:
        raise
    except Exception as error:
        if options.debug:
            raise
        print(f"gameproof: {_sentence(error)}", file=sys.stderr)
        return 2 if isinstance(error, SenselessOptions) else 1
    return 0


def _unread() -> int:
    """Where whoever reads has enough: no failure, and nothing to say. What is still to be written
    goes nowhere, or Python would complain of it at its end; the code is that of programs that the
    signal SIGPIPE ends, as it does most."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def _parser() -> Parser:
    # The package itself is no room, so its version is looked up by name.
    version = import_module("gameproof").__version__
    parser = Parser(
        prog="gameproof",
        description="Classifiers that hold up when people game them.",
        epilog="Begin with gameproof demo, or with a table: gameproof fit --help. Exit codes: 0 "
        "success, 1 a table, file or run that failed, 2 a command line that makes no sense, 130 "
        "Ctrl-C, 141 a reader of the output who left early, such as head.",
        parents=[_shared()],
    )
    parser.add_argument("--version", action="version", version=f"gameproof {version}")
    parser.set_defaults(json=False, quiet=False, debug=False, whole=_parser)
    words = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    # Not the one above: its options have got defaults by now, and those after a word must have
    # none, or they would undo what stands before it.
    shared = _shared()
    for word in COMMANDS:
        word.add_parser(words, shared)
    return parser


def _shared() -> argparse.ArgumentParser:
    """The options that may stand before and after the words."""
    shared = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument("--json", action="store_true", help="print the result as JSON")
    shared.add_argument("--quiet", action="store_true", help="print the result and no progress")
    shared.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return shared


def _sentence(error: Exception) -> str:
    """An error in one line; with its type where it was not meant for users."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}"
    if text and isinstance(error, _expected()):
        return text
    return f"{type(error).__name__}: {text or 'no message'} (--debug shows where)"


def _expected() -> tuple[type[Exception], ...]:
    from gameproof.core.errors import GameproofError

    return GameproofError, ValueError, OSError, ImportError
