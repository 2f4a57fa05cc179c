"""The report: every table and figure that has results, drawn from stored JSON alone."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocourse.artifacts import write_file
from rocourse.experiments._figures import to_png, to_svg
from rocourse.experiments._templates import template_environment
from rocourse.experiments._theme import LIGHT
from rocourse.experiments.reproduction._parts import Part, Picture, Table
from rocourse.experiments.reproduction._registry import REGISTRY, Entry
from rocourse.experiments.reproduction._scales import Scale
from rocourse.experiments.reproduction._store import Store

REPORT_HTML = "report.html"
REPORT_MARKDOWN = "report.md"
FIGURES_FOLDER = "figures"

_TEMPLATE = "reproduction.html.j2"
_PAPERS = "The paper's tables and figures"


@dataclass(frozen=True)
class Section:
    """An entry with what has come of it.

    Attributes:
        entry: The entry.
        parts: Its tables and pictures.
        done: How many of its jobs have a result.
        total: How many jobs it has.
        note: What to know about it.
    """

    entry: Entry
    parts: tuple[Part, ...]
    done: int
    total: int
    note: str

    @property
    def tables(self) -> list[Table]:
        """Its tables."""
        return [part for part in self.parts if isinstance(part, Table)]

    @property
    def pictures(self) -> list[Picture]:
        """Its pictures."""
        return [part for part in self.parts if isinstance(part, Picture)]


def read_sections(entries: Iterable[Entry], scale: Scale, store: Store) -> list[Section]:
    """The entries that have any results, with their tables and pictures."""
    sections = []
    for entry in entries:
        jobs = list(dict.fromkeys(entry.jobs(scale)))
        results = store.results(jobs)
        if results:
            parts = tuple(entry.render(scale, results))
            sections.append(Section(entry, parts, len(results), len(jobs), entry.note(scale)))
    return sections


def write_report(
    scale: Scale, out: Path, *, registry: Mapping[str, Entry] | None = None
) -> list[Section]:
    """Draws all entries that have results: a page, the same as Markdown, and the figures.

    Nothing is read but the packed results, each once, and nothing is computed anew.

    Args:
        scale: Which jobs to look for.
        out: The folder of the packed results, which the report is put beside.
        registry: The entries, if not those of the paper.

    Returns:
        What was drawn.
    """
    entries = (REGISTRY if registry is None else registry).values()
    sections = read_sections(entries, scale, Store(out, out))
    files: dict[str, bytes] = {}
    images: dict[str, str] = {}
    for section in sections:
        for picture in section.pictures:
            svg = to_svg(picture.figure())
            files[f"{FIGURES_FOLDER}/{picture.name}.svg"] = svg
            files[f"{FIGURES_FOLDER}/{picture.name}.png"] = to_png(picture.figure())
            images[picture.name] = f"data:image/svg+xml;base64,{b64encode(svg).decode()}"
    files[REPORT_MARKDOWN] = _markdown(scale, sections).encode()
    files[REPORT_HTML] = _html(scale, sections, images).encode()
    for name, content in files.items():
        write_file(out / name, content, force=True)
    return sections


def _is_ours(sections: Sequence[Section]) -> bool:
    """Whether there is nothing of the paper."""
    return bool(sections) and all(section.entry.ours for section in sections)


def _html(scale: Scale, sections: Sequence[Section], images: Mapping[str, str]) -> str:
    template = template_environment().get_template(_TEMPLATE)
    return template.render(
        scale=scale, sections=sections, images=images, theme=LIGHT, ours=_is_ours(sections)
    )


def _markdown(scale: Scale, sections: Sequence[Section]) -> str:
    ours = _is_ours(sections)
    lines = [
        f"# {'Our own comparisons' if ours else _PAPERS}, scale `{scale.name}`",
        "",
        *(() if ours else (scale.note, "")),
        *(
            f"- [{section.entry.name}](#{section.entry.name}): {section.entry.title}"
            for section in sections
        ),
        "",
    ]
    for section in sections:
        lines += [
            f"## {section.entry.name}",
            "",
            f"**{section.entry.title}.** {section.note}".rstrip(),
            "",
            f"`rocourse reproduce {section.entry.name} --scale {scale.name}`: {section.done} of "
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
