"""The look at a table before a model is trained on it: what stops, what is told, what is fixed."""

from dataclasses import dataclass, replace
from shlex import quote

import pandas as pd

from rocourse._places import Place
from rocourse.console._columns import ColumnOptions
from rocourse.errors import DataError
from rocourse.schema import Schema
from rocourse.schema.check import Finding, TableCheck, settled
from rocourse.tables import split_names

_SHOWN = 6
_DONE = {"drop": "left out", "immutable": "made immutable"}


@dataclass(frozen=True)
class TableLook:
    """A table that was looked at, with what was said about its columns and what is safe to add.

    Attributes:
        check: What is left to be told.
        columns: The options, with those of the fixes.
        added: The columns to leave out for the fixes.
        fixed: What was fixed, a line a finding.
        command: What tells everything.
    """

    check: TableCheck
    columns: ColumnOptions
    added: list[str]
    fixed: tuple[str, ...]
    command: str

    def require_no_errors(self) -> None:
        """Refuses a table that no model should be trained on.

        Raises:
            DataError: With the sentence of the first error, and how many more there are.
        """
        errors = self.check.of("error")
        if not errors:
            return
        more = f" ({len(errors) - 1} more: {self.command})" if len(errors) > 1 else ""
        raise DataError(f"{errors[0].sentence.removesuffix('.')}{more}.")

    def lines(self) -> list[str]:
        """What to tell before training: what was fixed, and the warnings."""
        told = [f"fixed: {line}" for line in self.fixed]
        warnings = self.check.of("warning")
        told += [f"warning: {finding.sentence}" for finding in warnings[:_SHOWN]]
        if len(warnings) > _SHOWN:
            told.append(f"warning: {len(warnings) - _SHOWN} more, told by {self.command}")
        return told


def look_over(
    data: Place,
    frame: pd.DataFrame,
    target: str | None,
    columns: ColumnOptions,
    *,
    fix: bool,
    gaps_told: bool,
) -> TableLook:
    """Looks at a table, with what was said about its columns in mind.

    Args:
        data: The file, for messages.
        frame: Its rows, without columns that are left out; the id is not looked at.
        target: Column that is predicted.
        columns: What was said about columns.
        fix: Whether to take what is safe.
        gaps_told: Whether what becomes of each column's gaps is told besides.
    """
    # A wrong name is for the schema to refuse, which needs it.
    frame = frame.drop(columns=[] if columns.id is None else columns.id, errors="ignore")
    names = list(frame.columns)
    # A word for the whole table settles all gaps.
    gaps_settled = gaps_told or any("=" not in text for text in columns.missing or ())
    check = settled(
        Schema.check(frame, target, columns.favourable_class(frame, target)),
        decided=[*split_names(columns.categorical, names), *split_names(columns.integer, names)],
        constrained=[
            name
            for said in (columns.immutable, columns.increase_only, columns.decrease_only)
            for name in split_names(said, names)
        ],
        handled=["missing"] if gaps_settled else [],
    )
    added: list[str] = []
    fixed: tuple[str, ...] = ()
    if fix:
        fixes = check.fixes
        fixed = tuple(_fixed(finding) for finding in check.safe)
        added = fixes["drop"]
        immutable = (*(columns.immutable or ()), *fixes["immutable"])
        columns = replace(columns, immutable=immutable)
        left = tuple(finding for finding in check.findings if not finding.safe)
        check = replace(check, findings=left)
    command = f"rocourse check {quote(str(data))}"
    if target is not None:
        command += f" --target {quote(target)}"
    return TableLook(check, columns, added, fixed, command)


def _fixed(finding: Finding) -> str:
    done = _DONE[finding.option.partition(" ")[0].removeprefix("--")]
    return f"{', '.join(map(repr, finding.columns))} {done} ({finding.kind})"
