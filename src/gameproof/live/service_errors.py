"""Errors of the service: JSON with a stable `code` and a sentence `message`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from gameproof.core.errors import AnswerError, DataError
from gameproof.live.facts import LedgerError
from gameproof.live.service_models import ErrorReply

LOG = logging.getLogger("gameproof.live")

# A code that is not listed here is a fault of the study or the service.
STATUS_OF_CODE = {
    "bad-request": HTTPStatus.UNPROCESSABLE_ENTITY,
    "bad-answer": HTTPStatus.UNPROCESSABLE_ENTITY,
    "no-token": HTTPStatus.UNAUTHORIZED,
    "scope-missing": HTTPStatus.FORBIDDEN,
    "wrong-origin": HTTPStatus.FORBIDDEN,
    "wrong-host": HTTPStatus.MISDIRECTED_REQUEST,
    "not-found": HTTPStatus.NOT_FOUND,
    "unknown-question": HTTPStatus.NOT_FOUND,
    "unknown-answer": HTTPStatus.NOT_FOUND,
    "unknown-deployment": HTTPStatus.NOT_FOUND,
    "method-not-allowed": HTTPStatus.METHOD_NOT_ALLOWED,
    "key-reused": HTTPStatus.CONFLICT,
    "deployment-closed": HTTPStatus.CONFLICT,
    "changed-meanwhile": HTTPStatus.CONFLICT,
    "busy": HTTPStatus.CONFLICT,
    "body-too-large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "body-too-slow": HTTPStatus.REQUEST_TIMEOUT,
    "store-unavailable": HTTPStatus.SERVICE_UNAVAILABLE,
    "tokens-unreadable": HTTPStatus.SERVICE_UNAVAILABLE,
    "too-many-listeners": HTTPStatus.SERVICE_UNAVAILABLE,
}
ANSWER = "answer"
# When to try again, in seconds.
RETRY_AFTER = "2"


def status_of(code: str) -> HTTPStatus:
    """The HTTP status of a code."""
    return STATUS_OF_CODE.get(code, HTTPStatus.INTERNAL_SERVER_ERROR)


def error_body(code: str, message: str) -> dict[str, str]:
    """An error for JSON."""
    return {"code": code, "message": message}


def error_headers(code: str) -> dict[str, str]:
    """What the client should know besides the status."""
    if code == "no-token":
        return {"WWW-Authenticate": "Bearer"}
    if status_of(code) is HTTPStatus.SERVICE_UNAVAILABLE:
        return {"Retry-After": RETRY_AFTER}
    return {}


def error_reply(code: str, message: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The reply to a request that failed."""
    every = {**error_headers(code), **(headers or {})}
    return JSONResponse(error_body(code, message), status_of(code), every)


def code_and_message(error: Exception) -> tuple[str, str]:
    """What a study refused, for `error_reply`."""
    if isinstance(error, LedgerError):
        return error.code, str(error)
    return "bad-answer", str(error)


def documented(*statuses: HTTPStatus) -> dict[int | str, dict[str, Any]]:
    """The errors of a path in its OpenAPI description, besides those that every path has."""
    always = (
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.MISDIRECTED_REQUEST,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.INTERNAL_SERVER_ERROR,
    )
    return {
        int(status): {"model": ErrorReply, "description": status.phrase}
        for status in sorted({*always, *statuses})
    }


def add_error_handlers(app: FastAPI) -> None:
    """Makes every error of an application JSON."""
    app.add_exception_handler(LedgerError, _refused)
    app.add_exception_handler(AnswerError, _refused)
    app.add_exception_handler(DataError, _refused)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _not_there)
    app.add_exception_handler(Exception, _failed)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    code, message = code_and_message(error)
    if status_of(code) >= HTTPStatus.INTERNAL_SERVER_ERROR:
        LOG.error("%s %s: %s", request.method, request.url.path, message)
    return error_reply(code, message)


async def _not_valid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    found = dict.fromkeys(_complaint(each) for each in error.errors())
    return error_reply("bad-request", "; ".join(list(found)[:5]))


def _complaint(error: Mapping[str, Any]) -> str:
    """One part of a request that is not valid. What was sent is not repeated."""
    if error["type"] == "json_invalid":
        return "the body is not valid JSON"
    place: Sequence[Any] = error["loc"]
    said = str(error["msg"])
    if ANSWER in place:  # one complaint instead of one for each form that an answer can have
        place = place[: place.index(ANSWER) + 1]
        said = "expected a list of numbers, a number, or an object from columns to values"
    name = ".".join(map(str, place[1:])) or str(place[0])
    return f"{name}: {said[:1].lower()}{said[1:]}"


async def _not_there(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    path = request.url.path
    if error.status_code == HTTPStatus.NOT_FOUND:
        return error_reply("not-found", f"there is nothing at {path}; see /openapi.json")
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = (error.headers or {}).get("Allow", "another method")
        message = f"{request.method} is not possible at {path}; use {allowed}"
        return error_reply("method-not-allowed", message, error.headers)
    return JSONResponse(error_body("bad-request", str(error.detail)), error.status_code)


async def _failed(request: Request, error: Exception) -> JSONResponse:
    return error_reply(
        "internal-error",
        "the service failed; its log says why. Nothing was half stored: the request can be "
        "repeated",
    )
