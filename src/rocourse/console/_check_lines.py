"""A check of a table in lines and a table, the worst first."""

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from rocourse.console._table_look import TableLook
from rocourse.schema.check import option

_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def check_lines(look: TableLook, *, name: str) -> list[RenderableType]:
    """What people are shown of a check.

    Args:
        look: The check.
        name: What to call the table.
    """
    check = look.check
    counts = ", ".join(
        f"{len(check.of(severity))} {severity}{'' if len(check.of(severity)) == 1 else 's'}"
        for severity in ("error", "warning", "note")
    )
    title = f"{name}: {check.rows:,} rows × {check.columns} columns; {counts}"
    fixed: list[RenderableType] = [f"fixed: {line}" for line in look.fixed]
    if not check.findings:
        return [title, *fixed, "Nothing was found."]
    # No lines and no column of names, which sentences have: so they keep room in a narrow terminal.
    table = Table.grid(padding=(0, 2, 0, 0))
    for finding in check.findings:
        style = _STYLES[finding.severity]
        table.add_row(f"[{style}]{finding.severity}[/]", finding.kind, escape(finding.sentence))
    fixes = [option(name, columns) for name, columns in check.fixes.items() if columns]
    hint = [f"--fix safe takes what is safe: {' '.join(fixes)}"] if fixes else []
    return [title, *fixed, "", table, "", *hint]
