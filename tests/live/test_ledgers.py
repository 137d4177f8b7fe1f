"""Every ledger keeps the contract."""

from __future__ import annotations

import pkgutil
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
