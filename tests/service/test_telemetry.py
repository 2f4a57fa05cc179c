"""What whoever runs a service sees of it: logs, metrics and traces, without anything personal."""

import json
import logging
import re
import sys

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.service.making import ROW, decide, plain_rows, promise_for, serving

from rocourse.errors import DependencyError, LedgerError
from rocourse.ledger import Ledger
from rocourse.service import _census
from rocourse.service._logs import JsonLines, _Request
from rocourse.service._tracing import Tracing

HEX = re.compile("[0-9a-f]{32}")


def test_every_answer_has_an_id_of_its_own_and_takes_over_only_what_names_nobody(client):
    ids = [client.get(path).headers["x-request-id"] for path in ("/healthz", "/nowhere", "/")]
    assert len(set(ids)) == 3 and all(HEX.fullmatch(id) for id in ids)
    known = "0af7651916cd43dd8448eb211c80319c"
    for given, taken in {known: True, "ada@example.org": False, "short": False}.items():
        answer = client.get("/healthz", headers={"X-Request-ID": given})
        assert (answer.headers["x-request-id"] == given) == taken


def test_a_line_of_the_log_is_json_with_the_request_and_what_came_of_it(client, capsys):
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_Request())
    handler.setFormatter(JsonLines())
    log = logging.getLogger("rocourse.service")
    log.addHandler(handler)
    level = log.level
    log.setLevel(logging.INFO)
    try:
        id = client.get("/v1/recourses/nobody?q=1").headers["x-request-id"]
        try:
            raise ValueError("row of Ada")
        except ValueError:
            log.exception("it failed")
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert first["request"] == id and first["at"].endswith("+00:00")
    assert (first["method"], first["route"]) == ("GET", "/v1/recourses/{id}")
    assert (first["status"], first["level"]) == (422, "info") and first["milliseconds"] >= 0
    assert "request" not in second and second["level"] == "error"
    assert re.fullmatch(r"ValueError in .*test_telemetry\.py line \d+", second["error"])


def test_promises_are_counted_by_status_and_a_ledger_that_is_away_changes_nothing(
    tmp_path, stored, asked, monkeypatch
):
    monkeypatch.setattr(_census, "_FRESH_SECONDS", 0.0)
    monkeypatch.setattr(_census, "_WAIT_SECONDS", 60.0)
    with serving(tmp_path, stored / "model") as client:
        _, recourse = promise_for(client, plain_rows(asked))
        number = client.app.state.backend.ledger.counts(at=client.app.state.backend.clock())["open"]
        text = client.get("/metrics").text
        assert f'rocourse_promises{{status="open"}} {number}.0' in text
        assert 'rocourse_promises{status="redeemed"} 0.0' in text
        assert 'rocourse_queue_seconds_count{kind="many"}' in text
        client.post("/v1/redemptions", json={"id": recourse["id"], "row": recourse["row"]})
        redeemed = 'rocourse_promises{status="redeemed"} 1.0'
        assert redeemed in client.get("/metrics").text

        def away(*_, **__):
            raise LedgerError("The ledger must be readable, but it is not; try again.")

        monkeypatch.setattr(Ledger, "counts", away)
        assert redeemed in client.get("/metrics").text


@pytest.fixture(scope="module")
def spans():
    """What is traced in this process; OpenTelemetry takes one provider, once."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


def test_without_an_exporter_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http", None)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(DependencyError, match=r"rocourse\[otel\]"):
        Tracing.start()


def test_a_request_is_traced_with_the_batch_that_answered_it(tmp_path, stored, spans):
    caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    headers = {"traceparent": caller}
    with serving(tmp_path, stored / "model", traces=True, headers=headers) as client:
        decide(client, ROW)
        client.get("/v1/recourses/nobody")
    found = {span.name: span for span in spans.get_finished_spans()}
    asked = found["POST /v1/decisions"]
    assert f"{asked.context.trace_id:032x}" in caller
    assert f"{asked.parent.span_id:016x}" in caller
    assert asked.attributes["http.response.status_code"] == 200
    assert found["GET /v1/recourses/{id}"].attributes["http.response.status_code"] == 422
    for name in ("decide", "write"):
        (link,) = found[name].links
        assert link.context == asked.context and found[name].attributes["requests"] == 1
    told = {key for span in found.values() for key in span.attributes}
    assert told == {"requests", "rocourse.request"} | {
        f"http.{name}" for name in ("request.method", "route", "response.status_code")
    }
