"""The entry point ``gameproof``: shared options, errors in one line, exit codes.

Exit codes: 0 success, 1 failure, 2 invalid command line, 130 Ctrl-C, 141 the reader of the output
closed the pipe. Each command is a module with `add_parser`, which defines its options, and
`run(options, console)`. Only `run` may import modules that load slowly.
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
    live_command,
    predict_command,
    reproduce_command,
    show_command,
)
from gameproof.cli.console import Console, print_out, use_utf8
from gameproof.cli.options import UsageError, size
from gameproof.core.naming import escaped
from gameproof.core.size_limits import unpacked_limit
from gameproof.tables.column_budgets import BudgetError

COMMANDS = (
    demo_command,
    fit_command,
    predict_command,
    show_command,
    audit_command,
    compare_command,
    learn_command,
    live_command,
    reproduce_command,
    data_command,
    bench_command,
    completion_command,
)


class Parser(argparse.ArgumentParser):
    """A parser that reports errors in one line."""

    def error(self, message: str) -> NoReturn:
        if message.endswith("expected one argument"):
            message += "; a value that begins with a dash follows an equals sign: --target=-x"
        self.exit(2, f"gameproof: {escaped(message)}; see {self.prog} --help\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        try:
            print_out("", end="")  # flushes, so that a closed pipe is noticed here
        except BrokenPipeError:
            raise
        except OSError as error:
            status, message = 1, f"gameproof: {_sentence(error)}\n"
        super().exit(status, message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    use_utf8()
    typed = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _run(_parser().parse_args(typed, argparse.Namespace(typed=typed)))
    except KeyboardInterrupt:
        print("gameproof: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        return _closed_pipe()


def _run(options: argparse.Namespace) -> int:
    try:
        with unpacked_limit(options.max_size):
            options.run(options, Console(options.json, options.quiet))
    except BrokenPipeError:
        raise
    except Exception as error:
        if options.debug:
            raise
        print(f"gameproof: {escaped(_sentence(error))}", file=sys.stderr)
        return 2 if isinstance(error, (UsageError, BudgetError)) else 1
    return 0


def _closed_pipe() -> int:
    """Ends quietly when the reader of the output, such as head, has closed the pipe.

    Output that is still buffered is discarded, or Python would report an error at exit. The exit
    code is that of a program ended by SIGPIPE.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def _parser() -> Parser:
    # Modules do not import the package itself, so the version is looked up by name.
    version = import_module("gameproof").__version__
    parser = Parser(
        prog="gameproof",
        description="Classifiers that hold up when people game them.",
        epilog="Start with gameproof demo, or with your own table: gameproof fit --help. Exit "
        "codes: 0 success, 1 failure, 2 invalid command line, 130 Ctrl-C, 141 the reader of the "
        "output closed the pipe.",
        parents=[_shared()],
    )
    parser.add_argument("--version", action="version", version=f"gameproof {version}")
    parser.set_defaults(json=False, quiet=False, debug=False, max_size=None, make_parser=_parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    # A new instance: the options of the first one have defaults by now, which would override
    # options given before the command.
    shared = _shared()
    for command in COMMANDS:
        command.add_parser(commands, shared)
    return parser


def _shared() -> argparse.ArgumentParser:
    """The options that may be given before and after a command."""
    shared = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    shared.add_argument("--json", action="store_true", help="print the result as JSON")
    shared.add_argument("--quiet", action="store_true", help="print no progress")
    shared.add_argument("--debug", action="store_true", help="show the traceback of errors")
    shared.add_argument(
        "--max-size",
        type=size,
        metavar="SIZE",
        help="the most that a compressed file may unpack to, such as 16GB (2GB, or "
        "GAMEPROOF_MAX_BYTES)",
    )
    return shared


def _sentence(error: Exception) -> str:
    """An error in one line, with its type if the message is not meant for users."""
    text = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; use fewer rows or columns, or a larger machine"
    if text and isinstance(error, _expected()):
        return text
    return f"{type(error).__name__}: {text or 'no message'} (--debug shows the traceback)"


def _expected() -> tuple[type[Exception], ...]:
    from gameproof.core.errors import GameproofError

    return GameproofError, ValueError, OSError, ImportError
