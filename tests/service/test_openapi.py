"""The description of the service, and whether the service is as described."""

import threading
import time

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.service.making import PATIENT, ROW, audit, decide, detail, plain_rows, promise_for

from rocourse.service import Role, Settings, add_key, create_app

schemathesis = pytest.importorskip("schemathesis", reason="descriptions are tested with it")
uvicorn = pytest.importorskip("uvicorn", reason="the service needs rocourse[serve]: missing")

import httpx  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    negative_data_rejection,
    positive_data_acceptance,
)

NOTICE = "GET /v1/recourses/{id}/notice"
GUARDED = [
    "POST /v1/decisions",
    "GET /v1/recourses",
    "GET /v1/recourses/{id}",
    NOTICE,
    "POST /v1/redemptions",
    "POST /v1/erasures",
    "GET /v1/erasures",
    "GET /v1/model",
    "POST /v1/model/reload",
    "POST /v1/audits",
    "GET /v1/audits/{id}",
]
OPEN = ["GET /healthz", "GET /readyz", "GET /metrics"]
REFUSALS = {"400", "401", "403", "413", "415", "422", "429", "503"}

bounded = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory, stored):
    """A service that runs, and a key to all of it."""
    folder = tmp_path_factory.mktemp("described")
    key = add_key(folder / "keys.json", "tester", list(Role))
    app = create_app(
        Settings(
            model=stored / "model",
            ledger=str(folder / "ledger.db"),
            keys=folder / "keys.json",
            max_rows=20,
            **PATIENT,
        )
    )
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, server_header=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + PATIENT["deadline"]
    while not server.started:
        assert thread.is_alive() and time.monotonic() < until, "the service did not start"
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {key}"}
    server.should_exit = True
    thread.join(30)


@pytest.fixture(scope="module")
def client(service):
    url, headers = service
    with httpx.Client(base_url=url, headers=headers, timeout=PATIENT["deadline"]) as client:
        yield client


@pytest.fixture(scope="module")
def schema(service):
    return schemathesis.openapi.from_url(service[0] + "/openapi.json")


@pytest.fixture(scope="module")
def description(client):
    return client.get("/openapi.json").json()


def operations(description):
    return {
        f"{method.upper()} {path}": operation
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    }


def check(service, operation, mode):
    @bounded
    @given(operation.as_strategy(generation_mode=mode))
    def conforms(case):
        # All of the checks: no 5xx, statuses, types and bodies as described, what is valid taken,
        # what is not refused, other methods refused, nothing told without a key.
        wished = isinstance(case.body, dict) and "wishes" in str(case.body.get("applicants"))
        # A shape does not say which wishes leave something to be had.
        excluded = [positive_data_acceptance] if wished else []
        # One that was taken away may have come back among names that are made up, which are no
        # part of the description: then nothing is wrong.
        query = dict(case.query or {})
        told = {each.name for each in operation.query} & query.keys()
        texts = all(isinstance(query[name], str) and query[name] for name in told)
        if told and texts and told == {each.name for each in operation.query if each.is_required}:
            excluded.append(negative_data_rejection)
        case.call_and_validate(
            headers=dict(service[1]), excluded_checks=excluded, timeout=PATIENT["deadline"]
        )

    conforms()


@pytest.mark.parametrize("label", GUARDED + OPEN)
def test_what_is_as_described_is_answered_as_described(service, schema, label):
    check(service, schema.find_operation_by_label(label), GenerationMode.POSITIVE)


@pytest.mark.parametrize("label", GUARDED)
def test_what_is_not_as_described_is_refused_as_described(service, schema, label):
    check(service, schema.find_operation_by_label(label), GenerationMode.NEGATIVE)


def ask(service, schema, label, **parts):
    """Sends one request that is made by hand, and has the answer checked."""
    case = schema.find_operation_by_label(label).Case(**parts)
    return case.call_and_validate(headers=dict(service[1]))


def test_the_life_of_a_promise_is_as_described(service, schema, client, asked):
    json = {"media_type": "application/json"}
    rows = plain_rows(asked)[:20]
    body = {"applicants": [{"row": row, "subject": "A-1017"} for row in rows]}
    # With recourses and without, and once more: these bodies have what random rows seldom have.
    for _ in range(2):
        answer = ask(
            service,
            schema,
            "POST /v1/decisions",
            body=body,
            headers={"Idempotency-Key": "described"},
            **json,
        )
        assert {bool(d["recourse"]) for d in answer.json()["decisions"]} == {True, False}
    row, recourse = promise_for(client, rows)
    for presented, statuses in ((row, {200}), (recourse["row"], {200}), (row, {409})):
        body = {"id": recourse["id"], "row": presented}
        answer = ask(service, schema, "POST /v1/redemptions", body=body, **json)
        assert answer.status_code in statuses
    path = {"id": recourse["id"]}
    answer = ask(service, schema, "GET /v1/recourses/{id}", path_parameters=path)
    assert answer.json()["status"] == "redeemed"
    asked_for = ask(service, schema, "POST /v1/audits").json()
    done = audit(client)
    path = {"id": asked_for["id"]}
    answer = ask(service, schema, "GET /v1/audits/{id}", path_parameters=path)
    assert answer.json()["report"]["models"] == done["report"]["models"]


