"""What `loan_protocol.py` prints."""

from typing import Any

COLUMNS = ("robust_validity", "validity", "accuracy", "proximity")


def print_report(record: dict[str, Any]) -> None:
    """Prints times, memory and figures."""
    print(
        f"RoCourseNet on {len(record['years'])} years of loan data, {record['epochs']} epochs; "
        f"{record['training_rows']:,} training rows, {record['test_rows']:,} test rows; "
        f"{count(record['jobs'], 'worker')} on {count(record['cores'], 'core')}"
    )
    print()
    for name, seconds in record["seconds"].items():
        print(f"{name:24s}{seconds:10.1f} s")
    print(f"{'processor, all':24s}{record['cpu_seconds']:10.1f} s")
    print()
    print(
        f"{record['steps']:,} steps, {record['steps_per_second']:.1f} a second, "
        f"{record['steps_per_second_of_a_worker']:.1f} in each worker, "
        f"{record['steps_per_cpu_second']:.1f} in a second of processor"
    )
    memory = record["memory"]
    workers = ", ".join(f"{peak:.0f}" for peak in memory["workers_mb_above"])
    print(
        f"peak memory above the {memory['bare_interpreter_mb']:.0f} MB of a bare interpreter: "
        f"{memory['parent_mb_above']:.0f} MB, in the workers {workers} MB"
    )
    print()
    print_published(record)
    print()
    print(" " * 16 + "".join(f"{name.replace('_', ' '):>17s}" for name in COLUMNS))
    for name, values in record["figures"].items():
        print(f"{name:16s}" + "".join(f"{shown(values[column]):>17s}" for column in COLUMNS))
    if constant := record["constant_predictors"]:
        print(f"one class for all test rows: {', '.join(constant)}")


def print_published(record: dict[str, Any]) -> None:
    """Prints the limit and the published times, for the whole protocol only."""
    if not record["whole_protocol"]:
        print("A part of the protocol: not to be compared with times of the whole.")
        return
    total, paper, authors = record["seconds"]["total"], record["paper"], record["authors_code"]
    verdict = "met" if total <= record["limit_seconds"] else "missed"
    if record["cores"] > record["limit_cores"]:
        verdict = "not to be judged"
    print(
        f"limit on {count(record['limit_cores'], 'core')}, {duration(record['limit_seconds'])}: "
        f"{verdict} with {duration(total)} on {count(record['cores'], 'core')}"
    )
    print(
        f"paper, training alone, {paper['cores']} cores, {duration(paper['seconds'])}: "
        f"{paper['times_as_fast']:.1f} times as fast, "
        f"{paper['times_as_fast_by_core']:.1f} times in time of cores"
    )
    print(
        f"its authors' PyTorch code, about {duration(authors['seconds'])}: "
        f"{authors['times_as_fast']:.0f} times as fast"
    )


def shown(value: float | None) -> str:
    """A figure, or a dash where there was nothing to measure."""
    return "–" if value is None else f"{value:.3f}"


def duration(seconds: float) -> str:
    """Such as 32 min 16 s, or 12 h."""
    hours, rest = divmod(round(seconds), 3600)
    numbers = zip((hours, *divmod(rest, 60)), ("h", "min", "s"), strict=True)
    return " ".join(f"{number} {unit}" for number, unit in numbers if number)


def count(n: int, what: str) -> str:
    """Such as 2 cores."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
