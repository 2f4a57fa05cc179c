"""Who may ask for what, and how often."""

import hashlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from tests.command_line import refused, run, succeed
from tests.service.making import (
    ROW,
    audit,
    client_of,
    detail,
    ledger_of,
    plain_rows,
    promise_for,
    serving,
)

from rocourse.errors import ConfigError
from rocourse.service import (
    Caller,
    KeyRing,
    Role,
    Settings,
    add_key,
    create_app,
    list_keys,
    remove_key,
)
from rocourse.service._guards import RateLimit

ID = "01890a5d-ac96-774b-bcce-b302099a8057"
DECISION = {"applicants": [{"row": ROW}]}
# Method, path, body, and the role that is needed; None takes every key.
ROUTES = {
    "decide": ("POST", "/v1/decisions", DECISION, "decide"),
    "read": ("GET", f"/v1/recourses/{ID}", None, "read"),
    "list": ("GET", "/v1/recourses?subject=A-1", None, "read"),
    "erase": ("POST", "/v1/erasures", {"subject": "A-1"}, "erase"),
    "erasures": ("GET", "/v1/erasures", None, "erase"),
    "redeem": ("POST", "/v1/redemptions", {"id": ID, "row": ROW}, "decide"),
    "model": ("GET", "/v1/model", None, None),
    "reload": ("POST", "/v1/model/reload", None, "operate"),
    "audit": ("POST", "/v1/audits", None, "audit"),
}
OPEN = ["/healthz", "/readyz", "/metrics", "/", "/openapi.json"]


