"""Figures as text, and how columns are grouped."""

from rocourse.reports import as_markdown
from rocourse.reports._parts import difference, grouped, spread


def test_figures_are_shown_with_signs_and_spreads():
    assert difference(0.5, 0.75) == "−0.250" and difference(0.75, 0.5) == "+0.250"
    assert difference(None, 0.5) == spread(None, 0.1) == "–"
    assert spread(0.5, 0.1, None) == "0.500 ± 0.100"
    assert grouped(("", ("a",)), ("b", ("c", "d"))) == (("", "a"), ("b", "c"), ("b", "d"))


def test_a_table_is_markdown_with_a_line_below_its_header():
    lines = as_markdown([["a", "b"], ["1", "2"]]).splitlines()
    assert lines == ["| a | b |", "|---|---|", "| 1 | 2 |"]
