"""``gameproof completion``: a script that teaches a shell the command's words and options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.options import Help, page

SHELLS = ("bash", "zsh", "fish")
EXAMPLE = """examples:
  gameproof completion bash > ~/.local/share/bash-completion/completions/gameproof
  gameproof completion zsh > ~/.zfunc/_gameproof
  gameproof completion fish > ~/.config/fish/completions/gameproof.fish"""


def add_parser(words: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """``completion``."""
    parser = words.add_parser(
        "completion",
        parents=[shared],
        help="print a script for completion in your shell",
        description="Prints a script that completes the words and options of this command in a "
        "shell. It names what this version has: write it again after an update.",
        epilog=EXAMPLE,
        formatter_class=Help,
    )
    parser.add_argument("shell", choices=SHELLS, help=", ".join(SHELLS))
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, console: Console) -> None:
    """Prints the script for the parser that read the command line."""
    try:
        import shtab
    except ImportError as error:
        raise ImportError("completion needs shtab: pip install 'gameproof[completion]'") from error
    whole: Callable[[], argparse.ArgumentParser] = options.whole
    parser = whole()
    _mark_files(parser, shtab.FILE)
    script = shtab.complete(parser, options.shell)
    console.show(script, {"shell": options.shell, "script": script})


def _mark_files(parser: argparse.ArgumentParser, mark: Any) -> None:
    """Arguments that name files or folders complete to those."""
    from pathlib import Path

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _mark_files(inner, mark)
        elif action.type in (Path, page):
            action.complete = mark  # type: ignore[attr-defined]
