"""What is left of a check when the user has spoken."""

from collections.abc import Collection
from dataclasses import replace

from rocourse.schema.check._protected import unchangeable_finding
from rocourse.schema.check._record import Finding, TableCheck


def settled(
    check: TableCheck,
    *,
    decided: Collection[str] = (),
    constrained: Collection[str] = (),
    handled: Collection[str] = (),
) -> TableCheck:
    """A check without what has been settled already.

    Args:
        check: What was found.
        decided: Columns of which it has been said what they are: none of them stops training.
        constrained: Columns of which it has been said what advice may do to them.
        handled: Kinds of findings of which it has been said what is to be done.
    """
    heard = (finding for finding in check.findings if finding.kind not in handled)
    left = (_left(finding, set(decided), set(constrained)) for finding in heard)
    return replace(check, findings=tuple(finding for finding in left if finding is not None))


def _left(finding: Finding, decided: set[str], constrained: set[str]) -> Finding | None:
    columns = set(finding.columns)
    # What may be done to a feature, not whether it should be one.
    if finding.option.startswith("--immutable ") and columns & constrained:
        others = [name for name in finding.columns if name not in constrained]
        return unchangeable_finding(finding.kind, others) if others else None
    if columns and columns <= decided:
        # Heard, and still worth a word.
        return replace(finding, severity="note", safe=False)
    return finding
