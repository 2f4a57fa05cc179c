"""The demo's report and figures, made from its stored result alone: redrawing never retrains."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from matplotlib.figure import Figure

from rocourse.reports._images import inlined, to_png
from rocourse.reports._templates import template_environment
from rocourse.reports._theme import DARK, LIGHT, Theme, page_colors
from rocourse.reports.demo._applicant_figure import draw_applicant
from rocourse.reports.demo._figures import draw_kept, draw_panel
from rocourse.reports.demo._result import DemoResult, MethodRun, SampleRecourse
from rocourse.reports.demo._wording import (
    CODES,
    KINDS,
    number,
    percent,
    points,
    promised,
    spread,
    verdicts,
)
from rocourse.schema import Schema

REPORT_FILE = "report.html"
FIGURES_FOLDER = "figures"

_TEMPLATE = "demo.html.j2"


class PagePicture(NamedTuple):
    """A picture inside the page, for light and for dark pages, as data URIs."""

    light: str
    dark: str
    description: str


def draw_demo(result: DemoResult) -> dict[str, bytes]:
    """The report and the figures of a demo, by their paths."""
    figures = {
        f"{FIGURES_FOLDER}/{name}.png": to_png(figure, source=result.digest)
        for name, figure in draw_figures(result).items()
    }
    return {**figures, REPORT_FILE: render_report(result).encode()}


def draw_figures(result: DemoResult) -> dict[str, Figure]:
    """The whole figures, by name."""
    figures = {"kept": draw_kept(result)}
    if result.samples:
        figures["applicant"] = draw_applicant(result, _shown(result), titled=True)
    return figures


def render_report(result: DemoResult) -> str:
    """The report as one self-contained HTML page."""
    environment = template_environment()
    environment.filters.update(percent=percent, number=number, spread=spread, points=points)
    environment.globals.update(promised=promised)
    return environment.get_template(_TEMPLATE).render(
        result=result,
        colors=page_colors(),
        light=LIGHT,
        dark=DARK,
        kinds={kind: KINDS[kind] for kind in result.kinds},
        codes=CODES,
        verdicts=verdicts(result),
        constraints=_constraint_words(result.schema),
        panels=[
            _picture(partial(draw_panel, result, method), _panel_words(method))
            for method in result.methods
        ],
        applicant=_applicant(result),
    )


def _shown(result: DemoResult) -> SampleRecourse:
    """The sample that has a picture: the middle one."""
    return result.samples[len(result.samples) // 2]


def _panel_words(method: MethodRun) -> str:
    cells = [
        f"{KINDS[kind]} {percent(told.mean_unchanged.mean)} without change and "
        f"{percent(told.mean_kept.mean)} with the advice"
        for kind, told in method.told.items()
    ]
    return f"{method.title}, approved by retrained models: {'; '.join(cells) or 'nothing told'}."


def _applicant(result: DemoResult) -> PagePicture | None:
    if not result.samples:
        return None
    sample = _shown(result)
    advice = "; ".join(change.text for change in sample.changes)
    return _picture(
        partial(draw_applicant, result, sample, titled=True),
        f"Applicant {sample.applicant} before and after the advice: {advice}.",
    )


def _constraint_words(schema: Schema) -> str:
    """What advice may not do, in one sentence."""
    fixed = [feature.name for feature in schema.features if feature.immutable]
    rising = [feature.name for feature in schema.features if feature.direction == "up"]
    falling = [feature.name for feature in schema.features if feature.direction == "down"]
    clauses = [
        f"{', '.join(names)} {rule}"
        for names, rule in (
            (fixed, "may not change"),
            (rising, "may only rise"),
            (falling, "may only fall"),
        )
        if names
    ]
    return "; ".join(clauses) + "."


def _picture(draw: Callable[..., Figure], description: str) -> PagePicture:
    light, dark = (inlined(draw(theme=theme)) for theme in _THEMES)
    return PagePicture(light, dark, description)


_THEMES: tuple[Theme, Theme] = (LIGHT, DARK)
