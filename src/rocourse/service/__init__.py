"""The service: decisions with recourse over HTTP, and promises that are remembered.

```
backend = model + ledger      decides, promises, redeems, reloads
app = backend + batching      HTTP, keys, limits, the page
```
"""

from rocourse.service._app import create_app
from rocourse.service._keys import Caller, KeyRing, Role, add_key, list_keys, remove_key
from rocourse.service._logs import log_to_stderr
from rocourse.service._run import serve
from rocourse.service._settings import LOOPBACK, Settings

__all__ = [
    "LOOPBACK",
    "Caller",
    "KeyRing",
    "Role",
    "Settings",
    "add_key",
    "create_app",
    "list_keys",
    "log_to_stderr",
    "remove_key",
    "serve",
]
