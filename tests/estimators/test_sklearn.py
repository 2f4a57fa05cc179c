"""The estimators follow scikit-learn's conventions."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.loans import SMALL, make_schema, small

from rocourse.attack import Attack
from rocourse.estimators import METHODS, CounterNet, RoCourseNet

# The checks' tables have few rows, of many widths: a batch that all of them fill is one shape less.
BRIEF = Attack(steps=SMALL["attack__steps"], unroll=SMALL["attack__unroll"])
QUICK = {"trainer__epochs": 30, "trainer__learning_rate": 0.03, "trainer__batch_size": 16}


# There is one estimator class: what is checked of it is checked of all methods. Without an attack,
# which would be compiled for each of the thirty shapes that scikit-learn's tables have.
@parametrize_with_checks([CounterNet(**small(CounterNet, **QUICK))])
def test_estimator_passes_scikit_learns_checks(estimator, check):
    check(estimator)


# What needs no training is checked of every method.
UNTRAINED = (
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_set_params,
    estimator_checks.check_valid_tag_types,
)


@pytest.mark.parametrize("check", UNTRAINED, ids=lambda check: check.__name__)
@pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS.keys())
def test_every_estimator_passes_the_checks_that_need_no_training(cls, check):
    check(cls.__name__, cls())


@pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS.keys())
def test_estimator_works_in_cross_validation_with_a_schema_and_text_columns(cls, loans):
    model = cls(schema=make_schema(loans), random_state=0, **small(cls))
    scores = cross_val_score(model, loans.drop(columns="grade"), loans["grade"], cv=2)
    assert scores.min() > 0.75


def test_grid_search_chooses_among_parameters(loans):
    search = GridSearchCV(
        RoCourseNet(schema=make_schema(loans), random_state=0, **small(RoCourseNet)),
        {"trainer__epochs": [1, 12], "attack__steps": [1, 2]},
        cv=2,
    )
    search.fit(loans.drop(columns="grade"), loans["grade"])
    # The attack leaves the predictor, and so the score, as it is; the first of equals is best.
    assert search.best_params_ == {"trainer__epochs": 12, "attack__steps": 1}
    assert search.best_estimator_.attack_ == BRIEF(steps=1)
    assert search.estimator.attack == BRIEF, "the object that all candidates share"
    assert len(search.best_estimator_.recourse(loans.drop(columns="grade").head(3))) == 3


def test_estimator_is_the_last_step_of_a_pipeline(loans):
    numbers = loans[["income", "debt", "age"]].to_numpy(float)
    pipeline = make_pipeline(StandardScaler(), CounterNet(random_state=0, **small(CounterNet)))
    pipeline.fit(numbers, loans["grade"])
    assert pipeline.score(numbers, loans["grade"]) > 0.7


@pytest.mark.parametrize("cls", METHODS.values(), ids=METHODS.keys())
def test_clone_has_the_same_parameters_and_no_learned_state(cls, loans):
    model = cls(schema=make_schema(loans), trainer__dropout=0.1, random_state=3)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "classes_")


def test_array_of_numbers_needs_no_schema(loans):
    numbers = loans[["income", "debt", "age"]].to_numpy(float)
    model = CounterNet(random_state=0, **small(CounterNet)).fit(numbers, loans["grade"])
    recourse = model.recourse(numbers[:5])
    assert list(recourse.frame().columns) == ["x0", "x1", "x2"]
    assert np.isfinite(recourse.frame().to_numpy()).all()
