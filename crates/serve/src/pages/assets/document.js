// The document page: a document of an index or a text of one's own, cut by any two segmenters.
import { align } from "./align.js";
import { ask, documentPath } from "./api.js";
import { byId, count, debounced, el, webAddress } from "./dom.js";
import { chosen, fail, indexes, keepState, say, start } from "./page.js";
import { Places } from "./bytes.js";
import { Layout } from "./layout.js";
import { INDEXED, NONE, Side } from "./side.js";
import { splitSpec } from "./spec.js";

/// Size limits that the slider stops at, in tokens; 0 is none.
const LIMITS = [32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 0];
/// Most bytes of a document that are shown at a time.
const PART = 100_000;
const SOME = 100;
/// The formats that types of files are cut as. Of the others the index has plain text.
const FORMATS = { md: "markdown", html: "html", rst: "rst", adoc: "asciidoc" };

const select = byId("index");
let found = [];
let segmenters = [];

/// What both sides see of the page.
const page = {
  text: null,
  format: "markdown",
  indexed: null,
  /// Turns a byte of the text into one of the source.
  toSource: (byte) => byte,
  max: 256,
  gaps: false,
  sides: [],
  other: (side) => page.sides.find((one) => one !== side),
  changed: () => keepState(state()),
  arrange,
  told,
  align: () => align(byId("column-a"), byId("column-b"), page.top()),
  top: () => {
    const knobs = byId("knobs");
    return getComputedStyle(knobs).position === "sticky" ? knobs.getBoundingClientRect().bottom : 0;
  },
};
/// The document, as the server answered; null for a text of one's own.
let whole = null;
let layout = null;
let parts = [];
let part = 0;
/// The first byte of the part that shows, in the whole text.
let from = 0;
/// The chunk that the address names, until it was shown once.
let wanted = location.hash.slice(1);

for (const letter of ["a", "b"]) {
  page.sides.push(new Side(letter, document.querySelector(`[data-side=${letter}]`), byId(`column-${letter}`), page));
}
const [a, b] = page.sides;

function state() {
  const query = new URLSearchParams();
  if (whole) query.set("id", whole.document);
  const index = chosen(select, found);
  if (index && (index !== found[0] || new URLSearchParams(location.search).has("index"))) query.set("index", index.name);
  if (a.shown() && a.spec() !== INDEXED) query.set("a", a.spec());
  if (b.shown()) query.set("b", b.spec());
  if (a.tau !== null) query.set("ta", String(a.tau));
  if (b.tau !== null && b.shown()) query.set("tb", String(b.tau));
  if (page.max !== 256) query.set("max", String(page.max));
  if (page.gaps) query.set("gaps", "1");
  return query;
}

function share(text) {
  const number = Number.parseFloat(text ?? "");
  return number >= 0 && number <= 1 ? number : null;
}

function readState(query) {
  const max = Number(query.get("max") ?? 256);
  page.max = LIMITS.includes(max) ? max : 256;
  page.gaps = query.get("gaps") === "1";
  byId("max").max = String(LIMITS.length - 1);
  byId("max").value = String(LIMITS.indexOf(page.max));
  byId("gaps").checked = page.gaps;
  sayLimit();
  const first = segmenters.find(({ scores }) => scores) ?? segmenters[0];
  a.offer(segmenters, query.get("a") ?? (whole ? INDEXED : first?.spec ?? "sentence"), whole ? [INDEXED] : []);
  b.offer(segmenters, query.get("b") ?? NONE, whole ? [NONE, INDEXED] : [NONE]);
  a.tau = share(query.get("ta"));
  b.tau = share(query.get("tb"));
}

function sayLimit() {
  const says = page.max === 0 ? "none" : count(page.max, "token");
  byId("max-says").textContent = says;
  byId("max").setAttribute("aria-valuetext", says);
}

/// Two columns where both sides show; a choice of one where the window is narrow.
function arrange() {
  const two = a.shown() && b.shown();
  byId("columns").classList.toggle("two", two);
  byId("shown").hidden = !two;
  if (!two) byId("columns").dataset.shown = a.shown() ? "a" : "b";
}

function told(side) {
  if (page.sides.every((one) => !one.shown() || one.cut)) {
    say(page.sides.filter((one) => one.shown()).map((one) => `${one.spec()}: ${one.cut.facts()}`).join("; "));
  }
  if (side === a && wanted) {
    const to = wanted;
    wanted = "";
    goTo(to);
  }
}

/// Returns the byte of the whole text that an address means: the beginning of a chunk, or a byte of the source (`b120`).
function byteOf(target) {
  if (!whole) return null;
  const chunk = whole.chunks.find(({ id }) => id === target);
  if (chunk) return chunk.start;
  return /^b\d+$/.test(target) ? layout.toText(Number(target.slice(1))) : null;
}

/// Goes to the chunk that an address means.
function goTo(target) {
  const byte = byteOf(target);
  if (byte === null) return;
  const node = [...a.column.querySelectorAll(".chunk")].find(({ dataset }) => Number(dataset.end) > byte - from);
  if (!node) return;
  document.querySelectorAll(".chunk.target").forEach((old) => old.classList.remove("target"));
  node.classList.add("target");
  node.focus({ preventScroll: true });
  node.scrollIntoView({ block: "center", behavior: "instant" });
}

/// Cuts a long document into parts that end where chunks do.
function partsOf(chunks, length) {
  const found = [];
  let first = 0;
  let last = 0;
  for (const chunk of chunks) {
    if (chunk.end - first > PART && last > first) {
      found.push([first, last]);
      first = last;
    }
    last = Math.max(last, chunk.end);
  }
  found.push([first, length]);
  return found;
}

