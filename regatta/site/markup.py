"""Text to HTML that is safe to show: Markdown with formulas as MathML, code with classes, notebook outputs cleaned.

All text counts as untrusted. Markup inside Markdown is shown as text; HTML of a notebook's output keeps the elements of
``KEPT`` and loses everything else, scripts, styles and event handlers included.
"""

import html
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from posixpath import normpath, relpath

import mistune
import nh3
from bs4 import BeautifulSoup, Tag
from latex2mathml.converter import convert
from mistune.plugins.math import math
from mistune.plugins.table import table
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

TEXT_ELEMENTS = {
    "a",
    "b",
    "blockquote",
    "br",
    "code",
    "em",
    "h3",
    "h4",
    "hr",
    "i",
    "li",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
    "sub",
    "sup",
    "ul",
}
KEPT = TEXT_ELEMENTS | {"caption", "table", "tbody", "td", "th", "thead", "tr"}
SPANS = {"colspan", "rowspan"}
KEPT_ATTRIBUTES = {"*": set(), "a": {"href", "title"}, "span": {"title"}, "td": SPANS, "th": SPANS}
LONG = 40
PROSE = 80
WEB = re.compile(r"https?://[^\s<>\"]+")
CELL_SPAN = re.compile(r"[1-9][0-9]{0,2}")
SHOWN_NUMBER = re.compile(r"[-−+]?(\d[\d,]*(\.\d*)?|\.\d+)(e[-+]?\d+)? ?%?", re.I)
MISSING_VALUE = re.compile(r"nan|nat|<na>", re.I)
NONE = "\N{EN DASH}"
TABLE = re.compile(r"<(/?)table\b[^>]*>")

Resolve = Callable[[str], str]


def formula(latex: str, display: bool = False) -> str:
    """A LaTeX formula as MathML, which browsers draw without a script. A long one in a line can scroll by itself."""
    mathml = convert(latex, display="block" if display else "inline")
    if display:
        return f'<div class="formula">{mathml}</div>'
    return f'<span class="long">{mathml}</span>' if len(latex) > LONG else mathml


def code(source: str, language: str) -> str:
    """Source code as HTML spans with Pygments' short class names; plain text for the language ``text``."""
    return highlight(source, get_lexer_by_name(language), HtmlFormatter(nowrap=True))


def _placed(rows: list[Tag]) -> Iterator[tuple[int, Tag]]:
    """The cells of a table, each with its column: a cell that spans rows or columns moves those after it."""
    free: dict[int, int] = {}  # the first row in which a column is free
    for row, line in enumerate(rows):
        column = 0
        for cell in line.find_all(["td", "th"], recursive=False):
            while free.get(column, 0) > row:
                column += 1
            yield column, cell
            down, across = (int(str(cell.get(name, "1"))) for name in ("rowspan", "colspan"))
            free |= {column + beside: row + down for beside in range(across)}
            column += across


def _kind(texts: list[str]) -> str:
    """What a column holds: ``number`` if every cell is one or has none, ``prose`` if a text is long, else nothing."""
    given = [text for text in texts if text not in ("", NONE)]
    if given and all(SHOWN_NUMBER.fullmatch(text) for text in given):
        return "number"
    return "prose" if any(len(text) > PROSE for text in given) else ""


def _in_head(cell: Tag) -> bool:
    """Whether the cell's row stands in the head of its table."""
    row = cell.parent
    return row is not None and row.parent is not None and row.parent.name == "thead"


def _align(table: Tag) -> None:
    """Mark the columns of a table, heads included, as numbers or prose, and its missing values; tables in it apart."""
    parts = table.find_all(True, recursive=False)
    rows = [row for part in parts for row in ([part] if part.name == "tr" else part.find_all("tr", recursive=False))]
    cells = [(column, cell) for column, cell in _placed(rows) if not cell.has_attr("colspan")]
    texts: dict[int, list[str]] = {}
    for column, cell in cells:
        if cell.name == "td":
            text = cell.get_text().strip()
            if MISSING_VALUE.fullmatch(text) and not cell.find(True):
                cell.string = text = NONE
            texts.setdefault(column, []).append(text)
    kinds = {column: _kind(found) for column, found in texts.items()}
    for column, cell in cells:
        if kinds.get(column) and (cell.name == "td" or _in_head(cell)):
            cell.attrs.setdefault("class", kinds[column])


