// What all pages share: the theme button, the key field, messages, and the choice of an index.
import { ask, key, Problem, setKey } from "./api.js";
import { byId, count, el } from "./dom.js";

/// Says something to those who see the page and to those who hear it.
export function say(text) {
  byId("said").textContent = text;
}

/// Shows what went wrong, or nothing. A missing or wrong key brings up the field for one.
export function fail(problem) {
  const box = byId("problem");
  if (problem === null) {
    box.textContent = "";
    return;
  }
  if (problem.name === "AbortError") return;
  if (!(problem instanceof Problem)) console.error(problem);
  if (problem.status === 401) askForKey(key() ? "The server does not accept this key." : "This server asks for a key.");
  else box.textContent = problem.status === 403 ? `The key does not allow this. ${problem.message}` : problem.message;
}

function askForKey(why) {
  byId("problem").textContent = "";
  byId("key-why").textContent = why;
  byId("key-form").hidden = false;
  byId("key").focus();
}

/// Runs the page: once now, and again after a key was given. What it throws is shown.
export function start(run) {
  const go = () => Promise.resolve().then(run).catch(fail);
  theme();
  const form = byId("key-form");
  const forget = byId("forget");
  forget.hidden = key() === "";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    setKey(byId("key").value.trim());
    byId("key").value = "";
    form.hidden = true;
    forget.hidden = key() === "";
    fail(null);
    go();
  });
  forget.addEventListener("click", () => {
    setKey("");
    forget.hidden = true;
    say("The key is forgotten.");
  });
  go();
}

function theme() {
  const root = document.documentElement;
  const button = byId("theme");
  const dark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const show = () => { button.textContent = dark() ? "Light theme" : "Dark theme"; };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("pericope-theme", root.dataset.theme); } catch (_) { /* It lasts as long as the page. */ }
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

/// Asks for the indexes and fills a choice of them. Returns them; the choice is hidden where there is but one.
export async function indexes(select, wanted) {
  const { indexes: found } = await ask("v1/indexes");
  select.replaceChildren(...found.map(({ name, documents }) =>
    el("option", { value: name, selected: name === wanted },
      Number.isFinite(documents) ? `${name} (${count(documents, "document")})` : name)));
  select.closest("label").hidden = found.length < 2;
  return found;
}

/// Returns the index that is chosen, of those that [`indexes`] found.
export function chosen(select, found) {
  return found.find(({ name }) => name === select.value) ?? found[0];
}

/// Puts the state of the page into its address. `push` makes a step that the back button undoes.
export function keepState(parameters, push = false) {
  const query = parameters.toString();
  const url = `${location.pathname}${query ? `?${query}` : ""}${location.hash}`;
  if (url === location.pathname + location.search + location.hash) return;
  history[push ? "pushState" : "replaceState"](null, "", url);
}

/// Returns the text of a heading path.
export const headingPath = (path) => (path ?? []).join(" › ");

/// Returns the address of a passage in its document.
export function passage({ document: id, index, chunk, start, segmenter }) {
  const query = new URLSearchParams({ id });
  if (index) query.set("index", index);
  if (segmenter) query.set("a", segmenter);
  return `document?${query}#${chunk ?? `b${start}`}`;
}
