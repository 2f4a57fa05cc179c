"""What the pictures show; whether they are beautiful, eyes must say."""

import pytest
from matplotlib.text import Text

from rocourse.reports._images import to_svg
from rocourse.reports._theme import DARK, LIGHT
from rocourse.reports.demo._applicant_figure import draw_applicant
from rocourse.reports.demo._figures import draw_kept, draw_panel


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(Text) if text.get_text()]


def test_panel_shows_both_shares_of_every_kind_and_what_was_stated(result):
    shown = texts(draw_panel(result, result.methods[0]))
    assert shown.count("30% → 97%") == 3
    assert "40% → 91%" in shown
    assert "stated 95%" in shown
    assert "committee of networks *" in shown
    assert "40 of 50 promised; unusual loans 0%" in shown


def test_a_method_that_promises_nothing_is_said_to(result):
    shown = texts(draw_panel(result, result.methods[1]))
    assert "58 told, none promised; unusual loans 90%" in shown
    assert "50% → 41%" in shown
    assert not any("stated" in text for text in shown)


def test_spread_is_the_standard_deviation_over_models(result):
    axes = draw_panel(result, result.methods[0]).axes[0]
    bars = [bar for bar in axes.containers if bar.has_xerr]
    ends = [sorted(x for x, _ in bar.lines[2][0].get_segments()[0]) for bar in bars]
    # .95 and .99 of the committee, the second bar drawn.
    assert ends[1] == pytest.approx([0.97 - 0.0283, 0.97 + 0.0283], abs=1e-3)


def test_nothing_told_draws_nothing(nothing_promised):
    assert not draw_panel(nothing_promised, nothing_promised.methods[0]).axes[0].containers


def test_applicant_moves_along_the_range_of_each_changed_feature(result):
    axes = draw_applicant(result, result.samples[0]).axes[0]
    tracks = [line for line in axes.lines if line.get_linewidth() == 5]
    start, end = tracks[0].get_xdata()
    big = [line for line in axes.lines if line.get_marker() == "o" and line.get_markersize() > 8]
    shares = [(float(line.get_xdata()[0]) - start) / (end - start) for line in big]
    # Duration from 48 to 24 in 4 to 72 months, Status from the second to the last of four.
    assert shares == pytest.approx([44 / 68, 20 / 68, 1 / 3, 1])
    assert "48 → 24 months" in texts(axes)
    assert any("May not be changed: Installment rate" in text for text in texts(axes))


def test_methods_can_be_told_apart_in_both_themes():
    for theme in (LIGHT, DARK):
        assert len(set(theme.methods.values())) == len(theme.methods)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_no_text_leaves_its_figure(result, theme):
    figures = [
        draw_kept(result, theme),
        *(draw_panel(result, method, theme) for method in result.methods),
        *(draw_applicant(result, sample, theme, titled=True) for sample in result.samples),
    ]
    for figure in figures:
        figure.draw_without_rendering()
        drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
        assert drawn.x0 >= 0 and drawn.x1 <= width
        assert drawn.y0 >= 0 and drawn.y1 <= height


def test_pictures_are_the_same_every_time(result):
    assert to_svg(draw_kept(result)) == to_svg(draw_kept(result))
