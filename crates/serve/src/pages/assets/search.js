// The search page: as one types, newest answer wins, everything that was chosen stands in the address.
import { address, ask } from "./api.js";
import { marked, placeOf } from "./bytes.js";
import { Chips } from "./chips.js";
import { byId, count, debounced, el, webAddress } from "./dom.js";
import { mode, offerModes } from "./modes.js";
import { chosen, fail, headingPath, indexes, keepState, passage, say, start } from "./page.js";

const WAIT = 120;
const STEP = 10;
const MOST = 50;

const field = byId("q");
const select = byId("index");
const results = byId("results");
const more = byId("more");
let found = [];
let hits = STEP;
let running = null;
/// Set while Enter waits for the hits to go to.
let enter = false;

const filters = [...document.querySelectorAll(".filter")].map((box) => new Chips(box, () => changed(true)));

function state() {
  const query = new URLSearchParams();
  if (field.value) query.set("q", field.value);
  const index = chosen(select, found);
  if (mode() && mode() !== index?.default_mode) query.set("mode", mode());
  if (index && index !== found[0]) query.set("index", index.name);
  for (const filter of filters) filter.values.forEach((value) => query.append(filter.name, value));
  if (hits !== STEP) query.set("k", String(hits));
  return query;
}

function readState() {
  const query = new URLSearchParams(location.search);
  field.value = query.get("q") ?? "";
  const k = Number(query.get("k"));
  hits = k >= 1 && k <= MOST ? Math.floor(k) : STEP;
  for (const filter of filters) filter.set(query.getAll(filter.name));
  if (filters.some((filter) => filter.values.length)) byId("filters").open = true;
  if (found.some(({ name }) => name === query.get("index"))) select.value = query.get("index");
  offerModes(chosen(select, found), query.get("mode"));
}

/// Asks for what is in the field. An older question that is still on its way is given up.
async function search() {
  soon.cancel();
  running?.abort();
  const own = new AbortController();
  running = own;
  const query = field.value.trim();
  const set = filters.reduce((sum, filter) => sum + filter.values.length, 0);
  byId("filters-set").textContent = set ? `(${set} set)` : "";
  if (!query) {
    fail(null);
    results.replaceChildren();
    more.hidden = true;
    enter = false;
    introduce();
    return;
  }
  const parameters = { q: query, k: hits, mode: mode(), index: chosen(select, found)?.name };
  for (const filter of filters) parameters[filter.name] = filter.values;
  results.setAttribute("aria-busy", "true");
  try {
    const answer = await ask("v1/search", { parameters, signal: own.signal });
    if (own !== running) return;
    fail(null);
    show(answer);
  } catch (problem) {
    if (own !== running) return;
    if (problem.name !== "AbortError") {
      results.replaceChildren();
      more.hidden = true;
      say("");
    }
    fail(problem);
  } finally {
    if (own === running) results.removeAttribute("aria-busy");
  }
}

const soon = debounced(search, WAIT);

function changed(now = false) {
  hits = STEP;
  keepState(state());
  // What is on its way answers another question by now.
  running?.abort();
  if (now) search();
  else soon();
}

function introduce() {
  const index = chosen(select, found);
  const of = Number.isFinite(index?.documents) ? ` of ${count(index.documents, "document")}` : "";
  say(index ? `${count(index.chunks, "passage")}${of} to search.` : "");
}

/// Puts the hits of a document together, in the order of the best ones.
function grouped(hits) {
  const groups = new Map();
  for (const hit of hits) {
    if (!groups.has(hit.document)) groups.set(hit.document, { document: hit.document, title: hit.title, hits: [] });
    groups.get(hit.document).hits.push(hit);
  }
  return [...groups.values()];
}

function show(answer) {
  const groups = grouped(answer.hits);
  const all = groups.reduce((sum, group) => sum + group.hits.length, 0);
  results.replaceChildren(...groups.map((group) => showGroup(group, found.length > 1 ? answer.index : null)));
  more.hidden = all < hits || hits >= MOST;
  const took = answer.took_ms === undefined ? "" : `, ${Math.max(1, Math.round(answer.took_ms))} ms`;
  say(all ? `${count(all, "hit")} in ${count(groups.length, "document")}${took}.`
    : "No hits. Try other words, another mode, or fewer filters.");
  if (enter) {
    enter = false;
    links()[0]?.focus();
  }
}

