"""``gameproof completion``: a script that teaches a shell the command's words and options."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.options import Help, model_file, page

SHELLS = ("bash", "zsh", "fish")
EXAMPLE = """examples:
  gameproof completion bash > ~/.local/share/bash-completion/completions/gameproof
  gameproof completion zsh > ~/.zfunc/_gameproof   # fpath=(~/.zfunc $fpath) before compinit
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
    _mark(parser, shtab.FILE)
    script = shtab.complete(parser, options.shell)
    if options.shell == "zsh":
        # What may be given any number of times; shtab says at most once.
        script = script.replace('"(*)::', '"*:')
    console.show(script, {"shell": options.shell, "script": script})


def _mark(parser: argparse.ArgumentParser, file: Any) -> None:
    """Arguments that name files or folders complete to those, and those of some names to the names;
    a word is described as in the help, in one line."""
    from pathlib import Path

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word in action._choices_actions:
                inner = action.choices[word.dest]
                inner.description = word.help
                _mark(inner, file)
        elif action.type in (Path, page, model_file):
            action.complete = file  # type: ignore[attr-defined]
        elif known := getattr(action.type, "known", None):
            action.choices = known
