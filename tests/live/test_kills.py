"""A killed program loses nothing. tests/live_kills.py is the long version."""

from live_kills import run


def test_kills_lose_nothing_and_change_no_bit(new_database, tmp_path) -> None:
    table = run(6, 0, new_database, tmp_path)
    assert sum(count.kills for count in table.values()) == 6
