"""What notebooks show of records, schemas and audits: small tables, colours left to the page."""

from collections.abc import Iterable, Sequence
from html import escape

from rocourse.evaluation import AuditReport
from rocourse.schema import Recourse, Schema

_SHOWN = 8


def recourse_html(recourse: Recourse) -> str:
    """The first rows of a recourse: status, what to change, and how sure it is."""
    first = recourse[:_SHOWN]
    sure = first.robustness
    lines = [
        (
            label,
            status,
            f"{before} → {after}",
            "; ".join(changes) or "–",
            f"{probability:.0%}",
            *(() if sure is None else (f"{sure[k]:.0%}",)),
        )
        for k, (label, status, before, after, changes, probability) in enumerate(
            zip(
                first.original.index,
                first.status,
                first.predicted,
                first.desired,
                first.descriptions(),
                first.probability,
                strict=True,
            )
        )
    ]
    heads = ["row", "status", "class", "changes", "probability"]
    heads += [] if sure is None else ["kept by the next model"]
    return _table(repr(recourse), heads, lines, len(recourse))


def schema_html(schema: Schema) -> str:
    """The features of a schema, each with its range and its limits in words."""
    lines = [
        (
            feature.name,
            "category" if hasattr(feature, "categories") else "number",
            _range(feature),
            "immutable" if feature.immutable else feature.direction or "",
        )
        for feature in schema.features
    ]
    return _table(
        f"Schema of {len(lines)} features",
        ["feature", "kind", "range", "may change"],
        lines,
        len(lines),
    )


def audit_html(report: AuditReport) -> str:
    """The counts of an audit: all promises, and those of each issuing model."""
    counts = {"all promises": report.total} | {
        f"issued by {issuer[:12]}": tally for issuer, tally in report.by_issuer.items()
    }
    lines = [
        (
            name,
            f"{tally.promises:,}",
            f"{tally.honoured:,}",
            f"{tally.broken:,}",
            f"{tally.unreadable:,}",
            "–" if tally.share is None else f"{tally.share:.1%}",
        )
        for name, tally in counts.items()
    ]
    heads = ["", "promises", "honoured", "broken", "unreadable", "share"]
    return _table(repr(report), heads, lines, len(lines))


def _range(feature: object) -> str:
    categories: Sequence[object] | None = getattr(feature, "categories", None)
    if categories is None:
        low, high = (getattr(feature, name) for name in ("low", "high"))
        return f"{low:g} to {high:g} {getattr(feature, 'unit', '')}".strip()
    words = [str(category) for category in categories[:_SHOWN]]
    more = len(categories) - len(words)
    return ", ".join(words) + (f" and {more} more" if more else "")


def _table(title: str, heads: Sequence[str], lines: Iterable[Sequence[object]], rows: int) -> str:
    body = [
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in line) + "</tr>"
        for line in lines
    ]
    more = f"<p>and {rows - len(body):,} more</p>" if rows > len(body) else ""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    return (
        f"<div><p><b>{escape(title)}</b></p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>{more}</div>"
    )
