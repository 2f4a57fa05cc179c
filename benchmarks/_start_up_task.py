"""What a fresh process of `start_up.py` does with German Credit.

    python _start_up_task.py fit [MODEL]
    python _start_up_task.py recourse MODEL ROWS

Prints the seconds of its parts, and how much of them JAX was compiling.
"""

import json
import sys
import time

started = time.perf_counter()
spans: dict[str, list[tuple[float, float]]] = {"tracing": [], "compiling": []}
n_from_cache = 0

COMPILING = "/jax/core/compile/backend_compile_duration"
TRACING = (
    "/jax/core/compile/jaxpr_trace_duration",
    "/jax/core/compile/jaxpr_to_mlir_module_duration",
)
FROM_CACHE = "/jax/compilation_cache/cache_hits"


def main() -> None:
    """Does as the command line says."""
    parts = fit(*sys.argv[2:]) if sys.argv[1] == "fit" else answer(*sys.argv[2:])
    compiling = covered(spans["compiling"])
    # What is traced inside another function is timed twice, and so is what tracing compiles.
    tracing = covered(spans["compiling"] + spans["tracing"]) - compiling
    parts |= {
        "tracing": tracing,
        "compiling": compiling,
        "compilations": len(spans["compiling"]),
        "from_cache": n_from_cache,
    }
    print(json.dumps(parts))


def fit(model_folder: str | None = None) -> dict[str, float]:
    """Trains RoCourseNet with its default parameters, and stores it where a folder is named."""
    listen()
    from rocourse import RoCourseNet, datasets

    imported = time.perf_counter()
    dataset = datasets.load("german_credit")
    frame = next(iter(dataset.subsets.values()))
    model = RoCourseNet(schema=dataset.schema, random_state=0)
    model.fit(frame.drop(columns=dataset.target), frame[dataset.target])
    fitted = time.perf_counter()
    if model_folder is not None:
        model.save(model_folder)
    return {"importing": imported - started, "fit": fitted - imported}


def answer(model_folder: str, n_rows: str) -> dict[str, float]:
    """Loads a model and asks it for recourses."""
    listen()
    import rocourse

    dataset = rocourse.datasets.load("german_credit")
    frame = next(iter(dataset.subsets.values())).drop(columns=dataset.target)
    rows = frame.sample(int(n_rows), random_state=0)
    import rocourse.estimators

    imported = time.perf_counter()
    model = rocourse.load(model_folder)
    loaded = time.perf_counter()
    model.recourse(rows)
    return {
        "importing": imported - started,
        "load": loaded - imported,
        "recourse": time.perf_counter() - loaded,
    }


def listen() -> None:
    """Notes whatever JAX traces and compiles from now on."""
    from jax import monitoring

    monitoring.register_event_time_span_listener(note_span)
    monitoring.register_event_listener(note_event)


def note_span(event: str, start_time: float, end_time: float, **_: object) -> None:
    """Called by JAX when it has done something that takes time."""
    if event == COMPILING:
        spans["compiling"].append((start_time, end_time))
    elif event in TRACING:
        spans["tracing"].append((start_time, end_time))


def note_event(event: str, **_: object) -> None:
    """Called by JAX when something has happened."""
    global n_from_cache
    n_from_cache += event == FROM_CACHE


def covered(intervals: list[tuple[float, float]]) -> float:
    """The seconds that lie in at least one of the intervals."""
    seconds, reached = 0.0, 0.0
    for start, end in sorted(intervals):
        seconds += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return seconds


if __name__ == "__main__":
    main()
