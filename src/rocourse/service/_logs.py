"""The service's log: one line of JSON each, with the request's id and nothing that is personal."""

import json
import logging
import os
import re
import sys
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

REQUEST: ContextVar[str | None] = ContextVar("request", default=None)
"""The id of the request that is being answered."""

# As proxies and tracers make them. Whatever else callers send may be a person's name.
_ID = re.compile("[0-9a-f-]{16,64}")


def request_id(given: str | None) -> str:
    """An id by which a request is found in logs: the given one if it is hexadecimal, else a new."""
    return given if given is not None and _ID.fullmatch(given) else os.urandom(16).hex()


def place_of(error: BaseException) -> str:
    """What was raised and where, but not its message, which may quote what an applicant sent."""
    where = traceback.extract_tb(error.__traceback__)[-1:]
    return type(error).__name__ + "".join(f" in {at.filename} line {at.lineno}" for at in where)


class _Request(logging.Filter):
    """Adds to each line the request that it is about."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request = REQUEST.get()
        return True


class JsonLines(logging.Formatter):
    """Records as JSON: time, level, logger, message, request, and what `extra` names in `facts`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        request = getattr(record, "request", None)
        if request is not None:
            line["request"] = request
        line |= getattr(record, "facts", {})
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = place_of(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def log_to_stderr(level: int = logging.INFO) -> None:
    """Has the service write its log to standard error, as JSON lines; as text to a terminal."""
    # What no line says need not be found out for each.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_Request())
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
        if sys.stderr.isatty()
        else JsonLines()
    )
    logging.basicConfig(level=level, handlers=[handler])
    for noisy in ("uvicorn", "alembic", "sqlalchemy", "jax", "opentelemetry"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
