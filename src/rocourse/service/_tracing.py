"""Traces by OpenTelemetry: a span for each request, and one for each batch that answers some."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rocourse.errors import DependencyError


class Tracing:
    """Spans of what a service does; none unless it was asked for.

    Args:
        tracer: OpenTelemetry's; None traces nothing.
    """

    def __init__(self, tracer: Any = None) -> None:
        self._tracer = tracer

    @classmethod
    def start(cls) -> "Tracing":
        """Traces, as the variables `OTEL_…` have it.

        Raises:
            DependencyError: OpenTelemetry is not installed.
        """
        try:
            from opentelemetry import trace
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            raise _missing() from error
        if not isinstance(trace.get_tracer_provider(), TracerProvider):
            try:
                from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            except ImportError as error:
                raise _missing() from error
            provider = TracerProvider(resource=Resource.create({"service.name": "rocourse"}))
            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
            trace.set_tracer_provider(provider)
        return cls(trace.get_tracer("rocourse.service"))

    @contextmanager
    def request(self, headers: Mapping[str, str]) -> Iterator[Any]:
        """The span of a request, under the caller's own if it names one; None if none is made."""
        if self._tracer is None:
            yield None
            return
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind

        known = {name: headers[name] for name in ("traceparent", "tracestate") if name in headers}
        with self._tracer.start_as_current_span(
            "request", context=extract(known), kind=SpanKind.SERVER, record_exception=False
        ) as span:
            yield span

    def here(self) -> Any:
        """What a batch is to name as a request that it answers; None if nothing is traced."""
        if self._tracer is None:
            return None
        from opentelemetry.trace import Link, get_current_span

        return Link(get_current_span().get_span_context())

    @contextmanager
    def part(self, name: str, requests: Sequence[Any]) -> Iterator[None]:
        """The span of some work for requests, known by what `here` gave for each."""
        if self._tracer is None:
            yield
            return
        links = [one for one in requests if one is not None]
        with self._tracer.start_as_current_span(
            name,
            links=links,
            attributes={"requests": len(requests)},
            record_exception=False,
        ):
            yield


def tell(span: Any, method: str, route: str, status: int, request: str) -> None:
    """Says what a request was, and what came of it: nothing that the caller sent."""
    if span is None:
        return
    span.update_name(f"{method} {route}")
    span.set_attributes(
        {
            "http.request.method": method,
            "http.route": route,
            "http.response.status_code": status,
            "rocourse.request": request,
        }
    )


def _missing() -> DependencyError:
    return DependencyError(
        "Traces need OpenTelemetry, which is not installed; install it with "
        "`pip install 'rocourse[otel]'`, or serve without --traces."
    )
