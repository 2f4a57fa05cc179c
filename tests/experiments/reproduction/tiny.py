"""A tiny entry: two data sets' worth of rows, nets of a few units, one step of training."""

from dataclasses import replace

from rocourse.experiments.reproduction import Cell, Entry, Source, seed_by_seed
from rocourse.experiments.reproduction._results import measured
from rocourse.reports import Table
from rocourse.reports._parts import grouped, shown

OPTIONS = {
    "trainer__encoder_widths": (8, 4),
    "trainer__head_widths": (4,),
    "proposer__widths": (8,),
    "trainer__batch_size": 64,
    "trainer__epochs": 1,
}
CELL = Cell(Source("simulated_label", ("D1", "D2"), rows=120), "counternet", OPTIONS, seeds=(0, 1))


def render(scale, results):
    line = measured(CELL, results)
    row = [line.method]
    for name in ("validity", "robust_validity"):
        row.append(shown(line.measure(name)[0].mean))
    columns = grouped(("", ("method",)), ("share", ("validity", "robust validity")))
    return [Table("A tiny table", columns, (tuple(row),), "A note.")]


ENTRY = Entry("tiny", "A tiny entry", lambda scale: seed_by_seed([CELL]), render)
REGISTRY = {"tiny": ENTRY}


def cell(**changes):
    """The tiny cell with other options."""
    return replace(CELL, options={**OPTIONS, **changes})
