"""`write_page`: sections as one HTML file that needs nothing else, no network and no program.

Style, script and data stand inside the file. A content security policy in its head forbids every
request and every script but the page's own, so that it is safe to pass on: whatever a column of the
table is called, it is shown as text. Charts are drawn by the script from data in the page; each has
a table with the same numbers, which also serves those who cannot see charts or run scripts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any

from gameproof.auditing.json_safe import json_safe
from gameproof.auditing.number_format import percent, signed_points
from gameproof.auditing.page_model import Chart, Column, Panels, Section, Table, Tile
from gameproof.core.atomic_files import write_whole

NOTHING = "–"


def write_page(
    path: str | Path,
    title: str,
    sections: Sequence[Section],
    made: Mapping[str, str],
    *,
    subtitle: str = "",
    tiles: Sequence[Tile] = (),
    notes: Sequence[str] = (),
) -> None:
    """Writes the page, whole or not at all.

    sections
        In the order in which they are read.
    made
        How it was made, name by name: see `made`.
    notes
        What is to be known before the findings are read; they stand at the top.
    """
    content = page(title, sections, made, subtitle=subtitle, tiles=tiles, notes=notes)
    write_whole(Path(path), content.encode())


def page(
    title: str,
    sections: Sequence[Section],
    made: Mapping[str, str],
    *,
    subtitle: str = "",
    tiles: Sequence[Tile] = (),
    notes: Sequence[str] = (),
) -> str:
    """The page as text.

    >>> text = page("A & B", [Section("How good?", "Good.")], {"command": "gameproof audit"})
    >>> "<h1>A &amp; B</h1>" in text, "http-equiv" in text, "https://" in text
    (True, True, False)
    """
    style, script = (_resource(name) for name in ("page.css", "page.js"))
    slugs = [f"part-{k}" for k in range(1, len(sections) + 2)]
    titles = [*(section.title for section in sections), "How was this made?"]
    listed = "".join(
        f'<li><a href="#{slug}">{escape(name)}</a></li>'
        for slug, name in zip(slugs, titles, strict=True)
    )
    body = "".join(
        _section(slug, section) for slug, section in zip(slugs[:-1], sections, strict=True)
    )
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; "
        f"script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'"
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the findings</a>
<header>
<div><h1>{escape(title)}</h1>{_paragraph(subtitle, "subtitle")}</div>
<button type="button" id="theme" hidden>Dark</button>
</header>
<main id="content" tabindex="-1">
{_tiles(tiles)}
{"".join(_paragraph(f"Note: {note}", "note") for note in notes)}
<nav aria-label="Contents"><ol>{listed}</ol></nav>
<noscript><p class="note">Charts need JavaScript; the tables hold the same numbers.</p></noscript>
{body}
<section id="{slugs[-1]}" aria-labelledby="{slugs[-1]}-title">
<h2 id="{slugs[-1]}-title">{titles[-1]}</h2>
{_made(made)}
</section>
</main>
<script>{script}</script>
</body>
</html>
"""


def cell(value: Any, kind: str = "text") -> str:
    """A value as it is read.

    >>> cell(0.7634, "percent"), cell(-0.012, "points"), cell(1234567, "count"), cell(None)
    ('76.3\\xa0%', '−1.2', '1,234,567', '–')
    """
    if value is None or (isinstance(value, float) and not isfinite(value)):
        return NOTHING
    if kind == "percent":
        return percent(value)
    if kind == "points":
        return signed_points(value)
    if kind == "count":
        return f"{value:,}"
    if kind == "label":
        return f"{value:+d}".replace("-", "−")
    if kind == "number":
        return (f"{value:,.0f}" if abs(value) >= 999.5 else f"{value:.3g}").replace("-", "−")
    if kind == "interval":
        middle, low, high = (cell(part, "number") for part in value)
        return middle if low == NOTHING else f"{middle} ({low} to {high})"
    return str(value)


