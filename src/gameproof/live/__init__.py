"""Studies with real people: durable, concurrent, and the same to the bit after any crash.

>>> import gameproof as gp
>>> X, y = gp.synthetic_people(n=60, d=3, seed=0)
>>> problem = gp.StrategicProblem(gp.Population(X, y), radius=0.05, label_cost=0.5)
>>> study = gp.live.create(":memory:", problem, name="credit", method="ogda-rr", batch=5, seed=0)
>>> [question] = study.ask(limit=1, holder="interviewer 1")
>>> study.tell(question.id, X[question.agent], key="crm-8812").status
<Status.COUNTED: 'counted'>
>>> study.close()

Names load on first use: SQLAlchemy is needed only here (``pip install 'gameproof[live]'``).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gameproof.live.client import RemoteStudy as RemoteStudy
    from gameproof.live.client import connect as connect
    from gameproof.live.facts import LedgerError as LedgerError
    from gameproof.live.facts import Receipt as Receipt
    from gameproof.live.facts import Status as Status
    from gameproof.live.ledger import Ledger as Ledger
    from gameproof.live.ledger_contract import check_ledger as check_ledger
    from gameproof.live.memory_ledger import MemoryLedger as MemoryLedger
    from gameproof.live.open_study import create as create
    from gameproof.live.open_study import open as open
    from gameproof.live.reports import LiveDeployment as LiveDeployment
    from gameproof.live.reports import LiveQuestion as LiveQuestion
    from gameproof.live.reports import Recommendation as Recommendation
    from gameproof.live.reports import StudyStatus as StudyStatus
    from gameproof.live.serving import Place as Place
    from gameproof.live.serving import serve as serve
    from gameproof.live.sql_ledger import SqlLedger as SqlLedger
    from gameproof.live.study import Study as Study

_HOMES = {
    "client": ["RemoteStudy", "connect"],
    "facts": ["LedgerError", "Receipt", "Status"],
    "ledger": ["Ledger"],
    "ledger_contract": ["check_ledger"],
    "memory_ledger": ["MemoryLedger"],
    "open_study": ["create", "open"],
    "reports": ["LiveDeployment", "LiveQuestion", "Recommendation", "StudyStatus"],
    "serving": ["Place", "serve"],
    "sql_ledger": ["SqlLedger"],
    "study": ["Study"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'gameproof.live' has no attribute {name!r}")
    try:
        module = import_module(f"gameproof.live.{_HOME_OF[name]}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("gameproof"):
            raise
        raise ModuleNotFoundError(
            f"live studies need {error.name}: pip install 'gameproof[live]'", name=error.name
        ) from error
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
