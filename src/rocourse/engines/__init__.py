"""Where work is done: one interface for processes of this machine and for a cluster of Ray."""

from rocourse.engines._audits import LedgerAudit
from rocourse.engines._batches import BatchFunction, batch_function
from rocourse.engines._engine import LOCAL, Engine, Kind
from rocourse.engines._local import ProcessPool
from rocourse.engines._pool import Done, Pool, Task
from rocourse.engines._spread import SpreadModel, collected_warnings, joined_warnings, spread

__all__ = [
    "BatchFunction",
    "batch_function",
    "LOCAL",
    "Done",
    "Engine",
    "Kind",
    "LedgerAudit",
    "Pool",
    "ProcessPool",
    "SpreadModel",
    "Task",
    "collected_warnings",
    "joined_warnings",
    "spread",
]
