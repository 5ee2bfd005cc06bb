// <pericope-search src="https://host" index="docs">: see docs/pages.md
(() => {
const page = document, home = page.currentScript?.src;
const make = (name, props) => Object.assign(page.createElement(name), props);
const sheet = new CSSStyleSheet();
sheet.replaceSync(`:host{display:block;position:relative}
input,ul{font:inherit;box-sizing:border-box;width:100%;color:CanvasText;background:Canvas;border:1px solid GrayText}
input,li{padding:.5em .8em}
input:focus{outline:3px solid LinkText}
ul{position:absolute;z-index:9;max-height:70vh;overflow:auto;margin:0;padding:0}
ul:empty{display:none}
li{display:block;cursor:pointer;overflow-wrap:anywhere}
[aria-selected=true]{background:CanvasText;color:Canvas}
b,small{display:block}
p{position:absolute;clip-path:inset(50%)}`);
const marked = ({ text, highlights }) => {
 const bytes = new TextEncoder().encode(text), nodes = [];
 const part = (a, b) => new TextDecoder().decode(bytes.subarray(a, b));
 let at = 0;
 for (const [from, to] of highlights) {
  nodes.push(at ? part(at, from) : part(0, from).slice(-60), make("mark", { textContent: part(from, to) }));
  at = to;
 }
 return [...nodes, part(at).slice(0, 140)];
};
const build = (host) => {
const root = host.attachShadow({ mode: "open" }), get = (a) => host.getAttribute(a);
const label = get("label") || "Search", says = make("p", { role: "status" });
const field = make("input", { type: "search", role: "combobox", ariaLabel: label, placeholder: label, autocomplete: "off" });
const list = make("ul", { id: "l", role: "listbox", ariaLabel: "Hits" });
const set = (a, to) => field.setAttribute(a, to);
set("aria-controls", "l");
root.adoptedStyleSheets = [sheet];
root.append(field, list, says);
const base = new URL((get("src") || home.replace(/[^/]*$/, "")).replace(/\/*$/, "/"), location);
const headers = get("key") ? { Authorization: "Bearer " + get("key") } : {};
let at, timer, running;
const pick = (to) => {
 at = to;
 [...list.children].forEach((li, i) => (li.ariaSelected = i == at) && li.scrollIntoView({ block: "nearest" }));
 set("aria-activedescendant", at < 0 ? "" : "o" + at);
};
const show = (items, text = "") => {
 list.replaceChildren(...items);
 field.ariaExpanded = !!items[0];
 says.textContent = text;
 pick(-1);
};
const close = () => {
 clearTimeout(timer);
 running?.abort();
 show([]);
};
const option = (hit, i) => {
 const url = new URL(hit.url || "document?" + new URLSearchParams({ id: hit.document }) + "#" + hit.id, base);
 const text = make("small");
 text.append(...marked(hit));
 const li = make("li", { id: "o" + i, role: "option", onclick: () => /^http/.test(url) && location.assign(url) });
 li.append(make("b", { textContent: hit.heading_path.at(-1) || hit.title || hit.document }), text);
 return li;
};
const search = async () => {
 const q = field.value.trim();
 running?.abort();
 if (!q) return show([]);
 const { signal } = running = new AbortController(), query = new URLSearchParams({ q, k: get("k") || 8 });
 for (const a of ["index", "mode", "path"]) if (get(a)) query.set(a, get(a));
 try {
  const { hits } = await (await fetch(base + "v1/search?" + query, { signal, headers })).json();
  show(hits.map(option), hits.length + " hits");
 } catch {
  if (!signal.aborted) show([], "No answer");
 }
};
list.onmousedown = (e) => e.preventDefault();
field.oninput = () => { clearTimeout(timer); timer = setTimeout(search, 150); };
field.onblur = close;
field.onkeydown = (e) => {
 const n = list.children.length, is = (key) => n && e.key == key;
 if (is("Escape")) close();
 else if (is("Enter")) list.children[Math.max(at, 0)].click();
 else if (is("ArrowDown")) pick((at + 1) % n);
 else if (is("ArrowUp")) pick((at < 1 ? n : at) - 1);
 else return;
 e.preventDefault();
};
page.addEventListener("keydown", (e) => {
 const on = page.activeElement;
 if (e.key != "/" || on.isContentEditable || /^(IN|TEXT|SEL|PER)/.test(on.tagName)) return;
 e.preventDefault();
 field.focus();
});
};
customElements.define("pericope-search", class extends HTMLElement {
 connectedCallback() { this.shadowRoot || build(this); }
});
})();
