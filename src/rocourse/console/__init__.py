"""What the commands share: output, options, and how they read what was typed.

What `--help` needs is imported at once; other names are imported on first use, for they need
pandas.
"""

from typing import TYPE_CHECKING

from rocourse._lazy import lazy_names
from rocourse.console import options
from rocourse.console._extras import needing_service
from rocourse.console._failures import INTERRUPTED, Commands
from rocourse.console._output import JobReport, Output, Report, native_output_to_stderr
from rocourse.console._schema_options import with_schema_options

if TYPE_CHECKING:
    from rocourse.console._advice import AdviceSummary
    from rocourse.console._answers import Sheet, ask_rows
    from rocourse.console._audit_tables import audit_lines, forecast_lines, score_lines
    from rocourse.console._check_lines import check_lines
    from rocourse.console._classes import parse_class, target_of
    from rocourse.console._columns import ColumnOptions
    from rocourse.console._fairness_table import fairness_lines
    from rocourse.console._gap_lines import gap_lines
    from rocourse.console._method_names import chosen_method, find_method
    from rocourse.console._parameters import read_parameters
    from rocourse.console._preview import Preview
    from rocourse.console._requests import (
        AdviceRequest,
        CertificateRequest,
        PredictionRequest,
        certified,
    )
    from rocourse.console._rolling_table import rolling_lines
    from rocourse.console._starting_config import starting_config
    from rocourse.console._table_look import TableLook, look_over
    from rocourse.console._training_rows import read_training_rows, take_period
    from rocourse.console._wishes import WishOptions

__all__ = [
    "INTERRUPTED",
    "AdviceRequest",
    "AdviceSummary",
    "CertificateRequest",
    "Commands",
    "JobReport",
    "Output",
    "PredictionRequest",
    "Preview",
    "Report",
    "Sheet",
    "TableLook",
    "ColumnOptions",
    "WishOptions",
    "ask_rows",
    "audit_lines",
    "fairness_lines",
    "forecast_lines",
    "score_lines",
    "certified",
    "check_lines",
    "chosen_method",
    "find_method",
    "gap_lines",
    "look_over",
    "needing_service",
    "options",
    "parse_class",
    "read_parameters",
    "read_training_rows",
    "rolling_lines",
    "starting_config",
    "take_period",
    "target_of",
    "with_schema_options",
    "native_output_to_stderr",
]

_HOMES = {
    "AdviceRequest": "_requests",
    "AdviceSummary": "_advice",
    "CertificateRequest": "_requests",
    "PredictionRequest": "_requests",
    "Sheet": "_answers",
    "certified": "_requests",
    "Preview": "_preview",
    "TableLook": "_table_look",
    "ColumnOptions": "_columns",
    "ask_rows": "_answers",
    "audit_lines": "_audit_tables",
    "fairness_lines": "_fairness_table",
    "forecast_lines": "_audit_tables",
    "score_lines": "_audit_tables",
    "check_lines": "_check_lines",
    "chosen_method": "_method_names",
    "find_method": "_method_names",
    "gap_lines": "_gap_lines",
    "look_over": "_table_look",
    "parse_class": "_classes",
    "read_parameters": "_parameters",
    "read_training_rows": "_training_rows",
    "rolling_lines": "_rolling_table",
    "starting_config": "_starting_config",
    "take_period": "_training_rows",
    "target_of": "_classes",
    "WishOptions": "_wishes",
}

__getattr__ = lazy_names(__name__, _HOMES)
