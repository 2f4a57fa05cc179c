"""Advice that is searched for until it is certified: how much of it is, and at what cost.

    python benchmarks/certified.py [--rows 5000] [--data german_credit student loan] [--no-ellice]

RoCourse and RoCoursePanel with their defaults, on the first version of each data set; the refused
of the last third are asked about. Levels are those that a quarter and a tenth of the advice has
without being searched for. Beside RoCoursePanel's, for the same model and level: ElliCE by its two
methods (level: the loss ε, about the same best last layer), and the nearest training row that holds
at δ (RNCE, as RobustX has it; of the 50 nearest, one that holds within constraints). What they
propose is made to keep the constraints, and judged by the same certificates.
"""

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
from _ellice_run import ellice_recourses
from _relax_env import CannotRunError

from rocourse import RoCourse, RoCoursePanel, datasets
from rocourse.certificates import last_layers
from rocourse.certificates._ellipsoid import hidden_units, tolerances
from rocourse.certificates._intervals import layers_of, least_margins, radii
from rocourse.models import TrainingRows
from rocourse.recourse.proof import margins_of
from rocourse.schema import CertificateKind, Rows, compact, one_hot

# Of ElliCE, whose rows take long.
_FEW = 100
# Training rows that are tried.
_NEAREST = 50


class Rivals:
    """Other ways to certified advice for the same model, rows and constraints."""

    def __init__(self, model: Any, train: dict[str, Any], asked: Any, before: Any) -> None:
        self.context = model._advisor.context
        self.schema, self.asked, self.before = self.context.schema, asked, before
        self.layout = self.schema.layout
        context = self.context
        wanted = context.cut_off.favourable if context.cut_off is not None else 1
        self.sign = 1.0 if wanted == 1 else -1.0
        self.layers = layers_of(margins_of(context.trained, wanted, context.cut_off, self.layout))
        self.rows = self.schema.encode(asked)
        self.train = self._encoded(self.schema.encode(train["X"]))
        self.labels = (np.asarray(train["y"]) == model.classes_[wanted]).astype(float)
        codes = np.searchsorted(model.classes_, np.asarray(train["y"])).astype(np.int32)
        rows = self.schema.encode(train["X"])
        self.last = last_layers(context, TrainingRows(rows, codes, 2, self.schema))

    def _encoded(self, rows: Rows) -> np.ndarray:
        return one_hot(rows, self.layout).astype(np.float64)

    def lines(self, kind: CertificateKind, at: float, ellice: bool) -> list[str]:
        """What comes of each, as the end of a line of the table."""
        if kind == "delta":
            return [self._nearest(at)]
        if not ellice:
            return []
        some = np.arange(min(_FEW, len(self.asked)))
        theta = self.last.found.centre.copy()
        theta[-1] -= self.last.cut
        found = ellice_recourses(
            self.schema,
            self.layers,
            self.sign * theta,
            self.train,
            self.labels,
            self._encoded(self.rows.take(some)),
            at,
        )
        return [
            self._line(f"ElliCE {method}", kind, at, some, x, seconds)
            for method, (x, seconds) in found.items()
        ]

    def _nearest(self, at: float) -> str:
        start = time.process_time()
        holds = radii(self.layers, self.train) >= at
        name, everyone = "RNCE", np.arange(len(self.asked))
        if not holds.any():
            return f"{name}: no training row holds"
        support, mine = self.train[holds], self._encoded(self.rows)
        near = np.stack([np.abs(support - row).sum(axis=1).argsort()[:_NEAREST] for row in mine])
        # The nearest of which enough is left within the constraints; else the nearest.
        chosen, open_rows = near[:, 0].copy(), np.ones(len(mine), bool)
        for k in range(near.shape[1]):
            x = self._encoded(self._settled(everyone, support[near[:, k]]))
            here = open_rows & self._share("delta", at, x)
            chosen[here], open_rows = near[here, k], open_rows & ~here
        spent = (time.process_time() - start) / len(mine)
        return self._line(name, "delta", at, everyone, support[chosen], spent)

    def _settled(self, places: np.ndarray, x: np.ndarray) -> Rows:
        proposed = compact(x.astype(np.float32), self.layout)
        return self.schema.settle(self.asked.iloc[places], self.rows.take(places), proposed)

    def _line(
        self,
        name: str,
        kind: CertificateKind,
        at: float,
        places: np.ndarray,
        x: np.ndarray,
        seconds: float,
    ) -> str:
        here, settled = self.rows.take(places), self._settled(places, x)
        cost = self.schema.actions.pricing.cost(here, settled)
        raw, kept = self._share(kind, at, x), self._share(kind, at, self._encoded(settled))
        return (
            f"{name:22} as proposed {raw.mean():4.0%}, within constraints {kept.mean():4.0%} "
            f"at {cost[kept].mean() if kept.any() else np.nan:.2f} "
            f"({self.before.cost[places][kept].mean() if kept.any() else np.nan:.2f} uncertified)"
            f"   {1e3 * seconds:6.0f} ms a row"
        )

    def _share(self, kind: CertificateKind, at: float, x: np.ndarray) -> np.ndarray:
        granted = least_margins(self.layers, x, np.zeros(len(x))) > 0.0
        if kind == "delta":
            return granted & (least_margins(self.layers, x, np.full(len(x), at)) > 0.0)
        units = hidden_units(self.last.layers, x)
        margin = self.sign * (units @ self.last.found.centre - self.last.cut)
        return granted & (tolerances(self.last.found, units, margin) >= at)


