"""Short HTML for notebooks: sentences and one table, without styles of its own."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def html_summary(
    sentences: Sequence[str],
    head: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    details: Sequence[str] = (),
) -> str:
    """The first sentence in bold, then the others, a table, and collapsible lines.

    >>> html_summary(["Use <it>."], ["model"], [["robust"]])[:34]
    '<p><strong>Use &lt;it&gt;.</strong'
    """
    first, *others = (escape(text) for text in sentences)
    parts = [f"<p><strong>{first}</strong></p>", *(f"<p>{text}</p>" for text in others)]
    if rows:
        top = "".join(f"<th>{escape(name)}</th>" for name in head)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
        )
        parts.append(f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>")
    if details:
        text = escape("\n".join(details))
        parts.append(f"<details><summary>Details</summary><pre>{text}</pre></details>")
    return "".join(parts)
