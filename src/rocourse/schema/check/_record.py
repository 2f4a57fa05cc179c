"""What a look at a table has found."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from shlex import quote
from types import MappingProxyType
from typing import Any, Literal, get_args

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The worst first: an error stops training, a warning is printed by it, a note only by a check."""

FORMAT, VERSION = "rocourse-check", 1

_NO_COUNTS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something about a table that is better known before training.

    Attributes:
        kind: What it is, such as `"id"`.
        columns: The columns that it is about; none: the rows.
        severity: How bad it is.
        sentence: What was found and what to do, in one sentence.
        option: What settles it, as it is written on the command line; empty: no option does.
        rows: Labels of the first rows that have it, where that helps.
        counts: How many, by column, class or value, where that helps.
        safe: Whether `option` can be taken without asking: nothing that advice needs is lost.
    """

    kind: str
    columns: tuple[str, ...]
    severity: Severity
    sentence: str
    option: str = ""
    rows: tuple[Any, ...] = ()
    counts: Mapping[str, int] = field(default_factory=lambda: _NO_COUNTS)
    safe: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The finding in values that JSON knows."""
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "severity": self.severity,
            "sentence": self.sentence,
            "option": self.option,
            "rows": [row if isinstance(row, int) else str(row) for row in self.rows],
            "counts": dict(self.counts),
            "safe": self.safe,
        }


@dataclass(frozen=True)
class TableCheck:
    """What a look at a table has found, the worst first.

    Attributes:
        rows: How many rows the table has.
        columns: How many columns.
        findings: What was found.
    """

    rows: int
    columns: int
    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        ranked = sorted(self.findings, key=lambda finding: SEVERITIES.index(finding.severity))
        object.__setattr__(self, "findings", tuple(ranked))

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """The findings of one severity."""
        return tuple(finding for finding in self.findings if finding.severity == severity)

    @property
    def safe(self) -> tuple[Finding, ...]:
        """The findings whose options can be taken without asking."""
        return tuple(finding for finding in self.findings if finding.safe)

    @property
    def fixes(self) -> dict[str, list[str]]:
        """The columns that the safe findings name, by option: `drop` and `immutable`."""
        fixes: dict[str, list[str]] = {"drop": [], "immutable": []}
        for finding in self.safe:
            name = finding.option.partition(" ")[0].removeprefix("--")
            fixes[name] += [column for column in finding.columns if column not in fixes[name]]
        fixes["immutable"] = [name for name in fixes["immutable"] if name not in fixes["drop"]]
        return fixes

    def to_dict(self) -> dict[str, Any]:
        """The check in values that JSON knows, with format and version."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "rows": self.rows,
            "columns": self.columns,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def option(name: str, columns: Collection[str]) -> str:
    """An option that names columns, as it is written on the command line."""
    if any("," in column for column in columns):
        return " ".join(f"--{name} {quote(column)}" for column in columns)
    return f"--{name} {quote(','.join(columns))}"
