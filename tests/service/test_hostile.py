"""Whatever is sent, the answer is a sentence, and the service goes on."""

import json
import logging
import re

import pytest
from tests.service.making import (
    FAVOURABLE,
    ROW,
    audit,
    decide,
    detail,
    make_table,
    plain_rows,
    promise_for,
    serving,
    train,
)

from rocourse.artifacts import save
from rocourse.errors import LedgerError
from rocourse.ledger import Ledger
from rocourse.service import add_key
from rocourse.service._backend import Backend
from rocourse.service._batching import Batcher, Busy
from rocourse.service._decider import Decider

ID = "01890a5d-ac96-774b-bcce-b302099a8057"
SECURITY = {
    "content-security-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "permissions-policy",
    "referrer-policy",
    "x-content-type-options",
    "x-frame-options",
}
ATTACKS = ["'; DROP TABLE promises; --", "<script>alert(1)</script>", "{{7*7}}", "../../etc/passwd"]
JSON = {"content-type": "application/json"}
MOST_ROWS = 50


@pytest.fixture(scope="module")
def client(tmp_path_factory, stored):
    folder = tmp_path_factory.mktemp("hostile")
    with serving(folder, stored / "model", max_rows=MOST_ROWS) as client:
        yield client


@pytest.fixture(autouse=True)
def still_answers(client):
    """After whatever a test sent."""
    yield
    assert client.get("/readyz").json() == {"status": "ok"}
    assert len(decide(client, ROW)["decisions"]) == 1


def send(client, content, **headers):
    return client.post("/v1/decisions", content=content, headers=JSON | headers)


def body(**changes):
    """A request for one row with some of its values changed."""
    return {"applicants": [{"row": {**ROW, **changes}}]}


def text_of(document):
    """JSON with all that Python lets through."""
    return json.dumps(document).encode()


class TestSize:
    LARGE = text_of({"applicants": [{"row": ROW, "subject": "x" * 10_000_000}]})

    def test_a_body_that_says_that_it_is_too_large_is_not_read(self, client):
        assert "bytes" in detail(send(client, self.LARGE), 413)

    def test_a_body_that_does_not_say_so_is_not_read_further(self, client):
        taken = 0

        def chunks():
            nonlocal taken
            for start in range(0, len(self.LARGE), 1 << 16):
                taken += 1
                yield self.LARGE[start : start + (1 << 16)]

        response = send(client, chunks())
        assert "content-length" not in response.request.headers
        assert "bytes" in detail(response, 413)

    @pytest.mark.parametrize("length", ["9" * 5000, "-1", "many", "٣"])
    def test_a_length_that_is_none_is_refused(self, client, length):
        response = send(client, b"{}", **{"content-length": length.encode("utf-8")})
        assert detail(response, 413)

    def test_the_largest_body_is_taken(self, tmp_path, stored):
        small = text_of(body())
        with serving(tmp_path, stored / "model", max_bytes=len(small)) as client:
            assert send(client, small).status_code == 200
            assert detail(send(client, small + b" "), 413)
            assert detail(send(client, iter([small, b" "])), 413)

    def test_too_many_rows_are_refused(self, client):
        document = {"applicants": [{"row": ROW}] * (MOST_ROWS + 1)}
        assert "50" in detail(send(client, text_of(document)), 422)
        assert len(decide(client, *[ROW] * MOST_ROWS)["decisions"]) == MOST_ROWS

    def test_no_rows_are_refused(self, client):
        assert detail(client.post("/v1/decisions", json={"applicants": []}), 422)


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 422),
        (b"income=1", 400),
        (b"{", 400),
        (b'{"applicants": [}', 400),
        (b"\xff\xfe\x00", 400),
        (b"\x00", 400),
        (b"[" * 100_000, 400),
        (b'{"a":' * 100_000, 400),
        (b'{"applicants":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
        (b"1" * 10_000, 400),
        (b"null", 422),
        (b"[]", 422),
        (b"[1, 2]", 422),
        (b'"text"', 422),
        (b"1", 422),
        (b"{}", 422),
        (b'{"applicants": null}', 422),
        (b'{"applicants": {}}', 422),
        (b'{"applicants": [null]}', 422),
        (b'{"applicants": [[]]}', 422),
        (b'{"applicants": [{}]}', 422),
        (b'{"applicants": [{"row": null}]}', 422),
        (b'{"applicants": [{"row": []}]}', 422),
        (b'{"applicants": [{"row": "income"}]}', 422),
    ],
    ids=lambda value: repr(value[:24]) if isinstance(value, bytes) else str(value),
)
def test_what_is_no_request_is_refused(client, content, status):
    detail(send(client, content), status)


