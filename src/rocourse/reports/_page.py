"""The report of a reproduction: a page, the same as Markdown, and the figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocourse.reports._images import inlined, to_png
from rocourse.reports._parts import Part, Picture, Table
from rocourse.reports._templates import template_environment
from rocourse.reports._theme import page_colors

REPORT_HTML = "report.html"
REPORT_MARKDOWN = "report.md"
FIGURES_FOLDER = "figures"

_TEMPLATE = "reproduction.html.j2"
_PAPERS = "The paper's tables and figures"


@dataclass(frozen=True)
class Section:
    """A named table or figure with what has come of it.

    Attributes:
        name: What the command line calls it.
        title: What it shows.
        parts: Its tables and pictures.
        done: How many of its jobs have a result.
        total: How many jobs it has.
        note: What to know about it.
        ours: Whether it shows what the paper does not.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    done: int
    total: int
    note: str = ""
    ours: bool = False

    @property
    def tables(self) -> list[Table]:
        """Its tables."""
        return [part for part in self.parts if isinstance(part, Table)]

    @property
    def pictures(self) -> list[Picture]:
        """Its pictures."""
        return [part for part in self.parts if isinstance(part, Picture)]


def draw_report(sections: Sequence[Section], *, scale: str, note: str) -> dict[str, bytes]:
    """The files of the report, by their paths.

    Args:
        sections: What to show, in this order.
        scale: The name of the scale.
        note: What is smaller there than in the paper.
    """
    files: dict[str, bytes] = {}
    images: dict[str, str] = {}
    for section in sections:
        for picture in section.pictures:
            # The page holds its own drawings; Markdown shows files.
            files[f"{FIGURES_FOLDER}/{picture.name}.png"] = to_png(picture.figure())
            images[picture.name] = inlined(picture.figure())
    ours = bool(sections) and all(section.ours for section in sections)
    files[REPORT_MARKDOWN] = _markdown(sections, scale, "" if ours else note, ours).encode()
    files[REPORT_HTML] = _html(sections, images, scale, note, ours).encode()
    return files


def _html(
    sections: Sequence[Section], images: Mapping[str, str], scale: str, note: str, ours: bool
) -> str:
    template = template_environment().get_template(_TEMPLATE)
    return template.render(
        scale=scale, note=note, sections=sections, images=images, colors=page_colors(), ours=ours
    )


def _markdown(sections: Sequence[Section], scale: str, note: str, ours: bool) -> str:
    lines = [
        f"# {'Our own comparisons' if ours else _PAPERS}, scale `{scale}`",
        "",
        *((note, "") if note else ()),
        *(f"- [{section.name}](#{section.name}): {section.title}" for section in sections),
        "",
    ]
    for section in sections:
        lines += [
            f"## {section.name}",
            "",
            f"**{section.title}.** {section.note}".rstrip(),
            "",
            f"`rocourse reproduce {section.name} --scale {scale}`: {section.done} of "
            f"{section.total} jobs done.",
            "",
        ]
        for picture in section.pictures:
            lines += [
                f"![{picture.description}]({FIGURES_FOLDER}/{picture.name}.png)",
                "",
                f"*{picture.title}.* {picture.note}".rstrip(),
                "",
            ]
        for table in section.tables:
            lines += [f"### {table.title}", "", table.to_markdown(), ""]
            lines += [table.note, ""] if table.note else []
    return "\n".join(lines).rstrip() + "\n"
