"""The end of a test run says what was skipped."""

from types import SimpleNamespace

from tests.skipped import tell_skipped


def skip(nodeid, reason):
    return SimpleNamespace(nodeid=nodeid, longrepr=("a.py", 1, f"Skipped: {reason}"))


def test_each_reason_is_a_line_with_its_tests_and_their_folders():
    told = tell_skipped(
        [
            skip("tests/ledger/test_a.py::test_one", "no server"),
            skip("tests/ledger/test_b.py::test_two[postgres]", "no server"),
            skip("tests/service/test_c.py::test_three", "no server"),
            skip("tests/test_d.py::test_four", "no browser"),
        ]
    )
    assert told == [
        "skipped 3 tests in tests/ledger, tests/service: no server",
        "skipped 1 test in tests: no browser",
    ]


def test_a_module_that_two_processes_skip_is_counted_once():
    told = tell_skipped(2 * [skip("tests/service/test_c.py", "no client")])
    assert told == ["skipped 1 module in tests/service: no client"]


def test_without_skipped_tests_nothing_is_told():
    assert tell_skipped([]) == []
