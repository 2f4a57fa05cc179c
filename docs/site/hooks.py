"""What the site is made of besides the pages: the reference, the commands and the notebooks.

The reference is of every name that a room exports, from its docstring; commands and options of
methods are asked of the package itself. Notebooks are run where `ROCOURSE_RUN_NOTEBOOKS` is set, as
`make docs` does, and shown without outputs otherwise.
"""

import importlib
import os
import pkgutil
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import rocourse

# In the order of the page; a room that is not named here comes after them, under its own name.
TITLES = {
    "estimators": "Methods",
    "schema": "Schema and records",
    "models": "Models and trainers",
    "models.adapters": "Models that you have",
    "models.trees": "Trees",
    "models.training": "Training",
    "recourse": "Proposers",
    "recourse.proof": "Proofs",
    "recourse.search": "Searches",
    "attack": "Attack",
    "certificates": "Certificates",
    "evaluation": "Evaluation",
    "datasets": "Data sets",
    "artifacts": "Models on disk",
    "ledger": "Ledger",
    "service": "Service",
    "mlflow": "MLflow",
    "reports": "Reports",
    "reports.plots": "Plots",
    "reports.demo": "The demo's report",
    "reports.letters": "Letters",
    "tables": "Tables",
    "experiments": "Experiments",
    "experiments.reproduction": "Reproduction",
    "networks": "Networks",
    "options": "Options",
    "errors": "Errors",
}
COMMANDS = ("cli", "console")


def rooms() -> dict[str, str]:
    """Every room with public names, and what its page is called."""
    found = [module.name for module in pkgutil.iter_modules(rocourse.__path__)]
    others = [name for name in found if not name.startswith("_") and name not in COMMANDS]
    return TITLES | {name: name.capitalize() for name in others if name not in TITLES}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Puts the generated pages into the navigation."""
    reference = [
        "reference/index.md",
        {"Commands": "reference/commands.md"},
        {"Options of methods": "reference/method-options.md"},
        *({title: _page(room)} for room, title in rooms().items()),
    ]
    for entry in config.nav or []:
        if "Reference" in entry:
            entry["Reference"] = reference
        if "Start" in entry:
            entry["Start"] = [
                *entry["Start"],
                {"Notebooks": [f"notebooks/{p.stem}.md" for p in _notebooks(config)]},
            ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    pages = {
        "reference/index.md": _index(),
        "reference/commands.md": _commands(),
        "reference/method-options.md": _options(),
        **{_page(room): _room(room, title) for room, title in rooms().items()},
    }
    for notebook in _notebooks(config):
        pages |= _shown(notebook)
    for name, content in pages.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Puts drawings into the page itself, where they have its colours, light or dark."""

    def drawn(match: re.Match[str]) -> str:
        path = Path(config.docs_dir, "images", match["name"])
        return path.read_text(encoding="utf-8").replace("<svg ", '<svg class="drawing" ', 1)

    return re.sub(r'<img [^>]*src="(?:\.\./)*images/(?P<name>[\w-]+\.svg)"[^>]*>', drawn, html)


def _page(room: str) -> str:
    return f"reference/{room.replace('.', '-')}.md"


def _public(room: str) -> list[str]:
    module = importlib.import_module(f"rocourse.{room}")
    first = ("RoCourse", "RecourseClassifier", "Schema", "Recourse")
    return sorted(module.__all__, key=lambda name: (name not in first, name.isupper()))


def _index() -> str:
    lines = [
        "# Reference",
        "",
        "What `import rocourse` offers. Rooms have more, each on a page of its own.",
        "",
    ]
    lines += ["| name | |", "|---|---|"]
    for name in sorted(set(rocourse.__all__) - {"__version__"}, key=str.lower):
        home = rocourse._HOMES.get(name)
        module = getattr(getattr(rocourse, name), "__name__", "").removeprefix("rocourse.")
        target = f"[`{name}`][{home}.{name}]" if home else f"[`{name}`]({Path(_page(module)).name})"
        lines.append(f"| {target} | {_summary(getattr(rocourse, name), name)} |")
    return "\n".join(lines)