class Asked(NamedTuple):
    """A data set, and who is asked about."""

    train: dict[str, Any]
    rest: Any
    schema: Any
    wanted: Any


def asked_of(name: str, rows: int) -> Asked:
    """The first version of a data set: two thirds to train with, the others to ask about."""
    data = datasets.load(name)
    table = next(iter(data.subsets.values()))
    table = table.iloc[np.random.default_rng(0).permutation(len(table))[:rows]]
    cut, schema = len(table) * 2 // 3, data.actionable_schema
    X, y = table.drop(columns=data.target), table[data.target]
    assert schema.target is not None
    train = {"X": X.iloc[:cut], "y": y.iloc[:cut]}
    return Asked(train, X.iloc[cut:], schema, schema.target.wanted())


def main() -> None:
    """Prints a line for each data set, method, kind and level."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5000, help="of each data set, at most")
    parser.add_argument("--data", nargs="+", default=["german_credit", "student", "loan"])
    parser.add_argument("--no-ellice", action="store_true", help="leave ElliCE out")
    args = parser.parse_args()
    print("data           method         kind       level    certified       cost       seconds")
    for name in args.data:
        train, rest, schema, wanted = asked_of(name, args.rows)
        for method in (RoCoursePanel, RoCourse):
            model = method(schema, random_state=0).fit(train["X"], train["y"])
            asked = rest[model.predict(rest) != wanted]
            before = model.recourse(asked, desired=wanted)
            kinds: dict[CertificateKind, dict[str, object]] = {"delta": {}, "ellipsoid": train}
            for kind, given in kinds.items():
                level = model.certify(before, kind, **given).level  # type: ignore[arg-type]
                for at in np.nanquantile(level, [0.75, 0.9]).tolist():
                    start = time.process_time()
                    surer = model.certifying(kind, at=at, **given)  # type: ignore[arg-type]
                    after = surer.recourse(asked, desired=wanted)
                    spent = time.process_time() - start
                    assert after.certificate is not None and after.certificate.holds is not None
                    held, advised = after.certificate.holds, before.advised
                    print(
                        f"{name:14} {method.__name__:14} {kind:9} {at:7.4f}   "
                        f"{np.mean(level[advised] >= at):4.0%} → {held[advised].mean():4.0%}   "
                        f"{before.cost[held].mean():.2f} → {after.cost[held].mean():.2f}   "
                        f"{spent:6.1f}",
                        flush=True,
                    )
                    if method is RoCoursePanel:
                        rivals = Rivals(model, train, asked, before)
                        try:
                            for line in rivals.lines(kind, at, not args.no_ellice):
                                print(f"{'':15}{line}", flush=True)
                        except CannotRunError as error:
                            print(f"{'':15}{error}")


if __name__ == "__main__":
    main()
