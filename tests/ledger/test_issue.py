"""Issuing: what comes back is what was written, once per key, whole or not at all."""

import dataclasses
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType

import hypothesis.strategies as st
import psycopg
import pytest
from hypothesis import given, settings
from tests.ledger.making import NOW, ROW, make_issue, make_promise
from tests.ledger.postgres import wait_until_blocked

from rocourse.errors import LedgerError, UnknownPromise
from rocourse.ledger import Conflict, Ledger, Promise, Status, new_id

# Every character but halves of surrogate pairs, the null included: in a row it is only escaped.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)
ROWS = st.dictionaries(TEXTS, VALUES, max_size=5)
NAMES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=255
)
SHARES = st.floats(0, 1)
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))])


def exact(value):
    """A text that tells 1 from 1.0 and True, 0.0 from -0.0, and one order of keys from another."""
    return json.dumps(value)


def as_read(promise):
    fields = {f.name: getattr(promise, f.name) for f in dataclasses.fields(promise)}
    return Promise(**fields, status=Status.OPEN)


def count_promises(ledger):
    return sum(ledger.counts(at=NOW).values())


@settings(max_examples=60, deadline=None)
@given(
    row=ROWS,
    recourse=ROWS,
    desired=VALUES,
    subject=st.none() | NAMES,
    model=NAMES,
    before=SHARES,
    after=SHARES,
    robustness=st.none() | SHARES,
    issued_at=st.datetimes(datetime(1, 1, 2), datetime(9990, 1, 1), timezones=ZONES),
    lasting=st.timedeltas(timedelta(microseconds=1), timedelta(days=3000)),
)
def test_every_field_comes_back_as_it_was(
    shared_ledger,
    row,
    recourse,
    desired,
    subject,
    model,
    before,
    after,
    robustness,
    issued_at,
    lasting,
):
    promise = make_promise(
        row=row,
        recourse=recourse,
        desired=desired,
        subject=subject,
        model=model,
        probability_before=before,
        probability_after=after,
        robustness=robustness,
        issued_at=issued_at,
        expires_at=issued_at + lasting,
    )
    shared_ledger.issue([make_issue(promise)])
    read = shared_ledger.promise(promise.id)
    assert read == as_read(promise)
    assert exact(read.row) == exact(row)
    assert exact(read.recourse) == exact(recourse)
    assert exact(read.desired) == exact(desired)
    assert read.issued_at.tzinfo is UTC


def test_any_mapping_is_a_row(ledger):
    promise = make_promise(row=MappingProxyType(ROW))
    ledger.issue([make_issue(promise)])
    assert ledger.promise(promise.id).row == ROW


def test_a_row_altered_after_the_promise_was_made_is_stored_as_promised(ledger):
    row = dict(ROW)
    promise = make_promise(row=row)
    row["Age"] = 99
    ledger.issue([make_issue(promise)])
    assert ledger.promise(promise.id).row == ROW


def test_history_begins_with_the_issue(ledger):
    promise = make_promise()
    ledger.issue([make_issue(promise)])
    [event] = ledger.history(promise.id)
    assert (event.at, event.status, event.model, event.detail) == (NOW, Status.OPEN, "m1", "issued")


def test_nothing_to_issue_is_no_error(ledger):
    assert ledger.issue([]) == []
    assert ledger.issue([make_issue(answer="all approved")]) == ["all approved"]
    assert count_promises(ledger) == 0


def test_an_issue_without_promises_is_remembered_by_its_key(ledger):
    assert ledger.issue([make_issue(key="k", answer="first")]) == ["first"]
    assert ledger.issue([make_issue(key="k", answer="second")]) == ["first"]


def test_repeated_request_gets_the_first_answer_and_writes_nothing(ledger):
    first, again = make_promise(), make_promise()
    assert ledger.issue([make_issue(first, key="k", answer="first")]) == ["first"]
    assert ledger.issue([make_issue(again, key="k", answer="second")]) == ["first"]
    assert count_promises(ledger) == 1
    with pytest.raises(UnknownPromise):
        ledger.promise(again.id)


