"""Files that are not complete yet leave nothing behind, whatever ends their process."""

import subprocess
import sys
from pathlib import Path

import pytest

from gameproof.core.staging import staging

WAITS = """
import sys, time
from pathlib import Path
from gameproof.core.staging import staging
with staging(Path(sys.argv[1])) as place:
    (place / "half").write_text("not complete")
    print(place, flush=True)
    time.sleep(60)
"""


def test_nothing_is_left_whether_or_not_the_block_fails(tmp_path: Path) -> None:
    with staging(tmp_path) as place:
        (place / "half").touch()
        assert place.parent == tmp_path
    with pytest.raises(ValueError, match="within"), staging(tmp_path):
        raise ValueError("within")
    assert list(tmp_path.iterdir()) == []


def test_folder_of_a_killed_process_is_removed_and_that_of_a_live_one_kept(tmp_path: Path) -> None:
    program = [sys.executable, "-c", WAITS, str(tmp_path)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        left = Path(process.stdout.readline().strip())
        with staging(tmp_path):
            assert (left / "half").exists()
        process.kill()
    assert (left / "half").exists()
    with staging(tmp_path) as place:
        assert not left.exists()
        assert len(list(tmp_path.iterdir())) == 2  # the new one and its lock
        assert place.exists()
    assert list(tmp_path.iterdir()) == []
