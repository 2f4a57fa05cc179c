"""What was done about missing values, a line a column."""

import pandas as pd

from rocourse.schema import Categorical, Schema, describe_value


def gap_lines(schema: Schema, rows: pd.DataFrame) -> list[str]:
    """Of each feature that rows have gaps in: how many, and what they are read as.

    Nothing is said of those that are refused: whoever reads the rows will say it.
    """
    lines = []
    for name, gaps in schema.gaps(rows).items():
        feature = schema[name]
        if feature.missing == "error":
            continue
        if feature.missing == "category":
            read_as = ", a category of its own"
        elif feature.missing == "drop":
            read_as = "; these rows are left out"
        else:
            how = "most frequent" if isinstance(feature, Categorical) else "median"
            told = "" if feature.fill is None else f"{describe_value(feature, feature.fill)} "
            read_as = f", read as {told}({how})" if told else f", read as the {how}"
        lines.append(f"{name}: {gaps.sum():,} of {len(rows):,} missing{read_as}")
    return lines
