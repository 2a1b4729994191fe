"""The static site: pages made from the executed notebooks, the documents and the data files; opens from a folder, offline.

The same files give the same bytes. Every link leads to a page or a copy of a file inside the site, or to the web.
"""

import base64
import csv
import io
import json
import re
from functools import partial
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

import jinja2
import nbformat
from markupsafe import Markup

from regatta.site import browse, casebook, markup
from regatta_lib import instruments
from regatta_lib.base import GENERATORS, ContractError, file_text
from regatta_lib.reproduce import stages_in
from regatta_lib.studies import read_definitions

SOURCE = "site_source"
ASSETS = ("site.css", "site.js")
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "data/record/PROVENANCE.md")
CLAIMS_HEADING = "Claims and where they are checked"
TABLE_ROWS = 3_000
OUTSIDE = re.compile(r"https?://|mailto:")
NAVIGATION = {
    "Overview": "index.html",
    "Stages": "stages/index.html",
    "Audit": "audit.html",
    "Values": "values.html",
    "Documents": "docs/index.html",
}
PILOT_PAGE = "pilot/index.html"
REPORT_PDF = "paper/report.pdf"


class Site:
    """The pages and files of one build, ``{path below the site: bytes}``, and which page stands for which file."""

    def __init__(self, root: Path):
        self.root = root
        self.out: dict[str, bytes] = {}
        pipeline = stages_in(root)
        notebooks = sorted(path.stem for path in (root / "notebooks").glob("*.ipynb"))
        self.stages = [name for name in pipeline if name in notebooks] + [name for name in notebooks if name not in pipeline]
        self.purposes = {name: stage.get("desc", "") for name, stage in pipeline.items()}
        found = sorted(f"docs/{path.name}" for path in (root / "docs").glob("*.md"))
        self.documents = [name for name in (*DOCUMENTS, *found) if (root / name).is_file()]
        self.pages = {f"notebooks/{name}.ipynb": f"stages/{name}.html" for name in self.stages}
        self.pages |= {name: f"docs/{Path(name).stem.lower()}.html" for name in self.documents}
        self.tables: dict[str, str] = {}
        self.pilot = casebook.pilot_of(root)
        self.navigation = NAVIGATION | ({"Pilot": PILOT_PAGE} if self.pilot else {})
        self.environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(root / SOURCE),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.environment.filters["fixed"] = lambda value, digits: f"{value:.{digits}f}".replace("-", "−")
        self.environment.filters["count"] = lambda value: f"{value:,}"
        self.environment.filters["words"] = lambda name: name.replace("_", " ")

    def address(self, page: str, source: str, target: str) -> str:
        """Where a link of the document ``source``, shown on ``page``, leads. Raises ContractError if it leads nowhere."""
        if OUTSIDE.match(target) or target.startswith("#"):
            return target
        path, mark, fragment = target.partition("#")
        return markup.between(page, self.place(normpath(join(dirname(source), path)), source) + mark + fragment)

    def place(self, path: str, source: str) -> str:
        """The page of the site that shows a file of the repository; a copy of the file where no page does."""
        if path in self.pages:
            return self.pages[path]
        if not (self.root / path).is_file():
            raise ContractError(f"{source}: links to {path}, expected a file of the repository")
        content = (self.root / path).read_bytes()
        self.out[f"files/{path}"] = content
        if path.endswith(".csv") and content.count(b"\n") <= TABLE_ROWS + 1:
            return self.tables.setdefault(path, f"tables/{path.removesuffix('.csv')}.html")
        return f"files/{path}"

    def markdown(self, page: str, source: str, text: str) -> Markup:
        """A Markdown text of the document ``source`` as HTML for ``page``."""
        return Markup(markup.markdown(text, partial(self.address, page, source)))

    def add(self, page: str, template: str, title: str, **values: object) -> None:
        """Render one page. Raises jinja2.UndefinedError for a value that the template names and nobody gives."""
        link = partial(markup.between, page)
        values |= {"link": link, "page": page, "title": title, "nav": self.navigation}
        values["place"] = lambda path: link(self.place(path, template))
        self.out[page] = (self.environment.get_template(template).render(values).rstrip() + "\n").encode()


