"""Advice that is searched for until it is certified: how much of it is, and at what cost.

    python benchmarks/certified.py [--rows 1000] [--data german_credit student loan]

RoCourse and RoCoursePanel with their defaults, on the first version of each data set; the refused
of the last third are asked about. Levels are those that a quarter and a tenth of the advice has
without being searched for.
"""

import argparse
import time

import numpy as np

from rocourse import RoCourse, RoCoursePanel, datasets
from rocourse.schema import CertificateKind


def main() -> None:
    """Prints a line for each data set, method, kind and level."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--data", nargs="+", default=["german_credit", "student", "loan"])
    args = parser.parse_args()
    print("data           method         kind       level    certified       cost       seconds")
    for name in args.data:
        data = datasets.load(name)
        rows = next(iter(data.subsets.values()))
        rows = rows.iloc[np.random.default_rng(0).permutation(len(rows))[: args.rows]]
        cut = len(rows) * 2 // 3
        X, y = rows.drop(columns=data.target), rows[data.target]
        train = {"X": X.iloc[:cut], "y": y.iloc[:cut]}
        schema = data.actionable_schema
        assert schema.target is not None
        wanted = schema.target.wanted()
        for method in (RoCoursePanel, RoCourse):
            model = method(schema, random_state=0).fit(train["X"], train["y"])
            asked = X.iloc[cut:]
            asked = asked[model.predict(asked) != wanted]
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


if __name__ == "__main__":
    main()
