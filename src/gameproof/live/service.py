"""The service of a study over HTTP, with an OpenAPI description.

Every path mirrors a method of `Study`. The database is used in threads, never in the event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib import import_module
from typing import Annotated, Any, TypeVar, final

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi.responses import Response, StreamingResponse
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool

from gameproof.live import service_models as models
from gameproof.live.broadcast import Broadcast
from gameproof.live.driver import Driver
from gameproof.live.facts import LedgerError, Receipt
from gameproof.live.guard import API, PERMISSIONS
from gameproof.live.page_files import add_page
from gameproof.live.people_rows import people_rows, selected
from gameproof.live.quick_body import description, read_body, reply
from gameproof.live.records import answers_page, classifier_record
from gameproof.live.refusals import BUSY, CHANGED_MEANWHILE
from gameproof.live.reports import StudyStatus
from gameproof.live.service_errors import (
    add_error_handlers,
    code_and_message,
    documented,
)
from gameproof.live.study import Study
from gameproof.live.tell_queue import TellQueue
from gameproof.live.tokens import Scope

T = TypeVar("T")
# Seconds that `ask` waits for the next deployment, if this one is complete.
ASK_PATIENCE = 2.0
# How often, and after how many seconds, a step is repeated while another process advances.
BUSY_TRIES, BUSY_PAUSE = 10, 0.2
DESCRIPTION = """One study with real people.

