"""The chain, erasing and retaining, who may do what: the ledger of whoever answers for it."""

import json
import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from tests.ledger.making import NOW, issue_many, make_issue, make_promise

from rocourse.errors import LedgerError, UnknownPromise
from rocourse.ledger import Head, Ledger, Status, new_id, restored, writer_grants

SECRET = "secret"


def everything(ledger):
    """All that the tables hold, as one text."""
    with ledger._engine.connect() as connection:
        tables = ("ledger_promises", "ledger_events", "ledger_links", "ledger_answers")
        found = [connection.exec_driver_sql(f"SELECT * FROM {table}").all() for table in tables]
    return str(found)


def unguarded(ledger, statement, *parameters):
    """Changes something behind the ledger's back, as who owns the database can."""
    with ledger._engine.begin() as connection:
        if ledger.is_file:
            names = connection.exec_driver_sql(
                "SELECT name FROM sqlite_master WHERE type='trigger'"
            )
            for name in names.scalars().all():
                connection.exec_driver_sql(f"DROP TRIGGER {name}")
        else:
            for table in ("promises", "events", "links"):
                connection.exec_driver_sql(f"ALTER TABLE ledger_{table} DISABLE TRIGGER USER")
        connection.exec_driver_sql(statement, parameters)


@pytest.fixture
def used(ledger):
    """A ledger with a bit of everything, and the ids of its promises."""
    ids = issue_many(ledger, 3, certificate={"kind": "delta", "level": 0.01}, months=4.5)
    shared = new_id()
    options = [make_promise(decision=shared, wishes={"lock": ["Age"]}) for _ in range(2)]
    ledger.issue([make_issue(*options, key="k", answer=f'"{options[0].id}"')])
    ledger.record(ids[0], "broken", model="m2", detail="the promised row is refused now")
    ledger.record(options[0].id, "redeemed", model="m2", detail="approved as presented")
    gone = make_promise(subject="Jane Doe", row={"Name": SECRET}, recourse={"Name": SECRET})
    ledger.issue([make_issue(gone)])
    ledger.upkeep.erase(subject="Jane Doe", note="request 17")
    return ledger, ids


def test_what_was_written_by_the_ledger_verifies(used):
    ledger, _ = used
    found = ledger.upkeep.verify()
    assert found.clean and found.faults == ()
    assert (found.promises, found.erased, found.events) == (6, 1, 6 + 3 + 1)
    # Three issues, two records and an erasure.
    assert found.head == ledger.upkeep.head()
    assert found.head.number == 6