# A marker that no message has by itself: it must not come back.
SENT = {
    "a word for a number": {"income": "7731.5"},
    "a flag for a number": {"income": True},
    "a list for a number": {"income": [7731]},
    "an object for a number": {"income": {"7731": 7731}},
    "NaN": {"income": float("nan")},
    "infinity": {"income": float("inf")},
    "minus infinity": {"income": float("-inf")},
    "NaN for a whole number": {"age": float("nan")},
    "NaN for a category": {"children": float("nan")},
    "beyond every number": {"income": 10**400},
    "beyond floats": {"age": 7731e300},
    "a fraction for a whole number": {"age": 77.31},
    "a word for a whole number": {"age": "7731"},
    "a flag for a whole number": {"age": True},
    "a word for a numbered category": {"children": "1"},
    "a flag for a numbered category": {"children": True},
    "an unknown numbered category": {"children": 7731},
    "a number for a flag": {"owner": 1},
    "a word for a flag": {"owner": "true"},
    "an unknown category": {"job": "7731"},
    "a number for a word": {"job": 7731},
    "a list for a category": {"job": ["part"]},
    "another case": {"job": "PART7731".removesuffix("7731")},
    "half of a pair": {"job": "7731\ud800"},
    "a null character": {"job": "part\x00"},
    "SQL": {"job": ATTACKS[0]},
    "HTML": {"job": ATTACKS[1]},
}


@pytest.mark.parametrize("changes", SENT.values(), ids=SENT)
def test_a_value_of_the_wrong_kind_is_refused_and_not_repeated(client, changes):
    ((name, value),) = changes.items()
    for path, document in {
        "/v1/decisions": body(**changes),
        "/v1/redemptions": {"id": ID, "row": {**ROW, **changes}},
    }.items():
        response = client.post(path, content=text_of(document), headers=JSON)
        said = detail(response, 422)
        assert f'row → {name}"' in said
        shown = str(value)
        if shown not in ("True", "None", "1", "true", "nan", "inf", "-inf", "PART", "['part']"):
            assert shown not in said
        for trace in ("7731", "DROP", "<script>"):
            assert trace not in said


def test_the_place_is_readable(client):
    said = detail(client.post("/v1/decisions", json=body(age=77.5)), 422)
    assert '"body → applicants → 0 → row → age"' in said
    assert said.endswith("must be a whole number.")


def test_literals_that_are_no_json_are_refused(client):
    for literal in ("NaN", "Infinity", "-Infinity", "1e999"):
        text = json.dumps(body()).replace("31.25", literal)
        assert literal in text
        detail(send(client, text.encode()), 422)


def test_the_known_categories_are_named(client):
    assert "full, none, part" in detail(client.post("/v1/decisions", json=body(job="?")), 422)


@pytest.mark.parametrize("name", ROW)
def test_a_missing_feature_is_named(client, name):
    row = {key: value for key, value in ROW.items() if key != name}
    response = client.post("/v1/decisions", json={"applicants": [{"row": row}]})
    assert name in detail(response, 422)


@pytest.mark.parametrize(
    "document",
    [
        {"applicants": [{"row": {**ROW, "loan": FAVOURABLE}}]},
        {"applicants": [{"row": {**ROW, "feature_0": 1.0}}]},
        {"applicants": [{"row": {**ROW, "": 1}}]},
        {"applicants": [{"row": {**ROW, "\ud800": 1}}]},
        {"applicants": [{"row": {**ROW, "\x00\n": 1}}]},
        {"applicants": [{"row": {**ROW, "x" * 100_000: 1}}]},
        {"applicants": [{"row": ROW, "name": "Ada"}]},
        {"applicants": [{"row": ROW}], "model": "other"},
        {"applicants": [{"row": ROW}], "__proto__": {}},
    ],
)
def test_unknown_fields_are_refused(client, document):
    said = detail(send(client, text_of(document)), 422)
    assert len(said) < 300
    assert "a name that is not known" in said or "valid string" in said
    # A name is as personal as what stands under it.
    for name in ("loan", "feature_0", "name", "model", "__proto__", "xxx"):
        assert f'{name}"' not in said and "xxxx" not in said