Times are seconds since 1970. Every error is JSON with a stable `code` and a sentence `message`.
Without tokens, everything is permitted to whoever can reach the service. A token permits its
scopes: `ask`, `tell`, `read`, and `manage` (close a deployment, withdraw an answer, pause, resume).
"""
INVALID = HTTPStatus.UNPROCESSABLE_ENTITY
BODY = (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.REQUEST_TIMEOUT, INVALID)
bearer = HTTPBearer(auto_error=False, description="A token of `gameproof live token`.")


@final
class Service:
    """A study and what keeps it going while it is served."""

    def __init__(self, study: Study, token_required: bool) -> None:
        self.study, self.token_required = study, token_required
        self.driver = Driver(study)
        self.broadcast = Broadcast(study, self.driver)
        # Whoever recommends or closes waits for an advance: one of them in a thread, the others in
        # the event loop, so that threads are left for answers.
        self._one = asyncio.Lock()
        self.app = _application(self)

    def needs(self, *scopes: Scope) -> Any:
        """A dependency: the caller has one of these scopes. The description demands a token only
        if the service does."""

        def check(request: Request) -> None:
            require_scope(request, *scopes)

        def check_token(request: Request, _: Annotated[Any, Depends(bearer)]) -> None:
            check(request)

        return Depends(check_token if self.token_required else check)

    @asynccontextmanager
    async def running(self, _: FastAPI) -> AsyncIterator[None]:
        """Advances the study and informs listeners, from the start to the end of the service."""
        self.driver.start()
        watch = asyncio.create_task(self.broadcast.run())
        try:
            yield
        finally:
            self.stop_streams()
            watch.cancel()
            await run_in_threadpool(self.driver.stop)

    def stop_streams(self) -> None:
        """Ends all streams, which would otherwise keep the service from ending."""
        self.broadcast.stop()

    async def alone(self, step: Callable[[], T]) -> T:
        """A step that may have to wait for an advance."""
        async with self._one:
            for _ in range(BUSY_TRIES - 1):
                try:
                    return await run_in_threadpool(step)
                except LedgerError as error:
                    if error.code not in (BUSY, CHANGED_MEANWHILE):
                        raise
                await asyncio.sleep(BUSY_PAUSE)
            return await run_in_threadpool(step)


def require_scope(request: Request, *scopes: Scope) -> None:
    """Raises if the caller has none of these scopes."""
    if request.scope[PERMISSIONS]().isdisjoint(scopes):
        wanted = " or ".join(scopes)
        raise LedgerError("scope-missing", f"this needs a token with the scope {wanted}")


def _application(service: Service) -> FastAPI:
    app = FastAPI(
        title="gameproof live",
        version=import_module("gameproof").__version__,
        description=DESCRIPTION,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        lifespan=service.running,
    )
    for add in (_asking, _reading, _managing):  # routes are tried in order; answers come most often
        router = APIRouter(prefix=API.rstrip("/"))
        add(router, service)
        app.include_router(router)
    add_page(app)
    add_error_handlers(app)
    return app


def _reading(router: APIRouter, service: Service) -> None:
    study = service.study
    read, anyone = [service.needs(Scope.READ)], [service.needs(*Scope)]

    @router.get("/access", responses=documented(), dependencies=anyone)
    async def access(request: Request) -> models.AccessReply:
        """What the caller may do."""
        permitted = request.scope[PERMISSIONS]()
        return models.AccessReply(
            study=study.name,
            token_required=service.token_required,
            scopes=[scope for scope in Scope if scope in permitted],
        )

    @router.get("/status", responses=documented(), dependencies=anyone)
    async def status() -> StudyStatus:
        """How far the study is."""
        return await run_in_threadpool(study.status)

    @router.get(
        "/deployment", responses=documented(), dependencies=[service.needs(Scope.READ, Scope.ASK)]
    )
    async def deployment() -> models.DeploymentReply:
        """The classifier that people are shown now."""
        found = await run_in_threadpool(lambda: study.deployment)
        record = None if found is None else classifier_record(found)
        return models.DeploymentReply.model_validate({"deployment": record})

    @router.get("/recommendation", responses=documented(), dependencies=read)
    async def recommendation() -> models.RecommendationReply:
        """The classifier to use, as far as the closed deployments show."""
        found = await service.alone(study.recommend)
        record = classifier_record(found)
        return models.RecommendationReply.model_validate(record)

    @router.get("/history", responses=documented(INVALID), dependencies=read)
    async def history(
        wanted: Annotated[models.HistoryQuery, Query()],
    ) -> models.HistoryReply:
        """All answers to the deployments from number `first` on, until there are `limit` rows."""
        found = await run_in_threadpool(answers_page, study, wanted.first, wanted.limit)
        return models.HistoryReply.model_validate(found)

    @router.get("/people", responses=documented(INVALID, HTTPStatus.NOT_FOUND), dependencies=read)
    async def people(wanted: Annotated[models.PeopleQuery, Query()]) -> models.PeopleReply:
        """Who is asked at a deployment, by default the current or else the last one."""
        number, rows = await run_in_threadpool(_people, study, wanted.deployment)
        found = selected(rows, wanted.state, wanted.search, wanted.offset, wanted.limit)
        return models.PeopleReply.model_validate({"deployment": number, **found})

    @router.get("/overview", responses=documented(), dependencies=read)
    async def overview() -> models.OverviewReply:
        """Everything that the page shows."""
        return models.OverviewReply.model_validate(await service.broadcast.overview())

    stream: dict[int | str, dict[str, Any]] = {
        200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}
    }

    @router.get(
        "/events",
        response_class=StreamingResponse,
        responses={**documented(), **stream},
        dependencies=read,
    )
    async def events(request: Request) -> StreamingResponse:
        """Server-sent events: `overview` when something changes, `problem` while there is one."""
        if service.broadcast.is_full:
            raise LedgerError("too-many-listeners", "too many pages are open; close one")
        events = service.broadcast.listen(request.scope[PERMISSIONS])
        return StreamingResponse(events, media_type="text/event-stream")


def _asking(router: APIRouter, service: Service) -> None:
    study = service.study

    @router.post("/ask", responses=documented(*BODY), dependencies=[service.needs(Scope.ASK)])
    async def ask(given: models.AskRequest) -> models.AskReply:
        """Questions, leased to their holder."""

        def asked() -> list[Any]:
            return list(study.ask(given.limit, given.holder, given.lease, advance=False))

        questions = await run_in_threadpool(asked)
        if len(questions) < given.limit:
            await service.driver.advanced(ASK_PATIENCE)
            questions = await run_in_threadpool(asked)
        names = models.QuestionReply.model_fields
        return models.AskReply(
            theta=questions[0].theta.tolist() if questions else [],
            intercept=questions[0].intercept if questions else 0.0,
            questions=[
                models.QuestionReply(**{name: getattr(each, name) for name in names})
                for each in questions
            ],
        )

    queue = TellQueue(study)
    known = (*BODY, HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT)

    @router.post(
        "/tell",
        responses=documented(*known),
        response_model=models.ReceiptReply,
        openapi_extra=description(models.TellRequest, service.token_required),
    )
    async def tell(request: Request) -> Response:
        """Stores an answer. When the reply arrives, the answer is on disk."""
        require_scope(request, Scope.TELL)
        given = await read_body(request, models.TellRequest)
        receipt = await queue.tell(given.question, given.answer, given.key)
        service.driver.wake()
        return reply(models.ReceiptReply(answer_id=receipt.answer_id, status=receipt.status))

    @router.post(
        "/tell-many", responses=documented(*BODY), dependencies=[service.needs(Scope.TELL)]
    )
    async def tell_many(given: models.TellManyRequest) -> models.TellManyReply:
        """Stores answers together: a receipt or an error for each."""
        answers = [(each.question, each.answer, each.key) for each in given.answers]
        found = await run_in_threadpool(study.tell_many, answers)
        service.driver.wake()
        return models.TellManyReply(receipts=[_told_or_refused(each) for each in found])


def _told_or_refused(found: Receipt | Exception) -> models.ReceiptReply | models.ErrorReply:
    if isinstance(found, Receipt):
        return models.ReceiptReply(answer_id=found.answer_id, status=found.status)
    code, message = code_and_message(found)
    return models.ErrorReply(code=code, message=message)


def _managing(router: APIRouter, service: Service) -> None:
    study, manage = service.study, [service.needs(Scope.MANAGE)]
    known = (*BODY, HTTPStatus.NOT_FOUND)

    @router.post("/answers/{answer}/withdraw", responses=documented(*known), dependencies=manage)
    async def withdraw(answer: models.Id, given: models.WithdrawRequest) -> StudyStatus:
        """Withdraws an answer. While its deployment is open, its question is asked again."""
        await run_in_threadpool(study.withdraw, answer, given.reason)
        return await status()

    @router.post(
        "/deployments/{number}/close",
        responses=documented(INVALID, HTTPStatus.CONFLICT),
        dependencies=manage,
    )
    async def close_deployment(number: models.Id) -> models.ClosedReply:
        """Closes the current deployment, which has this number, with those who answered."""
        closed = await service.alone(lambda: study.close_deployment(number))
        service.driver.wake()
        return models.ClosedReply(closed=closed)

    @router.post("/pause", responses=documented(*BODY), dependencies=manage)
    async def pause(given: models.ReasonRequest) -> StudyStatus:
        """Asks nobody until `resume`. Answers to open questions still count."""
        await run_in_threadpool(study.pause, given.reason)
        return await status()

    @router.post("/resume", responses=documented(), dependencies=manage)
    async def resume() -> StudyStatus:
        """Ends a pause."""
        await run_in_threadpool(study.resume)
        service.driver.wake()
        return await status()

    async def status() -> StudyStatus:
        return await run_in_threadpool(study.status)


def _people(study: Study, deployment: int | None) -> tuple[int | None, list[Any]]:
    """The people of a deployment, by default of the newest one."""
    numbers = [row.number for row in study.ledger.deployments(study.id)]
    if deployment is None and not numbers:
        return None, []
    number = numbers[-1] if deployment is None else deployment
    if number not in numbers:
        raise LedgerError("unknown-deployment", f"the study has no deployment {number} yet")
    return number, people_rows(study.ledger, study.id, number, study.person)
