"""``gameproof live serve`` and ``token``: a study over HTTP, and who may use it."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.live_study import add_study, needs_live, opened_study
from gameproof.cli.options import UsageError, add_command, integer, size

SCOPES = ("ask", "tell", "read", "manage")
SERVE_EXAMPLES = """examples:
  gameproof live serve study.db
  gameproof live token tokens.json --name crm --scope ask,tell
  gameproof live serve study.db --host 0.0.0.0 --tokens tokens.json"""


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``serve`` and ``token``."""
    _add_serve(commands, shared)
    _add_token(commands, shared)


def _add_serve(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    serve = add_command(
        commands,
        shared,
        "serve",
        run_serve,
        summary="serve a study over HTTP, with a page that shows it live",
        description="Serves a study until Ctrl-C or SIGTERM, and advances it meanwhile. The page "
        "is at /, the description of the interface at /openapi.json. Without tokens, the service "
        "can be reached from this machine only, and by everybody on it.",
        examples=SERVE_EXAMPLES,
    )
    add_study(serve)
    serve.add_argument(
        "--host", default="127.0.0.1", metavar="HOST", help="where to listen (%(default)s)"
    )
    serve.add_argument(
        "--port",
        type=integer(0),
        default=8642,
        metavar="PORT",
        help="the port; 0 takes any free one (%(default)s)",
    )
    serve.add_argument(
        "--tokens", type=Path, metavar="FILE", help="the tokens that may use the service"
    )
    serve.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another name by which the service may be called, such as that of a proxy; repeatable",
    )
    serve.add_argument(
        "--max-body",
        type=size,
        default=8 * 2**20,
        metavar="SIZE",
        help="the largest body of a request (8MB)",
    )
    for name, what in (("certificate", "certificate"), ("certificate-key", "certificate's key")):
        serve.add_argument(
            f"--{name}", type=Path, metavar="FILE", help=f"the {what}, for HTTPS (PEM)"
        )


def _add_token(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    token = add_command(
        commands,
        shared,
        "token",
        run_token,
        summary="create, list or revoke the tokens of a service",
        description="Creates a token, prints it once, and adds its hash to a file. Scopes: ask, "
        "tell, read, and manage (close a deployment, withdraw an answer, pause, resume). A running "
        "service notices changes of the file at once.",
        examples="example: gameproof live token tokens.json --name crm --scope ask,tell",
    )
    token.add_argument("file", type=Path, metavar="FILE", help="the file of the tokens")
    wanted = token.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--name", metavar="NAME", help="create a token of this name")
    wanted.add_argument("--list", action="store_true", help="list the tokens")
    wanted.add_argument("--revoke", metavar="NAME", help="revoke a token")
    token.add_argument(
        "--scope",
        type=scopes,
        metavar="SCOPES",
        help="what it permits, separated by commas: ask, tell, read, manage",
    )


def scopes(given: str) -> list[str]:
    """Argument type: scopes separated by commas."""
    found = [scope.strip() for scope in given.split(",")]
    for scope in found:
        if scope not in SCOPES:
            raise argparse.ArgumentTypeError(
                f"unknown scope {scope!r}; choose from {', '.join(SCOPES)}"
            )
    return found


def run_serve(options: argparse.Namespace, console: Console) -> None:
    """Serves the study."""
    with needs_live():
        from gameproof.live.serving import Place, serve
        from gameproof.live.tokens import TokenFile

    place = Place(
        host=options.host,
        port=options.port,
        tokens=None if options.tokens is None else TokenFile(options.tokens),
        allow_hosts=tuple(options.allow_host),
        certificate=options.certificate,
        certificate_key=options.certificate_key,
        most_bytes=options.max_body,
    )
    place.check()
    with opened_study(options) as study:

        def ready(address: str) -> None:
            console.show(
                f"{study.name}: {address} (Ctrl-C stops the service; the study stays)",
                {"study": study.name, "url": address},
            )

        serve(study, place, ready)
    console.say("the service has stopped; every acknowledged answer is in the study")


def run_token(options: argparse.Namespace, console: Console) -> None:
    """Creates, lists or revokes."""
    from gameproof.live.tokens import Scope, TokenFile

    if (options.scope is None) != (options.name is None):
        raise UsageError("--name and --scope belong together: a new token needs both")
    tokens = TokenFile(options.file)
    if options.revoke:
        tokens.revoke(options.revoke)
        console.show(f"{options.revoke} is revoked", {"revoked": options.revoke})
    elif options.list:
        rows = [
            {
                "name": token.name,
                "scopes": [scope.value for scope in Scope if scope in token.scopes],
                "created": datetime.fromtimestamp(token.created, UTC).isoformat(timespec="seconds"),
            }
            for token in tokens.tokens()
        ]
        lines = [f"{row['name']}: {', '.join(row['scopes'])}, {row['created']}" for row in rows]
        console.show("\n".join(lines) or "there are no tokens", {"tokens": rows})
    else:
        secret = tokens.add(options.name, map(Scope, options.scope))
        console.say("keep this token; it is not shown again")
        console.show(secret, {"name": options.name, "scopes": options.scope, "token": secret})
