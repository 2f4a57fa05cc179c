"""This process and those below it: their processor time and memory, as Linux tells them."""

import os
import re
from pathlib import Path


def ours() -> dict[int, list[str]]:
    """This process and those below it, with what Linux tells of each after its name."""
    told = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            told[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
    known, grown = {os.getpid()}, True
    while grown:
        more = {child for child, fields in told.items() if int(fields[1]) in known} - known
        known, grown = known | more, bool(more)
    return {process: told[process] for process in known}


def processor() -> float:
    """Seconds that these have spent, and those before them that have ended."""
    ticks = sum(int(field) for fields in ours().values() for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def held() -> int:
    """Bytes that these hold, shared ones once."""
    total = 0
    for process in ours():
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        total += 1024 * sum(map(int, re.findall(r"^Pss:\s+(\d+)", text, flags=re.MULTILINE)))
    return total