def _section(slug: str, section: Section) -> str:
    charts = _charts(f"{slug}-chart", section.charts)
    panels = [_panels(f"{slug}-{k}", each) for k, each in enumerate(section.panels, start=1)]
    tables = [_table(table, section.open) for table in section.tables]
    notes = [_paragraph(note, "note") for note in section.notes]
    title = f'<h2 id="{slug}-title">{escape(section.title)}</h2>'
    inner = _paragraph(section.finding, "finding") + "".join([charts, *panels, *notes, *tables])
    if section.collapsed:
        inner = f'<details class="more"><summary>{title}</summary>\n{inner}</details>'
    else:
        inner = f"{title}\n{inner}"
    return f'<section id="{slug}" aria-labelledby="{slug}-title">\n{inner}\n</section>\n'


def _charts(slug: str, charts: Sequence[Chart]) -> str:
    return "".join(_chart(f"{slug}-{k}", chart) for k, chart in enumerate(charts, start=1))


def _chart(slug: str, chart: Chart) -> str:
    return f"""<figure class="chart" id="{slug}">
<figcaption id="{slug}-title">{escape(chart.title)}</figcaption>
<div class="plot" role="img" aria-label="{escape(chart.alt)}"></div>
<script type="application/json">{_data(asdict(chart))}</script>
</figure>
"""


def _panels(slug: str, panels: Panels) -> str:
    charts = _charts(f"{slug}-chart", panels.charts)
    return f'<div class="panels">\n{_paragraph(panels.caption, "note")}{charts}</div>\n'


def _table(table: Table, shown: bool) -> str:
    head = "".join(
        f'<th scope="col"{_align(column)}>{escape(column.name)}</th>' for column in table.columns
    )
    body = "\n".join(f"<tr>{_row(table.columns, row)}</tr>" for row in table.rows)
    caption = escape(table.caption)
    inner = (
        f'<div class="wide" tabindex="0" role="region" aria-label="{caption}"><table>'
        f"<caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody>"
        "</table></div>"
    )
    if shown:
        return inner + "\n"
    return f"<details><summary>Numbers: {caption}</summary>{inner}</details>\n"


def _row(columns: Sequence[Column], row: Sequence[Any]) -> str:
    found = []
    for k, (column, value) in enumerate(zip(columns, row, strict=True)):
        text = escape(cell(value, column.kind))
        if column.kind == "verdict":
            text = f'<span class="verdict {_slug(text)}">{text}</span>'
        tag = ("th", ' scope="row"') if k == 0 else ("td", "")
        found.append(f"<{tag[0]}{tag[1]}{_align(column)}>{text}</{tag[0]}>")
    return "".join(found)


def _align(column: Column) -> str:
    return "" if column.kind in ("text", "verdict") else ' class="number"'


def _slug(text: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def _tiles(tiles: Sequence[Tile]) -> str:
    if not tiles:
        return ""
    inner = "".join(
        f"<div><dt>{escape(tile.label)}</dt><dd{_size(tile.value)}>{_breakable(tile.value)}"
        f"{f'<small>{escape(tile.note)}</small>' if tile.note else ''}</dd></div>"
        for tile in tiles
    )
    return f'<dl class="tiles">{inner}</dl>'


def _breakable(text: str) -> str:
    """Long names break between their words: at capitals and after signs; numbers do not."""
    parts = re.split(r"(?<=[a-z])(?=[A-Z])|(?<=[_.=-])(?<!\d\.)", text)
    return "<wbr>".join(escape(part) for part in parts)


def _size(value: str) -> str:
    """Names take more room than numbers."""
    return ' class="words"' if len(value) > 10 else ""


def _made(made: Mapping[str, str]) -> str:
    inner = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>"
        for name, value in made.items()
    )
    return f'<dl class="made">{inner}</dl>'


def _paragraph(text: str, kind: str) -> str:
    return f'<p class="{kind}">{escape(text)}</p>\n' if text else ""


def _data(value: Any) -> str:
    """JSON that cannot end the element it stands in, and that has null for what is not finite."""
    text = json.dumps(json_safe(value), ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _resource(name: str) -> str:
    return files("gameproof.auditing").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """How a content security policy names an inline text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
