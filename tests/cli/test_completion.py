"""``gameproof completion``: scripts that shells take."""

import json
import shutil
import subprocess

import pytest

from gameproof.cli.main import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script_names_the_words_and_options(shell: str, capsys) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("fit", "predict", "audit", "compare", "reproduce", "movable", "favourable"):
        assert word in script
    assert main(["completion", shell, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"shell": shell, "script": script[:-1]}


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_a_word_and_an_option(tmp_path, capsys) -> None:
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out)
    ask = """
    . ./script
    function_of=$(complete -p gameproof | sed 's/.*-F \\([^ ]*\\).*/\\1/')
    COMP_WORDS=({words}); COMP_CWORD={at}; COMPREPLY=()
    $function_of gameproof
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    for words, at, expected in (
        ("gameproof f", 1, "fit"),
        ("gameproof fit --mov", 2, "--movable"),
    ):
        done = subprocess.run(
            ["bash", "-c", ask.format(words=words, at=at)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert expected in done.stdout.split()


def test_without_shtab_the_extra_is_named(monkeypatch, capsys) -> None:
    monkeypatch.setitem(__import__("sys").modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert "pip install 'gameproof[completion]'" in capsys.readouterr().err
