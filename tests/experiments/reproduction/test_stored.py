"""The reports in the repository, redrawn from the packed results beside them."""

import builtins
import io
import shutil
from collections import Counter
from pathlib import Path

import pytest

from rocourse.experiments.reproduction import SCALES, write_report
from rocourse.reports import Picture, _page

RESULTS = Path(__file__).parents[3] / "docs" / "results"

pytestmark = pytest.mark.skipif(not RESULTS.is_dir(), reason="a source distribution has no results")


@pytest.fixture
def opened(monkeypatch):
    """How many times each file of packed results is opened, by its name."""
    counts = Counter()
    real = io.open

    def counted(file, *args, **options):
        if str(file).endswith(".jsonl"):
            counts[Path(file).name] += 1
        return real(file, *args, **options)

    for module in (io, builtins):
        monkeypatch.setattr(module, "open", counted)
    return counts


@pytest.mark.parametrize(("folder", "scale"), [("comparisons", "paper"), ("paper", "paper")])
def test_a_report_is_redrawn_to_the_byte_and_reads_each_packed_file_once(
    folder, scale, tmp_path, opened, monkeypatch
):
    stored = RESULTS / folder
    packed = sorted(stored.glob("*.jsonl"))
    for path in packed:
        shutil.copyfile(path, tmp_path / path.name)
    # The Markdown only names the images, whose bytes are the drawing library's affair.
    monkeypatch.setattr(Picture, "figure", lambda picture: picture.name)
    for name in ("inlined", "to_png"):
        monkeypatch.setattr(_page, name, str.encode)
    opened.clear()
    write_report(SCALES[scale], tmp_path)
    assert opened == {path.name: 1 for path in packed}
    assert (tmp_path / "report.md").read_bytes() == (stored / "report.md").read_bytes()
    drawn = {path.name for path in (tmp_path / "figures").glob("*")}
    assert drawn == {path.name for path in (stored / "figures").glob("*")}
