"""The command line, one file per command.

JAX and pandas are imported inside the commands, so that `rocourse --help` is quick.
"""

import atexit
import gc
from typing import Annotated

import typer

import rocourse
from rocourse.cli import (
    _audit,
    _card,
    _certify,
    _check,
    _data,
    _demo,
    _doctor,
    _evaluate,
    _init,
    _keys,
    _ledger,
    _methods,
    _notice,
    _predict,
    _recourse,
    _reproduce,
    _schema,
    _serve,
    _train,
    _tune,
)
from rocourse.console import Commands, options

__all__ = ["app", "main"]

app = typer.Typer(
    name="rocourse",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"rocourse {rocourse.__version__}")
        raise typer.Exit


@app.callback(
    epilog=options.examples(
        "rocourse demo",
        "rocourse train applicants.csv --target approved --immutable age --out model/",
        "rocourse recourse model/ denied.csv --out advice.csv",
    )
)
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Classifiers with algorithmic recourse that stays valid when the model is retrained."""


app.command("demo", epilog=_demo.EXAMPLES, rich_help_panel="Begin")(_demo.demo)
app.command("check", epilog=_check.EXAMPLES, rich_help_panel="Begin")(_check.check)
app.command("init", epilog=_init.EXAMPLES, rich_help_panel="Begin")(_init.init)
app.command("methods", epilog=_methods.EXAMPLES, rich_help_panel="Begin")(_methods.methods)
app.command("doctor", epilog=_doctor.EXAMPLES, rich_help_panel="Begin")(_doctor.doctor)
app.command("train", epilog=_train.EXAMPLES, rich_help_panel="Train")(_train.train)
app.command("tune", epilog=_tune.EXAMPLES, rich_help_panel="Train")(_tune.tune)
app.command("evaluate", epilog=_evaluate.EXAMPLES, rich_help_panel="Train")(_evaluate.evaluate)
app.command("card", epilog=_card.EXAMPLES, rich_help_panel="Train")(_card.card)
app.command("predict", epilog=_predict.EXAMPLES, rich_help_panel="Advise")(_predict.predict)
app.command("recourse", epilog=_recourse.EXAMPLES, rich_help_panel="Advise")(_recourse.recourse)
app.command("certify", epilog=_certify.EXAMPLES, rich_help_panel="Advise")(_certify.certify)
app.command("notice", epilog=_notice.EXAMPLES, rich_help_panel="Advise")(_notice.notice)
app.command("serve", epilog=_serve.EXAMPLES, rich_help_panel="Promise")(_serve.serve)
app.command("audit", epilog=_audit.EXAMPLES, rich_help_panel="Promise")(_audit.audit)
app.add_typer(_ledger.app, name="ledger", rich_help_panel="Promise")
app.add_typer(_keys.app, name="keys", rich_help_panel="Promise")
app.add_typer(_schema.app, name="schema", rich_help_panel="Tables, results")
app.add_typer(_data.app, name="data", rich_help_panel="Tables, results")
app.command("reproduce", epilog=_reproduce.EXAMPLES, rich_help_panel="Tables, results")(
    _reproduce.reproduce
)


def main() -> None:
    """Runs the command line; the entry point of the `rocourse` script."""
    # Importing JAX, pandas and scikit-learn makes many lasting objects. Searching them for garbage
    # while they are made, and once more at the end, takes a fifth of a short command's time.
    gc.set_threshold(100_000, 20, 100)
    atexit.register(gc.freeze)
    app(prog_name="rocourse")
