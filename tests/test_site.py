"""The site's structure (always), and a walk through it in headless Chromium (where there is one)."""

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote

import pytest
from typer.testing import CliRunner

from regatta.commands import app
from regatta.site import pages as site
from regatta_lib.base import ContractError, paths
from regatta_lib.instruments import schemas

CHROMIUM, CHROMEDRIVER = shutil.which("chromium"), shutil.which("chromedriver")
VOID = {"meta", "link", "br", "hr", "img", "input", "mspace"}


class Page(HTMLParser):
    """What a page links to, its identifiers, and whether its elements are closed in order."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.open, self.scripts, self.handlers = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.links += [given[name] for name in ("href", "src") if name in given]
        self.handlers += [name for name in given if name.startswith("on")]
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "script":
            self.scripts.append(given)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.getpos())


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The site as the command writes it."""
    root = tmp_path_factory.mktemp("site")
    done = CliRunner().invoke(app, ["site", str(root)])
    assert done.exit_code == 0
    assert re.fullmatch(r".*index\.html: \d+ pages, \d+ files\n", done.output)
    return root


@pytest.fixture(scope="session")
def built(folder):
    """What ``regatta site`` wrote, {path: content}."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="session")
def pages(built):
    return {name: Page(content.decode()) for name, content in built.items() if name.endswith(".html")}


def dead(page, found, built, pages):
    """The links of a page that lead to no file of the site, or to no element of a page."""
    wrong = []
    for link in found.links:
        if re.match(r"https?://|data:,$", link):
            continue
        path, _, fragment = link.partition("#")
        target = normpath(join(dirname(page), unquote(path))) if path else page
        if target not in built or (fragment and fragment not in pages[target].ids):
            wrong.append(link)
    return wrong


def test_every_page_is_there(pages):
    notebooks = {f"stages/{path.stem}.html" for path in paths.NOTEBOOKS.glob("*.ipynb")}
    documents = {f"docs/{path.stem}.html" for path in (paths.ROOT / "docs").glob("*.md")}
    assert notebooks | documents | set(site.NAVIGATION.values()) | {"docs/readme.html"} <= set(pages)


def test_every_link_leads_somewhere(pages, built):
    assert {page: wrong for page, found in pages.items() if (wrong := dead(page, found, built, pages))} == {}
    assert sum(len(found.links) for found in pages.values()) > 1_000


def test_the_link_check_can_fail(built, pages):
    found = Page('<a href="nowhere.html">x</a><a href="audit.html#XX-99">y</a><a href="audit.html#FT-01">z</a>')
    assert dead("index.html", found, built, pages) == ["nowhere.html", "audit.html#XX-99"]


def test_pages_are_well_formed_with_unique_identifiers(pages):
    for page, found in pages.items():
        assert found.open == [], page
        assert len(found.ids) == len(set(found.ids)), page
        assert found.handlers == [], page


def test_nothing_is_loaded_from_elsewhere(pages, built):
    for page, found in pages.items():
        assert all("http" not in script.get("src", "") for script in found.scripts), page
    text = "".join(built[name].decode() for name in (*site.ASSETS, "index.html"))
    assert not re.search(r"@import|url\(|<link[^>]+http", text)


def test_links_out_are_those_of_the_audit_and_the_documents(pages):
    known = set()
    for path in paths.INSTRUMENTS.glob("*/*.yaml"):
        known |= set(re.findall(r"(?:https?://|github:)[^\s\"<>]+", path.read_text(encoding="utf-8")))
    for path in [*paths.ROOT.glob("*.md"), *paths.ROOT.glob("docs/*.md"), *paths.NOTEBOOKS.glob("*.ipynb")]:
        known |= set(re.findall(r"https?://[^\s\"<>)\\]+", path.read_text(encoding="utf-8")))
    known |= {address.replace("github:", "https://github.com/") for address in known}
    for page, found in pages.items():
        assert {link for link in found.links if link.startswith("http")} <= known, page


def test_the_audit_shows_every_item_with_both_texts_and_all_sources(built, pages):
    text = built["audit.html"].decode()
    cells = [path.parent for path in paths.INSTRUMENTS.glob("*/cell.yaml")]
    assert text.count('<article class="item"') == 30 * len(cells) == 180
    assert text.count("<h4>As written</h4>") == text.count("<h4>In force</h4>") == 180
    assert text.count("<summary>Witness</summary>") == 5 * len(cells)
    for cell in cells:
        for entry in schemas.read_entries(cell):
            assert entry.id in pages["audit.html"].ids
            assert {s.url.replace("github:", "https://github.com/") for s in entry.audit.sources if s.url} <= set(
                pages["audit.html"].links
            )


def test_a_link_to_nothing_stops_the_build():
    with pytest.raises(ContractError, match=r"README.md: links to docs/nothing.md, expected a file"):
        site.Site(paths.ROOT).address("docs/readme.html", "README.md", "docs/nothing.md")


def test_the_same_files_give_the_same_bytes(built):
    again = site.build(paths.ROOT)
    assert {name for name in built | again if built.get(name) != again.get(name)} == set()
    assert not any(str(paths.ROOT).encode() in content for content in built.values())


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not (CHROMIUM and CHROMEDRIVER):
        pytest.skip("no Chromium on this machine: install the Debian packages chromium and chromium-driver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    quiet = "--disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run"
    for argument in ("--headless=new", "--no-sandbox", *quiet.split()):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    driver = webdriver.Chrome(options=options, service=Service(CHROMEDRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def visit(browser, folder):
    """Open a page at a width; returns functions of the page."""

    def go(page, width=1280, theme="light"):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": theme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get("about:blank")
        browser.get((folder / page.partition("#")[0]).as_uri() + "".join(page.partition("#")[1:]))
        return browser

    return go


def count_of(driver):
    return driver.find_element("id", "count").text


def choose(driver, name, value):
    script = (
        "const field = document.querySelector(`[name=${arguments[0]}]`); field.value = arguments[1];"
        "field.dispatchEvent(new Event('input', {bubbles: true}));"
    )
    driver.execute_script(script, name, value)


def shown(driver, selector):
    return [found for found in driver.find_elements("css selector", selector) if found.is_displayed()]


def test_filters_narrow_the_audit(visit):
    driver = visit("audit.html")
    assert count_of(driver) == "180 of 180 items"
    choose(driver, "cell", "vn_banking")
    assert count_of(driver) == "30 of 180 items"
    choose(driver, "role", "fault")
    assert count_of(driver) == "5 of 180 items"
    assert [found.get_attribute("id") for found in shown(driver, "article.item")] == [f"BV-F{n}" for n in range(1, 6)]
    assert "#?cell=vn_banking&role=fault" in driver.current_url
    choose(driver, "q", "no such words here")
    assert count_of(driver) == "0 of 180 items"
    assert shown(driver, "#none")
    driver.find_element("css selector", "#items [type=reset]").click()
    driver.execute_async_script("setTimeout(arguments[0], 50)")
    assert count_of(driver) == "180 of 180 items"


def test_a_filtered_view_and_an_item_can_be_linked_to(visit):
    expected = sum(
        entry.audit.audit_class == "substance_error" and entry.audit.confidence == "medium"
        for cell in paths.INSTRUMENTS.glob("*/cell.yaml")
        for entry in schemas.read_entries(cell.parent)
    )
    driver = visit("audit.html#?class=substance_error&confidence=medium")
    assert count_of(driver) == f"{expected} of 180 items"
    driver = visit("audit.html#IV-17")
    assert driver.execute_script("return Math.abs(document.getElementById('IV-17').getBoundingClientRect().top) < 200")


def test_sources_open_as_links_and_words_in_vietnamese_are_found(visit):
    driver = visit("audit.html#?q=Ngh%E1%BB%8B+%C4%91%E1%BB%8Bnh+116")
    first = shown(driver, "article.item")[0]
    summary = next(found for found in first.find_elements("tag name", "summary") if found.text.startswith("Sources"))
    summary.click()
    links = [found for found in first.find_elements("css selector", ".sources a") if found.is_displayed()]
    assert links
    assert all(link.get_attribute("href").startswith("http") for link in links)


def test_the_search_finds_a_key_and_leads_to_its_cell(visit):
    driver = visit("values.html")
    assert count_of(driver) == "2,930 of 2,930 values"
    assert len(shown(driver, "#values tbody tr")) == 50
    driver.find_element("id", "more").click()
    assert len(shown(driver, "#values tbody tr")) == 100
    choose(driver, "q", "table2/qwen72b/metric_error/design")
    assert count_of(driver) == "1 of 2,930 values"
    detail = driver.find_element("css selector", "tr.detail")
    assert detail.find_elements("tag name", "math")
    assert "detected / suites" in detail.text
    link = detail.find_element("css selector", "a[href*='#r']")
    assert link.text == "data/tables/table2.csv, row 7, column 3"
    link.click()
    target = driver.find_element("css selector", ":target")
    assert (target.text, target.get_attribute("title")) == ("0.2167", "0.21666666666666667")


def test_values_by_group_and_status(visit):
    driver = visit("values.html#?group=printed&status=quoted")
    assert count_of(driver) == "29 of 2,930 values"
    choose(driver, "status", "reconstructed")
    assert count_of(driver) == "6 of 2,930 values"


def test_the_keyboard_opens_a_row_and_a_menu(visit):
    driver = visit("values.html#?q=table3/")
    button = driver.find_element("css selector", "#values tbody button")
    driver.execute_script("arguments[0].focus()", button)
    driver.switch_to.active_element.send_keys("\ue007")
    assert button.get_attribute("aria-expanded") == "true"
    driver.switch_to.active_element.send_keys("\ue007")
    assert button.get_attribute("aria-expanded") == "false"
    driver = visit("index.html")
    driver.switch_to.active_element.send_keys("\ue004")
    assert driver.switch_to.active_element.text == "Skip to the content"


def test_rows_of_a_table_are_filtered(visit):
    driver = visit("tables/data/scores/historical.html")
    field = driver.find_element("css selector", "[data-rows]")
    field.send_keys("qwen72b.S4.vn_banking")
    assert count_of(driver) == "3 of 180 rows"


def background(driver):
    return driver.execute_script("return getComputedStyle(document.documentElement).backgroundColor")


def test_dark_follows_the_system_and_the_button(visit):
    light, dark = background(visit("index.html")), background(visit("index.html", theme="dark"))
    assert light != dark
    driver = visit("index.html")
    button = driver.find_element("id", "theme")
    assert button.text == "Dark theme"
    button.click()
    assert background(driver) == dark
    assert button.text == "Light theme"
    driver.get(driver.current_url.replace("index.html", "audit.html"))
    assert background(driver) == dark
    driver.find_element("id", "theme").click()
    assert background(driver) == light


def test_no_page_scrolls_sideways_on_a_narrow_screen_or_logs_an_error(visit, pages):
    chosen = [page for page in pages if not page.startswith("tables/")] + ["tables/data/tables/table3.html"]
    for page in chosen:
        driver = visit(page, width=390)
        wide = driver.execute_script("return document.documentElement.scrollWidth")
        assert wide <= 390, page
        assert driver.get_log("browser") == [], page
    driver.execute_script("document.querySelector('main').style.minWidth = '800px'")
    assert driver.execute_script("return document.documentElement.scrollWidth") > 390


CUT = "const cut = box => box.scrollWidth > box.clientWidth + 1; return [...document.querySelectorAll('div.wide, .formula')]"


@pytest.mark.parametrize(
    "page",
    [
        *(f"stages/{name}.html" for name in ("consistency", "judges", "pilot", "scores", "suites", "tables", "validity")),
        "pilot/index.html",
        "tables/data/tables/table3.html",
    ],
)
def test_no_table_or_formula_is_cut_on_a_wide_screen(visit, page):
    driver = visit(page)
    assert driver.execute_script(f"{CUT}.filter(cut).map(box => box.textContent.trim().slice(0, 40))") == []
    assert driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")


def test_a_table_that_scrolls_shows_it_by_a_shadow(visit):
    driver = visit("stages/tables.html", width=390)
    shadows = f"{CUT}.filter(cut).map(box => getComputedStyle(box).backgroundImage.split('linear-gradient').length - 1)"
    found = driver.execute_script(shadows)
    assert found
    assert set(found) == {4}


def test_the_values_are_labelled_and_whole_on_a_narrow_screen(visit):
    driver = visit("values.html#?q=table3/gemma26b/delta", width=390)
    cells = driver.find_elements("css selector", "#values td.number")
    label = "return getComputedStyle(arguments[0], '::before').content"
    assert [driver.execute_script(label, cell) for cell in cells] == ['"expected"', '"recomputed"']
    assert all(driver.execute_script("return arguments[0].scrollWidth <= arguments[0].clientWidth", cell) for cell in cells)


def contrast(first, second):
    """The contrast ratio of two colours #rrggbb, after WCAG."""

    def luminance(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


def test_the_edges_of_fields_can_be_seen():
    text = (paths.ROOT / site.SOURCE / "site.css").read_text(encoding="utf-8")
    papers, edges = (re.findall(rf"--{name}: (#\w{{6}});", text) for name in ("paper", "edge"))
    assert len(papers) == len(edges) == 3
    assert all(contrast(paper, edge) >= 3 for paper, edge in zip(papers, edges, strict=True))
    assert contrast("#fcfcfa", "#deded7") < 3


def test_formulas_are_drawn(visit):
    driver = visit("stages/tables.html")
    heights = driver.execute_script(
        "return [...document.querySelectorAll('mfrac')].map(m => m.getBoundingClientRect().height)"
    )
    assert heights
    assert min(heights) > 20


def test_folded_parts_are_printed(visit):
    driver = visit("stages/tables.html")
    assert not shown(driver, "details.code pre")
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert len(shown(driver, "details.code pre")) >= 5


def test_figures_are_pictures_of_their_own(built):
    pictures = [name for name in built if Path(name).suffix in (".png", ".svg")]
    assert "files/figures/figure2.svg" in pictures
    assert any(name.startswith("images/") for name in pictures)
    assert not any(b"data:image" in content for name, content in built.items() if name.endswith(".html"))
