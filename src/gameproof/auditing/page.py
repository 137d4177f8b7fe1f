"""`write_page`: writes sections as one self-contained HTML file.

Style, script and data are inside the file. A content security policy forbids all requests and all
other scripts, so a page is safe to pass on: names of columns, whatever they contain, are shown as
text. The script draws charts from data in the page. Each chart has a table with the same numbers,
also for readers who cannot see charts or run scripts.
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
from pathlib import Path
from typing import Any

from gameproof.auditing.json_safe import json_safe
from gameproof.auditing.number_format import cell
from gameproof.auditing.page_model import Chart, PageColumn, PageTable, Panels, Section, Tile
from gameproof.auditing.page_script import page_script
from gameproof.core.atomic_files import write_whole

LONG = 40  # letters from which text needs a wide column


def write_page(
    path: str | Path,
    title: str,
    sections: Sequence[Section],
    made: Mapping[str, str],
    *,
    subtitle: str = "",
    tiles: Sequence[Tile] = (),
    notes: Sequence[str] = (),
    verdict: str = "",
    warnings: Sequence[str] = (),
) -> None:
    """Writes a self-contained HTML page; an existing file is replaced completely or not at all.

    Parameters
    ----------
    path : str or Path
        The file to write.
    title : str
        The title of the page.
    sections : sequence of Section
        The sections, in order (`gameproof.auditing.page_model`).
    made : mapping of str to str
        How the page was made: names and values for its last part.
    subtitle : str, optional
        A line below the title.
    tiles : sequence of Tile, optional
        Numbers for the top of the page.
    notes : sequence of str, optional
        What readers should know first, for the top of the page.
    verdict : str, optional
        The conclusion in a sentence, above everything else.
    warnings : sequence of str, optional
        Sentences that must not be overlooked, below the verdict.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import gameproof as gp
    >>> from gameproof.auditing.page_model import Section
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "page.html")
    ...     gp.write_page(path, "Audit", [Section("How good?", "Good.")], {"seed": "0"})
    ...     "<h1>Audit</h1>" in path.read_text(encoding="utf-8")
    True
    """
    content = page(
        title,
        sections,
        made,
        subtitle=subtitle,
        tiles=tiles,
        notes=notes,
        verdict=verdict,
        warnings=warnings,
    )
    write_whole(Path(path), content.encode())


def page(
    title: str,
    sections: Sequence[Section],
    made: Mapping[str, str],
    *,
    subtitle: str = "",
    tiles: Sequence[Tile] = (),
    notes: Sequence[str] = (),
    verdict: str = "",
    warnings: Sequence[str] = (),
) -> str:
    """The page as HTML text.

    >>> text = page("A & B", [Section("How good?", "Good.")], {"command": "gameproof audit"})
    >>> "<h1>A &amp; B</h1>" in text, "http-equiv" in text, "https://" in text
    (True, True, False)
    """
    style, script = _resource("page.css"), page_script()
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
{_paragraph(verdict, "conclusion")}
{"".join(_paragraph(f"Warning: {text}", "warning") for text in warnings)}
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


def _table(table: PageTable, shown: bool) -> str:
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


def _row(columns: Sequence[PageColumn], row: Sequence[Any]) -> str:
    found = []
    for k, (column, value) in enumerate(zip(columns, row, strict=True)):
        text = escape(cell(value, column.kind))
        if column.kind == "verdict":
            text = f'<span class="verdict {_slug(text)}">{text}</span>'
        tag = ("th", ' scope="row"') if k == 0 else ("td", "")
        look = _align(column)
        if len(text) > LONG and (k == 0 or column.kind == "text"):
            look = ' class="long"'
        found.append(f"<{tag[0]}{tag[1]}{look}>{text}</{tag[0]}>")
    return "".join(found)


def _align(column: PageColumn) -> str:
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
    """Allows line breaks in long names, at capitals and after punctuation, but not in numbers."""
    parts = re.split(r"(?<=[a-z])(?=[A-Z])|(?<=[_.=-])(?<!\d\.)", text)
    return "<wbr>".join(escape(part) for part in parts)


def _size(value: str) -> str:
    """A class for long values, which are shown in a smaller font."""
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
    """JSON that cannot close the script element around it."""
    text = json.dumps(json_safe(value), ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _resource(name: str) -> str:
    return files("gameproof.auditing").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The digest by which a content security policy allows an inline text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
