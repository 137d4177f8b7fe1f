"""A service that kills itself (-9) after it stored an answer and before it says so.

python tests/live_service_killed.py STUDY
"""

import json
import os
import signal
import sys

import gameproof as gp
from gameproof.live.guard import Guard
from gameproof.live.serving import Place, serve

stored = Guard.__call__


async def dies_before_the_receipt(self, scope, receive, send):
    async def deadly(message):
        if scope.get("path") == "/v1/tell":
            os.kill(os.getpid(), signal.SIGKILL)
        await send(message)

    await stored(self, scope, receive, deadly)


Guard.__call__ = dies_before_the_receipt
with gp.live.open(sys.argv[1]) as study:
    serve(study, Place(port=0), lambda url: print(json.dumps({"url": url}, indent=0), flush=True))
