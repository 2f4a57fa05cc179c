"""A user's tables: what reads and writes CSV and Parquet files, whole or batch by batch."""

from rocourse.tables._batches import TableBatches, even_size
from rocourse.tables._json_records import JsonRecords
from rocourse.tables._parts import PartFolder, is_folder, write_part
from rocourse.tables._reading import check_table_path, open_table, read_table
from rocourse.tables._records import (
    Classifier,
    as_records,
    prediction_table,
    recourse_table,
    with_ids,
)
from rocourse.tables._rows import (
    BATCH_ROWS,
    RowBatches,
    names_to_drop,
    open_rows,
    read_labelled,
    read_rows,
    rows_with_class,
    select_features,
    select_training_features,
    split_names,
    take_target,
)
from rocourse.tables._writing import Rendered, new_table, rendered, spreadsheet_safe

__all__ = [
    "BATCH_ROWS",
    "Classifier",
    "JsonRecords",
    "PartFolder",
    "Rendered",
    "RowBatches",
    "TableBatches",
    "as_records",
    "check_table_path",
    "even_size",
    "is_folder",
    "names_to_drop",
    "new_table",
    "open_rows",
    "open_table",
    "prediction_table",
    "read_labelled",
    "read_rows",
    "read_table",
    "rows_with_class",
    "recourse_table",
    "rendered",
    "select_features",
    "select_training_features",
    "split_names",
    "spreadsheet_safe",
    "take_target",
    "with_ids",
    "write_part",
]
