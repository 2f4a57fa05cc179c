"""What the service counts, for Prometheus."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from rocourse.evaluation import PromiseWatch
from rocourse.ledger import NewPromise
from rocourse.service._decider import Decision

__all__ = ["CONTENT_TYPE_LATEST", "Metrics"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


class Metrics:
    """Counters of one service; each has its own, so that tests and services do not share any."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        own = partial(partial, namespace="rocourse", registry=self._registry)
        counter, histogram, gauge = own(Counter), own(Histogram), own(Gauge)
        self._requests = counter("requests", "Requests", ("method", "route", "status"))
        self._seconds = histogram("request_seconds", "Time to answer", ("route",), buckets=_SECONDS)
        self._rows = histogram("batch_rows", "Rows answered together", buckets=_ROWS)
        self._decisions = counter("decisions", "Decisions", ("outcome",))
        self._redemptions = counter("redemptions", "Returns", ("status",))
        self._waits = histogram(
            "queue_seconds", "Time before a batch takes it", ("kind",), buckets=_SECONDS
        )
        shed = counter("shed", "Requests that are refused for want of time", ("when",))
        # Found once: there may be many, and nothing else is done for them.
        self._shed = {when: shed.labels(when) for when in ("unread", "read", "late")}
        self._certificates = counter("certificates", "Promises with a certificate", ("kind",))
        self._promises = gauge("promises", "Promises in the ledger", ("status",))
        self._counted = gauge("promises_counted_at", "When promises were counted last, Unix time")
        self._evidence = gauge("promise_evidence", "Against promises being kept as stated")
        self._alarm = gauge("promise_alarm", "Whether fewer promises are kept than stated")
        self._model = gauge("model_info", "The model in service", ("digest", "method"))

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Counts a request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def batch(self, decisions: Sequence[Decision]) -> None:
        """Counts decisions that were made together, and what came of them."""
        self._rows.observe(len(decisions))
        for decision in decisions:
            outcome = "favourable"
            if decision.advice is not None:
                outcome = "recourse" if decision.advice.found else "no_recourse"
            self._decisions.labels(outcome).inc()

    def shed(self, when: Literal["unread", "read", "late"]) -> None:
        """Counts a request that is refused for want of time; one that is unread nowhere else."""
        self._shed[when].inc()

    def waited(self, kind: str, seconds: float) -> None:
        """Counts a request of a kind that has its turn."""
        self._waits.labels(kind).observe(seconds)

    def promised(self, promises: Iterable[NewPromise]) -> None:
        """Counts what is proved of promises that were written."""
        for promise in promises:
            if promise.certificate is not None:
                self._certificates.labels(str(promise.certificate.get("kind"))).inc()

    def counted(self, promises: Mapping[str, int], at: float) -> None:
        """Says how many promises stand where."""
        for status, number in promises.items():
            self._promises.labels(status).set(number)
        self._counted.set(at)

    def returned(self, status: str) -> None:
        """Counts a return."""
        self._redemptions.labels(status).inc()

    def watched(self, watch: PromiseWatch) -> None:
        """Says what is known of promises that people came back with."""
        self._evidence.set(watch.evidence)
        self._alarm.set(watch.alarm())

    def in_service(self, digest: str, method: str) -> None:
        """Says which model is in service."""
        self._model.clear()
        self._model.labels(digest, method).set(1)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self._registry)
