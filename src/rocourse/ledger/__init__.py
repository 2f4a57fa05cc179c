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

from rocourse.ledger._audits import AuditRecord
from rocourse.ledger._chain import Head
from rocourse.ledger._erasing import Erasure
from rocourse.ledger._ids import new_id
from rocourse.ledger._ledger import Ledger
from rocourse.ledger._records import (
    DEFAULT_TENANT,
    JSON,
    Conflict,
    Event,
    Issue,
    NewPromise,
    Promise,
    PromisedRows,
    Status,
)
from rocourse.ledger._restoring import restored
from rocourse.ledger._roles import writer_grants
from rocourse.ledger._upkeep import Upkeep
from rocourse.ledger._verifying import Verification

__all__ = [
    "DEFAULT_TENANT",
    "JSON",
    "AuditRecord",
    "Conflict",
    "Erasure",
    "Event",
    "Head",
    "Issue",
    "Ledger",
    "NewPromise",
    "Promise",
    "PromisedRows",
    "Status",
    "Upkeep",
    "Verification",
    "new_id",
    "restored",
    "writer_grants",
]
