"""What the pictures show; whether they are beautiful, eyes must say."""

import pytest
from matplotlib.text import Text

from rocourse.reports._axes import CURVES
from rocourse.reports._images import to_png, to_svg
from rocourse.reports._theme import DARK, LIGHT
from rocourse.reports.demo._applicant_figure import draw_applicant
from rocourse.reports.demo._figures import (
    draw_curve,
    draw_curves,
    draw_matrices,
    draw_matrix,
)
from rocourse.reports.demo._result import DEMO_PROTOCOLS


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def test_matrix_has_issuers_from_top_to_bottom_and_judges_from_left_to_right(result):
    axes = draw_matrix(result.methods[0], "adverse").axes[0]
    places = {text.get_text(): text.get_position() for text in axes.texts}
    left, right = places["95%"][0], places["50%"][0]
    assert left < right
    assert places["95%"][1] == places["50%"][1]
    assert places["25%"][0] == left
    # The y axis points down.
    assert axes.yaxis_inverted()
    assert places["25%"][1] > places["95%"][1]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["original", "corrected"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["original", "corrected"]


def test_matrix_says_where_there_were_no_rows(nobody_refused):
    assert texts(draw_matrix(nobody_refused.methods[0], "adverse")).count("no rows") == 4


def test_all_matrices_are_side_by_side(result):
    figure = draw_matrices(result, DEMO_PROTOCOLS)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["CounterNet: refused", "RoCourseNet: refused", "CounterNet: all"] + [
        "RoCourseNet: all"
    ]


@pytest.mark.parametrize("measure", CURVES)
def test_curve_shows_every_epoch_of_both_methods_and_the_one_kept(result, measure):
    axes = draw_curve(result, measure).axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    for method in result.methods:
        history = method.histories["org"]
        assert list(lines[method.title].get_xdata()) == [1, 2, 3]
        assert list(lines[method.title].get_ydata()) == [record[measure] for record in history]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert [list(dot.get_xdata()) for dot in dots] == [[2], [2]]


def test_curves_name_the_loss_that_was_used(record, result):
    assert draw_curve(result, "l1").axes[0].get_ylabel() == "mean squared error"
    for method in record["methods"]:
        method["parameters"] |= {
            "proposer.validity_loss": "cross_entropy",
            "proposer.proximity_loss": "l1",
        }
    other = type(result).from_dict(record)
    assert draw_curve(other, "l1").axes[0].get_ylabel() == "mean squared error"
    assert draw_curve(other, "l2").axes[0].get_ylabel() == "cross-entropy"
    assert draw_curve(other, "l3").axes[0].get_ylabel() == "mean absolute change"


def test_applicant_moves_along_the_range_of_each_changed_feature(result):
    axes = draw_applicant(result, result.samples[0]).axes[0]
    tracks = [line for line in axes.lines if line.get_linewidth() == 5]
    start, end = tracks[0].get_xdata()
    big = [line for line in axes.lines if line.get_marker() == "o" and line.get_markersize() > 8]
    shares = [(float(line.get_xdata()[0]) - start) / (end - start) for line in big]
    # Duration from 48 to 24 in 4 to 72 months, Status from the second to the last of four.
    assert shares == pytest.approx([44 / 68, 20 / 68, 1 / 3, 1])
    assert "48 → 24 months" in texts(axes)
    assert any("May not be changed: Age" in text for text in texts(axes))


def test_methods_can_be_told_apart_in_both_themes():
    for theme in (LIGHT, DARK):
        assert len(set(theme.methods.values())) == len(theme.methods)
    assert LIGHT.method_dashes("counternet") != LIGHT.method_dashes("rocoursenet")


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_no_text_leaves_its_figure(result, theme):
    figures = [
        draw_matrices(result, DEMO_PROTOCOLS, theme),
        draw_curves(result, theme),
        *(draw_applicant(result, sample, theme, titled=True) for sample in result.samples),
    ]
    for figure in figures:
        figure.draw_without_rendering()
        drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        assert drawn.x0 >= 0 and drawn.x1 <= width
        assert drawn.y0 >= 0 and drawn.y1 <= height


def test_pictures_are_images_and_the_same_every_time(result):
    first, second = (draw_matrix(result.methods[0], "all") for _ in range(2))
    assert to_svg(first) == to_svg(second)
    assert to_svg(first).lstrip().startswith(b"<?xml")
    assert to_png(first).startswith(b"\x89PNG")
