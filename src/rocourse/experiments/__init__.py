"""Runs that write JSON, and the tables, figures and reports that are made from it alone."""

from rocourse.experiments._comparison import (
    ComparisonCell,
    read_comparison,
    run_comparison,
)
from rocourse.experiments._configs import DEMO, PAPER, options_for
from rocourse.experiments._demo import run_demo
from rocourse.experiments._demo_result import DemoResult, MethodRun, SampleRecourse, load_demo
from rocourse.experiments._folder import check_result_folder
from rocourse.experiments._report import render_demo, render_report
from rocourse.experiments._spaces import SPACES, Choices, Span, find_space
from rocourse.experiments._tables import as_markdown, comparison_rows, protocol_tables
from rocourse.experiments._tuning import tune, tune_setting, write_tuning
from rocourse.experiments._tuning_result import TuningResult, TuningTrial, read_tuning
from rocourse.experiments._variants import (
    COMPARISONS,
    Comparison,
    Setting,
    Variant,
    find_comparison,
)

__all__ = [
    "COMPARISONS",
    "DEMO",
    "PAPER",
    "SPACES",
    "Choices",
    "Comparison",
    "ComparisonCell",
    "DemoResult",
    "MethodRun",
    "SampleRecourse",
    "Setting",
    "Span",
    "TuningResult",
    "TuningTrial",
    "Variant",
    "as_markdown",
    "check_result_folder",
    "comparison_rows",
    "find_comparison",
    "find_space",
    "load_demo",
    "options_for",
    "protocol_tables",
    "read_comparison",
    "read_tuning",
    "render_demo",
    "render_report",
    "run_comparison",
    "run_demo",
    "tune",
    "tune_setting",
    "write_tuning",
]
