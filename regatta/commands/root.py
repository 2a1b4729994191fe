"""The command line ``regatta``: the library's own commands, and those of the application."""

import typer

from regatta.commands import adjudicate, cells, exchange, own_suite, pipeline, publication, release, study
from regatta_lib import __main__ as library

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Measure test suites for enterprise agents, and reproduce the study that did.",
)
app.add_typer(library.app)
for command in (pipeline.reproduce, pipeline.publish, publication.pin, publication.site, publication.archive):
    app.command()(command)
for command in (study.cost, study.run, study.smoke, study.pack, own_suite.evaluate):
    app.command()(command)
app.command("import")(release.import_release)
app.add_typer(adjudicate.group, name="adjudicate")
app.add_typer(cells.group, name="cell")
app.add_typer(exchange.group, name="exchange")


def main() -> None:
    """Run a command of ``regatta``."""
    library.run(app)
