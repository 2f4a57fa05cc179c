"""The demo: what it found, and how that is shown."""

from rocourse.reports.demo._page import draw_demo, render_report
from rocourse.reports.demo._result import (
    CORRECTED,
    DEMO_PROTOCOLS,
    FORMAT,
    ORIGINAL,
    RESULT_FILE,
    Change,
    DemoResult,
    MethodRun,
    SampleRecourse,
    load_demo,
)

__all__ = [
    "CORRECTED",
    "DEMO_PROTOCOLS",
    "FORMAT",
    "ORIGINAL",
    "RESULT_FILE",
    "Change",
    "DemoResult",
    "MethodRun",
    "SampleRecourse",
    "draw_demo",
    "load_demo",
    "render_report",
]
