"""German Credit: the same 1,000 people before (`org`) and after (`upt`) a data correction.

`org` is the Statlog release of 1994, `upt` the South German Credit release of 2019, which found
that the documentation of the former had put the wrong words to several codes. The two subsets
number the account status and the credit history alike, each after the words of its own
documentation: Status 1 is a person of whom the file *says* that they have no checking account. One
table of words is therefore true of both as a reading of the record, and the correction is that many
records of `org` say the wrong thing of the person. From `org` to `upt` that is, but for ten cells,
a fixed relabelling:

- Status 1→4, 2→1, 3→2, 4→3,
- History 0→3, 1→4, 2→0, 3→2, 4→1,
- Number people 1↔2.

Three columns are numbers in the old documentation and classes in the new one, so that no unit is
true of them:

- `Installment rate`, in per cent of disposable income: 1 is 35 or more, 2 is 25 to 35, 3 is 20 to
  25, 4 is less than 20.
- `Existing credits`, at this bank and with this one: 1 is one, 2 is two or three, 3 is four or
  five, 4 is six or more.
- `Number people`, who depend on the applicant: a count in `org`; in `upt` 1 is three or more and 2
  is none to two.

`Present residence` has the same codes in both, and words only in the new documentation. `Credit
amount` is documented in DM, but the new documentation adds that it went through an unknown
monotonic transformation.

The paper's files call the target `GoodCustomer (label)`; here it is `GoodCustomer`.
"""

from rocourse.datasets._dataset import DatasetInfo
from rocourse.schema import Categorical, Continuous, Schema, Target

__all__ = ["ACTIONABLE_SCHEMA", "INFO", "SCHEMA"]

SCHEMA = Schema(
    features=(
        Continuous("Duration", low=4, high=72, integer=True, unit="months"),
        Continuous("Credit amount", low=250, high=18424, integer=True, unit="DM"),
        Continuous("Installment rate", low=1, high=4, integer=True),
        Continuous("Age", low=19, high=75, integer=True, unit="years"),
        Continuous("Existing credits", low=1, high=4, integer=True),
        Continuous("Number people", low=1, high=2, integer=True),
        Categorical(
            "Present residence",
            categories=(1, 2, 3, 4),
            labels=("less than 1 year", "1 to 4 years", "4 to 7 years", "7 years or more"),
        ),
        Categorical(
            "Status",
            categories=(1, 2, 3, 4),
            labels=(
                "no checking account",
                "balance below 0 DM",
                "balance of 0 to 200 DM",
                "balance of 200 DM or more, or salary paid in for a year",
            ),
        ),
        Categorical(
            "History",
            categories=(0, 1, 2, 3, 4),
            labels=(
                "delay in paying off in the past",
                "critical account, or credits elsewhere",
                "no credits taken, or all paid back duly",
                "existing credits paid back duly till now",
                "all credits at this bank paid back duly",
            ),
        ),
    ),
    target=Target("GoodCustomer", classes=(0, 1), favourable=1),
)

# For advice from a lender. Nobody gets younger, chooses their dependants or rewrites their past;
# nobody should be told to move house, close or overdraw their account, or run up more credits.
ACTIONABLE_SCHEMA = SCHEMA.constrain(
    immutable=("Age", "Number people", "History"),
    increase_only=("Present residence", "Status"),
    decrease_only=("Existing credits",),
)

INFO = DatasetInfo(
    name="german_credit",
    description=(
        "1,000 credit applicants as first published (org) and as corrected (upt): the same people, "
        "with account status, credit history and dependants recoded. The words for status and "
        "history are what each file's documentation says of a person, which in org is often wrong."
    ),
    kind="embedded",
    subsets=("org", "upt"),
    rows=2000,
    target="GoodCustomer",
    license="CC BY 4.0",
    source=(
        "Hofmann, Statlog (German Credit Data), doi:10.24432/C5NC77; "
        "Grömping, South German Credit (Update), doi:10.24432/C5QG88"
    ),
)
