// The status page: what the server searches, how old it is and how large.
import { ask } from "./api.js";
import { byId, count, el } from "./dom.js";
import { fail, say, start } from "./page.js";

const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

/// Returns how long ago a moment was, in words.
function ago(moment) {
  const seconds = Math.max(0, (Date.now() - moment.getTime()) / 1000);
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? UNITS[UNITS.length - 1];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-Math.floor(seconds / size), unit);
}

function when(text) {
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) return text;
  return el("time", { datetime: text }, `${ago(moment)} (${moment.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })})`);
}

/// What the index knows to be out of date: a number, a list, or yes and no.
function stale(value) {
  if (value === true) return "yes";
  if (value === false || value === 0) return "nothing";
  if (Number.isFinite(value)) return count(value, "document");
  if (Array.isArray(value)) return value.length ? value.map(String).join(", ") : "nothing";
  return Object.entries(value).map(([name, one]) => `${name}: ${Array.isArray(one) ? one.length : one}`).join(", ");
}

const number = (value) => (Number.isFinite(value) ? value.toLocaleString("en") : null);

function card(index) {
  const rows = [
    ["Documents", number(index.documents)],
    ["Chunks", number(index.chunks)],
    ["Written", index.written ? when(index.written) : null],
    ["Out of date", index.stale === undefined || index.stale === null ? null : stale(index.stale)],
    ["Commit", index.commit ?? null],
    ["Segmenter", index.segmenter],
    ["Embedder", index.embedder ?? "none"],
    ["Tokenizer", index.tokenizer],
    ["Modes", index.modes?.map((mode) => (mode === index.default_mode ? `${mode} (default)` : mode)).join(", ")],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el("section", { class: "card" },
    el("h2", {}, el("a", { href: `./?${new URLSearchParams({ index: index.name })}` }, index.name)),
    el("dl", {}, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}

async function ready() {
  try {
    const { ok } = await fetch("readyz", { cache: "no-store", credentials: "omit" });
    return ok ? "The server is ready." : "The server is not ready yet.";
  } catch (_) {
    return "The server does not answer.";
  }
}

async function show() {
  const [answer, health] = await Promise.all([ask("v1/indexes"), ready()]);
  fail(null);
  byId("health").textContent = answer.version ? `${health} Version ${answer.version}.` : health;
  byId("indexes").replaceChildren(...answer.indexes.map(card));
  say(`${count(answer.indexes.length, "index", "indexes")}, seen at ${new Date().toLocaleTimeString("en-GB")}.`);
}

byId("again").addEventListener("click", () => show().catch(fail));
start(show);
