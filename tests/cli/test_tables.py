"""Tables in files: what can be wrong with them, and that values survive."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocourse.cli._tables import read_table, write_table
from rocourse.errors import DataError, OutputError


def refusal(path, **options):
    with pytest.raises(DataError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert repr(str(path)) in message
    assert message.endswith(".") and "; " in message and "\n" not in message
    return message


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "T.CSV"])
def test_what_is_written_is_read_again_exactly(tmp_path, name):
    frame = pd.DataFrame(
        {
            "number": [0.1 + 0.2, 1e-300, -1.0],
            "count": [1, 2, 2**53],
            "text": ["a,b", 'say "x"', "Ärger\n"],
            "flag": [True, False, True],
        }
    )
    write_table(frame, tmp_path / name, force=False)
    pd.testing.assert_frame_equal(read_table(tmp_path / name), frame)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "an empty file"),
        (b"\n\n", "an empty file"),
        (b"a,b\n", "no rows below the column names"),
        (b"a,b\n1,2\n1,2,3\n", "Expected 2 fields in line 3, saw 3"),
        (b'a,b\n1,"2\n', "EOF inside string"),
        (b"a,b\n1,2,3\n4,5,6\n", "rows with more fields than the header"),
        (b"a,b\n\xff\xfe,2\n", "bytes that are no UTF-8 text"),
    ],
)
def test_a_malformed_csv_file_is_refused(tmp_path, content, words):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert words in refusal(path)


def test_repeated_column_names_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,a\n1,2,3\n")
    assert "got 'a' more than once" in refusal(path)
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    assert "got 'a' more than once" in refusal(path)


def test_a_damaged_parquet_file_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 and no more")
    assert "but got another one" in refusal(path)


def test_a_parquet_file_without_rows_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": pd.Series([], dtype=float)}).to_parquet(path)
    assert "no rows" in refusal(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    assert "there is none" in refusal(tmp_path / "t.csv")
    (tmp_path / "d.csv").mkdir()
    assert "it is a directory" in refusal(tmp_path / "d.csv")
    assert "must end in .csv or .parquet, but it ends in '.txt'" in refusal(tmp_path / "t.txt")


def test_the_mark_of_spreadsheets_is_not_part_of_a_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("\ufeffa,b\n1,2\n".encode())
    assert list(read_table(path).columns) == ["a", "b"]


def test_columns_of_text_are_read_as_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n1,NA,2\n007,,NA\n")
    plain = read_table(path)
    assert plain["a"].tolist() == [1, 7] and plain["b"].isna().all()
    text = read_table(path, text=["a", "b", "not there"])
    assert text["a"].tolist() == ["1", "007"]
    assert text["b"].isna().tolist() == [False, True]
    assert text["c"].isna().tolist() == [False, True]


def test_labels_of_several_levels_are_replaced_by_numbers(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.MultiIndex.from_tuples([("x", 1), ("y", 2)]))
    frame.to_parquet(tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet").index) == [0, 1]


def test_an_output_of_another_kind_is_refused(tmp_path):
    with pytest.raises(OutputError, match=r"must end in \.csv or \.parquet"):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / "t.json", force=False)
