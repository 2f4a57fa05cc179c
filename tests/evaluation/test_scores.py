import json

import pytest

from rocourse import evaluation
from rocourse.errors import DataError
from rocourse.evaluation import ModelScores


def test_adverse_rows_are_those_predicted_unfavourable(threshold, incomes):
    model, judges = threshold(5), {"lax": threshold(3), "strict": threshold(7)}
    scores = evaluation.evaluate_model(model, incomes(0, 1, 2, 8), judges=judges)

    everyone, adverse = scores.protocols["all"], scores.protocols["adverse"]
    assert (everyone.rows, adverse.rows) == (4, 3)
    # Up to 5: the lax judge honours it, the strict one does not. Down to 4: the reverse.
    assert adverse.judged == {"lax": 1.0, "strict": 0.0}
    assert everyone.judged == {"lax": 0.75, "strict": 0.25}
    assert adverse.robust_validity == everyone.robust_validity == 0.5
    assert adverse.validity == everyone.validity == 1.0
    assert adverse.proximity == pytest.approx((0.5 + 0.4 + 0.3) / 3)
    assert everyone.proximity == pytest.approx((0.5 + 0.4 + 0.3 + 0.4) / 4)
    assert adverse.features_changed == everyone.features_changed == 1.0


def test_unchanged_validity_says_whom_the_judges_would_have_given_the_class_anyway(
    threshold, incomes
):
    judges = {"lax": threshold(3), "strict": threshold(7)}
    scores = evaluation.evaluate_model(threshold(5), incomes(0, 4, 6, 8), judges=judges)
    # The lax judge approves 4 as it is, the strict one denies 6.
    up, down = scores.protocols["to_favourable"], scores.protocols["to_unfavourable"]
    assert (up.unchanged, up.unchanged_validity) == ({"lax": 0.5, "strict": 0.0}, 0.25)
    assert (down.unchanged, down.unchanged_validity) == ({"lax": 0.0, "strict": 0.5}, 0.25)
    assert scores.protocols["all"].unchanged_validity == 0.25
    alone = evaluation.evaluate_model(threshold(5), incomes(0, 4))
    assert alone.protocols["all"].unchanged_validity is None


def test_directions_are_reported_apart(threshold, incomes):
    scores = evaluation.evaluate_model(
        threshold(5), incomes(0, 1, 2, 8), judges={"lax": threshold(3)}
    )
    up, down = scores.protocols["to_favourable"], scores.protocols["to_unfavourable"]
    assert (up.rows, up.robust_validity) == (3, 1.0)
    assert (down.rows, down.robust_validity) == (1, 0.0)


def test_favourable_class_can_be_turned_round(threshold, incomes):
    scores = evaluation.evaluate_model(threshold(5), incomes(0, 1, 2, 8), favourable=0)
    assert scores.favourable == 0
    assert scores.protocols["adverse"].rows == scores.protocols["to_favourable"].rows == 1


def test_an_unknown_favourable_class_is_refused(threshold, incomes):
    with pytest.raises(DataError, match=r"one of \[0, 1\].*but is 'yes'"):
        evaluation.evaluate_model(threshold(5), incomes(0, 8), favourable="yes")


def test_accuracy_and_auc_need_labels(threshold, incomes):
    X = incomes(0, 4, 6, 9)
    labelled = evaluation.evaluate_model(threshold(5), X, [0, 1, 1, 1])
    assert (labelled.accuracy, labelled.auc) == (0.75, 1.0)
    blind = evaluation.evaluate_model(threshold(5), X)
    assert (blind.accuracy, blind.auc) == (None, None)
    assert blind.protocols == labelled.protocols


def test_auc_is_none_for_labels_of_one_class(threshold, incomes):
    scores = evaluation.evaluate_model(threshold(5), incomes(0, 9), [1, 1])
    assert (scores.accuracy, scores.auc) == (0.5, None)


def test_without_judges_there_is_no_robust_validity(threshold, incomes):
    scores = evaluation.evaluate_model(threshold(5), incomes(0, 9))
    assert scores.protocols["all"].validity == 1.0
    assert scores.protocols["all"].robust_validity is None
    assert scores.protocols["all"].judged == {}


def test_no_adverse_rows_give_none(threshold, incomes):
    scores = evaluation.evaluate_model(threshold(5), incomes(8, 9), judges={"strict": threshold(7)})
    adverse = scores.protocols["adverse"]
    assert adverse.rows == 0
    assert adverse.judged == {"strict": None}
    assert adverse.validity is adverse.robust_validity is None
    assert adverse.proximity is adverse.features_changed is None


def test_attempts_that_failed_count_against_validity_but_are_judged(threshold, incomes):
    judges = {"lax": threshold(5), "strict": threshold(6)}
    scores = evaluation.evaluate_model(threshold(7, short=2), incomes(0, 1), judges=judges)
    # The attempts stop at 5: not enough for the model itself, but for the lax judge.
    assert scores.protocols["adverse"].validity == 0.0
    assert scores.protocols["adverse"].judged == {"lax": 1.0, "strict": 0.0}
    assert scores.protocols["adverse"].proximity == pytest.approx((0.5 + 0.4) / 2)


def test_constant_predictor_is_reported(threshold, incomes):
    assert evaluation.evaluate_model(threshold(0), incomes(1, 9)).constant == 1
    assert evaluation.evaluate_model(threshold(5), incomes(1, 9)).constant is None


def test_rows_that_have_the_favourable_class_are_left_out_of_all_protocols(bands, incomes):
    judges = {"strict": bands(5, 9)}
    scores = evaluation.evaluate_model(
        bands(4, 7, goal=8), incomes(1, 5, 9), ["low", "high", "high"], judges=judges
    )
    assert scores.rows == 3
    assert {name: s.rows for name, s in scores.protocols.items()} == {
        "all": 2,
        "adverse": 2,
        "to_favourable": 2,
        "to_unfavourable": 0,
    }
    assert scores.protocols["all"].validity == 1.0
    assert scores.protocols["all"].robust_validity == 0.0
    assert scores.accuracy == pytest.approx(2 / 3)


def test_a_favourable_class_is_asked_for_where_there_are_several(bands, incomes):
    scores = evaluation.evaluate_model(bands(4, 7, goal=5), incomes(1, 5, 9), favourable="middle")
    assert scores.protocols["all"].rows == 2
    assert scores.protocols["all"].validity == 1.0


def test_no_rows_are_refused(threshold, incomes):
    with pytest.raises(DataError, match="must not be empty"):
        evaluation.evaluate_model(threshold(5), incomes())


def test_labels_that_the_model_does_not_know_are_refused(threshold, incomes):
    with pytest.raises(DataError, match=r"among \[0, 1\].*'yes' was found"):
        evaluation.evaluate_model(threshold(5), incomes(0, 9), ["yes", "no"])


def test_labels_must_be_as_many_as_rows(threshold, incomes):
    with pytest.raises(DataError, match="labels from y must be one per row"):
        evaluation.evaluate_model(threshold(5), incomes(0, 9), [1])


def test_input_is_not_changed(threshold, incomes):
    X = incomes(0, 9)
    before = X.copy()
    evaluation.evaluate_model(threshold(5), X, [0, 1], judges={"other": threshold(3)})
    assert X.equals(before)


def test_scores_survive_json(threshold, incomes):
    scores = evaluation.evaluate_model(
        threshold(5), incomes(8, 9), [1, 1], judges={"other": threshold(3)}
    )
    text = json.dumps(scores.to_dict(), allow_nan=False)
    assert ModelScores.from_dict(json.loads(text)) == scores