function showGroup({ document: id, title, hits: inside }, index) {
  const named = title || id;
  return el("section", { class: "group" },
    el("h2", {}, el("a", { href: address("document", { id, index }) }, named)),
    el("p", { class: "where" }, named === id ? null : el("span", { class: "id" }, id), " ",
      el("button", { type: "button", class: "plain", onclick: () => only(id) },
        "Only this document", el("span", { class: "unseen" }, `: ${named}`))),
    el("ul", {}, inside.map((hit) => showHit(hit, index))));
}

/// Narrows the search to one document.
function only(id) {
  filters.find((filter) => filter.name === "path").set([id]);
  byId("filters").open = true;
  changed(true);
  field.focus();
}

/// The headings above a hit, less the title that stands above the group.
function headings({ heading_path: path, title }) {
  return headingPath(path?.length > 1 && path[0] === title ? path.slice(1) : path);
}

function showHit(hit, index) {
  const [from, to] = placeOf(hit.snippet, hit.text, hit.highlights);
  const lines = hit.lines ? (hit.lines[0] === hit.lines[1] ? `line ${hit.lines[0]}` : `lines ${hit.lines.join("–")}`) : null;
  const page = webAddress(hit.url);
  return el("li", { class: "hit" },
    el("h3", {}, el("a", { class: "open", href: passage({ document: hit.document, index, chunk: hit.id, start: hit.start }) },
      headings(hit) || hit.title || hit.document)),
    el("p", { class: "text" }, from > 0 ? "… " : "", marked(hit.text, hit.highlights, from, to),
      to < hit.text.length ? " …" : ""),
    el("p", { class: "facts" },
      [`${hit.rank}.`, lines, Number.isFinite(hit.tokens) ? count(hit.tokens, "token") : null,
        `score ${Number(hit.score).toPrecision(3)}`].filter(Boolean).join(" · ").replace(". ·", "."),
      page && [" · ", el("a", { class: "site", href: page }, "Open its page")]));
}

const links = () => [...results.querySelectorAll("a.open")];

/// Arrow keys go through the hits, Esc back to the field, `/` to the field from anywhere.
function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const at = document.activeElement;
  const typing = at.matches("input:not([type=radio]), textarea, select");
  const all = links();
  const place = all.indexOf(at);
  const go = (node) => {
    event.preventDefault();
    node?.focus();
    node?.closest(".hit")?.scrollIntoView({ block: "nearest" });
  };
  if (event.key === "/" && !typing) {
    go(field);
    field.select();
  } else if (event.key === "Escape" && at === field && field.value) {
    event.preventDefault();
    field.value = "";
    changed(true);
  } else if (event.key === "Escape" && results.contains(at)) {
    go(field);
  } else if (event.key === "ArrowDown" && at === field && all.length) {
    go(all[0]);
  } else if (place >= 0) {
    if (event.key === "ArrowDown") go(all[Math.min(place + 1, all.length - 1)]);
    else if (event.key === "ArrowUp") go(place === 0 ? field : all[place - 1]);
    else if (event.key === "Home") go(all[0]);
    else if (event.key === "End") go(all[all.length - 1]);
  }
}

field.addEventListener("input", () => changed());
byId("search").addEventListener("submit", (event) => {
  event.preventDefault();
  enter = true;
  keepState(state());
  search();
});
byId("modes").addEventListener("change", () => changed(true));
select.addEventListener("change", () => {
  offerModes(chosen(select, found), mode());
  changed(true);
});
more.addEventListener("click", () => {
  const before = links().length;
  hits = Math.min(hits + STEP, MOST);
  keepState(state());
  search().then(() => links()[before]?.focus());
});
document.addEventListener("keydown", keys);
window.addEventListener("popstate", () => {
  readState();
  search();
});

start(async () => {
  found = await indexes(select, new URLSearchParams(location.search).get("index"));
  const typed = field.value;
  readState();
  // What was typed while the indexes were on their way counts.
  if (typed && typed !== field.value) field.value = typed;
  await search();
});
