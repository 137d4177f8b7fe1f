"""Tables and models that several tests of the command use."""

from pathlib import Path

import pytest

from command import fit
from gameproof.tables.made_up_people import made_up_people
from gameproof.tables.write_table import write_table


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made-up people in a CSV file; not to be changed."""
    path = tmp_path_factory.mktemp("tables") / "people.csv"
    write_table(path, made_up_people(400, seed=0))
    return path


@pytest.fixture(scope="session")
def model(people: Path) -> Path:
    """The model that ``gameproof fit`` makes of them; not to be changed."""
    path = people.parent / "model.json"
    assert fit(people, path, "--radius", "0.03", "--quiet") == 0
    return path
