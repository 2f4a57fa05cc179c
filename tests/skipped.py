"""Which tests were skipped and why, in a line for each reason.

What a test run needs besides Python is a server of PostgreSQL and a browser. Where they are missing
their tests are skipped on a developer's machine, which the last lines say, and continuous
integration (`CI=true`) fails.
"""

import os
from collections import defaultdict
from pathlib import PurePosixPath

NEEDED = ("PostgreSQL is not installed", "PostgreSQL does not run", "the page is tested")
"""How reasons begin that are no reason to skip where `CI=true`."""


def in_ci():
    """Whether this is continuous integration."""
    return os.environ.get("CI", "").lower() in ("1", "true")


def must_not_be_skipped(reports):
    """The lines of `tell_skipped` about what a test run must have."""
    reasons = (report.longrepr[2].removeprefix("Skipped: ") for report in reports)
    lacking = {reason for reason in reasons if reason.startswith(NEEDED)}
    return [line for line in tell_skipped(reports) if any(line.endswith(why) for why in lacking)]


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
