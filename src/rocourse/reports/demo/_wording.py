"""Words and numbers that the terminal, the report and the README have in common."""

from rocourse.evaluation import Aggregate
from rocourse.reports.demo._result import DemoResult, MethodRun

KINDS = {
    "committee": "committee of networks",
    "network": "plain network",
    "boosting": "gradient boosting",
    "logistic": "logistic regression",
}
"""The kinds of retrained models, in words."""

CODES = "Existing credits, at this bank: 1 is one, 2 is two or three, 3 is four or five, 4 is more."
"""What the numbers of German Credit stand for where they are classes."""

ABSENT = "–"


def percent(share: float | None) -> str:
    """A share in whole per cent: there are too few people for tenths."""
    return ABSENT if share is None else f"{share:.0%}"


def number(value: float | None) -> str:
    """A measure to one decimal."""
    return ABSENT if value is None else f"{value:.1f}"


def spread(measured: Aggregate) -> str:
    """Mean and standard deviation of a share."""
    if measured.mean is None:
        return ABSENT
    return percent(measured.mean) + ("" if measured.std is None else f" ± {100 * measured.std:.0f}")


def points(measured: Aggregate) -> str:
    """A difference of shares in points."""
    return ABSENT if measured.mean is None else f"{100 * measured.mean:+.0f}"


def promised(method: MethodRun) -> str:
    """How many promises a method makes."""
    return "none" if method.stated is None else str(method.promised)


def verdicts(result: DemoResult) -> list[str]:
    """What came out, one or more sentences a method."""
    return [" ".join(_sentences(method)) for method in result.methods]


def _sentences(method: MethodRun) -> list[str]:
    if not method.refused:
        return [f"{method.title} refuses nobody."]
    sentences = [_opening(method)]
    sentences += _shortfalls(method)
    if method.unusual is not None and method.unusual > 0:
        sentences.append(
            f"{percent(method.unusual)} of its advice asks for a number beyond the 1st or the 99th "
            "percentile of the customers: a loan that hardly anybody takes."
        )
    if method.most_asked is not None:
        sentences.append(
            f"The number that it asks for most often: {method.most_asked}, from "
            f"{percent(method.most_asked_share)}."
        )
    return sentences


def _opening(method: MethodRun) -> str:
    if not method.counted:
        return f"{method.title} promises nothing to the {method.refused} whom it refuses." + (
            f" {method.unsure} are told what is valid today." if method.unsure else ""
        )
    told = method.told[method.own]
    unchanged = f"{percent(told.mean_unchanged.mean)} without any change"
    judge = f"retrained models of its own kind ({KINDS[method.own]})"
    if method.stated is None:
        return (
            f"{method.title} tells {method.counted} of the {method.refused} whom it refuses what "
            f"to change, and promises nothing: {judge} approve {spread(told.mean_kept)}, "
            f"and {unchanged}."
        )
    return (
        f"{method.title} makes a promise to {method.promised} of the {method.refused} whom it "
        f"refuses, {percent(method.stated)} of which are to be kept: {judge} keep "
        f"{spread(told.mean_kept)}, and would approve {unchanged}."
    )


def _shortfalls(method: MethodRun) -> list[str]:
    """What has to be said plainly: worse than silence, or worse than stated."""
    sentences = []
    worse = [KINDS[kind] for kind, told in method.told.items() if (told.lift.mean or 0.0) < 0]
    if worse:
        sentences.append(
            f"Worse than silence: by {' and '.join(worse)}, fewer are approved with the advice of "
            f"{method.title} than without any change."
        )
    if method.stated is not None:
        below = [
            f"{KINDS[kind]} ({percent(told.mean_kept.mean)})"
            for kind, told in method.told.items()
            if told.mean_kept.mean is not None and told.mean_kept.mean < method.stated
        ]
        if below:
            sentences.append(f"Fewer than stated are kept by {', '.join(below)}.")
        if method.unsure_told:
            told = method.unsure_told[method.own]
            sentences.append(
                f"{method.unsure} more are told what is valid today, without a promise: "
                f"{percent(told.mean_kept.mean)} of that would be kept "
                f"(without change: {percent(told.mean_unchanged.mean)})."
            )
    return sentences