def _boxed(text: str) -> str:
    """A table, with those inside it, aligned and in a box of its own."""
    soup = BeautifulSoup(text, "html.parser")
    for found in soup.find_all("table"):
        _align(found)
    return f'<div class="wide" tabindex="0" role="region" aria-label="table">{soup}</div>'


def wide_tables(text: str) -> str:
    """Put each table into a box that scrolls by itself, reachable by keyboard, and align its columns of numbers.

    A missing value (NaN, <NA>) is printed as an en dash. A table inside another scrolls with it. Text outside tables
    stays as it is, to the character.
    """
    cuts, depth = [0], 0
    for mark in TABLE.finditer(text):
        depth += -1 if mark[1] else 1
        if (depth, mark[1]) in ((1, ""), (0, "/")):
            cuts.append(mark.end() if mark[1] else mark.start())
    pieces = [text[start:end] for start, end in pairwise([*cuts, len(text)])]
    return "".join(_boxed(piece) if piece.startswith("<table") else piece for piece in pieces)


def allowed(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute in ``KEPT_ATTRIBUTES``, or None if the element may not keep it.

    Links lead to the web or stay on the page; a cell spans 1 to 999 rows or columns.
    """
    if name == "href":
        return value if WEB.fullmatch(value) or value.startswith("#") else None
    return value if name not in SPANS or CELL_SPAN.fullmatch(value) else None


CLEANER = nh3.Cleaner(
    tags=KEPT,
    attributes=KEPT_ATTRIBUTES,
    attribute_filter=allowed,
    clean_content_tags={"script", "style"},
    url_schemes={"http", "https"},
    generic_attribute_prefixes=set(),
    link_rel=None,
)


def clean(text: str) -> str:
    """The HTML output of a notebook, with only the elements and attributes listed above."""
    return wide_tables(CLEANER.clean(text))


def slug(text: str) -> str:
    """The fragment identifier of a heading."""
    plain = html.unescape(re.sub(r"<[^>]+>", "", text)).lower()
    return re.sub(r"[^\w]+", "-", plain).strip("-")


class Renderer(mistune.HTMLRenderer):
    """HTML with heading anchors, resolved links, coloured code and MathML. ``resolve`` maps each address of a link."""

    def __init__(self, resolve: Resolve):
        super().__init__(escape=True)
        self.resolve = resolve

    def heading(self, text: str, level: int, **attributes: object) -> str:
        """A heading with an identifier made from its text."""
        return f'<h{level} id="{slug(text)}">{text}</h{level}>\n'

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """A link to where ``resolve`` says."""
        return super().link(text, self.resolve(url), title)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """An image at the address that ``resolve`` says."""
        return super().image(text, self.resolve(url), title)

    def block_code(self, code_text: str, info: str | None = None) -> str:
        """A block of code; the keyboard can scroll it."""
        language = (info or "text").split()[0]
        return f'<pre tabindex="0"><code>{code(code_text, language)}</code></pre>\n'

    def inline_math(self, text: str) -> str:
        """A formula in a line."""
        return formula(text)

    def block_math(self, text: str) -> str:
        """A formula of its own."""
        return formula(text.strip(), display=True)


def markdown(text: str, resolve: Resolve) -> str:
    """Markdown to HTML. Comments are left out; other HTML in it is shown as text."""
    render = mistune.create_markdown(renderer=Renderer(resolve), plugins=[table, math])
    return wide_tables(str(render(re.sub(r"<!--.*?-->\n?", "", text, flags=re.S))))  # with a renderer, a text


def title_of(text: str) -> str:
    """The first heading of a Markdown text, without its marks."""
    return next(line.lstrip("# ").strip().replace("`", "") for line in text.splitlines() if line.startswith("# "))


def section_of(text: str, heading: str) -> str:
    """The body of the second-level section under ``heading``. Raises KeyError if there is none."""
    parts = re.split(r"^## (.+)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[heading]


def between(here: str, there: str) -> str:
    """The relative address from one page to another, both given as paths below the site's root."""
    path, mark, fragment = there.partition("#")
    folder = here.rpartition("/")[0]
    return (relpath(path, folder) if folder else normpath(path)) + mark + fragment
