"""Text to HTML that is safe to show: Markdown with formulas as MathML, code with classes, notebook outputs cleaned.

All text counts as untrusted. Markup inside Markdown is shown as text; HTML of a notebook's output keeps the elements of
``KEPT`` and loses everything else, scripts, styles and event handlers included.
"""

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from posixpath import normpath, relpath

import bleach
import mistune
from latex2mathml.converter import convert
from mistune.plugins.math import math
from mistune.plugins.table import table
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

TEXT = {
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
KEPT = TEXT | {"caption", "table", "tbody", "td", "th", "thead", "tr"}
KEPT_ATTRIBUTES = {
    ("a", "title"),
    ("span", "title"),
    *((cell, name) for cell in ("td", "th") for name in ("colspan", "rowspan")),
}
LONG = 40
PROSE = 80
WEB = re.compile(r"https?://[^\s<>\"]+")
HIDDEN = re.compile(r"<(style|script)\b.*?</\1\s*>", re.I | re.S)
NUMBER = re.compile(r"[-−+]?(\d[\d,]*(\.\d*)?|\.\d+)(e[-+]?\d+)? ?%?", re.I)
MISSING = re.compile(r"nan|nat|&lt;na&gt;|<na>", re.I)
NONE = "\N{EN DASH}"
ROW = re.compile(r"(<tr[^>]*>)(.*?)(?=</tr>)", re.S)
CELL = re.compile(r"<(t[hd])([^>]*)>(.*?)</t[hd]>", re.S)

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


@dataclass(frozen=True)
class _Cell:
    """A cell of a table: its place, its element (th or td) with attributes, and its content."""

    row: int
    column: int
    tag: str
    attributes: str
    content: str

    @property
    def text(self) -> str:
        """The content without markup."""
        return re.sub(r"<[^>]+>", "", self.content).strip()

    def html(self, kind: str) -> str:
        """The cell as HTML with a class, if it has none yet."""
        mark = f' class="{kind}"' if kind and "class=" not in self.attributes else ""
        return f"<{self.tag}{self.attributes}{mark}>{self.content}</{self.tag}>"


def _cells(rows: list[str]) -> list[list[_Cell]]:
    """The cells of each row with their columns: a cell that spans rows or columns moves those after it."""
    taken: set[tuple[int, int]] = set()
    found = []
    for row, line in enumerate(rows):
        column, cells = 0, []
        for tag, attributes, content in CELL.findall(line):
            while (row, column) in taken:
                column += 1
            down, across = (
                int(span[1]) if (span := re.search(rf'{name}="(\d+)"', attributes)) else 1 for name in ("rowspan", "colspan")
            )
            taken |= {(row + below, column + beside) for below in range(down) for beside in range(across)}
            missing = tag == "td" and MISSING.fullmatch(content.strip())
            cells.append(_Cell(row, column, tag, attributes, NONE if missing else content))
            column += across
        found.append(cells)
    return found


def _kind(texts: list[str]) -> str:
    """What a column holds: ``number`` if every cell is one or has none, ``prose`` if a text is long, else nothing."""
    given = [text for text in texts if text not in ("", NONE)]
    if given and all(NUMBER.fullmatch(text) for text in given):
        return "number"
    return "prose" if any(len(text) > PROSE for text in given) else ""


def _aligned(found: re.Match) -> str:
    """A table whose columns are marked, heads included, as numbers or prose; in a box of its own."""
    rows = _cells([line for _, line in ROW.findall(found[1])])
    columns: dict[int, list[str]] = {}
    for cell in chain.from_iterable(rows):
        if cell.tag == "td" and "colspan" not in cell.attributes:
            columns.setdefault(cell.column, []).append(cell.text)
    kinds = {column: _kind(texts) for column, texts in columns.items()}
    heads = found[1].partition("</thead>")[0].count("<tr") if "</thead>" in found[1] else 0
    lines = iter(
        "".join(
            cell.html(
                "" if "colspan" in cell.attributes or (cell.tag == "th" and row >= heads) else kinds.get(cell.column, "")
            )
            for cell in cells
        )
        for row, cells in enumerate(rows)
    )
    body = ROW.sub(lambda line: line[1] + next(lines), found[1])
    return f'<div class="wide" tabindex="0" role="region" aria-label="table"><table>{body}</table></div>'


def wide_tables(text: str) -> str:
    """Put each table into a box that scrolls by itself, reachable by keyboard, and align its columns of numbers.

    A missing value (NaN, <NA>) is printed as an en dash.
    """
    return re.sub(r"<table[^>]*>(.*?)</table>", _aligned, text, flags=re.S)


def allowed(tag: str, name: str, value: str) -> bool:
    """Whether an element may keep an attribute: links lead to the web or stay on the page."""
    if (tag, name) == ("a", "href"):
        return bool(WEB.fullmatch(value)) or value.startswith("#")
    return (tag, name) in KEPT_ATTRIBUTES


def clean(text: str) -> str:
    """The HTML output of a notebook, with only the elements and attributes listed above."""
    return wide_tables(bleach.clean(HIDDEN.sub("", text), tags=KEPT, attributes=allowed, strip=True))


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
    return wide_tables(render(re.sub(r"<!--.*?-->\n?", "", text, flags=re.S)))


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
