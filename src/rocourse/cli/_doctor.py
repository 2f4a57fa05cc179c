"""`rocourse doctor`: what this installation consists of, and what it lacks."""

import os
import platform
import re
import sys
from importlib import import_module, metadata
from pathlib import Path

import rocourse
from rocourse.console import Output, options

EXAMPLES = options.examples("rocourse doctor", "rocourse doctor --json > report.json")

# Extras that are for those who work on the package.
_OURS = frozenset({"all", "dev", "development", "test"})
_REQUIREMENT = re.compile(r"^(?P<name>[\w.-]+)")
_EXTRA = re.compile(r"extra == ['\"](?P<extra>[\w-]+)['\"]")
# Under which names a package comes: builds for machines with a GPU or without may have their own.
_BUILDS = ("", "-cpu", "-gpu")


def doctor(as_json: options.Json = False, quiet: options.Quiet = False) -> None:
    """Tell versions, optional parts, devices and caches: what to paste into a report of a bug."""
    from rich.table import Table

    output = Output(as_json=as_json, quiet=quiet)
    parts, caches = _parts(), _caches()
    devices = _devices()
    output.emit(
        {
            "rocourse": rocourse.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "devices": devices,
            "packages": parts,
            "caches": caches,
        }
    )
    output.show(
        f"rocourse {rocourse.__version__}, Python {platform.python_version()} on "
        f"{platform.platform()}",
        f"executable: {sys.executable}",
        f"JAX computes on: {', '.join(devices)}",
        *(f"cache of {what}: {told}" for what, told in caches.items()),
    )
    table = Table("for", "package", "version")
    for extra, packages in parts.items():
        lacking = f"missing: pip install 'rocourse[{extra}]'"
        for name, version in packages.items():
            table.add_row(extra or "all", name, version or lacking.replace("[", r"\["))
    output.show(table)


def _parts() -> dict[str, dict[str, str | None]]:
    """The version of each package that there is a use for, by extra; "" has what is needed."""
    try:
        wanted = metadata.requires("rocourse") or []
    except metadata.PackageNotFoundError:
        return {}
    found: dict[str, dict[str, str | None]] = {"": {}}
    for line in wanted:
        name, told = _REQUIREMENT.match(line), _EXTRA.search(line)
        extra = told["extra"] if told else ""
        if name is None or name["name"] == "rocourse" or extra in _OURS:
            continue
        found.setdefault(extra, {})[name["name"]] = _version(name["name"])
    return found


def _version(package: str) -> str | None:
    for build in _BUILDS:
        try:
            return metadata.version(package + build)
        except metadata.PackageNotFoundError:
            continue
    return None


def _devices() -> list[str]:
    import jax

    return [f"{device.platform} {device.id}" for device in jax.devices()]


def _caches() -> dict[str, str]:
    import jax
    import platformdirs

    # This room tells JAX where to keep compiled code.
    import_module("rocourse.models")
    compiled = jax.config.jax_compilation_cache_dir  # type: ignore[attr-defined]
    usual = platformdirs.user_cache_path("rocourse", appauthor=False) / "data"
    return {
        "compiled code": _size(Path(compiled)) if compiled else "none",
        "data sets": _size(Path(os.environ.get("ROCOURSE_DATA") or usual).expanduser()),
    }


def _size(folder: Path) -> str:
    if not folder.is_dir():
        return f"{folder}, nothing yet"
    total = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return f"{folder}, {total / 2**20:,.1f} MiB"
