import html
import re

import nbformat
import pytest

from regatta.site import markup
from regatta_lib.base import paths

SOURCES = [*paths.ROOT.glob("docs/*.md"), paths.ROOT / "README.md"]


def same(address):
    return address


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>"),
        ("[x](javascript:alert(1))", '<a href="#harmful-link">x</a>'),
        ('[x](https://a.b "t\\" onclick=1")', 'title="t&quot; onclick=1"'),
        ("`<b>`", "<code>&lt;b&gt;</code>"),
        ("```\n</code><script>\n```", "&lt;/code&gt;&lt;script&gt;"),
        ("# <i>x</i>", "&lt;i&gt;x&lt;/i&gt;"),
    ],
)
def test_markup_in_markdown_is_shown_as_text(text, harmless):
    assert harmless in markup.markdown(text, same)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("<p>a<script>alert(1)</script>b</p>", "<p>ab</p>"),
        ("<style scoped>td {color: red}</style><b>x</b>", "<b>x</b>"),
        ('<b onclick="alert(1)" style="x">x</b>', "<b>x</b>"),
        ('<a href="javascript:1">x</a>', "<a>x</a>"),
        ('<a href="data:text/html,x">x</a>', "<a>x</a>"),
        ('<a href="https://a.b/c" title="t">x</a>', '<a href="https://a.b/c" title="t">x</a>'),
        ("<iframe src=x></iframe><svg onload=1></svg>", ""),
    ],
)
def test_the_html_of_an_output_keeps_no_script_style_or_handler(text, cleaned):
    assert markup.clean(text) == cleaned


BOX = '<div class="wide" tabindex="0" role="region" aria-label="table"><table>{}</table></div>'


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("<scr<script>ipt>alert(1)</scr</script>ipt>", "ipt&gt;alert(1)ipt&gt;"),
        ("<<script>alert(1)//<</script>", "&lt;"),
        ("a<script>alert(1)", "a"),
        ("<b>a<!-- <img src=x onerror=alert(1)> -->b", "<b>ab</b>"),
        ("<!--><img src=x onerror=alert(1)>-->", "--&gt;"),
        ("<b><i onclick=alert(1)>x", "<b><i>x</i></b>"),
        ("<svg><style><img src=x onerror=alert(1)></style></svg>x", "x"),
        ('<svg></p><style><a title="</style><img src onerror=alert(1)>">', '<p></p>"&gt;'),
        ("<math><mtext></p><style><img src=x onerror=alert(1)>", ""),
        ('<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">', ""),
        ("<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>", ""),
        ('<math href="javascript:alert(1)">x</math>', "x"),
        ('<noscript><p title="</noscript><img src=x onerror=alert(1)>">', '&lt;p title=""&gt;'),
        ("<textarea><img src=x onerror=alert(1)></textarea>", "&lt;img src=x onerror=alert(1)&gt;"),
        ("<template><img src=x onerror=alert(1)><b>x</b></template>", ""),
        ('<b title="x" lang="en">x</b>', "<b>x</b>"),
        ("&lt;script&gt; &amp;lt;", "&lt;script&gt; &amp;lt;"),
    ],
)
def test_broken_or_nested_markup_hides_no_script(text, cleaned):
    assert markup.clean(text) == cleaned


@pytest.mark.parametrize(
    "address",
    [
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "java&#115;cript:alert(1)",
        "&#1;javascript:alert(1)",
        "JaVaScRiPt&colon;alert(1)",
        "vbscript:x",
        "//a.b/c",
        "file.html",
        "https://a.b/\nc",
    ],
)
def test_links_lead_to_the_web_or_stay_on_the_page(address):
    assert markup.clean(f'<a href="{address}">x</a>') == "<a>x</a>"


@pytest.mark.parametrize("address", ["#x", "http://a.b", "https://a.b/?c=1&amp;d=2"])
def test_links_to_the_web_or_the_page_are_kept_as_they_are(address):
    assert markup.clean(f'<a href="{address}" rel="x" target="_blank">x</a>') == f'<a href="{address}">x</a>'