CHANGES = [
    *(
        f"UPDATE ledger_promises SET {change}"
        for change in (
            "subject = 'applicant-18' WHERE subject = 'applicant-17'",
            "subject = 'a' WHERE subject IS NULL",
            "tenant = 'other'",
            "model = 'm9'",
            "schema_version = '2'",
            "given_row = '{\"Age\": 40}'",
            "recourse_row = '{\"Age\": 40}'",
            "desired = '\"refused\"'",
            "probability_before = 0.2500000001",
            "probability_after = 0.74",
            "robustness = NULL",
            "issued_at = expires_at",
            "expires_at = issued_at",
            "status = 'redeemed' WHERE status = 'broken'",
            "status = 'broken' WHERE status = 'open'",
            "decision = NULL",
            "wishes = NULL",
            "certificate = NULL",
            "months = 4",
            "months = NULL",
            "certificate = '{}' WHERE certificate IS NULL",
            "salt = NULL",
            "salt = '00000000000000000000000000000000'",
            "seal = '00'",
        )
    ),
    *(
        f"UPDATE ledger_events SET {change}"
        for change in (
            "at = (SELECT max(expires_at) FROM ledger_promises) WHERE status = 'broken'",
            "status = 'withdrawn' WHERE status = 'broken'",
            "model = 'm1' WHERE model = 'm2'",
            "detail = '' WHERE status = 'broken'",
            "link = 1",
            "link = 0",
            "link = link + 1",
            "number = number + 100 WHERE number = 2",
            "promise = (SELECT max(id::text)::uuid FROM ledger_promises) WHERE status = 'broken'",
        )
    ),
    *(
        f"UPDATE ledger_links SET {change}"
        for change in (
            "at = (SELECT max(expires_at) FROM ledger_promises) WHERE number = 2",
            "kind = 'record' WHERE kind = 'erase'",
            "tenant = 'north' WHERE number = 3",
            "note = 'request 18' WHERE kind = 'erase'",
            "events = events - 1 WHERE number = 1",
            "hash = 'f' WHERE number = 6",
            "number = 7 WHERE number = 6",
        )
    ),
    "DELETE FROM ledger_events WHERE status = 'broken'",
    "DELETE FROM ledger_events WHERE number = 1",
    "DELETE FROM ledger_links WHERE number = 6",
    "DELETE FROM ledger_links WHERE number = 3",
    "INSERT INTO ledger_promises SELECT '01890a5d-ac96-774b-bcce-b302099a8057', subject, model, "
    "schema_version, given_row, recourse_row, desired, probability_before, probability_after, "
    "robustness, issued_at, expires_at, status, decision, wishes, tenant, salt, seal, certificate, "
    "months "
    "FROM ledger_promises LIMIT 1",
    "INSERT INTO ledger_events (promise, at, status, model, detail, link) SELECT promise, at, "
    "'withdrawn', model, detail, link FROM ledger_events ORDER BY number DESC LIMIT 1",
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_behind_its_back_is_found(used, change):
    ledger, _ = used
    if ledger.is_file:
        change = change.replace("max(id::text)::uuid", "max(id)")
    else:
        change = change.replace(
            "SELECT '01890a5d-ac96-774b-bcce-b302099a8057'",
            ("SELECT '01890a5d-ac96-774b-bcce-b302099a8057'::uuid"),
        )
    unguarded(ledger, change)
    found = ledger.upkeep.verify()
    assert not found.clean and found.count >= len(found.faults) > 0
    assert all(sentence.endswith(".") and "applicant" not in sentence for sentence in found.faults)


def test_any_byte_of_a_row_that_is_changed_in_the_file_is_found(tmp_path):
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        promise = make_promise(row={"Note": "XMARKGIVEN"}, recourse={"Note": "XMARKWANTED"})
        ledger.issue([make_issue(promise)])
        ledger.record(promise.id, "broken", model="XMARKMODEL", detail="XMARKDETAIL")
        ledger.upkeep.erase(subject="nobody", note="XMARKNOTE")
        assert ledger.upkeep.verify().clean
    whole = path.read_bytes()
    marks = ("GIVEN", "WANTED", "MODEL", "DETAIL", "NOTE")
    for mark in (f"XMARK{mark}".encode() for mark in marks):
        place = whole.rindex(mark)
        path.write_bytes(whole[:place] + b"Y" + whole[place + 1 :])
        with Ledger.open(path) as ledger:
            assert not ledger.upkeep.verify().clean, mark


def test_a_chain_that_was_cut_off_or_written_anew_is_told_by_an_end_that_was_kept(url):
    with Ledger.open(url) as ledger:
        ids = issue_many(ledger, 2)
        early = ledger.upkeep.head()
        ledger.record(ids[0], "broken", model="m2")
        late = ledger.upkeep.head()
        assert ledger.upkeep.verify(head=early).clean and ledger.upkeep.verify(head=late).clean
        unguarded(ledger, "DELETE FROM ledger_events WHERE link = 2")
        unguarded(ledger, "DELETE FROM ledger_links WHERE number = 2")
        unguarded(ledger, "UPDATE ledger_promises SET status = 'open'")
        # Nothing in it says that there was more.
        assert ledger.upkeep.verify().clean
        assert ledger.upkeep.verify(head=early).clean
        for head in (late, Head(1, "0" * 64), Head(3, late.hash)):
            [fault] = ledger.upkeep.verify(head=head).faults
            assert "cut off" in fault


def test_writers_at_once_make_one_chain(url):
    with Ledger.open(url) as one, Ledger.open(url) as two:
        ids = issue_many(one, 8)

        def write(k):
            ledger = (one, two)[k % 2]
            if k % 3 == 0:
                ledger.record(ids[k // 3], "withdrawn", model="m2")
            else:
                ledger.issue([make_issue(make_promise(), key=f"k{k % 7}")])

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, range(24)))
        found = one.upkeep.verify()
        assert found.clean, found.faults
        assert found.head.number == 1 + 8 + 7


def test_who_is_erased_is_gone_and_the_chain_holds(ledger):
    ids = issue_many(ledger, 3, subject="Jane Doe", row={"a": SECRET}, recourse={"a": SECRET})
    other = issue_many(ledger, 1, subject="John Doe")[0]
    ledger.record(ids[0], "redeemed", model="m2")
    ledger.record(ids[1], "broken", model="m2")
    for key, text in (("1", {"subject": "Jane Doe"}), ("2", {"id": ids[2]}), ("3", {"id": other})):
        ledger.issue([make_issue(key=key, answer=json.dumps(text))])
    done = ledger.upkeep.erase(subject="Jane Doe", note="request 17")
    assert (done.kind, done.promises, done.note) == ("erase", 3, "request 17")
    assert ledger.upkeep.erasures() == [done]
    stored = everything(ledger)
    assert SECRET not in stored and "Jane" not in stored and "John Doe" in stored
    for id, status in zip(ids, ("redeemed", "withdrawn", "withdrawn"), strict=True):
        promise = ledger.promise(id)
        assert promise.erased and promise.status == status
        assert (promise.subject, promise.row, promise.recourse) == (None, {}, {})
        assert ledger.history(id)[-1].detail == "erased on request"
    assert not ledger.promise(other).erased
    assert ledger.promises_of("Jane Doe") == []
    answers = [ledger.issue([make_issue(key=key, answer="new")]) for key in "123"]
    assert answers == [["new"], ["new"], [json.dumps({"id": other})]]
    assert ledger.upkeep.verify().clean
    # Once more, it is recorded that nothing was left to erase.
    assert ledger.upkeep.erase(subject="Jane Doe").promises == 0
    assert [p.id for page in ledger.binding_promises(at=NOW) for p in page] == [other]
    pages = ledger.binding_promises(at=NOW, since=NOW - timedelta(days=1))
    assert [p.id for page in pages for p in page] == [other]


def test_nothing_of_who_is_erased_stays_in_the_files(tmp_path):
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        promise = make_promise(subject="Jane Doe", row={"a": SECRET * 500})
        ledger.issue([make_issue(promise, key="k", answer=f'["Jane Doe", "{SECRET}"]')])
        issue_many(ledger, 20)
        ledger.upkeep.erase(subject="Jane Doe")
        # While it is open, with its write-ahead log beside it.
        for file in tmp_path.iterdir():
            content = file.read_bytes()
            assert SECRET.encode() not in content and b"Jane" not in content, file


def test_one_promise_can_be_erased_and_only_the_tenants_own(ledger):
    ids = [issue_many(ledger, 1, subject="a", tenant=tenant)[0] for tenant in ("north", "south")]
    with pytest.raises(UnknownPromise):
        ledger.upkeep.erase(id=ids[0], tenant="south")
    for tenant in ("north", "south"):
        ledger.issue([make_issue(key=tenant, answer='{"subject": "a"}', tenant=tenant)])
    assert ledger.upkeep.erase(subject="a", tenant="south").promises == 1
    assert ledger.upkeep.retain(days=0, tenant="south") == []
    answers = [ledger.issue([make_issue(key=key, answer="new")]) for key in ("north", "south")]
    assert answers == [['{"subject": "a"}'], ["new"]]
    assert [ledger.promise(id).erased for id in ids] == [False, True]
    assert ledger.upkeep.erase(id=ids[0], tenant="north").promises == 1
    assert len(ledger.upkeep.erasures()) == 2
    assert [done.tenant for done in ledger.upkeep.erasures(tenant="north")] == ["north"]
    for wrong in ({}, {"subject": "a", "id": ids[0]}):
        with pytest.raises(LedgerError, match="of a subject or of a promise"):
            ledger.upkeep.erase(**wrong)


def test_what_has_ended_is_erased_after_so_many_days(url):
    now = NOW
    with Ledger.open(url, clock=lambda: now) as ledger:
        running, settled, broken = issue_many(ledger, 3, expires_at=NOW + timedelta(days=300))
        expired = issue_many(ledger, 1500, expires_at=NOW + timedelta(days=10))
        ledger.record(settled, "redeemed", model="m2", at=NOW + timedelta(days=50))
        ledger.record(broken, "broken", model="m2", at=NOW)
        ledger.issue([make_issue(key="k", answer="old")])

        def erased(days):
            return sum(done.promises for done in ledger.upkeep.retain(days=days, note="policy"))

        now = NOW + timedelta(days=59)
        assert erased(90) == 0
        assert ledger.issue([make_issue(key="k", answer="new")]) == ["old"]
        now = NOW + timedelta(days=101)
        assert erased(90) == len(expired)
        assert [done.promises for done in ledger.upkeep.erasures()] == [1000, 500]
        assert ledger.issue([make_issue(key="k", answer="new")]) == ["new"]
        now = NOW + timedelta(days=141)
        assert erased(90) == 1
        states = [ledger.promise(id) for id in (running, settled, broken, expired[0])]
        assert [promise.erased for promise in states] == [False, True, False, True]
        assert states[1].status is Status.REDEEMED
        assert ledger.upkeep.verify().clean
        for days in (-1, True, 1.5, None):
            with pytest.raises(LedgerError, match="days must be a whole number"):
                ledger.upkeep.retain(days=days)


def test_answers_are_not_kept_without_end(url):
    now = NOW
    with Ledger.open(url, clock=lambda: now) as ledger:
        for k in range(40):
            ledger.issue([make_issue(key=f"old-{k}")])
        now = NOW + timedelta(days=8)
        for k in range(120):
            ledger.issue([make_issue(key=f"new-{k}", answer=str(k))])
        with ledger._engine.connect() as connection:
            keys = connection.exec_driver_sql("SELECT key FROM ledger_answers").scalars().all()
        assert sorted(keys) == sorted(f"new-{k}" for k in range(120))
        assert ledger.issue([make_issue(key="new-0", answer="other")]) == ["0"]


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_files_are_the_owners_alone(tmp_path):
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        issue_many(ledger, 1)
        assert {file.name for file in tmp_path.iterdir()} == {
            "ledger.db",
            "ledger.db-shm",
            "ledger.db-wal",
        }
        assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
    # Of before: strangers are shut out, a group that was let in stays.
    path.chmod(0o664)
    with Ledger.open(path):
        assert path.stat().st_mode & 0o777 == 0o660


def test_a_writer_in_postgresql_can_add_and_nothing_else(postgres):
    url = postgres.create_database()
    writer = url.replace("ledger:", "desk:", 1)
    with Ledger.open(url) as owner, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS desk")
        connection.execute(f"CREATE ROLE desk LOGIN PASSWORD '{postgres.password}'")
        for statement in writer_grants("desk"):
            connection.execute(statement)
        try:
            [old] = issue_many(owner, 1, subject="Jane Doe")
            with Ledger.open(writer) as ledger:
                ledger.ping()
                [id] = issue_many(ledger, 1, subject="Jane Doe")
                ledger.issue([make_issue(make_promise(), key="k")] * 2)
                ledger.record(id, "broken", model="m2")
                ledger.record(old, "redeemed", model="m2")
                assert ledger.upkeep.verify().clean
                for forbidden in (
                    lambda: ledger.upkeep.erase(subject="Jane Doe"),
                    lambda: ledger.upkeep.erase(id=old),
                ):
                    with pytest.raises(LedgerError, match="as the owner of the tables"):
                        forbidden()
            with psycopg.connect(writer, autocommit=True) as desk:
                for statement in (
                    "UPDATE ledger_promises SET subject = NULL",
                    "UPDATE ledger_promises SET seal = ''",
                    "UPDATE ledger_events SET detail = ''",
                    "UPDATE ledger_links SET hash = ''",
                    "DELETE FROM ledger_promises",
                    "DELETE FROM ledger_events",
                    "TRUNCATE ledger_links",
                    "DROP TRIGGER ledger_events_are_kept ON ledger_events",
                    "ALTER TABLE ledger_promises DISABLE TRIGGER ALL",
                    "DROP TABLE ledger_answers",
                    "UPDATE ledger_revision SET version_num = '0001'",
                ):
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        desk.execute(statement)
            assert owner.upkeep.erase(subject="Jane Doe").promises == 2
            assert owner.upkeep.verify().clean
        finally:
            connection.execute("DROP OWNED BY desk")
            connection.execute("DROP ROLE desk")


@pytest.mark.parametrize("role", ["", "a b", 'x"; DROP TABLE', "1a", "a" * 64])
def test_a_role_has_a_plain_name(role):
    with pytest.raises(LedgerError, match="letters, digits and underscores"):
        writer_grants(role)


def test_sqlite_is_read_as_it_is_while_it_is_verified(tmp_path):
    path = tmp_path / "ledger.db"
    with Ledger.open(path) as ledger:
        issue_many(ledger, 30)
        with sqlite3.connect(path) as other:
            other.execute("BEGIN IMMEDIATE")
            assert ledger.upkeep.verify().clean


@pytest.fixture
def elsewhere(request, tmp_path):
    """The address of another empty database, of the other kind where there is one."""
    name = request.node.name
    if "sqlite" in name:
        return request.getfixturevalue("postgres").create_database()
    return tmp_path / "elsewhere.db"


def copied(ledger, path):
    with path.open("wb") as file:
        head = ledger.upkeep.back_up(file)
    assert head == ledger.upkeep.head()
    return path


def test_a_copy_restores_to_the_same_in_the_other_database(used, elsewhere, tmp_path):
    ledger, ids = used
    copy = copied(ledger, tmp_path / "copy.jsonl")
    # What comes later is not in it.
    head = ledger.upkeep.head()
    issue_many(ledger, 2)
    found = restored(copy, elsewhere)
    assert found.clean and (found.head, found.promises, found.erased) == (head, 6, 1)
    with Ledger.open(elsewhere) as again:
        assert [again.promise(id) for id in ids] == [ledger.promise(id) for id in ids]
        assert again.history(ids[0]) == ledger.history(ids[0])
        assert again.upkeep.erasures() == ledger.upkeep.erasures()
        [answer] = again.issue([make_issue(make_promise(), key="k", answer="other")])
        assert answer != "other"
        # And it goes on.
        again.record(ids[1], "broken", model="m2")
        issue_many(again, 2)
        assert again.upkeep.verify(head=head).clean
        with pytest.raises(LedgerError, match="must be restored to an empty ledger"):
            restored(copy, elsewhere)


def test_a_copy_of_the_revision_before_has_the_same_rows(ledger, tmp_path):
    issue_many(ledger, 2)
    copy = copied(ledger, tmp_path / "copy.jsonl")
    copy.write_bytes(copy.read_bytes().replace(b'"revision":"0008"', b'"revision":"0007"', 1))
    assert b'"0007"' in copy.read_bytes()
    assert restored(copy, tmp_path / "again.db").promises == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: [], "but it is none"),
        (lambda lines: [b"{}", *lines[1:]], "but it is none"),
        (lambda lines: [lines[0].replace(b'"00', b'"90'), *lines[1:]], "of another release"),
        (lambda lines: lines[:-1], "it is not whole"),
        (lambda lines: lines[:-3] + lines[-1:], "it is not whole"),
        (lambda lines: [*lines[:2], b"[1]", *lines[2:]], "a line of it cannot be read"),
        (lambda lines: [line.replace(b"applicant-17", b"applicant-18") for line in lines], "chang"),
        (lambda lines: [line.replace(b"redeemed", b"open") for line in lines], "was changed"),
    ],
)
def test_a_copy_that_is_damaged_or_changed_leaves_nothing_behind(tmp_path, change, message):
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ids = issue_many(ledger, 3)
        ledger.record(ids[0], "redeemed", model="m2")
        copy = copied(ledger, tmp_path / "copy.jsonl")
    copy.write_bytes(b"".join(change(copy.read_bytes().splitlines(keepends=True))))
    with pytest.raises(LedgerError, match=message):
        restored(copy, tmp_path / "new.db")
    assert not list(tmp_path.glob("new.db*"))


def test_a_copy_is_taken_while_others_write(ledger, tmp_path):
    issue_many(ledger, 200)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            issue_many(ledger, 1)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        copies = []
        for k in range(3):
            with (tmp_path / f"{k}.jsonl").open("wb") as file:
                copies.append((file.name, ledger.upkeep.back_up(file)))
    finally:
        stop.set()
        thread.join()
    for name, head in copies:
        found = restored(name, f"{name}.db")
        assert found.clean and found.head == head
