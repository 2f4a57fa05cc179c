"""The reliability figure draws what it is given."""

import pytest

from rocourse.evaluation import ReliabilityBin
from rocourse.reports import reliability_figure, to_svg


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
