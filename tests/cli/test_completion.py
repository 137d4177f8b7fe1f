"""``gameproof completion``: scripts that shells accept."""

import json
import os
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


BASH = """
. ./script
function_of=$(complete -p gameproof | sed 's/.*-F \\([^ ]*\\).*/\\1/')
for line in "$@"; do
  COMP_WORDS=($line); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
  $function_of gameproof
  echo "${COMPREPLY[*]}"
done
"""
FISH = """
source ./script
for line in $argv
  echo (complete -C $line | string split -f 1 \\t)
end
"""
# A shell on a pseudo-terminal, in which Tab completes and prints the line.
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=($PWD \\$fpath); autoload -Uz compinit; compinit -u -D; \\
  tell() { zle complete-word; print -r -- \\"LINE<\\$BUFFER>\\"; zle kill-whole-line; }; \\
  zle -N tell; bindkey '^I' tell; print O''K"
zpty -r shell heard '*OK*'
for line in "$@"; do
  zpty -n -w shell "$line"$'\\t'
  zpty -r shell heard '*LINE<*>*'
  words=(${=${heard##*LINE<}%%>*})
  print -r -- $words[-1]
done
"""
SHELLS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
LINES = {
    "gameproof fi": "fit",
    "gameproof fit --mov": "--movable",
    "gameproof fit --movable a --mov": "--movable",
    "gameproof fit peo": "people.csv",
    "gameproof fit people.csv -o mod": "model.json",
    "gameproof audit model.json peo": "people.csv",
    "gameproof predict --quiet mod": "model.json",
    "gameproof data wr": "write",
    "gameproof data get cre": "credit",
    "gameproof bench que": "queries",
    "gameproof bench steps que": "queries",
    "gameproof reproduce smo": "smooth-or-not",
    "gameproof --js": "--json",
}


@pytest.mark.parametrize("shell", SHELLS)
def test_shell_completes_words_options_names_and_files(shell: str, tmp_path, capsys) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    assert main(["completion", shell]) == 0
    name = "_gameproof" if shell == "zsh" else "script"  # zsh finds it by its name
    (tmp_path / name).write_text(capsys.readouterr().out)
    for file in ("people.csv", "model.json"):
        (tmp_path / file).touch()
    (tmp_path / "ask").write_text(SHELLS[shell])
    done = subprocess.run(
        [shell, *(["-f"] if shell == "zsh" else []), "ask", *LINES],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert dict(zip(LINES, done.stdout.splitlines(), strict=True)) == LINES


def test_without_shtab_the_extra_is_named(monkeypatch, capsys) -> None:
    monkeypatch.setitem(__import__("sys").modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert "pip install 'gameproof[completion]'" in capsys.readouterr().err
