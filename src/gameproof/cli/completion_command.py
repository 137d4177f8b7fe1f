"""``gameproof completion``: a script that completes commands and options in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.options import add_command, model_file, page_file

SHELLS = ("bash", "zsh", "fish")
EXAMPLE = """examples:
  gameproof completion bash > ~/.local/share/bash-completion/completions/gameproof
  gameproof completion zsh > ~/.zfunc/_gameproof   # fpath=(~/.zfunc $fpath) before compinit
  gameproof completion fish > ~/.config/fish/completions/gameproof.fish"""


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``completion``."""
    parser = add_command(
        commands,
        shared,
        "completion",
        run,
        summary="print a completion script for your shell",
        description="Prints a script that completes the commands and options of gameproof in a "
        "shell. The script describes this version: create it again after an update.",
        examples=EXAMPLE,
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run(options: argparse.Namespace, console: Console) -> None:
    """Prints the script for the parser that read the command line."""
    try:
        import shtab
    except ImportError as error:
        raise ImportError("completion needs shtab: pip install 'gameproof[completion]'") from error
    make_parser: Callable[[], argparse.ArgumentParser] = options.make_parser
    parser = make_parser()
    _mark(parser, shtab.FILE)
    script = shtab.complete(parser, options.shell)
    if options.shell == "zsh":
        # Arguments with nargs="*" may be repeated; shtab completes only the first.
        script = script.replace('"(*)::', '"*:')
    console.show(script, {"shell": options.shell, "script": script})


def _mark(parser: argparse.ArgumentParser, file: Any) -> None:
    """Tells shtab which arguments are files and which are one of several names.

    Every command is described by the one line of its help.
    """
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action._choices_actions:
                inner = action.choices[command.dest]
                inner.description = command.help
                _mark(inner, file)
        elif action.type in (Path, page_file, model_file):
            action.complete = file  # type: ignore[attr-defined]
        elif known := getattr(action.type, "known", None):
            action.choices = known
