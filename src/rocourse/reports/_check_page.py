"""A check of a table as a page."""

from collections.abc import Sequence

from rocourse.reports._templates import template_environment
from rocourse.reports._theme import page_colors
from rocourse.schema.check import SEVERITIES, TableCheck

_TEMPLATE = "check.html.j2"
_TITLES = {
    "error": "Stops training",
    "warning": "Better settled first",
    "note": "Good to know",
}


def render_check(
    check: TableCheck, *, name: str, target: str | None = None, fixed: Sequence[str] = ()
) -> str:
    """A check as a self-contained HTML page.

    Args:
        check: What was found.
        name: What to call the table.
        target: Column that is predicted.
        fixed: What was fixed already, a line each.
    """
    return (
        template_environment()
        .get_template(_TEMPLATE)
        .render(
            check=check,
            name=name,
            target=target,
            fixed=fixed,
            severities=[(severity, _TITLES[severity]) for severity in SEVERITIES],
            colors=page_colors(),
        )
    )
