"""Texts and figures of reports: what is told and drawn is what was given."""

import pytest

from rocourse.evaluation import ReliabilityBin
from rocourse.reports import as_markdown, reliability_figure, to_svg
from rocourse.reports._frontier_figures import efficient, frontier_at
from rocourse.reports._parts import difference, grouped, spread


def test_figures_are_shown_with_signs_and_spreads():
    assert difference(0.5, 0.75) == "−0.250" and difference(0.75, 0.5) == "+0.250"
    assert difference(None, 0.5) == spread(None, 0.1) == "–"
    assert spread(0.5, 0.1, None) == "0.500 ± 0.100"
    assert grouped(("", ("a",)), ("b", ("c", "d"))) == (("", "a"), ("b", "c"), ("b", "d"))


def test_a_table_is_markdown_with_a_line_below_its_header():
    lines = as_markdown([["a", "b"], ["1", "2"]]).splitlines()
    assert lines == ["| a | b |", "|---|---|", "| 1 | 2 |"]


def test_points_that_another_beats_are_told_apart():
    points = [(1.0, 0.5), (2.0, 0.9), (2.5, 0.9), (3.0, 1.0), (4.0, 0.2)]
    assert efficient(points) == [True, True, False, True, False]


def test_between_two_points_a_frontier_is_a_line():
    points = [(1.0, 0.5), (3.0, 0.9), (2.0, 0.4)]
    assert frontier_at(points, 2.0) == pytest.approx(0.7), "the third point is none of it"
    assert frontier_at(points, 9.0) == 0.9
    assert frontier_at(points, 0.5) == frontier_at([], 1.0) == float("-inf")


def test_bins_are_drawn_beside_the_diagonal_and_as_large_as_they_are():
    bins = (ReliabilityBin(10, 0.2, 0.3), ReliabilityBin(30, 0.8, 0.7))
    figure = reliability_figure(bins, title="Probability of paid")
    (axes,) = figure.axes
    diagonal, line = axes.lines
    assert diagonal.get_xydata().tolist() == [[0, 0], [1, 1]]
    assert line.get_xydata().tolist() == [[0.2, 0.3], [0.8, 0.7]]
    small, large = axes.collections[0].get_sizes()
    assert large > small
    assert "40 rows" in axes.get_xlabel() and "0.100" in axes.get_xlabel()
    assert to_svg(figure).startswith(b"<?xml")


def test_no_bins_are_an_empty_figure():
    (axes,) = reliability_figure((), title="Probability of paid").axes
    assert axes.get_title(loc="left") == "Probability of paid"
    assert axes.lines[1].get_xydata().size == pytest.approx(0)
