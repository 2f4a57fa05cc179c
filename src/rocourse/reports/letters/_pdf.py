"""Letters as PDF, with fonts that come with Matplotlib: no system parts, and any alphabet."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from rocourse.errors import DependencyError
from rocourse.reports.letters._letter import Block, Letter

_FONT, _SIZE, _LINE = "letter", 10.5, 5.2
_MARGIN, _INDENT = 25.0, 7.0


def to_pdf(letter: Letter) -> bytes:
    """The letter on A4.

    Raises:
        DependencyError: The extra `letters` is not installed.
    """
    pdf = _new(letter)
    if letter.draft:
        pdf.set_draw_color(160, 30, 30)
        pdf.set_text_color(160, 30, 30)
        pdf.set_font(_FONT, "B", _SIZE)
        pdf.multi_cell(0, 7.0, letter.draft, border=1, align="C", new_x="LMARGIN", new_y="NEXT")
        pdf.set_text_color(0, 0, 0)
        pdf.ln(4)
    name, *address = letter.sender
    _write(pdf, name, style="B", after=0)
    for line in address:
        _write(pdf, line, after=0)
    pdf.ln(6)
    for label, value in letter.facts:
        _write(pdf, f"{label}: {value}", after=0)
    pdf.ln(6)
    _write(pdf, letter.subject, style="B", after=3)
    *parts, last = _together(letter.blocks)
    for part in parts:
        _on_one_page(pdf, partial(_draw_all, blocks=part))

    def end(pdf: Any) -> None:
        _draw_all(pdf, last)
        pdf.ln(2)
        for line in letter.closing:
            _write(pdf, line, after=1.5)

    # A signature does not stand alone.
    _on_one_page(pdf, end)
    return bytes(pdf.output())


def _together(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Headings with what they are about, and what leads to a list with the list."""
    part: list[Block] = []
    for block, after in zip_longest(blocks, blocks[1:]):
        part.append(block)
        leads = not block.items and after is not None and (after.items or not block.text)
        if not leads:
            yield part
            part = []


def _write(
    pdf: Any, text: str, *, indent: float = 0.0, style: Literal["", "B"] = "", after: float = 2.4
) -> None:
    pdf.set_font(_FONT, style, _SIZE)
    pdf.set_x(_MARGIN + indent)
    pdf.multi_cell(pdf.epw - indent, _LINE, text, align="L", new_x="LMARGIN", new_y="NEXT")
    pdf.ln(after)


def _draw_all(pdf: Any, blocks: Sequence[Block]) -> None:
    for block in blocks:
        _draw(pdf, block)


def _draw(pdf: Any, block: Block) -> None:
    if block.heading:
        pdf.ln(1.5)
        _write(pdf, block.heading, style="B", after=1.4)
    if block.text:
        _write(pdf, block.text, after=1.0 if block.items else 2.4)
    for number, item in enumerate(block.items, start=1):
        mark = f"{number}." if block.numbered else "–"
        pdf.set_font(_FONT, "", _SIZE)
        lines = pdf.multi_cell(pdf.epw - _INDENT, _LINE, item, dry_run=True, output="LINES")
        # Its mark would stay behind.
        if pdf.will_page_break(len(lines) * _LINE):
            pdf.add_page()
        top = pdf.get_y()
        pdf.set_xy(_MARGIN + 1.5, top)
        pdf.cell(_INDENT, _LINE, mark)
        pdf.set_y(top)
        _write(pdf, item, indent=_INDENT, after=0.8)
    if block.items:
        pdf.ln(1.6)


def _on_one_page(pdf: Any, draw: Callable[[Any], None]) -> None:
    """Draws what belongs together: on a new page, if this one has no room for all of it."""
    page = pdf.page
    with pdf.offset_rendering() as trial:
        draw(trial)
        torn = trial.page != page
    if torn:
        pdf.add_page()
    draw(pdf)


def _new(letter: Letter) -> Any:
    try:
        import matplotlib
        from fpdf import FPDF
    except ModuleNotFoundError as error:
        raise DependencyError(
            f"Letters as PDF must have the package {error.name}, but it is not installed; install "
            "it with pip install 'rocourse[letters]', or ask for html or text."
        ) from error

    class Pages(FPDF):
        def footer(self) -> None:
            self.set_y(-15)
            self.set_font(_FONT, "", 8)
            self.set_text_color(90, 90, 90)
            self.cell(0, 5, f"{letter.facts[-1][1]} · {self.page_no()}/{{nb}}", align="C")
            self.set_text_color(0, 0, 0)

    pdf = Pages(format="A4")
    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    for style, file in (("", "DejaVuSans.ttf"), ("B", "DejaVuSans-Bold.ttf")):
        pdf.add_font(_FONT, style, fonts / file)
    pdf.set_margins(_MARGIN, 20.0, 20.0)
    pdf.set_auto_page_break(True, margin=22.0)
    pdf.set_lang(letter.language)
    pdf.set_title(letter.subject)
    pdf.set_author(letter.sender[0])
    pdf.add_page()
    return pdf
