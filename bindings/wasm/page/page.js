// The playground: a text, a spec and a limit in, coloured chunks out. Pericope itself runs in a worker.
const byId = (name) => document.getElementById(`pg-${name}`);
const [text, format, segmenter, spec, max] = ["text", "format", "segmenter", "spec", "max"].map(byId);
const COLOURS = 6;
const WAIT = 150;
const here = (name) => new URL(name, import.meta.url);
const count = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

function el(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/// Asks Pericope; `done` gets the answer. A question that is still on its way is given up.
function asker(module) {
  let worker;
  let waiting = false;
  const end = () => {
    worker?.terminate();
    worker = undefined;
  };
  return (request, done) => {
    if (waiting) end();
    if (!worker) {
      worker = new Worker(here("worker.js"));
      worker.postMessage({ module });
    }
    waiting = true;
    worker.onmessage = ({ data }) => {
      waiting = false;
      if (data.stopped) end();
      done(data);
    };
    worker.postMessage({ request });
  };
}

const sizes = (chunk) => [count(chunk.tokens, "token"), count(chunk.characters, "character"), count(chunk.end - chunk.start, "byte")];

function row(chunk, at) {
  const numbers = [at + 1, chunk.tokens, chunk.characters, chunk.end - chunk.start, chunk.start, chunk.end];
  return el("tr", {}, ...numbers.map((number) => el("td", {}, number.toLocaleString("en"))), el("td", {}, chunk.heading_path.join(" > ")));
}

/// Shows the whole text, its chunks coloured. What a chunk repeats of the one before stands in its label alone.
function show(request, { error, answer }, milliseconds) {
  byId("problem").textContent = error ?? "";
  const chunks = answer?.chunks ?? [];
  const parts = chunks.flatMap((chunk, at) => {
    const again = chunk.repeated ? [`repeats ${count([...chunk.repeated].length, "character")}`] : [];
    const mark = el("span", { className: `pg-chunk pg-${at % COLOURS}`, title: chunk.heading_path.join(" > ") }, chunk.own);
    mark.dataset.facts = [at + 1, ...sizes(chunk), ...again].join(" · ");
    return [chunk.before, mark, chunk.after];
  });
  byId("cut").replaceChildren(...(chunks.length ? parts : [request.text]));
  byId("rows").replaceChildren(...chunks.map(row));
  byId("said").textContent = answer
    ? `${count(chunks.length, "chunk")} of ${count(answer.sentences, "sentence")} by ${answer.segmenter}, in ${Math.round(milliseconds)} ms`
    : "";
}

function about(choice) {
  byId("summary").textContent = choice ? `${choice.spec}: ${choice.summary}.` : "";
  byId("settings").replaceChildren(...(choice?.settings ?? []).flatMap(({ name, default: value, doc }) =>
    [el("dt", {}, el("code", {}, value ? `${name}=${value}` : name)), el("dd", {}, doc)]));
}

async function start() {
  const [answer, sample] = await Promise.all([fetch(here("pericope.wasm")), fetch(here("sample.txt"))]);
  if (!answer.ok) throw new Error(`pericope.wasm: ${answer.status}`);
  const ask = asker(await WebAssembly.compile(await answer.arrayBuffer()));
  if (!text.value && sample.ok) text.value = await sample.text();
  ask(undefined, ({ answer: offer, error }) => {
    if (error) throw new Error(error);
    format.replaceChildren(...offer.formats.map((name) => el("option", { value: name }, name)));
    segmenter.replaceChildren(...offer.segmenters.map((one) => el("option", { value: one.spec }, one.spec.split(":")[0])));
    const nameOf = (one) => one.split(":")[0].trim();
    const choose = () => about(offer.segmenters.find((one) => nameOf(one.spec) === nameOf(spec.value)));
    const cut = () => {
      // A half of a character, as a paste can leave it, is no text.
      const whole = text.value.toWellFormed?.() ?? text.value;
      const request = { text: whole, format: format.value, segmenter: spec.value, max_tokens: Math.max(0, Math.trunc(Number(max.value) || 0)) };
      const began = performance.now();
      byId("cut").setAttribute("aria-busy", "true");
      ask(request, (outcome) => {
        byId("cut").removeAttribute("aria-busy");
        show(request, outcome, performance.now() - began);
      });
    };
    let timer;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(cut, WAIT);
    };
    segmenter.addEventListener("change", () => {
      spec.value = segmenter.value;
      choose();
      soon();
    });
    spec.addEventListener("input", () => {
      choose();
      soon();
    });
    for (const field of [text, format, max]) field.addEventListener("input", soon);
    segmenter.value = "structure";
    spec.value = segmenter.value;
    choose();
    cut();
  });
}

// The site turns its pages by the arrow keys, which move the cursor here.
document.getElementById("pg").addEventListener("keydown", (event) => event.stopPropagation());
start().catch((error) => {
  byId("said").textContent = "";
  byId("problem").textContent = `The playground cannot be loaded: ${error.message}`;
});
