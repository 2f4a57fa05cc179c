"""The demo: what it found, and how that is shown."""

from rocourse.reports.demo._page import draw_demo, render_report
from rocourse.reports.demo._readme import fill_readme
from rocourse.reports.demo._result import (
    FORMAT,
    RESULT_FILE,
    Change,
    DemoResult,
    MethodRun,
    SampleRecourse,
    Verdicts,
    load_demo,
)

__all__ = [
    "FORMAT",
    "RESULT_FILE",
    "Change",
    "DemoResult",
    "MethodRun",
    "SampleRecourse",
    "Verdicts",
    "draw_demo",
    "fill_readme",
    "load_demo",
    "render_report",
]
