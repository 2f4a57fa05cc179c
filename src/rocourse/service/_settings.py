"""How a service is set up."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from rocourse._places import Place
from rocourse.errors import ConfigError
from rocourse.schema import CertificateKind

_LONGEST = timedelta(days=36_500)

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a service serves, remembers and refuses.

    Attributes:
        model: Directory of the model in service.
        ledger: Path or URL of the ledger; None issues recourses that nobody remembers.
        keys: File of the API keys; None lets everyone in who can reach the service.
        candidates: Directories of other models that the audit view judges promises by.
        by: Columns of the model by which it tells people, by themselves and crossed.
        host: Address to listen at.
        port: Port to listen at; 0 takes a free one.
        valid_for: How long a promise binds.
        max_rows: Rows of one request.
        max_bytes: Bytes of one request's body.
        rate: Requests of one caller a second, on average.
        deadline: Seconds until a request is answered or refused; those of many rows have more.
        hosts: Host names that requests may name, besides those of this machine and `host`.
        model_from: `package.module:factory`, a function that returns the model which is explained,
            for models that were stored without it; called again when the model is reloaded.
        certify: The certificate that advice is searched for until it holds; None: none.
        at: The level that it has to reach.
        lender: The lender's file, for letters to applicants; None: letters without a name.
        traces: Whether requests are traced by OpenTelemetry.
    """

    model: Place
    ledger: str | None = None
    keys: Path | None = None
    candidates: Sequence[Path] = ()
    by: Sequence[str] = ()
    host: str = "127.0.0.1"
    port: int = 8000
    valid_for: timedelta = timedelta(days=365)
    max_rows: int = 1000
    max_bytes: int = 1 << 20
    rate: float = 1000.0
    deadline: float = 2.0
    hosts: Sequence[str] = ()
    model_from: str | None = None
    lender: Path | None = None
    certify: CertificateKind | None = None
    at: float | None = None
    traces: bool = False

    @property
    def demand(self) -> tuple[CertificateKind, float | None] | None:
        """The certificate that advice has to reach, and its level; None: none."""
        return None if self.certify is None else (self.certify, self.at)

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and self.keys is None:
            raise ConfigError(
                f"A service that listens at {self.host!r}, where others can reach it, must have "
                "API keys, but no file of keys was given; make one with `rocourse keys add`, or "
                "listen at 127.0.0.1."
            )
        if not timedelta(0) < self.valid_for <= _LONGEST:
            raise ConfigError(
                f"A promise must bind for some time, of at most {_LONGEST.days} days, but got "
                f"{self.valid_for}; give a day or more."
            )
        for name in ("max_rows", "max_bytes", "rate", "deadline"):
            if getattr(self, name) <= 0:
                raise ConfigError(
                    f"The limit {name} must be above 0, but got {getattr(self, name)}; raise it."
                )