@pytest.mark.parametrize(
    ("table", "cleaned"),
    [
        (
            '<tr><td onmouseover=alert(1) style="x" class="y">a<tr><td>b',
            "<tbody><tr><td>a</td></tr><tr><td>b</td></tr></tbody>",
        ),
        (
            "<tr><td>&lt;img src=x onerror=alert(1)&gt;",
            "<tbody><tr><td>&lt;img src=x onerror=alert(1)&gt;</td></tr></tbody>",
        ),
        (
            '<tr><td><span title="</td></table><img src onerror=a()>">x</span>',
            '<tbody><tr><td><span title="&lt;/td&gt;&lt;/table&gt;&lt;img src onerror=a()&gt;">x</span></td></tr></tbody>',
        ),
        ("<tr><td>a<script>alert(1)</script><style>b</style>", "<tbody><tr><td>a</td></tr></tbody>"),
    ],
)
def test_the_cells_of_a_table_are_harmless_too(table, cleaned):
    assert markup.clean(f"<table onclick=alert(1)>{table}</table>") == BOX.format(cleaned)


@pytest.mark.parametrize("span", ["0", "-1", "1000", "99999999", "9" * 5000, "x", "²"])
def test_a_span_that_no_table_needs_is_left_out(span):
    row = f'<tr><td colspan="{span}" rowspan="{span}">a</td></tr>'
    assert markup.clean(f"<table>{row}</table>") == BOX.format("<tbody><tr><td>a</td></tr></tbody>")


def test_a_table_in_a_cell_scrolls_with_the_outer_one_and_has_columns_of_its_own():
    inner = "<table><tr><td>a</td><td>5</td></tr></table>"
    text = markup.clean(f"<table><tr><td>1</td><td>{inner}</td></tr><tr><td>2</td><td>b</td></tr></table>")
    assert re.findall(r'<td class="number">(.*?)</td>', text) == ["1", "5", "2"]
    assert text.count('class="wide"') == 1
    assert text.endswith("</table></div>")


def test_a_table_nested_a_thousand_times_is_read():
    assert markup.clean("<table><tr><td>" * 1000).count("<td>") == 1000


def test_text_outside_tables_and_formulas_inside_stay_as_they_are():
    formula, fragment = markup.formula(r"\frac{1}{2}\, x"), "a &#39;b&#x27; &quot;c&quot;<br />\n  <hr/>"
    text = markup.wide_tables(
        f"{formula}{fragment}<table><tr><td>{formula}</td></tr></table>{fragment}<table></table>{formula}"
    )
    assert text.startswith(f"{formula}{fragment}<div")
    assert text.endswith(f"</table></div>{fragment}{BOX.format('')}{formula}")
    cell = re.search(r"<td>(.*)</td>", text)[1]
    assert re.findall(r"<(\w+)", cell) == re.findall(r"<(\w+)", formula)
    assert re.findall(r">([^<]+)<", cell) == re.findall(r">([^<]+)<", html.unescape(formula))


@pytest.mark.parametrize("text", ["a</table>b", "a</table>b<table>c"])
def test_ends_of_tables_without_a_start_change_nothing(text):
    assert markup.wide_tables(text) == text


def test_numbers_of_a_table_are_aligned_and_the_table_scrolls_by_itself():
    text = markup.clean("<table><tr><td>0.25</td><td>-1,000</td><td>FT-01</td><td>1e-14</td></tr></table>")
    assert re.findall(r'<td class="number">(.*?)</td>', text) == ["0.25", "-1,000", "1e-14"]
    assert text.startswith('<div class="wide" tabindex="0"')
    assert text.endswith("</table></div>")


