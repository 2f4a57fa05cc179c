"""What `counternet_vs_relax.py` prints."""

from collections.abc import Callable
from statistics import median
from typing import Any

from _counternet_figures import LIBRARIES
from _relax_run import print_versions

# Rows per CPU second, end to end, as a multiple of jax-relax's.
TARGET = 3.0


def print_report(results: dict[str, Any]) -> None:
    """The figures as text."""
    print(
        f"\n{results['rows']} training rows, {results['validation_rows']} validation rows, "
        f"{results['encoded_columns']} encoded columns, {results['epochs']} epochs, "
        f"{results['cores']} cores, {len(results['repeats'])} repeats"
    )
    print_versions(results)
    print_speed(results)
    print_quality(results)
    print_equal_loss(results)


def print_speed(results: dict[str, Any]) -> None:
    """Rows a second, with compiling and without, and how long starting takes."""
    repeats, rows, epochs = results["repeats"], results["rows"], results["epochs"]
    for title, part, samples in (
        ("End to end, compiling included", "total", rows * epochs),
        ("Steady state, compiling left out", "epoch", rows),
    ):
        print(f"\n{title}")
        print_header("rows a CPU s", "rows a wall s", "CPU s", "wall s")
        for library in LIBRARIES:
            cpu, wall = (
                median(repeat[library][clock][part] for repeat in repeats)
                for clock in ("cpu", "wall")
            )
            cells = f"{samples / cpu:.0f}", f"{samples / wall:.0f}", f"{cpu:.2f}", f"{wall:.2f}"
            print_line(library, *cells)
        for clock, second in (("cpu", "CPU second"), ("wall", "wall second")):
            ahead = [
                repeat["jax-relax"][clock][part] / repeat["rocourse"][clock][part]
                for repeat in repeats
            ]
            print(f"rocourse / jax-relax, rows a {second}: {spread(ahead)}")
            if (part, clock) == ("total", "cpu"):
                met = "met" if median(ahead) >= TARGET else "missed"
                print(f"target, {TARGET:g} times as many rows a CPU second: {met}")
    print("\nStarting (compiling and all else that is done once), CPU seconds")
    starts = {name: [repeat[name]["cpu"]["start"] for repeat in repeats] for name in LIBRARIES}
    for library, seconds in starts.items():
        print_line(library, f"{median(seconds):.2f}")
    ratios = [b / a for a, b in zip(*starts.values(), strict=True)]
    print(f"jax-relax / rocourse: {spread(ratios)}")


def print_quality(results: dict[str, Any]) -> None:
    """Validation figures after the last epoch."""
    print(f"\nValidation rows after {results['epochs']} epochs, medians")
    formats: dict[str, Callable[[float], str]] = {
        "prediction_loss": "{:.4f}".format,
        "objective": "{:.4f}".format,
        "accuracy": "{:.1%}".format,
        "validity": "{:.1%}".format,
        "proximity": "{:.2f}".format,
    }
    print_header(*(name.replace("_", " ") for name in formats))
    for library in LIBRARIES:
        last = [repeat[library]["curve"][-1] for repeat in results["repeats"]]
        cells = (show(median(figures[name] for figures in last)) for name, show in formats.items())
        print_line(library, *cells)


def print_equal_loss(results: dict[str, Any]) -> None:
    """How long to the lowest loss that both reach."""
    for loss, reached in results["to_equal_loss"].items():
        level = median(of_repeat["level"] for of_repeat in reached)
        print(f"\nTo equal {loss.replace('_', ' ')} on validation rows, {level:.4f}")
        print_header("epochs", "CPU s", "without start")
        for library in LIBRARIES:
            middle = {
                name: median(of_repeat[library][name] for of_repeat in reached)
                for name in ("epoch", "cpu", "training_cpu")
            }
            cells = f"{middle['epoch']:g}", f"{middle['cpu']:.2f}", f"{middle['training_cpu']:.2f}"
            print_line(library, *cells)
        for name, what in (("cpu", "CPU seconds"), ("training_cpu", "without start")):
            ahead = [
                of_repeat["jax-relax"][name] / of_repeat["rocourse"][name] for of_repeat in reached
            ]
            print(f"jax-relax / rocourse, {what}: {spread(ahead)}")


def print_header(*names: str) -> None:
    """The heads of columns."""
    print_line("", *names)


def print_line(name: str, *cells: str) -> None:
    """A line of a table."""
    print(f"{name:12}" + "".join(f"{cell:>16}" for cell in cells))


def spread(ahead: list[float]) -> str:
    """Median and range of a ratio that is above 1 where rocourse is ahead."""
    text = f"{median(ahead):.2f} ({min(ahead):.2f} to {max(ahead):.2f})"
    return text if median(ahead) >= 1.0 else f"{text}, rocourse is behind"
