"""``gameproof live status``, ``recommend`` and ``withdraw``."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gameproof.cli.console import Console
from gameproof.cli.live_study import add_study, opened_study
from gameproof.cli.options import UsageError, add_command, integer
from gameproof.cli.outputs import add_force, output_to, require_writable


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``status``, ``recommend`` and ``withdraw``."""
    status = add_command(
        commands,
        shared,
        "status",
        run_status,
        summary="show how far a study is",
        description="Prints how many answers and deployments there are, and what to do next.",
        examples="example: gameproof live status study.db --verify",
    )
    add_study(status)
    status.add_argument(
        "--verify", action="store_true", help="also check that nobody changed the database's rows"
    )
    recommend = add_command(
        commands,
        shared,
        "recommend",
        run_recommend,
        summary="show the classifier that the answers so far recommend",
        description="Prints the recommended classifier, and its worst-case risk with an interval "
        "and what the risk rests on.",
        examples="example: gameproof live recommend study.db -o model.json",
    )
    add_study(recommend)
    recommend.add_argument(
        "-o", "--out", type=Path, metavar="MODEL", help="write the model to this file"
    )
    add_force(recommend)
    withdraw = add_command(
        commands,
        shared,
        "withdraw",
        run_withdraw,
        summary="withdraw an answer",
        description="Withdraws an answer. Its question is asked again while its deployment is "
        "open. Earlier deployments stay as they were, since people have seen them.",
        examples="example: gameproof live withdraw study.db 17 --reason 'wrong person'",
    )
    add_study(withdraw)
    withdraw.add_argument(
        "answer", type=integer(0), metavar="ANSWER", help="the number that tell or export gives"
    )
    withdraw.add_argument("--reason", required=True, metavar="TEXT", help="why")


def run_status(options: argparse.Namespace, console: Console) -> None:
    """Prints the status."""
    with opened_study(options) as study:
        status = study.status()
        changed = study.verify() if options.verify else None
    lines = [str(status), *status.warnings]
    if changed is not None:
        lines += changed or ["every row is as it was recorded"]
    record = status.as_dict()
    console.show("\n".join(lines), record if changed is None else record | {"changed": changed})
    if changed:
        many = "1 row was" if len(changed) == 1 else f"{len(changed):,} rows were"
        raise ValueError(f"{many} changed in the database itself: {changed[0]}")


def run_recommend(options: argparse.Namespace, console: Console) -> None:
    """Prints the recommendation, and writes the model."""
    require_writable(options.out, force=options.force)
    with opened_study(options) as study:
        found = study.recommend()
    if options.out:
        if found.model is None:
            raise UsageError("the study has no table, so its model has no file; see --json")
        with output_to(options.out, options.force):
            found.model.save(options.out)
    record = {
        "theta": found.theta.tolist(),
        "intercept": found.intercept,
        "alpha": found.alpha,
        "risk": None if found.risk is None else asdict(found.risk),
        "n_answers": found.n_answers,
        "n_deployments": found.n_deployments,
        "final": found.final,
        "sentence": found.sentence,
        "why": found.why,
        "ground": found.ground,
        "learnt": found.learnt,
        "model": str(options.out) if options.out else None,
    }
    console.show(
        "\n".join([found.sentence, *([f"model: {options.out}"] if options.out else [])]), record
    )


def run_withdraw(options: argparse.Namespace, console: Console) -> None:
    """Withdraws the answer."""
    with opened_study(options) as study:
        study.withdraw(options.answer, options.reason)
        status = study.status()
    console.show(f"answer {options.answer} is withdrawn\n{status}", status.as_dict())
