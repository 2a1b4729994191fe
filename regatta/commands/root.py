"""The command line ``regatta``: the library's own commands, and those of the application."""

import typer

from regatta.commands import adjudicate, cells, exchange, own_suite, publication, study
from regatta.commands.terminal import Command
from regatta_lib import __main__ as library

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help=f"Measure test suites for enterprise agents, and reproduce the study that did.\n\n{library.EXIT_CODES}",
)
app.add_typer(library.app)
app.add_typer(adjudicate.group, name="adjudicate")
app.command()(publication.site)
app.command()(publication.archive)
app.add_typer(cells.group, name="cell")
for command in (study.cost, study.run, own_suite.evaluate, study.smoke, study.pack):
    app.command(cls=Command)(command)
app.add_typer(exchange.group, name="exchange")


def main() -> None:
    """Run a command of ``regatta``."""
    library.run(app)
