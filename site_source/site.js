"use strict";

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const one = (selector, within = document) => within.querySelector(selector);
const plain = (text) => text.toLowerCase().normalize("NFC");
const words = (text) => plain(text).split(/\s+/).filter(Boolean);

function element(name, text = "", attributes = {}) {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// The theme follows the system until the reader chooses one.
function theme() {
  const button = one("#theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (document.documentElement.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  // The button says what it does.
  const show = () => { button.textContent = dark() ? "Light theme" : "Dark theme"; };
  button.hidden = false;
  button.addEventListener("click", () => {
    const chosen = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = chosen;
    try { localStorage.setItem("theme", chosen); } catch (error) { /* a folder may have no storage */ }
    show();
  });
  system.addEventListener("change", show);
  show();
}

// Filters live in the address, after #?, so that a view can be linked to and the back button works.
function filters(form, apply) {
  const read = () => {
    if (location.hash && !location.hash.startsWith("#?")) return;
    const wanted = new URLSearchParams(location.hash.slice(2));
    for (const field of form.elements) if (field.name) field.value = wanted.get(field.name) || "";
    update();
  };
  const state = () => Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
  const update = () => apply(state());
  const changed = () => {
    const query = new URLSearchParams(state()).toString();
    history.replaceState(null, "", query ? `#?${query}` : location.pathname + location.search);
    update();
  };
  form.hidden = false;
  form.addEventListener("input", changed);
  form.addEventListener("reset", () => setTimeout(changed));
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", read);
  read();
  update();
}

function articles(form) {
  const items = all("article.item").map((node) => ({ node, text: plain(node.textContent) }));
  const sections = all("section.cell");
  filters(form, ({ q = "", ...exact }) => {
    const wanted = words(q);
    let shown = 0;
    for (const { node, text } of items) {
      const fits = Object.entries(exact).every(([key, value]) => node.dataset[key] === value) && wanted.every((word) => text.includes(word));
      node.hidden = !fits;
      shown += fits;
    }
    for (const section of sections) section.hidden = !one("article.item:not([hidden])", section);
    one("#count").textContent = `${shown} of ${items.length} ${form.dataset.items}`;
    one("#none").hidden = shown > 0;
  });
  // A link to an item shows it even if a filter hides it.
  const reveal = () => {
    const target = location.hash.length > 1 && !location.hash.startsWith("#?") && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.closest("article.item[hidden]")) { form.reset(); setTimeout(() => target.scrollIntoView(), 10); }
  };
  addEventListener("hashchange", reveal);
}

function values() {
  const data = JSON.parse(one("#data").textContent);
  const rows = data.rows.map((row) => {
    const value = Object.fromEntries(data.columns.map((name, place) => [name, row[place]]));
    return { ...value, text: plain(`${value.key} ${value.source} ${value.value}`) };
  });
  const body = one("#values tbody");
  const more = one("#more");
  const addresses = new Map(data.files);
  let fitting = rows;
  let shown = 0;

  function place(row) {
    if (row.file === null) return null;
    const [path, href] = data.files[row.file];
    const cell = row.row ? `#r${row.row}c${row.column}` : "";
    const line = element("dd");
    line.append(element("a", cell ? `${path}, row ${row.row}, column ${row.column}` : path, { href: href + cell }));
    return line;
  }

  function source(text) {
    const line = element("dd");
    for (const part of text.split(/(data\/[\w/]+\.csv)/)) {
      line.append(addresses.has(part) ? element("a", part, { href: addresses.get(part) }) : part);
    }
    return line;
  }

  function detail(row) {
    const cell = element("td", "", { colspan: "4" });
    const list = element("dl");
    list.append(element("dt", "Source"), source(row.source));
    if (row.formula) {
      const line = element("dd");
      line.append(one(`template[data-formula="${row.formula}"]`).content.cloneNode(true));
      list.append(element("dt", "Formula"), line);
    }
    const data = place(row);
    if (data) list.append(element("dt", row.row ? "Cell" : "Rows"), data);
    cell.append(list);
    const line = element("tr", "", { class: "detail" });
    line.append(cell);
    return line;
  }

  function add(row) {
    const line = element("tr");
    const button = element("button", row.key, { type: "button", "aria-expanded": "false" });
    const head = element("th", "", { scope: "row" });
    head.append(button);
    line.append(head, element("td", row.value, { class: "number", "data-label": "expected" }), element("td", row.recomputed || "–", { class: "number", "data-label": "recomputed" }), element("td", row.status, { class: "status" }));
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      if (open) line.nextSibling.remove(); else line.after(detail(row));
    });
    body.append(line);
    return button;
  }

  function page() {
    for (const row of fitting.slice(shown, shown + 50)) add(row);
    shown = Math.min(shown + 50, fitting.length);
    more.hidden = shown === fitting.length;
    more.textContent = `Show ${Math.min(50, fitting.length - shown)} more`;
  }

  one("#values").hidden = false;
  more.addEventListener("click", page);
  filters(one("#search"), ({ q = "", ...exact }) => {
    const wanted = words(q);
    fitting = rows.filter((row) => Object.entries(exact).every(([key, value]) => row[key] === value) && wanted.every((word) => row.text.includes(word)));
    one("#count").textContent = `${fitting.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} values`;
    body.textContent = "";
    shown = 0;
    page();
    if (fitting.length === 1) one("button", body).click();
  });
}

function table(field) {
  const rows = all(field.dataset.rows).map((node) => ({ node, text: plain(node.textContent) }));
  field.form.hidden = false;
  field.form.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("input", () => {
    const wanted = words(field.value);
    let shown = 0;
    for (const { node, text } of rows) {
      node.hidden = !wanted.every((word) => text.includes(word));
      shown += !node.hidden;
    }
    one(field.dataset.count).textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
  });
}

function folds(button) {
  const parts = all(button.dataset.open);
  button.hidden = parts.length === 0;
  button.addEventListener("click", () => {
    const open = parts.some((part) => !part.open);
    for (const part of parts) part.open = open;
    button.textContent = open ? "Hide all code" : "Show all code";
  });
}

theme();
if (one("#items")) articles(one("#items"));
if (one("#values")) values();
all("[data-rows]").forEach(table);
all("[data-open]").forEach(folds);
// What is folded is printed all the same.
addEventListener("beforeprint", () => all("details").forEach((part) => { part.dataset.was = part.open; part.open = true; }));
addEventListener("afterprint", () => all("details").forEach((part) => { part.open = part.dataset.was === "true"; }));
