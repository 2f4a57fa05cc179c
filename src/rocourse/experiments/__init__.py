"""Runs that write JSON, and the tables, figures and reports that are made from it alone."""

from rocourse.experiments._configs import DEMO, PAPER, options_for
from rocourse.experiments._demo import run_demo
from rocourse.experiments._demo_result import DemoResult, MethodRun, SampleRecourse, load_demo
from rocourse.experiments._folder import check_result_folder
from rocourse.experiments._report import render_demo, render_report
from rocourse.experiments._spaces import SPACES, Choices, Span, find_space
from rocourse.experiments._tables import as_markdown
from rocourse.experiments._tuning import tune, write_tuning
from rocourse.experiments._tuning_result import TuningResult, TuningTrial, read_tuning

__all__ = [
    "DEMO",
    "PAPER",
    "SPACES",
    "Choices",
    "DemoResult",
    "MethodRun",
    "SampleRecourse",
    "Span",
    "TuningResult",
    "TuningTrial",
    "as_markdown",
    "check_result_folder",
    "find_space",
    "load_demo",
    "options_for",
    "read_tuning",
    "render_demo",
    "render_report",
    "run_demo",
    "tune",
    "write_tuning",
]
