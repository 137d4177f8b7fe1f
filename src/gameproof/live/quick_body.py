"""Request bodies of paths that are called for every answer.

FastAPI's own reading of a request and its reply take longer than storing an answer. These functions
read a body with the same rules and errors, and describe it in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ValidationError

M = TypeVar("M", bound=BaseModel)
JSON = "application/json"


async def read_body(request: Request, model: type[M]) -> M:
    """The body of a request. Raises RequestValidationError if it is not as described."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:
        said = f"the header Content-Type must be {JSON}"
        raise RequestValidationError([{"type": "content_type", "loc": ("body",), "msg": said}])
    try:
        return model.model_validate_json(await request.body())
    except ValidationError as error:
        found = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
        raise RequestValidationError(found) from error


def reply(content: BaseModel) -> Response:
    """A reply as JSON."""
    return Response(content.model_dump_json(), media_type=JSON)


def description(model: type[BaseModel], token_required: bool) -> dict[str, Any]:
    """What the OpenAPI description says about a path that reads its own body. The model is
    described by another path."""
    reference = {"$ref": f"#/components/schemas/{model.__name__}"}
    found: Mapping[str, Any] = {
        "requestBody": {"required": True, "content": {JSON: {"schema": reference}}}
    }
    return {**found, **({"security": [{"HTTPBearer": []}]} if token_required else {})}
