"""Pictures and short forms of records: what is drawn is what is there."""

import html
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from rocourse import plots
from rocourse.errors import ConfigError, DataError
from rocourse.evaluation import AuditCounts, fairness
from rocourse.reports import recourse_html, schema_html, to_png
from rocourse.reports._html import audit_html
from rocourse.schema import Categorical, Continuous, Recourse, Rows, Schema

SCHEMA = Schema(
    [
        Continuous("income", 0, 100, unit="k"),
        Continuous("years", 0, 10, integer=True, missing="impute", fill=5.0),
        Categorical("job", ("none", "<b>part", "full")),
    ]
)
TABLE = pd.DataFrame(
    {
        "income": [20.0, 40.0, 80.0, 10.0],
        "years": [1, None, 3, 4],
        "job": ["none", "<b>part", "full", "none"],
    },
    index=["a", "b", "c", "d"],
)


def make_recourse():
    rows = SCHEMA.encode(TABLE)
    numbers, words = rows.continuous.copy(), rows.categories.copy()
    numbers[0, 0], numbers[1, 0], numbers[1, 1], words[0, 0] = 0.5, 0.6, 0.9, 1
    status = ["found", "found", "not_needed", "not_found"]
    return Recourse(
        *(SCHEMA, TABLE, rows, Rows(numbers, words), status, [0, 0, 1, 0], [1] * 4),
        np.array([0.9, 0.8, 0.7, 0.2]),
        "made up",
        robustness=np.array([0.95, 0.5, 1.0, 0.0]),
    )


def words_of(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_an_applicant_is_shown_with_every_change_and_nothing_else():
    told = words_of(make_recourse().plot(0, accepted=TABLE))
    assert "Applicant a" in told and "income" in told and "job" in told and "years" not in told
    assert any("kept by the next model with a chance of 95%" in text for text in told)
    assert any("eight in ten" in text for text in told)
    assert "none → <b>part" in told


def test_a_gap_has_no_place_before(tmp_path):
    figure = make_recourse().plot(1)
    arrows = figure.axes[0].patches
    # The income moves; the years come from nowhere.
    assert len(arrows) == 1 and len(to_png(figure)) > 1000


@pytest.mark.parametrize("i, told", [(2, "needs no change"), (3, "no recourse was found")])
def test_who_is_told_nothing_is_shown_why(i, told):
    assert any(told in text for text in words_of(make_recourse().plot(i)))


def test_a_position_beyond_the_rows_is_refused():
    with pytest.raises(DataError, match="must be below 4"):
        make_recourse().plot(4)


def test_bars_are_the_shares_of_those_who_are_advised():
    (axes,) = make_recourse().plot_changes().axes
    widths = {
        label.get_text(): bar.get_width()
        for label, bar in zip(axes.get_yticklabels(), axes.patches, strict=True)
    }
    assert widths == {"income": 1.0, "years": 0.5, "job": 0.5}
    assert any("median +25 k" in text.get_text() for text in axes.texts)


def test_points_that_are_beaten_are_off_the_line():
    (axes,) = plots.plot_frontier({"m": [(1, 0.5), (2, 0.4), (3, 0.9)]}).axes
    assert axes.lines[0].get_xydata().tolist() == [[1, 0.5], [3, 0.9]]
    assert axes.collections[0].get_offsets().tolist() == [[2, 0.4]]


def test_lines_differ_in_more_than_their_colour():
    points = {name: [(1.0, 0.5), (2.0, 0.6)] for name in "abcd"}
    (axes,) = plots.plot_frontier(points).axes
    assert len({(line.get_marker(), line.get_linestyle()) for line in axes.lines}) == 4


def test_honoured_advice_is_counted_by_model():
    class Judge:
        def __init__(self, least):
            self.least = least

        def predict(self, rows):
            return (rows["income"] >= self.least).astype(int).to_numpy()

    models = {"mild": Judge(50), "strict": Judge(60)}
    (axes,) = plots.plot_validity({"m": make_recourse()}, models).axes
    # Three needed a recourse; one of them was not found and stays at 10.
    assert axes.lines[0].get_ydata() == pytest.approx([2 / 3, 1 / 3])


def test_an_alarm_is_marked_where_it_is_due():
    calm = plots.plot_drift(np.ones(50), kept=0.9)
    assert "No alarm" in calm.axes[0].get_title(loc="left")
    alarmed = plots.plot_drift(np.r_[np.ones(20), np.zeros(40)], kept=0.9)
    assert "Alarm at promise" in alarmed.axes[0].get_title(loc="left")
    assert alarmed.axes[0].lines[-1].get_marker() == "D"


def test_calibration_is_observed_share_by_probability():
    (axes,) = plots.plot_calibration([0.2] * 5 + [0.8] * 5, [1, 0, 0, 0, 0, 1, 1, 1, 1, 0]).axes
    np.testing.assert_allclose(axes.lines[1].get_xydata(), [[0.2, 0.2], [0.8, 0.8]])


def test_groups_are_shown_with_their_differences():
    found = fairness(make_recourse(), {"g": ["x", "x", "y", "y"]})
    (axes,) = plots.plot_fairness(found, "refused").axes
    assert [label.get_text() for label in axes.get_yticklabels()][::-1] == list(found)
    with pytest.raises(ConfigError, match="measure must be one of"):
        plots.plot_fairness(found, "luck")


def test_records_have_short_forms_and_tables_without_foreign_markup():
    recourse = make_recourse()
    assert repr(recourse) == "<Recourse by made up: 4 rows, 2 found, 1 not_found, 1 not_needed>"
    page = recourse._repr_html_()
    assert page == recourse_html(recourse)
    assert "<b>part" not in page and html.escape("none → <b>part") in page
    assert "<b>part" not in SCHEMA._repr_html_() and "0 to 100 k" in schema_html(SCHEMA)


def test_an_audit_is_a_small_table():
    class Report:
        total = AuditCounts(10, 8, 1)
        by_issuer = {"0123456789abcdef": AuditCounts(10, 8, 1)}

    page = audit_html(Report())
    assert "80.0%" in page and "0123456789ab<" in page


def test_without_matplotlib_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import rocourse, rocourse.errors\n"
        "try:\n    rocourse.plots\n"
        "except rocourse.errors.DependencyError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'rocourse[plots]'" in done.stdout, done.stderr
