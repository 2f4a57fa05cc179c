"""Loans guaranteed by the U.S. Small Business Administration, by year of approval, 1994 to 2009.

The rows are those that the paper's authors published: all charged-off loans of the national file
and a random half of those paid in full, so that base rates differ from the source. The target
`Approve` is 1 for a loan that was paid in full.

`Term` is in whole years; `DisbursementGross`, `GrAppv` and `SBA_Appv` are natural logarithms of
dollars. `NewExist` is 1 for an existing business, 2 for a new one and 0 where not stated. `LowDoc`
is Y or N for the short-form programme; its other codes are not documented, and neither are the
authors' `Sector_Points`.
"""

from pathlib import Path

import pandas as pd

from rocourse.datasets._dataset import DatasetInfo
from rocourse.errors import DataError
from rocourse.schema import Categorical, Continuous, Schema, Target

__all__ = ["ACTIONABLE_SCHEMA", "INFO", "SCHEMA", "file_name", "read"]

_STATES = (
    "AK AL AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS "
    "MT NC ND NE NH NJ NM NV NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY"
)
_TERMS = (*range(31), 32, 33, 35, 36, 43)
_TERM_LABELS = ("less than 1 year", "1 year", *(f"{years} years" for years in _TERMS[2:]))

# The ranges and categories of all 449,152 rows, written down so that loading a single year gives
# the schema of the union without reading the other fifteen; a test compares them with the files.
SCHEMA = Schema(
    features=(
        Categorical("State", categories=tuple(_STATES.split())),
        Categorical("Term", categories=_TERMS, labels=_TERM_LABELS),
        Continuous("NoEmp", low=0, high=9999, integer=True, unit="employees"),
        Continuous("NewExist", low=0, high=2, integer=True),
        Continuous("CreateJob", low=0, high=5085, integer=True, unit="jobs"),
        Continuous("RetainedJob", low=0, high=9500, integer=True, unit="jobs"),
        Categorical("UrbanRural", categories=(0, 1, 2), labels=("not stated", "urban", "rural")),
        Categorical(
            "LowDoc",
            categories=("0", "A", "C", "N", "R", "S", "Y"),
            labels=("code 0", "code A", "code C", "no", "code R", "code S", "yes"),
        ),
        Continuous(
            "DisbursementGross", low=8.294049640102028, high=16.253179275746923, unit="ln $"
        ),
        Continuous("GrAppv", low=6.907755278982137, high=15.201804919084164, unit="ln $"),
        Continuous("SBA_Appv", low=6.214608098422191, high=15.201804919084164, unit="ln $"),
        Categorical("Sector_Points", categories=(0, 1, 2, 3, 4, 5)),
    ),
    target=Target("Approve", classes=(0, 1), favourable=1),
)

# For advice to an applicant. Where, in what trade and how old the business is are given; nobody
# should be told to lay people off. LowDoc is fixed because five of its seven codes are not
# documented, so that moving to one of them means nothing.
ACTIONABLE_SCHEMA = SCHEMA.constrain(
    immutable=("State", "NewExist", "UrbanRural", "LowDoc", "Sector_Points"),
    increase_only=("NoEmp",),
)

INFO = DatasetInfo(
    name="loan",
    description=(
        "449,152 small-business loans by year of approval, 1994 to 2009: was the loan paid in full?"
    ),
    kind="download",
    subsets=tuple(str(year) for year in range(1994, 2010)),
    rows=449_152,
    target="Approve",
    license="public records of the U.S. Small Business Administration",
    source="https://github.com/BirkhoffG/RoCourseNet, assets/data/loan",
)

_DTYPES = {
    "State": "str",
    "LowDoc": "str",
    **dict.fromkeys(("Term", "NoEmp", "CreateJob", "RetainedJob", "UrbanRural"), "int64"),
    **dict.fromkeys(("Sector_Points", "Approve"), "int64"),
    **dict.fromkeys(("NewExist", "DisbursementGross", "GrAppv", "SBA_Appv"), "float64"),
}


def file_name(year: str) -> str:
    """The file that holds the rows of `year`."""
    return f"year={year}.csv"


def read(path: Path) -> pd.DataFrame:
    """Reads the rows of one year."""
    columns = [*SCHEMA.names, "Approve"]
    try:
        frame = pd.read_csv(path, dtype=_DTYPES)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise DataError(
            f"{path} must be a CSV file of the loan data, but reading it gave: {reason}; "
            "delete it and run `rocourse data fetch loan`."
        ) from error
    missing = [column for column in columns if column not in frame]
    if missing:
        raise DataError(
            f"{path} must hold the columns of the loan data, but lacks {', '.join(missing)}; "
            "delete it and run `rocourse data fetch loan`."
        )
    # The source writes this whole number as "1.0".
    return frame[columns].astype({"NewExist": "int64"})
