"""A look at a table before a model is trained on it: what is odd, and the option that settles it.

One module a kind of finding; `check_table` gathers them. pandas and a small tree of scikit-learn
are all that it takes.
"""

from rocourse.schema.check._check import check_table
from rocourse.schema.check._protected import is_protected
from rocourse.schema.check._record import SEVERITIES, Finding, Severity, TableCheck, option
from rocourse.schema.check._settled import settled

__all__ = [
    "SEVERITIES",
    "Finding",
    "Severity",
    "TableCheck",
    "check_table",
    "is_protected",
    "option",
    "settled",
]