def embedded(value: object) -> Markup:
    """JSON that can stand inside a script element: no character in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def output(site: Site, page: str, name: str, data: dict[str, str]) -> Markup:
    """One output of a notebook: its table, text or picture. Pictures become files named ``name``."""
    if "text/html" in data:
        return Markup(markup.clean(data["text/html"]))
    if "text/markdown" in data:
        return site.markdown(page, "notebooks/", data["text/markdown"])
    for kind, suffix in (("image/svg+xml", "svg"), ("image/png", "png")):
        if kind in data:
            content = data[kind].encode() if suffix == "svg" else base64.b64decode(data[kind])
            site.out[f"images/{name}.{suffix}"] = content
            return Markup('<figure><img src="{}" alt="figure {}"></figure>').format(
                markup.between(page, f"images/{name}.{suffix}"), name
            )
    return Markup('<pre class="output" tabindex="0">{}</pre>').format(data["text/plain"].rstrip("\n"))


def notebook_cells(site: Site, page: str, stage: str) -> list[dict[str, Any]]:
    """The cells of an executed notebook as HTML: text, or code with its outputs. Code that shows nothing joins the next."""
    source = f"notebooks/{stage}.ipynb"
    cells: list[dict[str, Any]] = []
    for number, cell in enumerate(nbformat.read(site.root / source, as_version=4).cells, start=1):
        if cell.cell_type == "markdown":
            cells.append({"text": site.markdown(page, source, cell.source)})
        elif cell.cell_type == "code":
            found = [item.data if "data" in item else {"text/plain": item.text} for item in cell.outputs]
            shown = [output(site, page, f"{stage}-{number}-{place}", data) for place, data in enumerate(found, start=1)]
            source_code = Markup(markup.code(cell.source, "python"))
            if cells and cells[-1].get("outputs") == []:
                source_code = cells.pop()["code"] + "\n" + source_code
            cells.append({"code": source_code, "outputs": shown})
    return cells


def add_stages(site: Site) -> None:
    """One page for each stage, and the list of them."""
    titles = {}
    for stage in site.stages:
        page = f"stages/{stage}.html"
        source = f"notebooks/{stage}.ipynb"
        site.out[f"files/{source}"] = (site.root / source).read_bytes()
        first = nbformat.read(site.root / source, as_version=4).cells[0].source
        titles[stage] = markup.title_of(first).partition(":")[2].strip() or markup.title_of(first)
        cells = notebook_cells(site, page, stage)
        site.add(page, "stage.html", stage, stage=stage, stages=site.stages, cells=cells, source=source)
    site.add(NAVIGATION["Stages"], "stages.html", "Stages", stages=site.stages, titles=titles, purposes=site.purposes)


def add_documents(site: Site) -> None:
    """One page for each document, and the list of them."""
    titles = {name: markup.title_of(file_text(site.root / name)) for name in site.documents}
    for name in site.documents:
        page = site.pages[name]
        content = site.markdown(page, name, file_text(site.root / name))
        site.add(page, "document.html", titles[name], name=name, content=content, documents=titles, pages=site.pages)
    site.add(NAVIGATION["Documents"], "documents.html", "Documents", documents=titles, pages=site.pages)


def add_audit(site: Site) -> None:
    """The audit browser: every item of every cell with both texts, its verdicts, sources and, for a fault, its witness."""
    cells: list[dict[str, Any]] = []
    total = 0
    for cell in instruments.cells_in(site.root / "data/instruments"):
        folder = site.root / "data/instruments" / cell
        about, entries = instruments.read_part(folder, instruments.CellFile), instruments.read_entries(folder)
        ledger = {entry.id: entry.verdicts for entry in instruments.read_part(folder, instruments.LedgerFile).items}
        classed = {item: {verdict.step: verdict.audit_class for verdict in verdicts} for item, verdicts in ledger.items()}
        cells.append({"name": cell, "about": about, "entries": entries, "ledger": ledger, "classed": classed})
        total += len(entries)
    site.add("audit.html", "audit.html", "Audit", cells=cells, classes=instruments.AUDIT_CLASSES, total=total)


def add_values(site: Site) -> None:
    """The browser of the pinned and the printed values."""
    rows = browse.reference_rows(site.root)
    paths = sorted({row["path"] for row in rows if row["path"]})
    data = {
        "files": [[path, markup.between("values.html", site.place(path, "values"))] for path in paths],
        "columns": ["group", "key", "value", "recomputed", "status", "source", "formula", "file", "row", "column"],
        "rows": [
            [*list(row.values())[:7], paths.index(row["path"]) if row["path"] else None, row["row"], row["column"]]
            for row in rows
        ],
    }
    formulas = {name: (Markup(markup.formula(latex, True)), words) for name, (latex, words) in browse.FORMULAS.items()}
    counts = {group: sum(row["group"] == group for row in rows) for group in ("reference", "printed")}
    statuses = sorted({row["status"] for row in rows})
    site.add(
        "values.html", "values.html", "Values", data=embedded(data), formulas=formulas, counts=counts, statuses=statuses
    )


def add_pilot(site: Site) -> None:
    """The replayed live study at text level, if its results are there: a page for each suite, and the list of them."""
    if site.pilot is None:
        return
    book = casebook.read_cases(site.root, site.pilot)
    rows = {}
    for suite, scenarios in book.items():
        stages = [case.stages for one in scenarios for case in one.faults]
        counts = {name: stages.count(name) for name in ("both", "design", "execution", "neither", "")}
        rows[suite] = {"scenarios": len(scenarios), "cases": len(stages), "stages": counts}
        site.add(f"pilot/{suite}.html", "cases.html", suite, suite=suite, suites=list(book), scenarios=scenarios)
    study = read_definitions(site.root / "params.yaml").studies[site.pilot]
    site.add(PILOT_PAGE, "study.html", "Pilot", study=study, suites=rows)


def add_overview(site: Site) -> None:
    """The first page: the question, the key numbers, the claims."""
    readme = file_text(site.root / "README.md")
    question = readme.split("\n\n")[1]
    site.add(
        "index.html",
        "overview.html",
        "REGATTA",
        question=site.markdown("index.html", "README.md", question),
        claims=site.markdown("index.html", "README.md", markup.section_of(readme, CLAIMS_HEADING)),
        n=browse.key_numbers(site.root),
        generators=GENERATORS,
        stages=site.stages,
        purposes=site.purposes,
        paper=REPORT_PDF if (site.root / REPORT_PDF).is_file() else None,
    )


def add_tables(site: Site) -> None:
    """A page for each linked CSV file, on which every cell has an address: ``#r<row>c<column>``, both from 1."""
    for path, page in sorted(site.tables.items()):
        header, *rows = csv.reader(io.StringIO(file_text(site.root / path)))
        columns = [browse.shown_column([row[column] for row in rows]) for column in range(len(header))]
        cells = [[(value, columns[place][1][number]) for place, value in enumerate(row)] for number, row in enumerate(rows)]
        numeric = [numbers for numbers, _ in columns]
        site.add(page, "table.html", path, path=path, header=header, rows=cells, numeric=numeric)


def build(root: Path) -> dict[str, bytes]:
    """The whole site, ``{path: content}``. Raises ContractError for a link that leads nowhere."""
    site = Site(root)
    for name in ASSETS:
        site.out[name] = (root / SOURCE / name).read_bytes()
    for add in (add_stages, add_documents, add_audit, add_values, add_pilot, add_overview, add_tables):
        add(site)
    return dict(sorted(site.out.items()))