def test_key_of_another_request_is_a_conflict_and_the_others_are_written(ledger):
    ledger.issue([make_issue(make_promise(), key="k", answer="first")])
    stray, other = make_promise(), make_promise()
    answers = ledger.issue(
        [
            make_issue(stray, key="k", fingerprint="f2", answer="stray"),
            make_issue(other, key="other", answer="other"),
        ]
    )
    assert answers == [Conflict(key="k"), "other"]
    assert count_promises(ledger) == 2
    assert ledger.promise(other.id).status is Status.OPEN


def test_of_one_key_in_one_list_the_first_wins(ledger):
    first, same, other = make_promise(), make_promise(), make_promise()
    answers = ledger.issue(
        [
            make_issue(first, key="k", answer="first"),
            make_issue(same, key="k", answer="second"),
            make_issue(other, key="k", fingerprint="f2", answer="third"),
            make_issue(key=None, answer="without a key"),
        ]
    )
    assert answers == ["first", "first", Conflict(key="k"), "without a key"]
    assert ledger.promise(first.id)
    assert count_promises(ledger) == 1


def test_one_issue_given_twice_is_written_once(ledger):
    issue = make_issue(make_promise(), key="k", answer="first")
    assert ledger.issue([issue, issue]) == ["first", "first"]
    assert count_promises(ledger) == 1


def test_many_keys_and_promises_at_once(ledger):
    issues = [make_issue(make_promise(), key=f"k{i}", answer=f"a{i}") for i in range(2500)]
    answers = [issue.answer for issue in issues]
    assert ledger.issue(issues) == answers
    assert ledger.issue(issues) == answers
    assert count_promises(ledger) == 2500
    assert len(ledger.history(issues[-1].promises[0].id)) == 1


def test_a_failing_issue_leaves_nothing_of_the_list(ledger):
    known = make_promise()
    ledger.issue([make_issue(known)])
    good = make_promise()
    with pytest.raises(LedgerError, match="must have an id that no other has"):
        ledger.issue([make_issue(good, key="k", answer="a"), make_issue(make_promise(id=known.id))])
    with pytest.raises(UnknownPromise):
        ledger.promise(good.id)
    assert count_promises(ledger) == 1
    # Nor is the key taken.
    assert ledger.issue([make_issue(good, key="k", answer="b")]) == ["b"]


@pytest.mark.parametrize("shared", [True, False], ids=["one ledger", "a ledger each"])
def test_of_threads_racing_with_one_key_exactly_one_writes(url, shared):
    number, rounds = 6, 5
    with Ledger.open(url) as ledger:
        ledgers = [ledger if shared else Ledger.open(url) for _ in range(number)]
        answers = [[None] * number for _ in range(rounds)]
        start = threading.Barrier(number)

        def race(position):
            for lap in range(rounds):
                mine = [
                    make_issue(make_promise(), key=f"{lap}-{i}", answer=f"{position}")
                    for i in range(4)
                ]
                start.wait(60)
                # Each in another order: whoever waits for keys in a list must not deadlock.
                order = mine if position % 2 else mine[::-1]
                answers[lap][position] = sorted(ledgers[position].issue(order))

        threads = [threading.Thread(target=race, args=(i,)) for i in range(number)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for lap in answers:
            assert None not in lap
            assert all(answer == lap[0] for answer in lap)
        assert count_promises(ledger) == rounds * 4
        for other in ledgers:
            other.close()


def test_a_list_waits_for_its_first_key_before_it_takes_the_others(postgres):
    url = postgres.create_database()
    store = "INSERT INTO ledger_answers VALUES (%s, 'f1', 'other', now())"
    with Ledger.open(url) as ledger, psycopg.connect(url) as other, ThreadPoolExecutor(1) as pool:
        other.execute(store, ["a"])
        waiting = pool.submit(ledger.issue, [make_issue(key=key, answer="own") for key in "cba"])
        wait_until_blocked(url)
        # Had the list taken this key already, the two would now wait for each other.
        other.execute("SET LOCAL lock_timeout = '5s'")
        other.execute(store, ["b"])
        other.commit()
        assert waiting.result(60) == ["own", "other", "other"]


def test_ids_are_in_the_order_of_time_and_all_different():
    ids = [new_id() for _ in range(2000)]
    assert len(set(ids)) == len(ids)
    times = [identifier[:13] for identifier in ids]
    assert times == sorted(times)
    assert all(identifier[14] == "7" and identifier[19] in "89ab" for identifier in ids)
