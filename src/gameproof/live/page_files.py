"""The page of a study: static files of the package. It has no data before it calls the service."""

from __future__ import annotations

from importlib.resources import files

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

# The path, the room that holds the file, the file and its type.
FILES = (
    ("/", "live", "live_page.html", "text/html"),
    ("/live_page.css", "live", "live_page.css", "text/css"),
    ("/live_page.js", "live", "live_page.js", "text/javascript"),
    ("/live_icon.svg", "live", "live_icon.svg", "image/svg+xml"),
    ("/page.css", "auditing", "page.css", "text/css"),
    ("/page.js", "auditing", "page.js", "text/javascript"),
)


def add_page(app: FastAPI) -> None:
    """Adds the files of the page to an application."""
    for path, room, name, kind in FILES:
        content = files(f"gameproof.{room}").joinpath(name).read_bytes()
        app.add_route(path, _file(content, kind), include_in_schema=False)


def _file(content: bytes, kind: str):  # type: ignore[no-untyped-def]
    async def reply(_: Request) -> Response:
        return Response(content, media_type=kind)

    return reply
