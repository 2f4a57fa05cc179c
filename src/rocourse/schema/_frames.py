"""Tables of other libraries, made pandas frames once, where they enter."""

from typing import Any

import pandas as pd

from rocourse._lazy import optional
from rocourse.errors import DataError


def as_frame(table: Any) -> Any:
    """A table that speaks Arrow (pyarrow, polars) as a pandas frame; anything else as it is."""
    if isinstance(table, pd.DataFrame) or not hasattr(table, "__arrow_c_stream__"):
        return table
    pa = optional("pyarrow", "parquet")
    arrow = pa.table(table)
    # Whole numbers and flags stay what they are where some are missing.
    return arrow.to_pandas(types_mapper=_nullable(pa).get)


def like(frame: pd.DataFrame, table: Any) -> Any:
    """A pandas frame as a table of the kind of another: of pandas', polars' or pyarrow's."""
    library = type(table).__module__.partition(".")[0]
    if isinstance(table, pd.DataFrame):
        return frame
    if library == "polars":
        return optional("polars", "parquet").from_pandas(frame)
    if library == "pyarrow":
        return optional("pyarrow", "parquet").Table.from_pandas(frame, preserve_index=False)
    raise DataError(
        "The table to be like must be one of pandas', polars' or pyarrow's, but got "
        f"{type(table).__name__}; take frame() and convert it."
    )


def _nullable(pa: Any) -> dict[Any, Any]:
    whole = (pd.Int8Dtype, pd.Int16Dtype, pd.Int32Dtype, pd.Int64Dtype)
    signed = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
    natural = (pd.UInt8Dtype, pd.UInt16Dtype, pd.UInt32Dtype, pd.UInt64Dtype)
    unsigned = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    kinds = zip((*signed, *unsigned, pa.bool_()), (*whole, *natural, pd.BooleanDtype), strict=True)
    return {arrow: kind() for arrow, kind in kinds}
