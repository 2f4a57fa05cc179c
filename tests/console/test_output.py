"""What is said to people while they wait."""

import pytest

from rocourse.console import Output


@pytest.mark.parametrize(
    ("terminal", "options", "said"),
    [
        (True, {}, "Loading [it] …\n"),
        (True, {"quiet": True}, ""),
        (True, {"as_json": True}, ""),
        (False, {}, ""),
    ],
)
def test_a_wait_is_told_on_a_terminal_and_to_people_only(
    monkeypatch, capsys, terminal, options, said
):
    monkeypatch.setattr("rich.console.Console.is_terminal", terminal)
    Output(**{"as_json": False, "quiet": False} | options).waiting("Loading [it] …")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == said
