"""The page of a study: static files of the package. It has no data before it calls the service."""

from __future__ import annotations

from importlib.resources import files

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from gameproof.auditing.page_script import page_script

# The path, the room that holds the file, the file and its type.
FILES = (
    ("/", "live", "live_page.html", "text/html"),
    ("/live_page.css", "live", "live_page.css", "text/css"),
    ("/live_page.js", "live", "live_page.js", "text/javascript"),
    ("/live_connection.js", "live", "live_connection.js", "text/javascript"),
    ("/live_writing.js", "live", "live_writing.js", "text/javascript"),
    ("/live_icon.svg", "live", "live_icon.svg", "image/svg+xml"),
    ("/page.css", "auditing", "page.css", "text/css"),
)


def add_page(app: FastAPI) -> None:
    """Adds the files of the page to an application."""
    for path, room, name, kind in FILES:
        content = files(f"gameproof.{room}").joinpath(name).read_bytes()
        app.add_route(path, _file(content, kind), include_in_schema=False)
    script = _file(page_script().encode(), "text/javascript")
    app.add_route("/page.js", script, include_in_schema=False)


def _file(content: bytes, kind: str):  # type: ignore[no-untyped-def]
    async def reply(_: Request) -> Response:
        return Response(content, media_type=kind)

    return reply
