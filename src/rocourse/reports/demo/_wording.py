"""Words and numbers that the terminal and the report have in common."""

from rocourse.reports.demo._result import CORRECTED, ORIGINAL, DemoResult

PROTOCOLS = {"adverse": "refused", "all": "all"}
SUBSETS = {ORIGINAL: "original", CORRECTED: "corrected"}
HONOURED = {True: "honoured", False: "not honoured"}

CODES = (
    "Installment rate, in per cent of disposable income: 1 is 35 or more, 2 is 25 to 35, 3 is 20 "
    "to 25, 4 is less than 20. Existing credits: 1 is one, 2 is two or three, 3 is four or five, 4 "
    "is six or more."
)
"""What the numbers of German Credit stand for where they are classes."""

ABSENT = "–"


def percent(share: float | None) -> str:
    """A share to a tenth of a per cent."""
    return ABSENT if share is None else f"{share:.1%}"


def number(value: float | None) -> str:
    """A measure to two decimals."""
    return ABSENT if value is None else f"{value:.2f}"


def count(share: float | None, rows: int) -> str:
    """A share of rows as their number."""
    return ABSENT if share is None else str(round(share * rows))


def verdicts(result: DemoResult) -> list[str]:
    """What came out for refused applicants, in one sentence per method."""
    sentences = []
    for method in result.methods:
        scores = method.recourses("adverse")
        if scores.rows == 0:
            sentences.append(f"{method.title} refused nobody.")
        else:
            sentences.append(
                f"Of {method.title}'s {scores.rows} recourses for refused applicants, the "
                f"retrained model honours {count(scores.robust_validity, scores.rows)} "
                f"({percent(scores.robust_validity)}); it would approve "
                f"{count(method.unchanged['adverse'], scores.rows)} of these applicants without "
                "any change."
            )
    return sentences


def constant_warnings(result: DemoResult) -> list[str]:
    """A sentence for each model that says the same of everyone."""
    return [
        f"{method.title}'s model of the {SUBSETS[name]} data gives every test row the same class, "
        "so what it says of recourses means nothing."
        for method in result.methods
        for name in method.constant
    ]
