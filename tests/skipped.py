"""Which tests were skipped and why, in a line for each reason."""

from collections import defaultdict
from pathlib import PurePosixPath


def tell_skipped(reports):
    """A line for each reason, those that kept most from running first.

    Args:
        reports: Pytest's of what was skipped; of a module that is skipped whole, there is one from
            every process that collected it.
    """
    groups = defaultdict(set)
    for report in reports:
        _, _, said = report.longrepr
        groups[said.removeprefix("Skipped: ")].add(report.nodeid)
    lines = []
    for reason, skipped in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        modules = {name for name in skipped if "::" not in name}
        tests = len(skipped) - len(modules)
        counted = [f"{tests} test{'s' * (tests > 1)}"] if tests else []
        if modules:
            counted.append(f"{len(modules)} module{'s' * (len(modules) > 1)}")
        places = sorted({str(PurePosixPath(name.split("::")[0]).parent) for name in skipped})
        lines.append(f"skipped {' and '.join(counted)} in {', '.join(places)}: {reason}")
    return lines