def test_wishes_and_options_are_as_described(service, schema, client, asked):
    rows = plain_rows(asked)[:20]
    applicants = [
        {"row": row, "options": 3, "wishes": {"lock": ["age"], "ranges": {"income": [20, None]}}}
        for row in rows
    ]
    media = {"media_type": "application/json"}
    body = {"applicants": applicants}
    answer = ask(service, schema, "POST /v1/decisions", body=body, **media)
    advice = [d["recourse"] for d in answer.json()["decisions"] if d["recourse"]]
    several = next(one for one in advice if len(one["options"]) > 1)
    path = {"id": several["options"][1]["id"]}
    kept = ask(service, schema, "GET /v1/recourses/{id}", path_parameters=path).json()
    assert kept["wishes"] == applicants[0]["wishes"]


def test_the_description_is_valid_and_complete(schema, description):
    schema.validate()
    assert description["openapi"].startswith("3.1")
    assert operations(description).keys() == {*GUARDED, *OPEN}

    def references(node):
        if isinstance(node, dict):
            yield from ([node["$ref"]] if "$ref" in node else [])
            for value in node.values():
                yield from references(value)
        elif isinstance(node, list):
            for value in node:
                yield from references(value)

    known = {f"#/components/schemas/{name}" for name in description["components"]["schemas"]}
    assert set(references(description)) <= known


def success(label):
    """The status of what was done, or is being done."""
    return "202" if label == "POST /v1/audits" else "200"


def test_every_refusal_is_described_as_it_is_sent(description):
    for label, operation in operations(description).items():
        assert operation["responses"].keys() >= REFUSALS | {success(label)}, label
        for status, response in operation["responses"].items():
            if status != success(label):
                problem = response["content"]["application/json"]["schema"]
                assert problem == {"$ref": "#/components/schemas/Problem"}
    assert "HTTPValidationError" not in description["components"]["schemas"]
    conflicts = {label for label, op in operations(description).items() if "409" in op["responses"]}
    assert conflicts == {*GUARDED} - {"GET /v1/model"}
    missing = {label for label, op in operations(description).items() if "404" in op["responses"]}
    named = {"GET /v1/recourses/{id}", "GET /v1/audits/{id}", NOTICE}
    assert missing == named | {"POST /v1/redemptions", "POST /v1/erasures"}


def test_keys_are_described(description):
    schemes = description["components"]["securitySchemes"]
    assert schemes["key"]["type"] == "http" and schemes["key"]["scheme"] == "bearer"
    for label, operation in operations(description).items():
        assert operation.get("security") == ([{"key": []}] if label in GUARDED else None), label


def test_every_answer_and_every_body_has_a_shape(description):
    for label, operation in operations(description).items():
        assert operation["description"], label
        kinds = operation["responses"][success(label)]["content"]
        if label == NOTICE:
            assert sorted(kinds) == ["application/pdf", "text/html", "text/plain"]
            continue
        (kind,) = kinds
        if label == "GET /metrics":
            assert kind == "text/plain"
            continue
        assert kind == "application/json"
        shape = operation["responses"][success(label)]["content"][kind]["schema"]
        assert "$ref" in shape or shape["type"] == "object", label
        if "requestBody" in operation:
            body = operation["requestBody"]["content"]["application/json"]["schema"]
            assert "$ref" in body or "anyOf" in body or body["properties"], label


def test_rows_are_described_by_their_features(description):
    row = description["components"]["schemas"]["Row"]
    assert row["required"] == list(ROW) == list(row["properties"])
    assert row["additionalProperties"] is False
    kinds = {
        name: entry.get("type", entry.get("enum")) for name, entry in row["properties"].items()
    }
    assert kinds == {
        "income": ["number", "null"],
        "years employed": ["integer", "null"],
        "age": ["integer", "null"],
        "job": ["full", "none", "part", None],
        "children": [0, 1, 2, None],
        "owner": [False, True, None],
        "region": ["north", "south", None],
    }


def test_the_example_is_one_that_shows_something(client, description):
    body = description["paths"]["/v1/decisions"]["post"]["requestBody"]
    example = body["content"]["application/json"]["example"]
    (decision,) = client.post("/v1/decisions", json=example).json()["decisions"]
    assert decision["recourse"]["status"] == "found"
    row = client.get("/v1/model").json()["example"]
    assert row == example["applicants"][0]["row"]
    assert not decide(client, row)["decisions"][0]["favourable"]


def test_the_pages_of_others_are_not_served(client):
    # FastAPI's own load scripts from elsewhere.
    for path in ("/docs", "/redoc"):
        detail(client.get(path), 404)
