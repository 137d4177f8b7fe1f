"""The entry point: errors in one line, exit codes, and a quick start."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import gameproof as gp
from gameproof.cli import data_command
from gameproof.cli.main import main
from gameproof.core.errors import DataError


def run(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gameproof", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_version_is_the_package_s() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"gameproof {gp.__version__}\n")


def test_entry_point_is_the_command() -> None:
    project = Path(gp.__file__).parents[2] / "pyproject.toml"
    assert 'gameproof = "gameproof.__main__:main"' in project.read_text(encoding="utf-8")


INTERRUPTED = """
import runpy, sys
class Impatient:
    def find_spec(name, path, target=None):
        if name == "gameproof.cli.main":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Impatient)
runpy.run_module("gameproof", run_name="__main__")
"""


def test_interrupt_while_the_command_is_loaded_is_one_line() -> None:
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "gameproof: interrupted\n")


@pytest.mark.parametrize(
    "words",
    [
        [],
        *([word] for word in ("fit", "predict", "audit", "compare", "completion")),
        *(["data", action] for action in ("get", "list", "write")),
        *([word] for word in ("data", "demo", "reproduce", "bench")),
    ],
)
def test_help_names_what_there_is_with_an_example(words: list[str], capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as ended:
        main([*words, "--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert "usage: " + " ".join(["gameproof", *words]) in printed
    about = printed[: printed.index("options:")]
    assert max(map(len, about.splitlines())) <= 80
    assert not words or re.search(
        rf"examples?:\s+gameproof {words[0]}|example:\s+gameproof", printed
    )


def test_start_loads_nothing_heavy() -> None:
    code = (
        "import sys, gameproof.cli.main as m;"
        "m._parser();"
        "heavy = ('numpy', 'numba', 'scipy', 'sklearn', 'pandas', 'pyarrow', 'shtab');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "arguments",
    [[], ["fly"], ["data"], ["data", "get"], ["data", "get", "loans"], ["data", "list", "--fast"]],
)
def test_invalid_command_line_ends_with_2_and_one_line(arguments: list[str], capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    printed = capsys.readouterr()
    assert ended.value.code == 2
    assert printed.out == ""
    assert printed.err.startswith("gameproof: ")
    assert printed.err.endswith("--help\n")
    assert printed.err.count("\n") == 1


def failing(error: BaseException):
    def fail(options, console) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (DataError("the table\n is cut short"), "gameproof: the table is cut short"),
        (ValueError("n must be even"), "gameproof: n must be even"),
        (KeyError("age"), "gameproof: KeyError: 'age' (--debug shows the traceback)"),
        (ValueError(), "gameproof: ValueError: no message (--debug shows the traceback)"),
        (
            ZeroDivisionError("by 0"),
            "gameproof: ZeroDivisionError: by 0 (--debug shows the traceback)",
        ),
    ],
)
def test_failure_ends_with_1_and_one_line(error, line: str, monkeypatch, capsys) -> None:
    monkeypatch.setattr(data_command, "run_list", failing(error))
    assert main(["data", "list"]) == 1
    assert capsys.readouterr() == ("", line + "\n")


@pytest.mark.parametrize("arguments", [["--debug", "data", "list"], ["data", "list", "--debug"]])
def test_debug_shows_the_traceback(arguments: list[str], monkeypatch) -> None:
    monkeypatch.setattr(data_command, "run_list", failing(DataError("cut short")))
    with pytest.raises(DataError, match="cut short"):
        main(arguments)


def test_interrupt_ends_with_130(monkeypatch, capsys) -> None:
    monkeypatch.setattr(data_command, "run_list", failing(KeyboardInterrupt()))
    assert main(["data", "list"]) == 130
    assert capsys.readouterr() == ("", "gameproof: interrupted\n")


@pytest.mark.skipif(os.name == "nt", reason="pipes end otherwise on Windows")
@pytest.mark.parametrize("words", [["data", "list"], ["--help"], ["fit", "--help"]])
def test_closed_pipe_ends_the_command_quietly(words, tmp_path: Path) -> None:
    """With the exit code of SIGPIPE, also if Python buffers the output."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "gameproof", *words],
        stdout=writing,
        stderr=subprocess.PIPE,
        env={**os.environ, "GAMEPROOF_DATA": str(tmp_path), "PYTHONUNBUFFERED": ""},
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk here that is always full")
@pytest.mark.parametrize("words", [["data", "list"], ["--help"], ["--version"]])
def test_full_disk_behind_standard_output_is_one_line(words: list[str], tmp_path: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "gameproof", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "GAMEPROOF_DATA": str(tmp_path)},
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"gameproof: standard output: no space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="no shell here that closes its output")
def test_closed_standard_output_is_one_line() -> None:
    command = f"{sys.executable} -m gameproof data list >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert done.stderr == b"gameproof: standard output: bad file descriptor\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_output_to_a_file_is_utf_8_whatever_the_locale(encoding: str, tmp_path: Path) -> None:
    place = {"GAMEPROOF_DATA": str(tmp_path / "Zürich ±"), "PYTHONIOENCODING": encoding}
    done = subprocess.run(
        [sys.executable, "-m", "gameproof", "data", "list"],
        capture_output=True,
        env={**os.environ, **place},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Zürich ±" in done.stdout.decode()


@pytest.mark.skipif(os.name != "posix", reason="no shell here that closes its input")
def test_closed_standard_input_is_one_line() -> None:
    words = "fit - --target a --favourable b --movable c -o m.json"
    command = f"{sys.executable} -m gameproof {words} <&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1
    assert b"standard input is closed, expected a table" in done.stderr