@pytest.mark.parametrize(
    "wishes",
    [
        {"Ada Lovelace": 1},
        {"ranges": {"Ada Lovelace": "x"}},
        {"ranges": ["Ada Lovelace"]},
        {"lock": {"Ada Lovelace": 1}},
        {"lock": [["Ada Lovelace"]]},
        {"only": "Ada Lovelace"},
        {"prefer": [{"Ada Lovelace": 1}]},
        "Ada Lovelace",
        ["Ada Lovelace"],
    ],
    ids=repr,
)
def test_wishes_of_another_form_are_refused_and_not_repeated(client, wishes):
    document = {"applicants": [{"row": ROW, "wishes": wishes}]}
    assert "Ada" not in detail(send(client, text_of(document)), 422)


@pytest.mark.parametrize("options", [0, -1, 9, 10**9, 1.5, "1", True, None, [], {}], ids=repr)
def test_a_number_of_options_that_is_none_is_refused(client, options):
    document = {"applicants": [{"row": ROW, "options": options}]}
    assert detail(send(client, text_of(document)), 422)


FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://localhost.evil.example"},
    {"origin": "http://evil.example:8000"},
    {"origin": ""},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site", "origin": "http://localhost"},
    {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-user": "?1"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=repr)
@pytest.mark.parametrize(
    "path", ["/v1/model/reload", "/v1/decisions", "/v1/redemptions", "/v1/audits"]
)
def test_a_page_of_another_site_has_nothing_done(client, path, headers):
    assert "another site" in detail(client.post(path, headers=headers), 403)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://localhost"},
        {"origin": "http://127.0.0.1:8000"},
        {"origin": "https://evil.example", "sec-fetch-site": "same-origin"},
        {"sec-fetch-site": "none"},
    ],
    ids=repr,
)
def test_the_page_itself_and_programs_are_heard(client, headers):
    response = client.post("/v1/decisions", json=body(), headers=headers)
    assert response.status_code == 200
    # Who follows a link from elsewhere sees the page.
    assert client.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer \xff\xfe"},
        {"Authorization": "Basic QWRhOkFkYQ=="},
        {"Authorization": "Bearer " + "x" * 10_000},
        {"Content-Encoding": "gzip"},
        {"Content-Type": "application/json; charset=utf-16"},
        {"Accept": "text/html"},
        {"Range": "bytes=0-1"},
        {"Expect": "100-continue"},
        {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "evil.example"},
        {"X-HTTP-Method-Override": "DELETE"},
        {"X-Request-ID": "Ada Lovelace"},
        {"X-Request-ID": "x" * 5000},
        {"X-Tenant": "another"},
        {"Cookie": "a=b; " * 500},
        {"Upgrade": "websocket", "Connection": "Upgrade"},
        {"Upgrade": "h2c", "Connection": "Upgrade, HTTP2-Settings", "HTTP2-Settings": "AAA"},
    ],
    ids=lambda headers: repr(headers)[:40],
)
def test_headers_that_say_odd_things_change_nothing(client, headers):
    sent = {name: value.encode("latin-1") for name, value in (JSON | headers).items()}
    response = client.post("/v1/decisions", content=text_of(body()), headers=sent)
    assert response.status_code == 200
    assert response.json()["decisions"]


@pytest.mark.parametrize(
    ("where", "twice"),
    [('"age": 44', '"age": 44, "age": 45'), ('"applicants": ', '"applicants": [], "applicants": ')],
    ids=["feature", "field"],
)
def test_a_name_that_comes_twice_is_refused(client, where, twice):
    # One program reads the first of them, the next one the last.
    text = json.dumps(body()).replace(where, twice, 1)
    assert "twice" in detail(send(client, text.encode()), 400)


@pytest.mark.parametrize(
    "subject",
    ["", " ", "x" * 256, "a\x00b", "a\nb", "\ud800", "\u202e", "é", 1, True, [], {"a": 1}],
    ids=repr,
)
def test_a_subject_that_is_no_reference_is_refused(client, subject):
    document = {"applicants": [{"row": ROW, "subject": subject}]}
    assert "subject" in detail(send(client, text_of(document)), 422)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_subject_is_kept_as_it_is_and_never_read(client, asked, attack):
    rows = plain_rows(asked)[:MOST_ROWS]
    row, _ = promise_for(client, rows)
    (decision,) = decide(client, row, subject=attack)["decisions"]
    assert decision["subject"] == attack
    read = client.get(f"/v1/recourses/{decision['recourse']['id']}")
    assert read.json()["subject"] == attack
    assert read.headers["content-type"] == "application/json"
    assert read.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("key", [*ATTACKS, "x" * 256, "a b", "é", ""])
