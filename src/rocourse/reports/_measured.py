"""What tables and figures are made from: a method on a data set, and what came of it."""

from dataclasses import dataclass

from rocourse.evaluation import Aggregate, SeedsResult
from rocourse.reports._names import METHOD_TITLES


@dataclass(frozen=True)
class Measured:
    """A method in the k-subset protocol.

    Attributes:
        dataset: The name of the data set.
        method: The name of the method.
        subsets: The subsets, in the order of the validity matrix.
        seeds: How many runs there are to be.
        result: Those that there are; None if there is none.
        title: What to call it among those on the same rows, if not by its method.
    """

    dataset: str
    method: str
    subsets: tuple[str, ...]
    seeds: int
    result: SeedsResult | None
    title: str = ""

    @property
    def name(self) -> str:
        """What to call it among those on the same rows."""
        return self.title or METHOD_TITLES.get(self.method, self.method)

    @property
    def seeds_text(self) -> str:
        """How many of its seeds there are."""
        found = 0 if self.result is None else len(self.result.seeds)
        return str(found) if found == self.seeds else f"{found} of {self.seeds}"

    def measure(self, metric: str, protocol: str = "all") -> tuple[Aggregate, Aggregate]:
        """A measure over seeds (of the means over subsets), and over subsets as in the paper."""
        if self.result is None:
            return Aggregate.of(()), Aggregate.of(())
        values = [run.values(metric, protocol) for run in self.result.runs]
        over_seeds = Aggregate.of(Aggregate.of(run.values()).mean for run in values)
        over_subsets = Aggregate.of(
            Aggregate.of(run[name] for run in values).mean for name in self.result.names
        )
        return over_seeds, over_subsets
