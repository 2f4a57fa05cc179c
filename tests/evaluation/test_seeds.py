import json

import numpy as np
import pytest

from rocourse import evaluation
from rocourse.errors import ArtifactError, ConfigError
from rocourse.evaluation import Aggregate, SeedsResult


@pytest.fixture
def run(threshold, incomes):
    frame = incomes(*[0] * 12, *[10] * 4).assign(good=[0] * 12 + [1] * 4)

    def run(seed, **thresholds):
        return evaluation.run_subsets(
            {name: frame for name in thresholds},
            "good",
            lambda name, X, y, _: threshold(thresholds[name]),
            seed=seed,
        )

    return run


def test_aggregate_takes_what_exists():
    aggregate = Aggregate.of([1.0, None, 4.0])
    assert (aggregate.mean, aggregate.n) == (2.5, 2)
    assert aggregate.std == pytest.approx(np.std([1, 4], ddof=1))
    assert Aggregate.of([2.0]) == Aggregate(2.0, None, 1)
    assert Aggregate.of([None]) == Aggregate.of([]) == Aggregate(None, None, 0)


def test_spread_over_seeds_is_that_of_each_runs_mean(run):
    # Adverse, robust: A honoured by B iff A ≥ B. Runs: (1, 0) → .5; (1, 1) → 1.
    result = SeedsResult((run(0, A=5, B=3), run(1, A=5, B=5)))
    robust = result.summary().protocols["adverse"]["robust_validity"]
    assert (robust.mean, robust.n) == (0.75, 2)
    assert robust.std == pytest.approx(np.std([0.5, 1], ddof=1))


def test_spread_over_subsets_is_that_of_each_subsets_mean(run):
    result = SeedsResult((run(0, A=5, B=3), run(1, A=5, B=5)))
    # A: 1 and 1; B: 0 and 1.
    robust = result.summary("subsets").protocols["adverse"]["robust_validity"]
    assert (robust.mean, robust.n) == (0.75, 2)
    assert robust.std == pytest.approx(np.std([1, 0.5], ddof=1))


def test_matrix_is_the_mean_over_runs_and_keeps_its_orientation(run):
    result = SeedsResult((run(0, A=5, B=3), run(1, A=5, B=5)))
    assert result.matrix("adverse") == ((1.0, 1.0), (0.5, 1.0))


def test_constant_predictors_are_counted_and_can_be_left_out(run):
    result = SeedsResult((run(0, A=5, B=3, C=0), run(1, A=5, B=3, C=4)))
    assert result.constant == {"C": 1}
    accuracy = result.summary("subsets", exclude_constant=True).model["accuracy"]
    assert accuracy == Aggregate(1.0, 0.0, 3)
    assert result.summary("subsets").model["accuracy"].mean < 1


def test_result_is_json_and_comes_back_equal(run):
    result = SeedsResult((run(0, A=5, B=0), run(1, A=5, B=3)))
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert SeedsResult.from_dict(json.loads(text)) == result


def test_a_result_of_another_format_is_refused(run):
    record = SeedsResult((run(0, A=5, B=0),)).to_dict()
    with pytest.raises(ArtifactError, match="format 'rocourse-seeds' and version 1"):
        SeedsResult.from_dict({**record, "version": 9})
    with pytest.raises(ArtifactError, match="list of runs"):
        SeedsResult.from_dict({**record, "runs": None})


def test_runs_of_other_subsets_are_refused(run):
    with pytest.raises(ConfigError, match="differ in their seed only"):
        SeedsResult((run(0, A=5, B=3), run(1, A=5, C=3)))


def test_the_same_seed_twice_is_refused(run):
    with pytest.raises(ConfigError, match="different seeds"):
        SeedsResult((run(0, A=5, B=3), run(0, A=5, B=3)))


def test_no_runs_are_refused():
    with pytest.raises(ConfigError, match="at least one"):
        SeedsResult(())


def test_unknown_spread_is_refused(run):
    with pytest.raises(ConfigError, match="'seeds' or 'subsets'"):
        SeedsResult((run(0, A=5, B=3),)).summary("years")
