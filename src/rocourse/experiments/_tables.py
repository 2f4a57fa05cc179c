"""Tables as text."""

from collections.abc import Sequence


def as_markdown(rows: Sequence[Sequence[str]]) -> str:
    """Rows, the first being the header, as a Markdown table."""
    header, *body = rows
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(row)} |" for row in body]
    return "\n".join(lines)
