"""Every table, figure and page that a person looks at.

What is shown is given: records and results of `rocourse.evaluation`, or plain numbers. Nothing is
trained, judged or written here; pages and pictures are returned as text and bytes.
"""

from rocourse.reports._attack_figures import ATTACK_MEASURES, Attacked, Sweep, attack_parts
from rocourse.reports._audit_page import draw_audits, render_audit
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
    "recourse_tables",
    "reliability_figure",
    "render_audit",
    "render_check",
    "search_table",
    "series_parts",
    "size_parts",
    "time_tables",
    "to_png",
    "to_svg",
]
