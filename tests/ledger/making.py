"""Promises and issues to write in tests."""

from datetime import UTC, datetime, timedelta

from rocourse.ledger import Issue, NewPromise

NOW = datetime(2026, 3, 4, 5, 6, 7, 891011, tzinfo=UTC)
ROW = {"Age": 41, "Income": 30_000.5, "Job": "clerk", "Note": None}


def make_promise(**changes):
    fields = {
        "subject": "applicant-17",
        "model": "m1",
        "schema_version": "1",
        "row": ROW,
        "recourse": {**ROW, "Income": 36_000.25},
        "desired": "approved",
        "probability_before": 0.25,
        "probability_after": 0.75,
        "robustness": 0.9,
        "issued_at": NOW,
        "expires_at": NOW + timedelta(days=30),
    }
    return NewPromise(**{**fields, **changes})


def make_issue(*promises, key=None, fingerprint="f1", answer="{}", tenant="default"):
    fields = {"key": key, "fingerprint": fingerprint, "answer": answer, "tenant": tenant}
    return Issue(promises=promises, **fields)


def issue_many(ledger, number, **changes):
    """Issues promises in one go, and returns their ids in order."""
    promises = [make_promise(**changes) for _ in range(number)]
    ledger.issue([make_issue(*promises)])
    return sorted(promise.id for promise in promises)
