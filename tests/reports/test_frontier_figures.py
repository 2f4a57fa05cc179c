"""Frontiers: which points are on the line, and what lies between them."""

import pytest

from rocourse.reports._frontier_figures import efficient, frontier_at


def test_points_that_another_beats_are_told_apart():
    points = [(1.0, 0.5), (2.0, 0.9), (2.5, 0.9), (3.0, 1.0), (4.0, 0.2)]
    assert efficient(points) == [True, True, False, True, False]


def test_between_two_points_a_frontier_is_a_line():
    points = [(1.0, 0.5), (3.0, 0.9), (2.0, 0.4)]
    assert frontier_at(points, 2.0) == pytest.approx(0.7), "the third point is none of it"
    assert frontier_at(points, 9.0) == 0.9
    assert frontier_at(points, 0.5) == frontier_at([], 1.0) == float("-inf")