def _summary(value: Any, name: str) -> str:
    if isinstance(value, type) or callable(value) or hasattr(value, "__spec__"):
        return (value.__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")
    return {
        "METHODS": "Every method by its name.",
        "PRESETS": "Settings chosen for a data set, by name.",
    }[name]


def _room(room: str, title: str) -> str:
    lines = [f"# {title}", "", f"::: rocourse.{room}", "    options:"]
    lines += [
        "      members: false",
        "      show_root_heading: false",
        "      show_root_toc_entry: false",
        "",
    ]
    for name in _public(room):
        lines += [f"::: rocourse.{room}.{name}", ""]
        if name == "RecourseClassifier":
            lines[-1:] = ["    options:", "      inherited_members: true", ""]
    return "\n".join(lines)


def _commands() -> str:
    import typer.main

    from rocourse.cli import app

    lines = ["# Commands", "", "Every command has `--help`, `--json` and `--quiet`.", ""]
    top = typer.main.get_command(app)
    for name, command in top.commands.items():  # type: ignore[attr-defined]
        for words, each in _leaves([name], command):
            lines += _command(words, each)
    return "\n".join(lines)


def _leaves(words: list[str], command: Any) -> Any:
    if not hasattr(command, "commands"):
        yield words, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _leaves([*words, name], inner)


def _command(words: list[str], command: Any) -> list[str]:
    help_text = (command.help or "").replace("\b", "").strip().partition("\n")[0]
    lines = [f"## {' '.join(words)}", "", help_text, "", "| | |", "|---|---|"]
    for parameter in command.params:
        names = (
            parameter.opts if parameter.param_type_name == "option" else [parameter.name.upper()]
        )
        shown = ", ".join(f"`{name}`" for name in names)
        meaning = (getattr(parameter, "help", None) or "").replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {shown} | {meaning} |")
    return [*lines, ""]


def _options() -> str:
    from rocourse.estimators import METHODS, describe_parameters

    lines = ["# Options of methods", ""]
    lines += [
        "In Python by scikit-learn's names (`proposer__kept`), on the command line with dots "
        "(`--set proposer.kept=0.9`).",
        "",
    ]
    for name, method in METHODS.items():
        lines += [
            f"## {method.__name__}",
            "",
            f"`--method {name}`",
            "",
            "| option | default | |",
            "|---|---|---|",
        ]
        for option, (default, doc) in describe_parameters(method).items():
            shown = str(default).replace("|", "\\|")
            lines.append(f"| `{option}` | `{shown}` | {doc.replace('|', chr(92) + '|')} |")
        lines.append("")
    return "\n".join(lines)


def _notebooks(config: MkDocsConfig) -> list[Path]:
    return sorted(Path(config.docs_dir, "notebooks").glob("*.ipynb"))


def _shown(path: Path) -> dict[str, str | bytes]:
    """A notebook as a page, with its pictures beside it."""
    import nbformat
    from nbclient import NotebookClient
    from nbconvert import MarkdownExporter

    notebook = nbformat.read(path, as_version=4)
    if os.environ.get("ROCOURSE_RUN_NOTEBOOKS"):
        with TemporaryDirectory() as folder:
            where = {"metadata": {"path": folder}}
            NotebookClient(notebook, timeout=1200, kernel_name="python3", resources=where).execute()
    text, resources = MarkdownExporter().from_notebook_node(
        notebook, {"output_files_dir": f"{path.stem}_files"}
    )
    download = f"[Download the notebook]({path.name}){{ .md-button }}\n"
    pictures = {f"notebooks/{name}": data for name, data in resources.get("outputs", {}).items()}
    return {f"notebooks/{path.stem}.md": f"{text}\n\n{download}", **pictures}
