"""Every ledger keeps the contract."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from collections.abc import Callable

import pytest

import gameproof as gp
from gameproof.live.ledger import Ledger
from gameproof.live.ledger_contract import CHECKS


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ledgers_keep_their_contract(
    make_ledger: Callable[[], Ledger], check: Callable[[Ledger], None]
) -> None:
    check(make_ledger())


def test_no_module_hides_a_public_name() -> None:
    """Importing a submodule sets its name in the package, whatever else has that name."""
    modules = {module.name for module in pkgutil.iter_modules(gp.live.__path__)}
    assert modules & set(gp.live.__all__) == set()


CARELESS = """
import gameproof as gp

class Careless(gp.live.MemoryLedger):
    def names(self):
        return super().names()[::-1]

gp.live.check_ledger(Careless)
"""


def test_a_broken_promise_is_named_also_where_python_skips_assert_statements() -> None:
    found = subprocess.run([sys.executable, "-O", "-c", CARELESS], capture_output=True, text=True)
    assert "AssertionError: names are not all there, or not sorted" in found.stderr


@pytest.mark.parametrize(
    "url", ["postgresql://me:secret@host:5432x/a", "no such://me:se/c:ret@h/a"]
)
def test_messages_hide_the_password_of_a_url(url: str) -> None:
    with pytest.raises(ValueError, match="not a database URL") as caught:
        gp.live.open(url)
    assert "me:***@h" in str(caught.value)
    assert "ret@" not in str(caught.value)
