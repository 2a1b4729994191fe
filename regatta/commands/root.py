"""The command line ``regatta``: the library's own commands, and those of the application."""

from collections.abc import Callable

import typer

from regatta.commands import adjudicate, cells, exchange, own_suite, pipeline, publication, release, study
from regatta.commands.terminal import Command
from regatta_lib import __main__ as library

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help=f"Measure test suites for enterprise agents, and reproduce the study that did.\n\n{library.EXIT_CODES}",
)
app.add_typer(library.app)
COMMANDS: dict[str, Callable[..., None]] = {
    "reproduce": pipeline.reproduce,
    "publish": pipeline.publish,
    "pin": publication.pin,
    "site": publication.site,
    "archive": publication.archive,
    "cost": study.cost,
    "run": study.run,
    "smoke": study.smoke,
    "pack": study.pack,
    "evaluate": own_suite.evaluate,
    "import": release.import_release,
}
for name, command in COMMANDS.items():
    app.command(name, cls=Command)(command)
app.add_typer(adjudicate.group, name="adjudicate")
app.add_typer(cells.group, name="cell")
app.add_typer(exchange.group, name="exchange")


def main() -> None:
    """Run a command of ``regatta``."""
    library.run(app)
