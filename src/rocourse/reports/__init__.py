"""Every table, figure and page that a person looks at.

What is shown is given: records and results of `rocourse.evaluation`, or plain numbers. Nothing is
trained, judged or written here; pages and pictures are returned as text and bytes.

Names are imported on first use: what has no figure needs no Matplotlib, which is an extra.
"""

from typing import TYPE_CHECKING

from rocourse._lazy import lazy_names

if TYPE_CHECKING:
    from rocourse.reports._attack_figures import ATTACK_MEASURES, Attacked, Sweep, attack_parts
    from rocourse.reports._audit_page import draw_audits, render_audit
    from rocourse.reports._card import render_card
    from rocourse.reports._check_page import render_check
    from rocourse.reports._choice_tables import choice_tables
    from rocourse.reports._comparison_tables import (
        FoundParameters,
        comparison_table,
        protocol_tables,
        search_table,
    )
    from rocourse.reports._curve_figure import curve_parts
    from rocourse.reports._development_tables import development_parts
    from rocourse.reports._flagship_tables import FlagshipLine, flagship_table
    from rocourse.reports._frontier_figures import Frontier, pareto_parts, size_parts
    from rocourse.reports._html import audit_html, recourse_html, schema_html
    from rocourse.reports._images import to_png, to_svg
    from rocourse.reports._judge_tables import judge_parts
    from rocourse.reports._matrix_figure import matrix_parts
    from rocourse.reports._measured import Measured
    from rocourse.reports._model_tables import BASE, EXTENSION, predictive_tables, time_tables
    from rocourse.reports._names import METHOD_TITLES
    from rocourse.reports._page import Section, draw_report
    from rocourse.reports._paper import PAPER_RESULTS
    from rocourse.reports._parameter_figures import Series, series_parts
    from rocourse.reports._parts import Part, Picture, Table, as_markdown
    from rocourse.reports._plausibility_tables import SAMPLES, Advice, plausible_tables
    from rocourse.reports._promise_reading import PromiseLine
    from rocourse.reports._promise_tables import promise_parts
    from rocourse.reports._recourse_tables import oracle_tables, recourse_tables
    from rocourse.reports._reliability_figure import reliability_figure

__all__ = [
    "ATTACK_MEASURES",
    "BASE",
    "EXTENSION",
    "METHOD_TITLES",
    "PAPER_RESULTS",
    "SAMPLES",
    "Advice",
    "Attacked",
    "FlagshipLine",
    "Frontier",
    "Measured",
    "Part",
    "PromiseLine",
    "Picture",
    "FoundParameters",
    "Section",
    "Series",
    "Sweep",
    "Table",
    "as_markdown",
    "attack_parts",
    "audit_html",
    "choice_tables",
    "comparison_table",
    "curve_parts",
    "development_parts",
    "draw_audits",
    "draw_report",
    "flagship_table",
    "matrix_parts",
    "judge_parts",
    "oracle_tables",
    "pareto_parts",
    "plausible_tables",
    "predictive_tables",
    "promise_parts",
    "protocol_tables",
    "recourse_html",
    "recourse_tables",
    "reliability_figure",
    "render_audit",
    "render_card",
    "render_check",
    "schema_html",
    "search_table",
    "series_parts",
    "size_parts",
    "time_tables",
    "to_png",
    "to_svg",
]

_ROOMS = {
    "_attack_figures": (
        "ATTACK_MEASURES",
        "Attacked",
        "Sweep",
        "attack_parts",
    ),
    "_audit_page": (
        "draw_audits",
        "render_audit",
    ),
    "_card": ("render_card",),
    "_check_page": ("render_check",),
    "_choice_tables": ("choice_tables",),
    "_comparison_tables": (
        "FoundParameters",
        "comparison_table",
        "protocol_tables",
        "search_table",
    ),
    "_curve_figure": ("curve_parts",),
    "_development_tables": ("development_parts",),
    "_flagship_tables": (
        "FlagshipLine",
        "flagship_table",
    ),
    "_frontier_figures": (
        "Frontier",
        "pareto_parts",
        "size_parts",
    ),
    "_html": ("audit_html", "recourse_html", "schema_html"),
    "_images": (
        "to_png",
        "to_svg",
    ),
    "_judge_tables": ("judge_parts",),
    "_matrix_figure": ("matrix_parts",),
    "_measured": ("Measured",),
    "_model_tables": (
        "BASE",
        "EXTENSION",
        "predictive_tables",
        "time_tables",
    ),
    "_names": ("METHOD_TITLES",),
    "_page": (
        "Section",
        "draw_report",
    ),
    "_paper": ("PAPER_RESULTS",),
    "_parameter_figures": (
        "Series",
        "series_parts",
    ),
    "_parts": (
        "Part",
        "Picture",
        "Table",
        "as_markdown",
    ),
    "_plausibility_tables": (
        "SAMPLES",
        "Advice",
        "plausible_tables",
    ),
    "_promise_reading": ("PromiseLine",),
    "_promise_tables": ("promise_parts",),
    "_recourse_tables": (
        "oracle_tables",
        "recourse_tables",
    ),
    "_reliability_figure": ("reliability_figure",),
}
_HOMES = {name: module for module, names in _ROOMS.items() for name in names}

__getattr__ = lazy_names(__name__, _HOMES, extra="plots")
