"""The panel: what its recourses are worth, and its options."""

import numpy as np
import pandas as pd
import pytest
from tests.loans import fit, make_loans

from rocourse.errors import ConfigError
from rocourse.estimators import RoCoursePanel, VanillaCF


def test_recourses_are_honoured_by_models_retrained_on_other_rows_more_often(loans):
    judges = [
        fit(VanillaCF, make_loans(400, seed=seed), trainer__epochs=30) for seed in range(1, 5)
    ]
    rows = make_loans(200, seed=9).drop(columns="grade")

    def honoured(**options):
        recourse = fit(RoCoursePanel, loans, trainer__epochs=30, **options).recourse(rows)
        return np.mean(
            [judge.predict(recourse.attempted()) == recourse.desired for judge in judges]
        )

    timid, bold = (
        honoured(proposer__members=1, proposer__margin_quantile=0.0),
        honoured(proposer__members=6, proposer__margin_quantile=0.5),
    )
    assert bold > timid
    assert bold > 0.97


def test_each_class_may_be_asked_for_with_a_margin_of_its_own(loans):
    rows = make_loans(200, seed=9).drop(columns="grade")

    def recourses(quantile):
        return fit(
            RoCoursePanel, loans, trainer__epochs=30, proposer__margin_quantile=quantile
        ).recourse(rows)

    timid, bold = recourses(0.0), recourses((0.9, 0.0))
    refused = timid.desired == min(timid.desired)
    pd.testing.assert_frame_equal(bold.attempted()[~refused], timid.attempted()[~refused])
    assert bold.proximity[refused].mean() > 1.2 * timid.proximity[refused].mean()


@pytest.mark.parametrize(
    "option",
    [
        {"proposer__members": 0},
        {"proposer__margin_quantile": 1.0},
        {"proposer__margin_quantile": ()},
        {"proposer__margin_quantile": (0.5, 0.5, 0.5)},
        {"proposer__margin_quantile": (0.5, 1.0)},
        {"proposer__shift__noise": -0.1},
        {"proposer__shift__shuffle": 1.5},
        {"proposer__shift__uniform_flip": 1.5},
        {"proposer__shift__ordinal_noise": -0.1},
        {"proposer__min_gain": -1.0},
        {"proposer__min_category_share": 1.0},
        {"proposer__max_changes": 0},
        {"trainer__committee": 0},
        {"trainer__copies": -1},
        {"trainer__balance": 1.5},
        {"trainer__blur__noise": -0.1},
        {"trainer__blur__flip": 1.0},
        {"trainer__blur__ordinal_noise": 1.5},
        {"trainer__blur__class_evenness": -0.5},
    ],
)
def test_impossible_options_are_refused(option, loans):
    (name,) = option
    with pytest.raises(ConfigError, match=f"'{name.rpartition('__')[2]}'"):
        fit(RoCoursePanel, loans.head(60), **option)
