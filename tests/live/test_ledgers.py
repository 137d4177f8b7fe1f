"""Every ledger keeps the contract."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gameproof.live.check_ledger import CHECKS
from gameproof.live.ledger import Ledger


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ledgers_keep_their_contract(
    make_ledger: Callable[[], Ledger], check: Callable[[Ledger], None]
) -> None:
    check(make_ledger())