def test_an_idempotency_key_is_a_word_or_is_refused(client, key):
    response = send(client, text_of(body()), **{"Idempotency-Key": key.encode("latin-1")})
    if re.fullmatch(r"[!-~]{1,255}", key):
        assert response.status_code == 200
    else:
        said = detail(response, 422)
        assert not key or key not in said


@pytest.mark.parametrize("id", [*ATTACKS, "%00", "%0a", "%ed%a0%80", "x" * 5000])
def test_an_id_that_is_none_is_refused(client, id):
    response = client.get("/v1/recourses/" + id)
    assert response.status_code in (404, 422)
    detail(response, response.status_code)


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/jsonx",
        "application/vnd.api+json",
        "",
        "\xff",
    ],
)
@pytest.mark.parametrize("path", ["/v1/decisions", "/v1/redemptions", "/v1/model/reload"])
def test_what_does_not_say_that_it_is_json_is_refused(client, path, kind):
    headers = {"content-type": kind.encode("latin-1")}
    detail(client.post(path, content=text_of(body()), headers=headers), 415)


def test_a_body_without_a_type_is_refused(client):
    detail(client.post("/v1/decisions", content=text_of(body())), 415)
    detail(client.post("/v1/decisions", content=iter([text_of(body())])), 415)


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_by_its_other_spellings_is_taken(client, kind):
    headers = {"content-type": kind}
    response = client.post("/v1/decisions", content=text_of(body()), headers=headers)
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/decisions"),
        ("PUT", "/v1/decisions"),
        ("DELETE", "/v1/redemptions"),
        ("POST", f"/v1/recourses/{ID}"),
        ("DELETE", f"/v1/recourses/{ID}"),
        ("GET", "/v1/model/reload"),
        ("PATCH", "/v1/model"),
        ("OPTIONS", "/v1/audits"),
        ("GET", "/v1/audits"),
        ("DELETE", f"/v1/audits/{ID}"),
        ("TRACE", "/healthz"),
        ("MADEUP", "/metrics"),
        ("POST", "/"),
        ("POST", "/static/app.js"),
    ],
)
def test_another_method_is_refused(client, method, path):
    detail(client.request(method, path), 405)


@pytest.mark.parametrize(
    "path",
    [
        "/v2/decisions",
        "/docs",
        "/redoc",
        "/v1",
        "/admin",
        "/static/../_app.py",
        "/static/%2e%2e/_app.py",
        "/static/..%2f_app.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/",
        "/.git/config",
        "/<script>",
    ],
)
def test_another_path_is_unknown(client, path):
    response = client.get(path)
    detail(response, 404)
    assert "create_app" not in response.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "localhost.evil.example", "", "127.0.0.2", "::1"]
)
def test_another_host_is_refused(client, host):
    for path in ("/", "/v1/model", "/healthz", "/nowhere"):
        assert "Host" in detail(client.get(path, headers={"host": host}), 400)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8000", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:8000"]
)
def test_the_service_goes_by_its_own_names(client, host):
    assert client.get("/healthz", headers={"host": host}).status_code == 200


def test_a_name_that_was_allowed_is_taken(tmp_path, stored):
    with serving(tmp_path, stored / "model", hosts=["Backend.Example"]) as client:
        for host in ("backend.example", "backend.example:443"):
            assert client.get("/healthz", headers={"host": host}).status_code == 200


def test_every_answer_carries_the_headers_of_a_careful_service(client, monkeypatch):
    answers = [
        client.get("/"),
        client.get("/static/app.js"),
        client.get("/static/none.js"),
        client.get("/healthz"),
        client.get("/metrics"),
        client.get("/openapi.json"),
        client.get("/nowhere"),
        client.get("/v1/decisions"),
        client.get("/v1/decisions/", follow_redirects=False),
        client.get("/healthz", headers={"host": "evil.example"}),
        send(client, b"{"),
        send(client, b"{}"),
        send(client, text_of(body())),
        send(client, b"x" * (1 << 21)),
        client.get(f"/v1/recourses/{ID}"),
        client.post("/v1/decisions", content=b"x", headers={"content-type": "text/plain"}),
    ]
    monkeypatch.setattr(Decider, "decide", lambda *_: 1 / 0)
    answers.append(send(client, text_of(body())))
    monkeypatch.undo()
    assert {answer.status_code for answer in answers} >= {200, 400, 404, 405, 413, 415, 422, 500}
    for answer in answers:
        assert answer.headers.keys() >= SECURITY, answer.request.url
        assert answer.headers["x-frame-options"] == "DENY"
        assert "unsafe" not in answer.headers["content-security-policy"]
        if not answer.request.url.path.startswith("/static/"):
            assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


