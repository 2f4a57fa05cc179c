"""Runs that write JSON, and the tables, figures and reports that are made from it alone."""

from rocourse.experiments._configs import DEMO, PAPER, options_for
from rocourse.experiments._demo import run_demo
from rocourse.experiments._demo_result import DemoResult, MethodRun, SampleRecourse, load_demo
from rocourse.experiments._folder import check_result_folder
from rocourse.experiments._report import render_demo, render_report

__all__ = [
    "DEMO",
    "PAPER",
    "DemoResult",
    "MethodRun",
    "SampleRecourse",
    "check_result_folder",
    "load_demo",
    "options_for",
    "render_demo",
    "render_report",
    "run_demo",
]
