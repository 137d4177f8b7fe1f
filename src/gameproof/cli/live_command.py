"""``gameproof live``: studies with real people."""

from __future__ import annotations

import argparse
from typing import Any

from gameproof.cli import (
    live_ask,
    live_create,
    live_export,
    live_reports,
    live_serve,
    live_simulate,
    live_tell,
)

ACTIONS = (
    live_create,
    live_ask,
    live_tell,
    live_reports,
    live_export,
    live_simulate,
    live_serve,
)


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds the actions of ``live``."""
    about = "run a study with real people"
    live = commands.add_parser(
        "live",
        parents=[shared],
        help=about,
        description=about.capitalize() + ".",
        epilog="example: gameproof live status study.db",
    )
    actions = live.add_subparsers(title="actions", metavar="ACTION", required=True)
    for action in ACTIONS:
        action.add_parser(actions, shared)