def bearing(key):
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A file of keys, and one key for each role by its name."""
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    return path, {role.value: add_key(path, f"the {role.value} desk", [role]) for role in Role}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory, stored, keys):
    with serving(tmp_path_factory.mktemp("guarded"), stored / "model", keys=keys[0]) as client:
        yield client


def ask(client, route, headers=None):
    method, path, body, _ = ROUTES[route]
    return client.request(method, path, json=body, headers=headers)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearing("rck_wrong"),
        bearing(""),
        {"Authorization": "Bearer"},
        {"Authorization": "Basic dXNlcjpwYXNz"},
        {"X-API-Key": "rck_wrong"},
    ],
    ids=["none", "wrong", "empty", "bare", "basic", "elsewhere"],
)
def test_without_a_key_nothing_is_told(guarded, route, headers):
    response = ask(guarded, route, headers)
    assert detail(response, 401)
    assert response.headers["www-authenticate"] == "Bearer"


def test_the_hash_of_a_key_is_no_key(guarded, keys):
    for entry in json.loads(keys[0].read_text())["keys"]:
        assert detail(ask(guarded, "model", bearing(entry["sha256"])), 401)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("route", ROUTES)
def test_a_key_opens_the_doors_of_its_role(guarded, keys, route, role):
    needed = ROUTES[route][-1]
    response = ask(guarded, route, bearing(keys[1][role.value]))
    if needed in (None, role.value):
        # There is no such promise, which is told to those who may ask.
        assert response.status_code in (200, 202, 404), response.text
    else:
        assert needed in detail(response, 403)


def test_a_key_of_several_roles_opens_several_doors(tmp_path, stored, asked):
    path = tmp_path / "keys.json"
    headers = bearing(add_key(path, "branch", ["decide", "read"]))
    with serving(tmp_path, stored / "model", keys=path, headers=headers) as client:
        _, recourse = promise_for(client, plain_rows(asked))
        assert client.get(f"/v1/recourses/{recourse['id']}").status_code == 200
        assert client.post("/v1/audits").status_code == 403


def test_who_lacks_the_role_does_not_learn_whether_a_promise_exists(guarded, keys, asked):
    guarded.headers.update(bearing(keys[1]["decide"]))
    try:
        _, recourse = promise_for(guarded, plain_rows(asked))
    finally:
        del guarded.headers["Authorization"]
    answers = {
        guarded.get(f"/v1/recourses/{id}", headers=bearing(keys[1]["audit"])).text
        for id in (recourse["id"], ID)
    }
    assert len(answers) == 1


@pytest.mark.parametrize("path", OPEN)
def test_probes_and_the_page_need_no_key(guarded, path):
    assert guarded.get(path).status_code == 200


class TestTenants:
    @pytest.fixture
    def keys(self, tmp_path):
        roles = ["decide", "read", "audit"]
        path = tmp_path / "keys.json"
        return {
            name: bearing(add_key(path, name, roles, tenant=tenant))
            for name, tenant in (("a", "north"), ("b", "north"), ("c", "south"))
        }

    def test_promises_are_those_of_the_tenant(self, tmp_path, stored, asked, keys):
        rows = plain_rows(asked)
        with serving(tmp_path, stored / "model", keys=tmp_path / "keys.json") as client:
            client.headers = keys["a"]
            _, recourse = promise_for(client, rows)
            id, row = recourse["id"], recourse["row"]
            assert ledger_of(client).promise(id).tenant == "north"
            body = {"id": id, "row": row}
            for who, status in (("c", 404), ("b", 200)):
                told = client.get(f"/v1/recourses/{id}", headers=keys[who])
                assert told.status_code == status
                judged = audit(client, headers=keys[who])["report"]
                assert (sum(judged["promises"].values()) > 0) == (who == "b")
                assert (judged["models"][0]["judged"] > 0) == (who == "b")
                returned = client.post("/v1/redemptions", json=body, headers=keys[who])
                assert returned.status_code == status
            assert [e.status for e in ledger_of(client).history(id)] == ["open", "redeemed"]

    def test_promises_of_a_subject_are_listed_as_they_stand(self, tmp_path, stored, asked, keys):
        row = plain_rows(asked)[:40]
        with serving(tmp_path, stored / "model", keys=tmp_path / "keys.json") as client:
            applicants = {"applicants": [{"row": one, "subject": "A-1"} for one in row]}
            for who in ("a", "c"):
                client.post("/v1/decisions", json=applicants, headers=keys[who])
            found = {
                who: client.get("/v1/recourses?subject=A-1", headers=keys[who]).json()
                for who in keys
            }
            ids = {who: [one["id"] for one in found[who]["promises"]] for who in keys}
            assert ids["a"] and ids["a"] == ids["b"] == sorted(ids["a"])
            assert len(ids["c"]) == len(ids["a"]) and not set(ids["a"]) & set(ids["c"])
            assert {one["tenant"] for one in found["c"]["promises"]} == {"south"}
            assert {one["status"] for one in found["a"]["promises"]} == {"open"}
            assert found["a"]["complete"]
            nobody = client.get("/v1/recourses?subject=A-2", headers=keys["a"]).json()
            assert nobody == {"promises": [], "complete": True}

    def test_a_person_is_forgotten_by_one_tenant(self, tmp_path, stored, asked):
        rows, path = plain_rows(asked)[:40], tmp_path / "keys.json"
        roles = ["decide", "read", "erase"]
        keys = {who: bearing(add_key(path, who, roles, tenant=who)) for who in ("north", "south")}
        with serving(tmp_path, stored / "model", keys=path) as client:
            applicants = {"applicants": [{"row": one, "subject": "A-1"} for one in rows]}
            ids = {}
            for who, key in keys.items():
                once = key | {"Idempotency-Key": "k"}
                made = client.post("/v1/decisions", json=applicants, headers=once).json()
                found = [one["recourse"] for one in made["decisions"] if one["recourse"]]
                ids[who] = [one["id"] for one in found if one["id"]]
            asked_for = {"subject": "A-1", "note": "request 17"}
            done = client.post("/v1/erasures", json=asked_for, headers=keys["north"])
            assert done.status_code == 200
            assert done.json()["promises"] == len(ids["north"]) > 0
            assert done.json()["note"] == "request 17"
            told = client.get(f"/v1/recourses/{ids['north'][0]}", headers=keys["north"]).json()
            assert (told["erased"], told["status"], told["row"]) == (True, "withdrawn", {})
            assert told["history"][-1]["detail"] == "erased on request"
            told = client.get(f"/v1/recourses/{ids['south'][0]}", headers=keys["south"]).json()
            assert (told["erased"], told["status"]) == (False, "open")
            one = {"id": ids["south"][0]}
            assert client.post("/v1/erasures", json=one, headers=keys["north"]).status_code == 404
            assert client.post("/v1/erasures", json=one, headers=keys["south"]).status_code == 200
            said = {
                who: client.get("/v1/erasures", headers=key).json()["erasures"]
                for who, key in keys.items()
            }
            assert said["north"] == [done.json()] and len(said["south"]) == 1
            # Nothing has ended for so long.
            old = client.post("/v1/erasures", json={"days": 30}, headers=keys["south"]).json()
            assert (old["kind"], old["promises"], old["number"]) == ("retain", 0, None)
            old = client.post("/v1/erasures", json={"days": 0}, headers=keys["south"]).json()
            assert (old["kind"], old["promises"]) == ("retain", 0)
            for id in ids["south"][1:3]:
                ledger_of(client).record(id, "withdrawn", model="m")
            old = client.post("/v1/erasures", json={"days": 0}, headers=keys["south"]).json()
            assert (old["kind"], old["promises"]) == ("retain", 2)
            for wrong in ({}, {"subject": "A-1", **one}, {"days": -1}, {"days": "1"}):
                response = client.post("/v1/erasures", json=wrong, headers=keys["north"])
                assert detail(response, 422)
            returned = {"id": ids["north"][0], "row": rows[0]}
            response = client.post("/v1/redemptions", json=returned, headers=keys["north"])
            assert "withdrawn" in detail(response, 409)
            assert ledger_of(client).upkeep.verify().clean

    def test_one_idempotency_key_of_two_tenants_is_two(self, tmp_path, stored, asked):
        rows, path = plain_rows(asked), tmp_path / "keys.json"
        old = bearing(add_key(path, "desk", ["decide"], tenant="north"))
        with serving(tmp_path, stored / "model", keys=path) as client:
            body = {"applicants": [{"row": row} for row in rows[:20]]}
            same = {"Idempotency-Key": "k"}
            first = client.post("/v1/decisions", json=body, headers=old | same).json()
            remove_key(path, "desk")
            new = bearing(add_key(path, "desk", ["decide"], tenant="south"))
            second = client.post("/v1/decisions", json=body, headers=new | same).json()
            assert first != second and first["model"] == second["model"]


class TestFile:
    def test_it_holds_hashes_and_no_key(self, tmp_path):
        path = tmp_path / "keys.json"
        made = [add_key(path, name, ["decide"]) for name in ("a", "b")]
        text = path.read_text()
        for key in made:
            assert len(key) >= 40
            assert key not in text and key.removeprefix("rck_") not in text
        assert made[0] != made[1]
        assert [set(entry) for entry in json.loads(text)["keys"]] == [
            {"name", "roles", "tenant", "sha256"}
        ] * 2
        assert path.stat().st_mode & 0o777 == 0o600

    def test_of_many_that_are_added_at_once_all_are_kept(self, tmp_path):
        path = tmp_path / "keys.json"
        names = [f"caller {k}" for k in range(12)]
        with ThreadPoolExecutor(12) as pool:
            keys = list(pool.map(lambda name: add_key(path, name, ["decide"]), names))
        ring = KeyRing.read(path)
        assert [ring.caller(key).name for key in keys] == names

    def test_keys_have_a_tenant_and_an_end(self, tmp_path):
        path = tmp_path / "keys.json"
        day = timedelta(days=1)
        ended, lasting = (
            add_key(path, name, ["read"], tenant="north", expires=datetime.now(UTC) + end)
            for name, end in (("ended", -day), ("lasting", day))
        )
        ring = KeyRing.read(path)
        assert ring.caller(ended) is None
        assert ring.caller(lasting).tenant == "north"
        with pytest.raises(ConfigError, match="must have a time zone"):
            add_key(path, "c", ["read"], expires=datetime(2030, 1, 1))
        with pytest.raises(ConfigError, match="The tenant of a key must be 1 to 100 printable"):
            add_key(path, "c", ["read"], tenant="")

    def test_a_file_of_the_release_before_is_of_one_tenant(self, tmp_path):
        path = tmp_path / "keys.json"
        entry = {"name": "a", "roles": ["decide"], "sha256": hashlib.sha256(b"key").hexdigest()}
        path.write_text(json.dumps({"format": "rocourse-keys", "keys": [entry]}))
        assert KeyRing.read(path).caller("key") == Caller("a", frozenset({Role.DECIDE}), "default")
        # What is added to it, that release could not limit: it refuses the file.
        add_key(path, "b", ["read"], tenant="north")
        assert json.loads(path.read_text())["format"] != "rocourse-keys"
        assert [caller.tenant for caller in list_keys(path)] == ["default", "north"]

    def test_what_is_taken_out_or_cannot_be_read_lets_nobody_in(self, tmp_path, stored):
        path = tmp_path / "keys.json"
        gone, stays = add_key(path, "a", ["read"]), add_key(path, "b", ["read"])
        with client_of(create_app(Settings(model=stored / "model", keys=path))) as client:

            def status(key):
                headers = {"Authorization": f"Bearer {key}"}
                return client.get("/v1/model", headers=headers).status_code

            assert [status(key) for key in (gone, stays)] == [200, 200]
            remove_key(path, "a")
            assert [status(key) for key in (gone, stays)] == [401, 200]
            later = add_key(path, "c", ["read"])
            assert status(later) == 200
            path.rename(tmp_path / "away.json")
            assert [status(key) for key in (gone, stays)] == [503, 503]
            (tmp_path / "away.json").rename(path)
            assert [status(key) for key in (gone, stays)] == [401, 200]

    def test_keys_are_listed_and_removed(self, tmp_path):
        path = tmp_path / "keys.json"
        gone, stays = add_key(path, "a", ["decide"]), add_key(path, "b", ["read", "audit"])
        b = Caller("b", frozenset({Role.READ, Role.AUDIT}))
        assert list_keys(path) == [Caller("a", frozenset({Role.DECIDE})), b]
        remove_key(path, "a")
        assert list_keys(path) == [b]
        ring = KeyRing.read(path)
        assert ring.caller(gone) is None
        assert ring.caller(stays) == b

    def test_a_name_is_given_once(self, tmp_path):
        add_key(tmp_path / "keys.json", "a", ["decide"])
        with pytest.raises(ConfigError, match="'a' already"):
            add_key(tmp_path / "keys.json", "a", ["read"])

    @pytest.mark.parametrize("name", ["", "a\nb", "a\x00", "\ud800", "x" * 101])
    def test_names_are_short_and_printable(self, tmp_path, name):
        with pytest.raises(ConfigError, match="printable"):
            add_key(tmp_path / "keys.json", name, ["decide"])
        assert not (tmp_path / "keys.json").exists()

    @pytest.mark.parametrize("roles", [[], ["king"], ["decide", "DECIDE"]])
    def test_roles_are_those_that_there_are(self, tmp_path, roles):
        with pytest.raises(ConfigError, match="decide, read, audit, operate"):
            add_key(tmp_path / "keys.json", "a", roles)

    def test_who_is_not_there_cannot_be_removed(self, tmp_path):
        add_key(tmp_path / "keys.json", "a", ["decide"])
        with pytest.raises(ConfigError, match="'b' is not; it has 'a'"):
            remove_key(tmp_path / "keys.json", "b")

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\xff\xfe",
            b"[]",
            b"null",
            b"1",
            b'{"format": "rocourse-keys"}',
            b'{"format": "other", "keys": []}',
            b'{"format": "rocourse-keys", "keys": {}}',
            b'{"format": "rocourse-keys", "keys": ["a"]}',
            b'{"format": "rocourse-keys", "keys": [{"name": "a", "roles": ["decide"]}]}',
            b'{"format": "rocourse-keys", "keys": '
            b'[{"name": "a", "roles": ["king"], "sha256": "' + b"0" * 64 + b'"}]}',
            b'{"format": "rocourse-keys", "keys": '
            b'[{"name": "a", "roles": ["decide"], "sha256": "00"}]}',
            b'{"format": "rocourse-keys", "keys": '
            b'[{"name": 1, "roles": ["decide"], "sha256": "' + b"0" * 64 + b'"}]}',
            b'{"format": "rocourse-keys", "keys": '
            b'[{"name": "a", "roles": 1, "sha256": "' + b"0" * 64 + b'"}]}',
            b"[" * 100_000,
        ],
    )
    def test_a_damaged_file_is_refused_in_one_sentence(self, tmp_path, stored, content):
        path = tmp_path / "keys.json"
        path.write_bytes(content)
        with pytest.raises(ConfigError, match="make it anew") as refusal:
            create_app(Settings(model=stored / "model", keys=path))
        assert "\n" not in str(refusal.value)
        # Nor is it written over.
        with pytest.raises(ConfigError):
            add_key(path, "a", ["decide"])
        assert path.read_bytes() == content

    @pytest.mark.skipif(os.name != "posix", reason="a directory opens with another error there")
    def test_a_missing_or_unreadable_file_lets_nobody_in(self, tmp_path, stored):
        for path in (tmp_path / "none.json", tmp_path):
            with pytest.raises(ConfigError, match="readable"):
                create_app(Settings(model=stored / "model", keys=path))


class TestSettings:
    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
    def test_others_reach_it_only_with_keys(self, tmp_path, host):
        with pytest.raises(ConfigError, match="API keys"):
            Settings(model=tmp_path, host=host)
        assert Settings(model=tmp_path, host=host, keys=tmp_path / "keys.json").host == host

    @pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
    def test_this_machine_needs_none(self, tmp_path, host):
        assert Settings(model=tmp_path, host=host).keys is None


class TestCommands:
    def test_a_key_is_printed_once_and_works(self, tmp_path):
        path = tmp_path / "keys.json"
        added = succeed("keys", "add", path, "branch", "--role", "decide", "--role", "read")
        key = added.stdout.strip()
        assert added.stdout == key + "\n"
        caller = KeyRing.read(path).caller(key)
        assert caller == Caller("branch", frozenset({Role.DECIDE, Role.READ}))
        assert succeed("keys", "list", path).stdout == ("branch: decide, read; tenant default\n")
        assert succeed("keys", "remove", path, "branch").stdout == ""
        assert succeed("keys", "list", path).stdout == ""
        assert KeyRing.read(path).caller(key) is None

    def test_tenant_and_end_are_kept_and_shown(self, tmp_path):
        path = tmp_path / "keys.json"
        options = ("--role", "read", "--tenant", "north", "--expires", "2100-01-01")
        succeed("keys", "add", path, "branch", *options)
        listed = succeed("keys", "list", path).stdout
        assert listed == "branch: read; tenant north, until 2100-01-01T00:00:00+00:00\n"
        assert "is no time" in run("keys", "add", path, "b", *options[:-1], "soon").stderr

    def test_failures_are_one_line(self, tmp_path):
        path = tmp_path / "keys.json"
        assert "'king'" in refused("keys", "add", path, "a", "--role", "king")
        assert "readable" in refused("keys", "list", path)
        path.write_text("{")
        assert "none" in refused("keys", "list", path)
        assert "none" in refused("keys", "remove", path, "a")

    def test_a_service_that_others_reach_is_not_started_without_keys(self, tmp_path):
        assert "API keys" in refused("serve", tmp_path, "--host", "0.0.0.0")


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class TestRateLimit:
    def test_a_second_is_in_store_and_refills(self):
        clock = Clock()
        limit = RateLimit(4.0, clock)
        assert [limit.wait("a") for _ in range(4)] == [0.0] * 4
        assert limit.wait("a") == pytest.approx(0.25)
        clock.now += 0.125
        assert limit.wait("a") == pytest.approx(0.125)
        clock.now += 0.125
        assert limit.wait("a") == 0.0
        assert limit.wait("a") == pytest.approx(0.25)
        # Not more than a second's worth, however long nobody came.
        clock.now += 1000.0
        assert [limit.wait("a") for _ in range(4)] == [0.0] * 4
        assert limit.wait("a") > 0.0

    def test_who_waits_as_told_is_let_in(self):
        clock = Clock()
        limit = RateLimit(0.3, clock)
        assert limit.wait("a") == 0.0
        for _ in range(20):
            clock.now += limit.wait("a") + 1e-9
            assert limit.wait("a") == 0.0

    def test_callers_do_not_share(self):
        limit = RateLimit(1.0, Clock())
        assert limit.wait("a") == limit.wait("b") == 0.0
        assert limit.wait("a") > 0.0

    def test_the_table_of_callers_is_bounded(self):
        limit = RateLimit(1.0, Clock())
        for caller in range(20_000):
            limit.wait(str(caller))
        assert len(limit._left) == RateLimit._MOST_CALLERS
        # Who came last is still known.
        assert limit.wait("19999") > 0.0

    def test_too_many_requests_are_told_when_to_come_again(self, tmp_path, stored, monkeypatch):
        clock = Clock()
        monkeypatch.setattr("rocourse.service._app.RateLimit", lambda rate: RateLimit(rate, clock))
        with serving(tmp_path, stored / "model", rate=0.3) as client:
            assert client.get("/v1/model").status_code == 200
            clock.now += 1.0
            response = client.get("/v1/model")
            assert "Too many requests" in detail(response, 429)
            wait = int(response.headers["retry-after"])
            # Probes are never turned away.
            assert client.get("/healthz").status_code == 200
            clock.now += wait
            assert client.get("/v1/model").status_code == 200

    def test_one_caller_does_not_use_up_anothers(self, tmp_path, stored):
        path = tmp_path / "keys.json"
        one, other = (bearing(add_key(path, name, ["decide"])) for name in "ab")
        with serving(tmp_path, stored / "model", keys=path, rate=0.01) as client:
            assert client.get("/v1/model", headers=one).status_code == 200
            assert client.get("/v1/model", headers=one).status_code == 429
            assert client.get("/v1/model", headers=other).status_code == 200
