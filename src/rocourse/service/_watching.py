"""Whether promises begin to break, by those that people came back with."""

from typing import Any

from rocourse.evaluation import ALARM_AT, PromiseWatch
from rocourse.ledger import Ledger
from rocourse.service._decider import Decider


def watch_promises(
    decider: Decider, ledger: Ledger | None, tenant: str | None = None
) -> PromiseWatch:
    """Whether promises begin to break, by those that people came back with so far.

    Args:
        decider: The model in service: by what it promises.
        ledger: Where promises are; None: nowhere.
        tenant: Whose; None for all.
    """
    watch = PromiseWatch(decider.kept)
    for honoured in [] if ledger is None else ledger.outcomes(tenant=tenant):
        watch.add(honoured)
    return watch


def drift_document(watch: PromiseWatch) -> dict[str, Any]:
    """What is told of it in JSON."""
    return {
        "kept": watch.kept,
        "outcomes": watch.outcomes,
        "honoured": int(watch.honoured),
        "evidence": watch.evidence,
        "alarm_at": ALARM_AT,
        "alarm": watch.alarm(),
    }
