"""``gameproof live export``: every fact of a study, as tables."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gameproof.cli.console import Console
from gameproof.cli.live_study import add_study, opened_study
from gameproof.cli.options import add_command
from gameproof.cli.outputs import add_folder, add_force, output_to, require_writable

if TYPE_CHECKING:
    from gameproof.live.study import Study


def add_parser(commands: argparse._SubParsersAction[Any], shared: argparse.ArgumentParser) -> None:
    """Adds ``export``."""
    parser = add_command(
        commands,
        shared,
        "export",
        run,
        summary="write all facts of a study as tables",
        description="Writes answers, deployments, questions, exposures and events, each as one "
        "file.",
        examples="example: gameproof live export study.db --out credit-study",
    )
    add_study(parser)
    add_folder(parser, "study", "the folder for the files")
    parser.add_argument(
        "--format",
        choices=("parquet", "csv"),
        default="parquet",
        help="the format of the files (%(default)s)",
    )
    add_force(parser)


def run(options: argparse.Namespace, console: Console) -> None:
    """Writes one file per table."""
    from gameproof.tables.write_table import write_table

    names = ("answers", "deployments", "questions", "exposures", "events")
    with opened_study(options) as study:
        options.out.mkdir(parents=True, exist_ok=True)
        paths = {name: options.out / f"{name}.{options.format}" for name in names}
        require_writable(*paths.values(), force=options.force)
        with console.step("reading the study"):
            frames = _frames(study)
    rows = {}
    for name, frame in frames.items():
        if options.format == "csv":
            times = frame.select_dtypes("datetimetz").columns
            frame = frame.assign(**{c: frame[c].map(_time) for c in times})
        with output_to(paths[name], options.force):
            write_table(paths[name], {column: frame[column] for column in frame})
        rows[name] = len(frame)
    lines = [f"{paths[name]}: {count:,} rows" for name, count in rows.items()]
    console.show("\n".join(lines), {"folder": str(options.out), "rows": rows})


def _frames(study: Study) -> dict[str, Any]:
    return {"answers": study.history(), "deployments": study.deployments(), **study.fact_frames()}


def _time(value: Any) -> str | None:
    return None if value != value else value.isoformat()
