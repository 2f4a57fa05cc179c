"""The demo's report and figures, made from its stored result alone: redrawing never retrains."""

from base64 import b64encode
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from matplotlib.figure import Figure

from rocourse.reports._axes import CURVES
from rocourse.reports._images import to_png, to_svg
from rocourse.reports._templates import template_environment
from rocourse.reports._theme import DARK, LIGHT, Theme, page_colors
from rocourse.reports.demo._applicant_figure import draw_applicant
from rocourse.reports.demo._figures import draw_curve, draw_curves, draw_matrices, draw_matrix
from rocourse.reports.demo._result import DEMO_PROTOCOLS, ORIGINAL, DemoResult, MethodRun
from rocourse.reports.demo._wording import (
    ABSENT,
    CODES,
    HONOURED,
    PROTOCOLS,
    SUBSETS,
    constant_warnings,
    count,
    number,
    percent,
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
        f"{FIGURES_FOLDER}/{name}.png": to_png(figure)
        for name, figure in draw_figures(result).items()
    }
    return {**figures, REPORT_FILE: render_report(result).encode()}


def draw_figures(result: DemoResult) -> dict[str, Figure]:
    """The whole figures, by name."""
    figures = {
        "validity_matrix": draw_matrices(result, DEMO_PROTOCOLS),
        "training_curves": draw_curves(result),
    }
    if result.samples:
        figures["applicant"] = draw_applicant(result, result.samples[0], titled=True)
    return figures


def render_report(result: DemoResult) -> str:
    """The report as one self-contained HTML page."""
    environment = template_environment()
    environment.filters.update(percent=percent, number=number)
    environment.globals.update(count=count, parameter_words=_parameter_words)
    return environment.get_template(_TEMPLATE).render(
        result=result,
        colors=page_colors(),
        light=LIGHT,
        dark=DARK,
        protocols={name: PROTOCOLS[name] for name in DEMO_PROTOCOLS},
        subset_words=SUBSETS,
        honoured_words=HONOURED,
        codes=CODES,
        warnings=constant_warnings(result),
        fixed_words=_constraint_words(result.schema),
        same_predictor=_same_predictor(result),
        absent=ABSENT,
        matrices=_matrices(result),
        curves=_curves(result),
        applicant=_applicant(result),
    )


def _matrices(result: DemoResult) -> dict[str, list[PagePicture]]:
    return {
        protocol: [
            _picture(partial(draw_matrix, method, protocol), _matrix_words(method, protocol))
            for method in result.methods
        ]
        for protocol in DEMO_PROTOCOLS
    }


def _matrix_words(method: MethodRun, protocol: str) -> str:
    names = method.subsets.names
    cells = [
        f"recourses of the {SUBSETS[issuer]} model judged by the {SUBSETS[judge]} model "
        f"{percent(share)}"
        for issuer, line in zip(names, method.subsets.matrix(protocol), strict=True)
        for judge, share in zip(names, line, strict=True)
    ]
    return f"Validity matrix of {method.title}: {'; '.join(cells)}."


def _curves(result: DemoResult) -> list[PagePicture]:
    titles = " and ".join(method.title for method in result.methods)
    return [
        _picture(partial(draw_curve, result, measure), f"{title} per epoch of {titles}.")
        for measure, title in CURVES.items()
    ]


def _applicant(result: DemoResult) -> PagePicture | None:
    if not result.samples:
        return None
    sample = result.samples[0]
    advice = "; ".join(change.text for change in sample.changes)
    return _picture(
        partial(draw_applicant, result, sample),
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


def _same_predictor(result: DemoResult) -> bool:
    """Whether the predictors of all methods were trained alike, step by step."""
    curves = [[record["l1"] for record in method.histories[ORIGINAL]] for method in result.methods]
    return all(curve == curves[0] for curve in curves)


def _parameter_words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    return "none" if value is None else str(value)


def _picture(draw: Callable[[Theme], Figure], description: str) -> PagePicture:
    return PagePicture(_embed(draw(LIGHT)), _embed(draw(DARK)), description)


def _embed(figure: Figure) -> str:
    return f"data:image/svg+xml;base64,{b64encode(to_svg(figure)).decode()}"
