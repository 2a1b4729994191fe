"""Text to HTML that is safe to show: Markdown with formulas as MathML, code with classes, notebook outputs cleaned.

All text counts as untrusted. Markup inside Markdown is shown as text; HTML of a notebook's output keeps the elements of
``KEPT`` and loses everything else, scripts, styles and event handlers included.
"""

import html
import re
from collections.abc import Callable
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
WEB = re.compile(r"https?://[^\s<>\"]+")
HIDDEN = re.compile(r"<(style|script)\b.*?</\1\s*>", re.I | re.S)
NUMBER = re.compile(r"<td>(\s*(?:[-−+]?[\d,]+(?:\.\d+)?(?:e[-+]?\d+)? ?%?|NaN|&lt;NA&gt;)\s*)</td>", re.I)

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


def _aligned(found: re.Match) -> str:
    """A table with its numbers, and the heads of columns that hold one, marked as numbers; in a box of its own."""
    head, mark, body = NUMBER.sub(r'<td class="number">\1</td>', found[1]).partition("</thead>")
    rows = [re.findall(r"<t[hd][^>]*>", row) for row in body.split("</tr>")]
    numeric = [any("number" in cell for cell in column) for column in zip(*filter(None, rows), strict=False)]
    heads = re.findall(r"<th>", head)
    if len(heads) == len(numeric):
        marks = iter(numeric)
        head = re.sub(r"<th>", lambda _: '<th class="number">' if next(marks) else "<th>", head)
    return f'<div class="wide" tabindex="0" role="region" aria-label="table"><table>{head}{mark}{body}</table></div>'


def wide_tables(text: str) -> str:
    """Put each table into a box that scrolls by itself, reachable by keyboard, and align its numbers."""
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
