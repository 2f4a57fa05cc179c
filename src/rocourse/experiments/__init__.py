"""Runs that write JSON; `rocourse.reports` shows what came of them."""

from rocourse.experiments._demo import publish_demo, render_demo, run_demo
from rocourse.experiments._folder import check_result_folder
from rocourse.experiments._rolling import evaluate_rolling
from rocourse.experiments._tuning import tune, write_tuning
from rocourse.experiments._tuning_result import TuningResult, TuningTrial, read_tuning

__all__ = [
    "TuningResult",
    "TuningTrial",
    "check_result_folder",
    "evaluate_rolling",
    "publish_demo",
    "read_tuning",
    "render_demo",
    "run_demo",
    "tune",
    "write_tuning",
]
