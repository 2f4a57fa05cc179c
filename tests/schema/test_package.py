"""What `rocourse.schema` offers."""

import rocourse.schema


def test_public_names_are_pinned():
    assert sorted(rocourse.schema.__all__) == [
        "Categorical",
        "CategoryRule",
        "ClippedWarning",
        "Continuous",
        "EncodedRow",
        "Fault",
        "Feature",
        "Layout",
        "NEGLIGIBLE_CHANGE",
        "NumberRule",
        "Recourse",
        "RowCodec",
        "RowCodes",
        "Rows",
        "Schema",
        "Target",
        "ValueIndex",
        "describe_change",
        "features_changed",
        "one_hot",
        "proximity",
    ]
    assert all(hasattr(rocourse.schema, name) for name in rocourse.schema.__all__)
