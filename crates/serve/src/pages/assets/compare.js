// The compare page: the passages and answers that several segmenters give to one question.
import { ask } from "./api.js";
import { marked } from "./bytes.js";
import { breakable, byId, count, el } from "./dom.js";
import { mode, offerModes } from "./modes.js";
import { chosen, fail, headingPath, indexes, keepState, passage, say, start } from "./page.js";
import { splitSpec } from "./spec.js";

/// Most segmenters at a time.
const MOST = 6;
/// What is compared unless the address says otherwise, beside the index's own.
const FIRST = ["fixed", "recursive"];

const select = byId("index");
const question = byId("question");
let found = [];
let running = null;

const specs = () => [...byId("boxes").querySelectorAll("input:checked")].map((box) => box.value);

function offer(segmenters, wanted) {
  const known = segmenters.map(({ spec }) => spec);
  const others = wanted.filter((spec) => !known.includes(spec));
  byId("boxes").replaceChildren(...[...others.map((spec) => ({ spec })), ...segmenters].map((one) => box(one, wanted.includes(one.spec))));
  limit();
}

function box({ spec, summary }, checked) {
  return el("label", { title: summary }, el("input", { type: "checkbox", value: spec, checked, onchange: limit }), el("span", {}, spec));
}

/// Says how many are chosen, and takes no more than can stand beside each other.
function limit() {
  const chosenNow = specs().length;
  for (const input of byId("boxes").querySelectorAll("input:not(:checked)")) input.disabled = chosenNow >= MOST;
  byId("picked").textContent = `(${chosenNow} of at most ${MOST})`;
}

function addSpec() {
  const field = byId("spec");
  const spec = field.value.trim();
  if (!spec) return;
  const all = [...byId("boxes").querySelectorAll("input")];
  const old = all.find(({ value }) => value === spec);
  if (specs().length >= MOST && !old?.checked) {
    say(`At most ${MOST} segmenters stand beside each other. Take one away first.`);
    return;
  }
  if (old) old.checked = true;
  else byId("boxes").prepend(box({ spec }, true));
  field.value = "";
  limit();
}

function state() {
  const query = new URLSearchParams();
  query.set("q", question.value.trim());
  for (const spec of specs()) query.append("s", spec);
  query.set("k", byId("k").value);
  if (mode()) query.set("mode", mode());
  if (found.length > 1) query.set("index", select.value);
  return query;
}

async function compare() {
  running?.abort();
  const own = new AbortController();
  running = own;
  const asked = question.value.trim();
  if (!asked || !specs().length) {
    byId("results").replaceChildren();
    say(asked ? "Choose at least one segmenter." : "");
    return;
  }
  byId("results").setAttribute("aria-busy", "true");
  say("Cutting the documents …");
  try {
    const body = { question: asked, segmenters: specs(), k: Number(byId("k").value), mode: mode(), index: chosen(select, found)?.name };
    const answer = await ask("v1/compare", { body, signal: own.signal });
    if (own !== running) return;
    fail(null);
    show(answer);
  } catch (problem) {
    if (own !== running) return;
    say("");
    byId("results").replaceChildren();
    fail(problem);
  } finally {
    if (own === running) byId("results").removeAttribute("aria-busy");
  }
}

function show(answer) {
  const looked = answer.documents.length;
  say(looked
    ? `${count(answer.results.length, "segmenter")} on the ${count(looked, "document")} that the question finds.`
    : "The question finds no document.");
  byId("results").replaceChildren(...answer.results.map((result, i) => el("section", { class: `column s${i}` },
    el("h2", {}, breakable(result.segmenter)),
    el("p", { class: "facts" }, count(result.chunks, "chunk")),
    result.answer && el("div", { class: "answer" }, el("h3", {}, "Answer"), el("p", { class: "text" }, result.answer)),
    el("h3", {}, "Passages"),
    result.hits.length ? el("ol", { class: "passages" }, result.hits.map((hit) => showHit(hit, result.segmenter, found.length > 1 ? select.value : null)))
      : el("p", {}, "None."))));
}

function showHit(hit, segmenter, index) {
  return el("li", { class: "hit" },
    el("p", { class: "where" }, el("a", { href: passage({ document: hit.document, index, start: hit.start, segmenter }) },
      hit.title || hit.document, el("span", { class: "unseen" }, `, cut by ${splitSpec(segmenter).name}, from byte ${hit.start}`))),
    hit.heading_path?.length ? el("p", { class: "facts" }, headingPath(hit.heading_path)) : null,
    el("p", { class: "text" }, marked(hit.text, hit.highlights)),
    el("p", { class: "facts" }, [Number.isFinite(hit.tokens) ? count(hit.tokens, "token") : null,
      `score ${Number(hit.score).toPrecision(3)}`].filter(Boolean).join(" · ")));
}

byId("add-spec").addEventListener("click", addSpec);
byId("spec").addEventListener("keydown", (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  addSpec();
});
byId("compare").addEventListener("submit", (event) => {
  event.preventDefault();
  keepState(state(), true);
  compare();
});
select.addEventListener("change", () => offerModes(chosen(select, found), mode()));
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.activeElement.matches("input:not([type=radio], [type=checkbox]), textarea, select")) return;
  event.preventDefault();
  question.focus();
});
window.addEventListener("popstate", () => location.reload());

start(async () => {
  const query = new URLSearchParams(location.search);
  found = await indexes(select, query.get("index"));
  const { segmenters } = await ask("v1/segmenters");
  const index = chosen(select, found);
  const known = segmenters.map(({ spec }) => spec);
  const wanted = query.has("s") ? query.getAll("s")
    : [...new Set([index?.segmenter, ...FIRST.filter((spec) => known.includes(spec))].filter(Boolean))];
  offer(segmenters, wanted.slice(0, MOST));
  offerModes(index, query.get("mode"));
  question.value = query.get("q") ?? question.value;
  if ([...byId("k").options].some(({ value }) => value === query.get("k"))) byId("k").value = query.get("k");
  if (query.get("q")) await compare();
});
