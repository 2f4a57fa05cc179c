"""Judging recourses: metrics, the k-subset protocol, audits, and results that can be stored.

Whatever is judged arrives as a `Recourse` record or as a `Model`; no method is known here.
"""

from rocourse.evaluation._aggregate import Aggregate, Summary
from rocourse.evaluation._audit import Auditor, audit
from rocourse.evaluation._audit_report import AuditCounts, AuditPart, AuditReport, BrokenPromise
from rocourse.evaluation._common_judges import common_judges
from rocourse.evaluation._drift import ALARM_AT, PromiseWatch, promise_alarm, promise_evidence
from rocourse.evaluation._fairness import FOUR_FIFTHS, Difference, GroupFigures, fairness
from rocourse.evaluation._forecast import Forecast, ForecastScore, ForecastShare, forecast
from rocourse.evaluation._metrics import (
    accuracy,
    auc,
    constant_class,
    diversity,
    proximity,
    robust_validity,
    sparsity,
    validity,
)
from rocourse.evaluation._model import Model
from rocourse.evaluation._plausibility import Plausibility
from rocourse.evaluation._probabilities import (
    ReliabilityBin,
    brier_score,
    calibration_error,
    log_loss,
    reliability,
)
from rocourse.evaluation._promises import Asked, PromiseScores, ask, score_asked, score_promises
from rocourse.evaluation._protocol import fit_seed, judge_subset, run_subsets, split
from rocourse.evaluation._results import (
    MODEL_METRICS,
    RECOURSE_METRICS,
    SubsetResult,
    SubsetsResult,
)
from rocourse.evaluation._rolling import RollingResult, Transition, run_rolling
from rocourse.evaluation._scores import (
    PROTOCOLS,
    ModelScores,
    RecourseScores,
    evaluate_model,
    select_rows,
)
from rocourse.evaluation._seeds import SeedsResult
from rocourse.evaluation._segments import FEW, difference_from_others, difference_interval, segments
from rocourse.evaluation._sensible import FrequentValue, SensibleScores, score_sense

__all__ = [
    "Difference",
    "Forecast",
    "ALARM_AT",
    "PromiseWatch",
    "GroupFigures",
    "fairness",
    "ForecastScore",
    "ForecastShare",
    "FEW",
    "FOUR_FIFTHS",
    "difference_from_others",
    "difference_interval",
    "forecast",
    "segments",
    "MODEL_METRICS",
    "PROTOCOLS",
    "RECOURSE_METRICS",
    "Aggregate",
    "Asked",
    "AuditCounts",
    "AuditPart",
    "AuditReport",
    "Auditor",
    "BrokenPromise",
    "FrequentValue",
    "Model",
    "ModelScores",
    "Plausibility",
    "PromiseScores",
    "RecourseScores",
    "ReliabilityBin",
    "RollingResult",
    "SeedsResult",
    "SensibleScores",
    "SubsetResult",
    "SubsetsResult",
    "Summary",
    "Transition",
    "accuracy",
    "ask",
    "auc",
    "audit",
    "brier_score",
    "calibration_error",
    "common_judges",
    "constant_class",
    "evaluate_model",
    "fit_seed",
    "judge_subset",
    "log_loss",
    "proximity",
    "reliability",
    "robust_validity",
    "run_rolling",
    "run_subsets",
    "select_rows",
    "diversity",
    "sparsity",
    "score_asked",
    "score_promises",
    "score_sense",
    "split",
    "validity",
    "promise_alarm",
    "promise_evidence",
]