function showPart(number) {
  part = number;
  const [first, last] = parts[part];
  from = first;
  const inside = whole.chunks.filter((chunk) => chunk.end > first && chunk.end <= last);
  page.indexed = {
    segmenter: chosen(select, found)?.segmenter ?? "sentence",
    chunks: inside.map((chunk) => ({ ...chunk, start: Math.max(0, chunk.start - first), end: chunk.end - first })),
  };
  page.text = parts.length === 1 ? whole.text : whole.places.slice(from, last);
  page.toSource = (byte) => layout.toSource(byte + first);
  page.format = FORMATS[whole.type] ?? "plain";
  const nav = byId("parts");
  nav.hidden = parts.length < 2;
  nav.replaceChildren(
    el("button", { type: "button", disabled: part === 0, onclick: () => showPart(part - 1) }, "Earlier part"),
    el("span", {}, `Part ${part + 1} of ${parts.length}`),
    el("button", { type: "button", disabled: part + 1 === parts.length, onclick: () => showPart(part + 1) }, "Later part"));
  page.sides.forEach((side) => side.restart());
}

async function open(id) {
  const index = chosen(select, found);
  whole = await ask(documentPath(id), { parameters: { index: index?.name } });
  const named = whole.title || whole.document;
  document.title = `${named} – Pericope`;
  byId("title").textContent = named;
  const site = webAddress(whole.url);
  byId("where").replaceChildren(el("span", { class: "id" }, whole.document),
    ` · ${count(whole.chunks.length, "chunk")} in the index${index ? ` by ${index.segmenter}` : ""}`,
    ...(site ? [" · ", el("a", { href: site }, "Open its page")] : []));
  byId("id").value = whole.document;
  whole.places = new Places(whole.text);
  layout = new Layout(whole.start, whole.chunks, whole.places);
  // From here on the chunks count bytes of the text.
  for (const chunk of whole.chunks) {
    const start = layout.toText(chunk.start);
    Object.assign(chunk, { start, end: start + chunk.end - chunk.start });
  }
  parts = partsOf(whole.chunks, whole.places.length);
}

function begin(query) {
  readState(query);
  byId("cut").hidden = false;
  if (!whole) {
    byId("parts").hidden = true;
    page.sides.forEach((side) => side.restart());
    return;
  }
  const target = byteOf(wanted) ?? 0;
  const at = parts.findIndex(([, end]) => end > target);
  showPart(Math.max(at, 0));
}

/// Offers documents whose ids begin with what is typed.
async function suggest() {
  const prefix = byId("id").value.trim();
  const { documents } = await ask("v1/documents", { parameters: { prefix, limit: SOME, index: chosen(select, found)?.name } });
  byId("ids").replaceChildren(...documents.map(({ id, title }) => el("option", { value: id }, title ?? "")));
  const index = chosen(select, found);
  byId("some").replaceChildren(...documents.slice(0, 30).map(({ id, title }) => {
    const query = new URLSearchParams({ id, ...(index && index !== found[0] ? { index: index.name } : {}) });
    return el("li", {}, el("a", { href: `document?${query}` }, title || id));
  }));
}

const suggestSoon = debounced(() => suggest().catch(fail), 200);

byId("id").addEventListener("input", suggestSoon);
byId("choose").addEventListener("toggle", () => { if (byId("choose").open) suggestSoon(); });
select.addEventListener("change", suggestSoon);
byId("open").addEventListener("submit", (event) => {
  event.preventDefault();
  const id = byId("id").value.trim();
  if (!id) return;
  location.assign(`document?${new URLSearchParams({ id, ...(found.length > 1 ? { index: select.value } : {}) })}`);
});
byId("own").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("text").value;
  if (!text.trim()) {
    say("There is no text yet.");
    byId("text").focus();
    return;
  }
  whole = null;
  wanted = "";
  page.indexed = null;
  page.toSource = (byte) => byte;
  from = 0;
  // A half of a character, as a paste can leave it, is no text.
  page.text = text.toWellFormed?.() ?? text;
  page.format = byId("format").value;
  byId("title").textContent = "Text of your own";
  byId("where").textContent = "";
  const query = state();
  for (const side of ["a", "b"]) if (splitSpec(query.get(side) ?? "").name === INDEXED) query.delete(side);
  begin(query);
  keepState(state());
});
byId("max").addEventListener("input", () => {
  page.max = LIMITS[Number(byId("max").value)] ?? 0;
  sayLimit();
  page.changed();
  page.sides.forEach((side) => { if (side.name !== INDEXED) side.soon(); });
});
byId("gaps").addEventListener("change", () => {
  page.gaps = byId("gaps").checked;
  page.changed();
  page.sides.forEach((side) => side.show());
});
byId("knobs").addEventListener("submit", (event) => event.preventDefault());
for (const side of page.sides) {
  byId("shown").append(el("label", {},
    el("input", { type: "radio", name: "shown", value: side.letter, checked: side === a, onchange: () => {
      byId("columns").dataset.shown = side.letter;
    } }), el("span", {}, `Show ${side.letter.toUpperCase()}`)));
}
byId("columns").dataset.shown = "a";
let scrolled = 0;
window.addEventListener("scroll", () => {
  cancelAnimationFrame(scrolled);
  scrolled = requestAnimationFrame(page.align);
}, { passive: true });
window.addEventListener("resize", page.align);
window.addEventListener("popstate", () => location.reload());
window.addEventListener("hashchange", () => goTo(location.hash.slice(1)));

start(async () => {
  const query = new URLSearchParams(location.search);
  found = await indexes(select, query.get("index"));
  segmenters = (await ask("v1/segmenters")).segmenters;
  const id = query.get("id");
  if (!id) {
    byId("choose").open = true;
    suggestSoon();
    return;
  }
  await open(id);
  begin(query);
});
