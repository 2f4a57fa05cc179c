"""What was promised: issued recourses, their status and its history, in SQLite or PostgreSQL.

```python
from rocourse.ledger import Issue, Ledger, NewPromise

with Ledger.open("ledger.db") as ledger:
    promise = NewPromise(subject="applicant-17", model=digest, ...)
    [answer] = ledger.issue([Issue(promises=[promise], key=key, fingerprint=..., answer=...)])
    ledger.record(promise.id, "redeemed", model=digest)
```

The package knows neither models nor schemas: rows come in and go out as JSON.
"""

from rocourse.ledger._ids import new_id
from rocourse.ledger._ledger import Ledger
from rocourse.ledger._records import (
    JSON,
    Conflict,
    Event,
    Issue,
    NewPromise,
    Promise,
    Status,
)

__all__ = [
    "JSON",
    "Conflict",
    "Event",
    "Issue",
    "Ledger",
    "NewPromise",
    "Promise",
    "Status",
    "new_id",
]
