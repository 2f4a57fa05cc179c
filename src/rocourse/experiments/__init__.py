"""Runs that write JSON; `rocourse.reports` shows what came of them.

Names are imported on first use: a process that does tasks of the pool imports what its tasks need,
and no demo, no figures and no JAX besides.
"""

from typing import TYPE_CHECKING

from rocourse._lazy import lazy_names

if TYPE_CHECKING:
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

_HOMES = {
    "TuningResult": "_tuning_result",
    "TuningTrial": "_tuning_result",
    "check_result_folder": "_folder",
    "evaluate_rolling": "_rolling",
    "publish_demo": "_demo",
    "read_tuning": "_tuning_result",
    "render_demo": "_demo",
    "run_demo": "_demo",
    "tune": "_tuning",
    "write_tuning": "_tuning",
}

__getattr__ = lazy_names(__name__, _HOMES, extra="plots")