def test_the_head_of_a_column_of_numbers_is_aligned_with_it():
    head = "<thead><tr><th></th><th>name</th><th>n</th></tr></thead>"
    text = markup.clean(f"<table>{head}<tbody><tr><th>0</th><td>a</td><td>1</td></tr></tbody></table>")
    assert '<th></th><th>name</th><th class="number">n</th>' in text
    two = "<thead><tr><th>a</th><th>b</th></tr><tr><th>c</th><th>d</th></tr></thead>"
    text = markup.clean(f"<table>{two}<tbody><tr><td>1</td><td>x</td></tr></tbody></table>")
    assert re.findall(r'<th class="number">(.*?)</th>', text) == ["a", "c"]


def aligned(*rows):
    """The texts of the number cells of a table with these rows."""
    lines = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return re.findall(r'<td class="number">(.*?)</td>', markup.clean(f"<table>{lines}</table>"))


def test_a_column_is_aligned_as_a_whole():
    assert aligned((".86", "+.04"), ("1", "−2"), ("69%", "1e-9")) == [".86", "+.04", "1", "−2", "69%", "1e-9"]
    assert aligned((".86",), ("24+46",)) == []
    assert aligned(("868",), ("868, 869",)) == []


def test_a_missing_value_is_an_en_dash():
    assert aligned(("NaN", "&lt;NA&gt;", "nan"), ("1", "2", "3")) == ["–", "–", "–", "1", "2", "3"]
    assert "<td>–</td>" in markup.clean("<table><tr><td>NaN</td></tr><tr><td>a</td></tr></table>")
    assert "<th>nan</th>" in markup.clean("<table><tr><th>nan</th></tr></table>")


def test_cells_that_span_keep_the_columns_in_order():
    rows = '<tr><th rowspan="2">a</th><td>x</td><td>1</td></tr><tr><td>y</td><td>2</td></tr><tr><td colspan="3">3</td></tr>'
    assert re.findall(r'<td class="number">(.*?)</td>', markup.clean(f"<table>{rows}</table>")) == ["1", "2"]


def test_long_texts_get_room():
    assert '<td class="prose">' in markup.clean(f"<table><tr><td>{'reason ' * 20}</td></tr></table>")


def test_a_formula_becomes_mathml():
    assert "<mfrac>" in markup.formula(r"\frac{1}{2}")
    assert markup.formula("x", display=True).startswith('<div class="formula"><math')
    assert markup.markdown("costs $p_d$ so", same).count("<math") == 1


def test_every_formula_of_the_notebooks_is_translated_whole():
    """latex2mathml leaves a command it does not know as text with its backslash."""
    count = 0
    for path in paths.NOTEBOOKS.glob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                text = markup.markdown(cell.source, same)
                maths = re.findall(r"<math.*?</math>", text, re.S)
                count += len(maths)
                assert not any("\\" in found for found in maths), path
                assert "$$" not in text, path
    assert count > 20
    assert "\\" in markup.formula(r"\nonsense")


def test_amounts_of_money_are_no_formulas():
    assert "<math" not in markup.markdown("a deposit of $7,000 and a withdrawal of $6,000", same)


def test_headings_have_anchors_and_links_are_resolved():
    text = markup.markdown("## The `x` of Y\n\n[a](b.md#c)", lambda address: f"up/{address}")
    assert '<h2 id="the-x-of-y">' in text
    assert '<a href="up/b.md#c">' in text


def test_comments_are_left_out():
    assert "begin" not in markup.markdown("a\n\n<!-- instructions: begin -->\n## B\n", same)


def test_title_and_section():
    text = "# `One` two\n\na\n\n## B\n\nb\n\n## C\n\nc\n"
    assert markup.title_of(text) == "One two"
    assert markup.section_of(text, "B").strip() == "b"
    with pytest.raises(KeyError):
        markup.section_of(text, "D")


@pytest.mark.parametrize(
    ("here", "there", "address"),
    [
        ("index.html", "a/b.html", "a/b.html"),
        ("a/b.html", "index.html", "../index.html"),
        ("a/b.html", "a/c.html#x", "c.html#x"),
        ("tables/data/x.html", "files/data/x.csv", "../../files/data/x.csv"),
    ],
)
def test_addresses_between_pages(here, there, address):
    assert markup.between(here, there) == address
