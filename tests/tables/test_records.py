"""Recourses and predictions as tables."""

from tests.applicants import TARGET, make_applicants, untrained_model

from rocourse.schema import Schema
from rocourse.tables import recourse_table


def test_features_named_like_a_column_of_the_record_keep_their_name():
    frame = make_applicants().rename(columns={"income": "status", "job": "row"})
    model = untrained_model(schema=Schema.infer(frame, target=TARGET, favourable="granted"))
    rows = frame.drop(columns=TARGET)
    table = recourse_table(model.recourse(rows))
    assert list(table.columns[:2]) == ["row_", "status_"]
    assert table["row"].tolist() == model.recourse(rows).frame()["row"].tolist()
    assert set(table["status_"]) <= {"found", "not_found", "not_needed"}
