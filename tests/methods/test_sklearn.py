"""The estimators follow scikit-learn's conventions."""

import numpy as np
import pytest
from rocourse.methods import METHODS, ROAR, CounterNet, RoCourseNet
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from .conftest import SMALL, make_schema, small

QUICK = SMALL | {"epochs": 30, "learning_rate": 0.03}


# One that trains a generator and one that searches: what is checked is the same code in all others.
@parametrize_with_checks(
    [
        RoCourseNet(**QUICK, attack_steps=2, unroll_steps=1),
        ROAR(**{name: value for name, value in QUICK.items() if name != "generator_widths"}),
    ]
)
def test_estimator_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS.keys())
def test_estimator_works_in_cross_validation_with_a_schema_and_text_columns(cls, loans):
    model = cls(schema=make_schema(loans), random_state=0, **small(cls))
    scores = cross_val_score(model, loans.drop(columns="grade"), loans["grade"], cv=2)
    assert scores.min() > 0.75


def test_grid_search_chooses_among_parameters(loans):
    search = GridSearchCV(
        RoCourseNet(schema=make_schema(loans), random_state=0, **SMALL),
        {"epochs": [1, 12]},
        cv=2,
    )
    search.fit(loans.drop(columns="grade"), loans["grade"])
    assert search.best_params_ == {"epochs": 12}
    assert len(search.best_estimator_.recourse(loans.drop(columns="grade").head(3))) == 3


def test_estimator_is_the_last_step_of_a_pipeline(loans):
    numbers = loans[["income", "debt", "age"]].to_numpy(float)
    pipeline = make_pipeline(StandardScaler(), CounterNet(random_state=0, **SMALL))
    pipeline.fit(numbers, loans["grade"])
    assert pipeline.score(numbers, loans["grade"]) > 0.7


@pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS.keys())
def test_clone_has_the_same_parameters_and_no_learned_state(cls, loans):
    model = cls(schema=make_schema(loans), dropout=0.1, random_state=3)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "classes_")


def test_array_of_numbers_needs_no_schema(loans):
    numbers = loans[["income", "debt", "age"]].to_numpy(float)
    model = CounterNet(random_state=0, **SMALL).fit(numbers, loans["grade"])
    recourse = model.recourse(numbers[:5])
    assert list(recourse.frame().columns) == ["x0", "x1", "x2"]
    assert np.isfinite(recourse.frame().to_numpy()).all()
