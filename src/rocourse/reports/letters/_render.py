"""Letters as pages, plain text and PDF."""

import textwrap
from typing import Literal, get_args

from rocourse.reports._templates import template_environment
from rocourse.reports.letters._letter import Letter
from rocourse.reports.letters._pdf import to_pdf

Format = Literal["html", "text", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)

_WIDTH = 76


def render_letter(letter: Letter, format: Format) -> bytes:
    """A letter in a format; text in UTF-8.

    Raises:
        DependencyError: PDF is asked for without the extra `letters`.
    """
    if format == "pdf":
        return to_pdf(letter)
    environment = template_environment()
    environment.filters["wrapped"] = _wrapped
    name = "letter.html.j2" if format == "html" else "letter.txt.j2"
    environment.autoescape = format == "html"
    return environment.get_template(name).render(letter=letter).encode()


def _wrapped(text: str, lead: str = "") -> str:
    """A paragraph in lines; `lead` before the first one, room for it before the others."""
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    )
