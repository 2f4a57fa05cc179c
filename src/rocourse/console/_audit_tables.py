"""An audit in tables and lines."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Table

from rocourse.evaluation import (
    FEW,
    AuditCounts,
    AuditReport,
    Forecast,
    ForecastScore,
    difference_from_others,
)

_SHOWN_PROMISES = 5
_SHOWN_REASONS = 10
_COLUMNS = ("promises", "honoured", "broken", "unreadable", "share", "95% interval")


def audit_lines(
    reports: Sequence[AuditReport], *, ledger: str, required: float | None
) -> list[RenderableType]:
    """What people are shown of an audit.

    Args:
        reports: One for each model.
        ledger: What to call the ledger.
        required: The share that each model has to honour.
    """
    if not any(report.total.promises for report in reports):
        return [
            f"The ledger {ledger} has no promises that are owed, so there is nothing to honour."
        ]
    lines: list[RenderableType] = [
        _table("Audit", "model", [[(report.name, report.total) for report in reports]])
    ]
    names = {report.model: report.name for report in reports}
    for report in reports:
        lines += _details(report, names)
    if required is not None:
        lines += [
            f"{report.name} must honour {required:.8g} of the promises and honours "
            f"{report.total.share:.8g}: {'passed' if report.meets(required) else 'failed'}"
            for report in reports
        ]
    return lines


def _details(report: AuditReport, names: Mapping[str, str]) -> Iterator[RenderableType]:
    ages = [(age, tally) for age, tally in report.by_age.items() if tally.promises]
    issuers = [(names.get(key) or key[:8], tally) for key, tally in report.by_issuer.items()]
    statuses = [(key, tally) for key, tally in report.by_status.items() if tally.promises]
    # That all of them are open need not be said.
    known = [] if [key for key, _ in statuses] == ["open"] else [statuses]
    what = (
        "by days since issue, issuing model and status"
        if known
        else ("by days since issue and by issuing model")
    )
    yield _table(f"{report.name}, {what}", "issued", [ages, issuers, *known])
    if report.by_segment:
        yield _segments(report)
    for reason, promises in list(report.unreadable.items())[:_SHOWN_REASONS]:
        yield f"unreadable: {promises:,} because {reason}"
    for promise in report.worst[:_SHOWN_PROMISES]:
        subject = "" if promise.subject is None else f" to {promise.subject}"
        yield (
            f"broken: {promise.id}{subject}, {promise.age_days} days old, margin "
            f"{promise.margin:.2f}, probability {promise.probability:.3f} of {promise.desired}"
        )
    if report.total.broken > _SHOWN_PROMISES:
        yield f"… {report.total.broken:,} broken in all"


def _table(
    title: str, what: str, sections: Sequence[Sequence[tuple[str, AuditCounts]]]
) -> RenderableType:
    table = Table(title=escape(title), title_justify="left")
    table.add_column(what, overflow="fold")
    for column in _COLUMNS:
        table.add_column(column, justify="right", no_wrap=True)
    for section in sections:
        for name, tally in section:
            counts = (tally.promises, tally.honoured, tally.broken, tally.unreadable)
            table.add_row(escape(name), *(f"{n:,}" for n in counts), *_share(tally))
        table.add_section()
    return table


def _segments(report: AuditReport) -> RenderableType:
    """Each group of people, and how far it lies from all others."""
    table = Table(title=escape(f"{report.name}, by people"), title_justify="left")
    table.add_column("people", overflow="fold")
    for column in (*_COLUMNS, "beside others"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, tally in report.by_segment.items():
        counts = (tally.promises, tally.honoured, tally.broken, tally.unreadable)
        label = f"{name} (few)" if tally.promises < FEW else name
        apart = difference_from_others(report.total, tally)
        told = "–" if apart is None else f"{apart[0]:+.1%} ({apart[1]:+.1%} to {apart[2]:+.1%})"
        table.add_row(escape(label), *(f"{n:,}" for n in counts), *_share(tally), told)
    return table


def forecast_lines(told: Forecast) -> list[RenderableType]:
    """What people are shown of a forecast."""
    if told.total is None:
        return ["No promises are owed, so there is nothing to forecast."]
    table = Table(title="Forecast", title_justify="left")
    table.add_column("promises to", overflow="fold")
    for column in ("promises", "expected", "at least"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, share in {"everyone": told.total, **told.by_segment}.items():
        label = f"{name} (few)" if share.small else name
        table.add_row(
            escape(label), f"{share.promises:,}", f"{share.expected:.1%}", f"{share.low:.1%}"
        )
    return [
        table,
        f"At a confidence of {told.confidence:.0%}, {told.models:.1%} of models retrained as this "
        f"one was honour at least so many; {told.witnesses} were asked.",
        f"It does not say: {told.leaves_out}",
    ]


def score_lines(name: str, score: ForecastScore | None) -> list[RenderableType]:
    """What came of a forecast."""
    if score is None:
        return []
    held = "held" if score.held else "not held"
    missed = [name for name, (low, share) in score.by_segment.items() if share < low]
    return [
        f"Forecast for {name}: at least {score.low:.1%}, expected {score.expected:.1%}; honoured "
        f"{score.honoured:.1%}: {held}",
        *([f"  less than forecast for {', '.join(missed)}"] if missed else []),
    ]


def _share(tally: AuditCounts) -> tuple[str, str]:
    """A share and its interval; both absent where there are no promises."""
    if tally.share is None or tally.interval is None:
        return "–", "–"
    low, high = tally.interval
    return f"{tally.share:.1%}", f"{100 * low:.1f}–{high:.1%}"
