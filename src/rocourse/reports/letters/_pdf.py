"""Letters as PDF, with fonts that come with Matplotlib: no system parts, and any alphabet."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocourse.errors import DependencyError
from rocourse.reports.letters._letter import Letter

if TYPE_CHECKING:
    from fpdf import FPDF

_FONT, _SIZE, _LINE = "letter", 10.5, 5.2
_MARGIN, _INDENT = 25.0, 7.0


def to_pdf(letter: Letter) -> bytes:
    """The letter on A4.

    Raises:
        DependencyError: The extra `letters` is not installed.
    """
    pdf = _new(letter)
    width = pdf.epw

    def write(text: str, *, indent: float = 0.0, style: str = "", after: float = 2.4) -> None:
        pdf.set_font(_FONT, style, _SIZE)
        pdf.set_x(_MARGIN + indent)
        pdf.multi_cell(width - indent, _LINE, text, align="L", new_x="LMARGIN", new_y="NEXT")
        pdf.ln(after)

    if letter.draft:
        pdf.set_draw_color(160, 30, 30)
        pdf.set_text_color(160, 30, 30)
        pdf.set_font(_FONT, "B", _SIZE)
        pdf.multi_cell(width, 7.0, letter.draft, border=1, align="C", new_x="LMARGIN", new_y="NEXT")
        pdf.set_text_color(0, 0, 0)
        pdf.ln(4)
    name, *address = letter.sender
    write(name, style="B", after=0)
    for line in address:
        write(line, after=0)
    pdf.ln(6)
    for label, value in letter.facts:
        write(f"{label}: {value}", after=0)
    pdf.ln(6)
    write(letter.subject, style="B", after=3)
    for block in letter.blocks:
        _room(pdf, block.heading, len(block.items))
        if block.heading:
            pdf.ln(1.5)
            write(block.heading, style="B", after=1.4)
        if block.text:
            write(block.text, after=1.0 if block.items else 2.4)
        for number, item in enumerate(block.items, start=1):
            mark = f"{number}." if block.numbered else "–"
            pdf.set_font(_FONT, "", _SIZE)
            lines = pdf.multi_cell(width - _INDENT, _LINE, item, dry_run=True, output="LINES")
            # Its mark would stay behind.
            if pdf.will_page_break(len(lines) * _LINE):
                pdf.add_page()
            top = pdf.get_y()
            pdf.set_xy(_MARGIN + 1.5, top)
            pdf.cell(_INDENT, _LINE, mark)
            pdf.set_y(top)
            write(item, indent=_INDENT, after=0.8)
        if block.items:
            pdf.ln(1.6)
    pdf.ln(2)
    _room(pdf, letter.closing[0], 2)
    for line in letter.closing:
        write(line, after=1.5)
    return bytes(pdf.output())


def _room(pdf: "FPDF", heading: str, items: int) -> None:
    """A new page where a heading or a short list would be torn apart."""
    lines = (3 if heading else 0) + min(items, 4) + 1
    if pdf.will_page_break(lines * _LINE):
        pdf.add_page()


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