SECRETS = ["SECRET-subject", "SECRET-idem", "7731.25", "SECRET-category", "SECRET-query", ID]


def test_the_log_holds_nothing_of_what_was_sent(tmp_path, stored, asked, caplog):
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "keys.json"
    key = add_key(path, "branch", ["decide", "read", "audit", "operate"])
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": "SECRET-idem"}
    rows = plain_rows(asked)
    with serving(tmp_path, stored / "model", keys=path, headers=headers) as client:
        document = {"applicants": [{"row": row, "subject": "SECRET-subject"} for row in rows]}
        document["applicants"][0]["row"]["income"] = 7731.25
        answer = client.post("/v1/decisions", json=document).json()
        id = next(d["recourse"]["id"] for d in answer["decisions"] if d["recourse"])
        client.get(f"/v1/recourses/{id}?q=SECRET-query")
        client.get(f"/v1/recourses/{ID}")
        client.get("/SECRET-query")
        client.post("/v1/redemptions", json={"id": id, "row": {**ROW, "income": 7731.25}})
        client.post("/v1/decisions", json=body(income="7731.25", job="SECRET-category"))
        client.post("/v1/decisions", json=body(income=7731.25))
        client.get("/v1/model", headers={"Authorization": "Bearer SECRET-query"})
        audit(client)
        client.post("/v1/model/reload")
    # Of the service's own and of the libraries', but not of the client's that the test uses.
    ours = [r for r in caplog.records if not r.name.startswith(("httpx", "httpcore", "asyncio"))]
    logged = "\n".join(r.getMessage() + str(r.exc_info) + str(r.stack_info) for r in ours)
    assert "POST /v1/decisions 200" in logged
    assert "GET /v1/recourses/{id} 404" in logged
    for secret in [*SECRETS, id, key]:
        assert secret not in logged


def test_what_fails_inside_is_not_told(client, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("row of Ada: income 7731.25")

    caplog.set_level(logging.INFO, logger="rocourse.service")
    for (owner, name), ask in {
        (Decider, "decide"): lambda: send(client, text_of(body())),
        (Backend, "redeem"): lambda: client.post("/v1/redemptions", json={"id": ID, "row": ROW}),
        (Backend, "reload"): lambda: client.post("/v1/model/reload"),
    }.items():
        caplog.clear()
        monkeypatch.setattr(owner, name, fail)
        response = ask()
        monkeypatch.undo()
        said = detail(response, 500)
        logged = "\n".join(r.getMessage() + str(r.exc_info) for r in caplog.records)
        assert f"RuntimeError in {__file__}" in logged
        for text in (said, logged):
            assert "7731" not in text and "Ada" not in text


def test_an_unexpected_failure_of_the_database_is_told_in_one_sentence(client, monkeypatch):
    def fail(*_, **__):
        raise LedgerError("A write must be confirmed to count, but it was not; try again.")

    for name, ask in {
        "issue": lambda: send(client, text_of(body())),
        "promise": lambda: client.get(f"/v1/recourses/{ID}"),
        "ping": lambda: client.get("/readyz"),
    }.items():
        monkeypatch.setattr(Ledger, name, fail)
        response = ask()
        monkeypatch.undo()
        assert "confirmed" in detail(response, 503)


def test_a_row_that_the_model_itself_refuses_is_not_repeated(tmp_path):
    # Such a model is asked for by whoever trains it.
    model = train(make_table()).set_params(out_of_range="error")
    save(model, tmp_path / "strict")
    with serving(tmp_path, tmp_path / "strict") as client:
        assert len(decide(client, ROW)["decisions"]) == 1
        response = client.post("/v1/decisions", json=body(income=7731.25))
        assert "range" in (said := detail(response, 422))
        assert "7731" not in said


def test_made_up_methods_do_not_fill_the_memory(client):
    for i in range(20):
        client.request(f"MADEUP{i}", "/healthz")
    assert "MADEUP" not in client.get("/metrics").text


def test_more_than_can_wait_is_turned_away(client, monkeypatch):
    async def full(*_):
        raise Busy

    monkeypatch.setattr(Batcher, "ask", full)
    response = send(client, text_of(body()))
    monkeypatch.undo()
    assert "try again" in detail(response, 503)
    assert response.headers["retry-after"] == "1"
