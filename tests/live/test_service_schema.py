"""The service against its own OpenAPI description, by generated requests.

    python tests/live/test_service_schema.py [--examples 300]

runs longer, on a study with a table as well.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

import gameproof as gp
from gameproof.live.study import Study
from gameproof.live.study_table import problem_from_table
from gameproof.live.tokens import Scope, TokenFile
from gameproof.tables.made_up_people import made_up_people
from live_service import served
from studies import problem

EXAMPLES = 12
SETTINGS = {"method": "ogda-rr", "batch": 8, "seed": 3}


def small_study(folder: Path) -> Study:
    return gp.live.create(folder / "study.db", problem(), **SETTINGS)


def table_study(folder: Path) -> Study:
    people = made_up_people(200)
    task, table = problem_from_table(
        people, target="repaid", favourable="yes", budgets=["savings"], key="id"
    )
    return gp.live.create(folder / "table.db", task, table=table, **SETTINGS)


def faults(url: str, examples: int, token: str | None = None) -> list[str]:
    """What the service does that its description does not say."""
    headers = None if token is None else {"Authorization": f"Bearer {token}"}
    # The stream does not end, so it is left out.
    described = schemathesis.openapi.from_url(f"{url}openapi.json").exclude(path="/v1/events")
    found = []
    for operation in (each.ok() for each in described.get_all_operations()):
        for mode in GenerationMode:

            @settings(
                max_examples=examples,
                derandomize=True,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=operation.as_strategy(generation_mode=mode))
            def keeps_its_description(case: schemathesis.Case) -> None:
                # How many numbers an answer has depends on the study.
                left_out = [positive_data_acceptance] if case.path == "/v1/tell" else []
                case.call_and_validate(headers=headers, excluded_checks=left_out)

            try:
                keeps_its_description()
            except Unsatisfiable:
                continue  # nothing about this path can be wrong
            except BaseExceptionGroup as group:
                found += [f"{operation.label} ({mode}): {error}" for error in group.exceptions]
            except AssertionError as error:
                found.append(f"{operation.label} ({mode}): {error}")
    return found


@pytest.mark.parametrize(("make", "guarded"), [(small_study, False), (table_study, True)])
def test_the_service_keeps_its_description(tmp_path, make, guarded) -> None:
    place, token = {}, None
    if guarded:
        place["tokens"] = TokenFile(tmp_path / "tokens.json")
        token = place["tokens"].add("everything", Scope)
    with make(tmp_path) as study, served(study, **place) as url:
        assert faults(url, EXAMPLES, token) == []
        assert study.verify() == []


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, default=300)
    given_examples = parser.parse_args(arguments).examples
    for make in (small_study, table_study):
        with tempfile.TemporaryDirectory() as folder, make(Path(folder)) as study:
            with served(study) as url:
                found = faults(url, given_examples)
            assert study.verify() == []
        print(f"{make.__name__}: {len(found)} faults", *found, sep="\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
