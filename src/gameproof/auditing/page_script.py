"""The script of pages: a few files, each with one idea, in one scope."""

from __future__ import annotations

from importlib.resources import files

FILES = ("chart_axes.js", "chart_drawing.js", "chart.js", "page.js")


def page_script() -> str:
    """The files as one script, which adds nothing but ``gameproof`` to the page."""
    folder = files("gameproof.auditing")
    parts = [folder.joinpath(name).read_text(encoding="utf-8") for name in FILES]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"
