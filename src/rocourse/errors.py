"""The one exception tree of the package.

```
RocourseError
├── SchemaError      (ValueError)      a schema is malformed, or contradicts its rows
├── DataError        (ValueError)      rows break the rules of their schema
├── ConfigError      (ValueError)      an option has a value it cannot have
├── ArtifactError    (ValueError)      what is stored is missing, damaged or of another format
├── TrainingError    (ArithmeticError) training led to numbers that are not finite
├── OutputError      (OSError)         an output path exists already or cannot be written
├── FetchError       (OSError)         a download failed or does not match its checksum
├── EngineError                        the workers of an engine died
├── StoreError                         an object store cannot be reached, or refuses
├── LedgerError                        the ledger cannot be opened, read or written
│   ├── UnknownPromise (LookupError)   no promise has this id
│   └── SettledPromise (ValueError)    a promise cannot change to this status any more
└── DependencyError  (ImportError)     an optional dependency is not installed
```

Every message is one sentence that names the column or option, the rule, what was received and what
to do.
"""

__all__ = [
    "ArtifactError",
    "ConfigError",
    "DataError",
    "DependencyError",
    "EngineError",
    "FetchError",
    "LedgerError",
    "OutputError",
    "RocourseError",
    "SchemaError",
    "SettledPromise",
    "StoreError",
    "TrainingError",
    "UnknownPromise",
]


class RocourseError(Exception):
    """Base of all errors that the package raises on purpose."""


class SchemaError(RocourseError, ValueError):
    """A schema is malformed, or contradicts the rows it is fitted on."""


class DataError(RocourseError, ValueError):
    """Rows break the rules of their schema."""


class ConfigError(RocourseError, ValueError):
    """An option has a value it cannot have."""


class ArtifactError(RocourseError, ValueError):
    """A stored model or result is missing, damaged or of another format."""


class TrainingError(RocourseError, ArithmeticError):
    """Training led to numbers that are not finite."""


class OutputError(RocourseError, OSError):
    """An output path exists already or cannot be written."""


class FetchError(RocourseError, OSError):
    """A download failed or does not match its checksum."""


class EngineError(RocourseError):
    """Those who worked on a task died, as often as it was tried."""


class StoreError(RocourseError):
    """An object store cannot be reached, or refuses what is asked of it."""


class LedgerError(RocourseError):
    """The ledger cannot be opened, read or written, or was given what it cannot keep."""


class UnknownPromise(LedgerError, LookupError):
    """No promise of the ledger has this id."""


class SettledPromise(LedgerError, ValueError):
    """A promise has a status that it cannot leave, or not for the one asked for."""


class DependencyError(RocourseError, ImportError):
    """An optional dependency is not installed."""
