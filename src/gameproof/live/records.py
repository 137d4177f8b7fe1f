"""What the service and its client exchange, as JSON: classifiers and answers."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from gameproof.auditing.json_safe import json_safe
from gameproof.live.reports import LiveDeployment, Recommendation
from gameproof.live.study import Study
from gameproof.tables.table_model import table_record


def classifier_record(found: LiveDeployment | Recommendation) -> dict[str, Any]:
    """A deployment or a recommendation for JSON; a model becomes the content of its file."""
    record = {field.name: getattr(found, field.name) for field in fields(found)}
    record["theta"] = found.theta.tolist()
    record["model"] = None if found.model is None else table_record(found.model)
    return record


def answers_page(study: Study, first: int, limit: int) -> dict[str, Any]:
    """The answers to whole deployments from number `first` on, until there are `limit` of them."""
    rows: list[list[Any]] = []
    columns: list[str] = []
    numbers = [row.number for row in study.ledger.deployments(study.id, first)]
    for number in numbers:
        if len(rows) >= limit:
            return {"columns": columns, "rows": json_safe(rows), "next": number}
        frame = study.history(number)
        columns = [str(name) for name in frame.columns]
        frame["told"] = [told.value / 1e9 for told in frame["told"]]  # the float that was told
        rows += [list(row) for row in frame.astype(object).itertuples(index=False)]
    return {"columns": columns, "rows": json_safe(rows), "next": None}
