"""`TellQueue`: stores the answers of many requests in one transaction.

While a transaction is under way, answers that arrive wait for the next one, which stores all of
them. So the number of transactions does not grow with the number of clients. Each request is
acknowledged after its transaction, and refused by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, final

from starlette.concurrency import run_in_threadpool

from gameproof.live.facts import Receipt
from gameproof.live.study import MOST_TOGETHER, Study

Given = tuple[int, Any, str | None]  # question, answer, key


@final
class TellQueue:
    """The answers to one study that wait to be stored. Used by one event loop."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._waiting: list[tuple[Given, asyncio.Future[Receipt]]] = []
        self._task: asyncio.Task[None] | None = None

    async def tell(self, question: int, answer: Any, key: str | None) -> Receipt:
        """Stores an answer, as `Study.tell` does. When it returns, the answer is on disk."""
        reply: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        self._waiting.append(((question, answer, key), reply))
        if self._task is None:
            self._task = asyncio.create_task(self._store_all())
        return await reply

    async def _store_all(self) -> None:
        """Stores until nobody waits."""
        try:
            while self._waiting:
                group = self._waiting[:MOST_TOGETHER]
                del self._waiting[:MOST_TOGETHER]
                await self._store(group)
        finally:
            self._task = None

    async def _store(self, group: Sequence[tuple[Given, asyncio.Future[Receipt]]]) -> None:
        replies: Sequence[Receipt | Exception]
        try:
            replies = await run_in_threadpool(self._study.tell_many, [each for each, _ in group])
        except Exception as error:
            replies = [error] * len(group)
        for (_, waiting), reply in zip(group, replies, strict=True):
            if waiting.done():  # its client has gone away; the answer is stored all the same
                continue
            if isinstance(reply, Receipt):
                waiting.set_result(reply)
            else:
                waiting.set_exception(reply)
