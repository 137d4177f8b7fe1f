"""`connect`: a study that is served elsewhere, with the methods of a study.

A request is repeated only where that is safe: reading, asking (a holder gets its own questions
again), telling (the same key and answer give the same receipt), withdrawing, and closing a
deployment by its number. Pausing and resuming are repeated only if the service was not reached, or
said that it did nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Self, final

import numpy as np
import urllib3
from numpy.typing import ArrayLike

from gameproof.core.arguments import as_count, as_positive
from gameproof.core.errors import AnswerError
from gameproof.live.facts import LedgerError, Receipt, Status
from gameproof.live.given import answer_numbers
from gameproof.live.reports import LiveDeployment, LiveQuestion, Recommendation, StudyStatus
from gameproof.live.study import HOUR
from gameproof.strategic.risk import RiskEstimate
from gameproof.tables.load_model import KINDS
from gameproof.tables.table_model import restored_table

# Seconds to reach the service, and for its reply. Advancing may take a while.
CONNECT_PATIENCE, PATIENCE = 5.0, 60.0
TRIES, BACKOFF, LONGEST_PAUSE = 6, 0.25, 8.0
GATEWAY = (502, 503, 504)
PAGE = 10_000  # rows of the history at once


def connect(
    url: str,
    token: str | None = None,
    *,
    timeout: float = PATIENCE,
    tries: int = TRIES,
    certificates: str | None = None,
) -> RemoteStudy:
    """Connects to a study that ``gameproof live serve`` serves.

    Parameters
    ----------
    url : str
        The address that the service printed, such as ``http://127.0.0.1:8642/``.
    token : str, optional
        A token of ``gameproof live token``, if the service needs one.
    timeout : float
        Seconds to wait for a reply.
    tries : int
        How often a request is sent, where repeating it is safe.
    certificates : str, optional
        A file of certificates to trust, if the service has one of its own.

    Returns
    -------
    RemoteStudy
        The study.

    Raises
    ------
    LedgerError
        "service-unreachable", or the code of the service, such as "no-token".
    """
    found = RemoteStudy(url, token, timeout, tries, certificates)
    found.name = found._get("access")["study"]
    return found


@final
class RemoteStudy:
    """A study that is served elsewhere. `connect` makes one. Threads may share it.

    Errors are those of `Study`, with the same codes: LedgerError, and AnswerError for an answer of
    the wrong form. There is one more code, "service-unreachable".

    Attributes
    ----------
    name : str
        The study's name.
    url : str
        Where it is served.
    """

    def __init__(
        self, url: str, token: str | None, timeout: float, tries: int, certificates: str | None
    ) -> None:
        parsed = urllib3.util.parse_url(url)
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ValueError(f"url must begin with http:// or https:// and a host, got {url!r}")
        self.name, self.url = "", url.rstrip("/") + "/"
        self._patience = as_positive("timeout", timeout)
        self._tries = as_count("tries", tries)
        self._headers = {"Accept": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._pool = urllib3.PoolManager(maxsize=32, ca_certs=certificates)

    def __repr__(self) -> str:
        return f"RemoteStudy({self.name!r} at {self.url})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- asking and telling

    @property
    def deployment(self) -> LiveDeployment | None:
        """The current deployment; None if the study is finished."""
        found = self._get("deployment")["deployment"]
        return None if found is None else LiveDeployment(**_classifier(found))

    def ask(
        self, limit: int = 1, holder: str = "anybody", lease: float = HOUR
    ) -> list[LiveQuestion]:
        """Up to `limit` open questions, leased to `holder` for `lease` seconds."""
        found = self._post("ask", {"limit": limit, "holder": holder, "lease": lease})
        theta, intercept = np.array(found["theta"], dtype=np.float64), found["intercept"]
        return [
            LiveQuestion(**each, theta=theta, intercept=intercept) for each in found["questions"]
        ]

    def tell(
        self, question_id: int, answer: ArrayLike | Mapping[str, Any], key: str | None = None
    ) -> Receipt:
        """Stores an answer. When this method returns, the answer is on the service's disk."""
        return _receipt(self._post("tell", _told(question_id, answer, key)))

    def tell_many(
        self, answers: Iterable[tuple[int, ArrayLike | Mapping[str, Any], str | None]]
    ) -> list[Receipt | LedgerError | AnswerError]:
        """Stores (question, answer, key) one by one, with few requests.

        Gives a receipt for each answer, or the error with which it was refused."""
        given = [_told(*each) for each in answers]
        found: list[Receipt | LedgerError | AnswerError] = []
        for start in range(0, len(given), 1000):
            reply = self._post("tell-many", {"answers": given[start : start + 1000]})
            found += [
                _receipt(each) if "answer_id" in each else _error(each["code"], each["message"])
                for each in reply["receipts"]
            ]
        return found

    # --- managing

    def withdraw(self, answer_id: int, reason: str) -> None:
        """Withdraws an answer. While its deployment is open, its question is asked again."""
        self._post(f"answers/{int(answer_id)}/withdraw", {"reason": reason})

    def close_deployment(self, number: int | None = None) -> bool:
        """Closes the current deployment now, with those who answered. False if nobody did."""
        if number is None:
            current = self.deployment
            if current is None:
                return False
            try:
                return bool(self._post(f"deployments/{current.number}/close")["closed"])
            except LedgerError as error:
                if error.code != "deployment-closed":
                    raise
                return True  # by this call, whose first reply was lost, or by somebody else
        return bool(self._post(f"deployments/{int(number)}/close")["closed"])

    def pause(self, reason: str = "") -> None:
        """Asks nobody until `resume`. Answers to open questions still count."""
        self._post("pause", {"reason": reason}, repeatable=False)

    def resume(self) -> None:
        """Ends a pause."""
        self._post("resume", repeatable=False)

    # --- reading

    def status(self) -> StudyStatus:
        """How far the study is."""
        found = self._get("status")
        return StudyStatus(**{**found, "warnings": tuple(found["warnings"])})

    def recommend(self) -> Recommendation:
        """The classifier to use, from the closed deployments."""
        found = _classifier(self._get("recommendation"))
        risk = found["risk"]
        return Recommendation(**{**found, "risk": None if risk is None else RiskEstimate(**risk)})

    def history(self) -> Any:
        """A pandas data frame with one row per answer, as `Study.history` gives it."""
        import pandas as pd

        columns: list[str] = []
        rows: list[list[Any]] = []
        first: int | None = 0
        while first is not None:
            page = self._get("history", {"first": first, "limit": PAGE})
            columns, first = page["columns"] or columns, page["next"]
            rows += page["rows"]
        frame = pd.DataFrame(rows, columns=columns)
        return frame.assign(told=pd.to_datetime(frame["told"], unit="s", utc=True))

    def close(self) -> None:
        """Closes the connections. The study itself stays open."""
        self._pool.clear()

    # --- requests

    def _get(self, path: str, fields: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self._request("GET", path, True, fields=fields)

    def _post(
        self, path: str, body: Mapping[str, Any] | None = None, repeatable: bool = True
    ) -> dict[str, Any]:
        content = None if body is None else json.dumps(body, allow_nan=False).encode()
        kind = {} if body is None else {"Content-Type": "application/json"}
        return self._request("POST", path, repeatable, body=content, headers=kind)

    def _request(
        self,
        method: str,
        path: str,
        repeatable: bool,
        headers: Mapping[str, str] | None = None,
        **rest: Any,
    ) -> dict[str, Any]:
        try:
            reply = self._pool.request(
                method,
                f"{self.url}v1/{path}",
                headers={**self._headers, **(headers or {})},
                timeout=urllib3.Timeout(
                    connect=min(CONNECT_PATIENCE, self._patience), read=self._patience
                ),
                retries=self._retries(repeatable),
                redirect=False,
                **rest,
            )
        except urllib3.exceptions.HTTPError as error:
            raise LedgerError(
                "service-unreachable",
                f"{self.url} did not reply ({_reason(error)}); repeat this later, which stores "
                "nothing twice",
            ) from error
        return _checked(self.url, reply)

    def _retries(self, repeatable: bool) -> urllib3.Retry:
        """A connection that fails has sent nothing; a lost reply may have been acted upon."""
        again = self._tries - 1
        return urllib3.Retry(
            total=again,
            read=again if repeatable else 0,
            other=0,
            redirect=0,
            status_forcelist=GATEWAY if repeatable else (503,),
            allowed_methods=None,
            backoff_factor=BACKOFF,
            backoff_max=LONGEST_PAUSE,
            backoff_jitter=BACKOFF,
            raise_on_status=False,
        )


def _checked(url: str, reply: urllib3.BaseHTTPResponse) -> dict[str, Any]:
    """The content of a reply. Raises the error that it carries."""
    try:
        content = json.loads(reply.data)
        if not isinstance(content, dict):
            raise ValueError("no object")
    except ValueError as error:
        raise LedgerError(
            "service-unreachable",
            f"{url} replied with status {reply.status} and no JSON; is a study there?",
        ) from error
    if reply.status == 200:
        return content
    raise _error(
        str(content.get("code", "unknown-error")),
        str(content.get("message", f"{url} replied with status {reply.status}")),
    )


def _error(code: str, message: str) -> LedgerError | AnswerError:
    return AnswerError(message) if code == "bad-answer" else LedgerError(code, message)


def _told(
    question_id: int, answer: ArrayLike | Mapping[str, Any], key: str | None = None
) -> dict[str, Any]:
    """An answer for JSON."""
    content: Any
    if isinstance(answer, Mapping):
        content = {str(name): _cell(value) for name, value in answer.items()}
    else:
        numbers = answer_numbers(question_id, answer)
        if not np.isfinite(numbers).all():
            raise AnswerError(f"the answer to question {question_id} is not finite")
        content = numbers.tolist()
    return {"question": int(question_id), "answer": content, "key": key}


def _cell(value: Any) -> Any:
    """A value of a table for JSON, which has neither NumPy's numbers nor NaN nor dates."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return None
    return value if isinstance(value, (str, int, float, bool)) else str(value)


def _receipt(found: Mapping[str, Any]) -> Receipt:
    return Receipt(found["answer_id"], Status(found["status"]))


def _classifier(found: Mapping[str, Any]) -> dict[str, Any]:
    model = found["model"]
    return {
        **found,
        "theta": np.array(found["theta"], dtype=np.float64),
        "model": None if model is None else restored_table(model, KINDS),
    }


def _reason(error: Exception) -> str:
    """The innermost cause in one line."""
    reason = getattr(error, "reason", None) or error
    return " ".join(str(reason).split())
