"use strict";

const keyField = document.getElementById("key");
const keyName = "pericope.key";
keyField.value = sessionStorage.getItem(keyName) || "";
keyField.addEventListener("change", () => sessionStorage.setItem(keyName, keyField.value));

function element(name, text, attributes) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  return made;
}

// The schema behind a reference.
function resolved(api, schema) {
  if (!schema || !schema.$ref) return schema;
  return schema.$ref.replace(/^#\//, "").split("/").reduce((part, name) => part && part[name], api);
}

function example(api, schema) {
  const known = resolved(api, schema) || {};
  if (known.properties) {
    const required = new Set(known.required || []);
    const shown = Object.entries(known.properties).filter(([name]) => required.has(name));
    return Object.fromEntries(shown.map(([name, one]) => [name, example(api, one)]));
  }
  const type = Array.isArray(known.type) ? known.type.find((one) => one !== "null") : known.type;
  return { string: "", integer: 0, number: 0, boolean: false, array: [], object: {} }[type] ?? {};
}

function field(parameter) {
  const label = element("label", "", { class: "field" });
  label.append(element("code", parameter.name + (parameter.required ? " *" : "")));
  label.append(element("span", parameter.description || ""));
  const input = element("input", "", { name: parameter.name, "data-in": parameter.in });
  input.required = Boolean(parameter.required);
  const schema = parameter.schema || {};
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
  if (type === "array") {
    input.dataset.list = "yes";
    input.placeholder = "several, separated by commas";
  }
  label.append(input);
  return label;
}

async function send(method, path, form, output) {
  const query = new URLSearchParams();
  let address = path;
  for (const input of form.querySelectorAll("input")) {
    if (input.dataset.in === "path") {
      address = address.replace("{" + input.name + "}", encodeURIComponent(input.value));
    } else if (input.value !== "") {
      const values = input.dataset.list ? input.value.split(",").map((one) => one.trim()) : [input.value];
      values.filter(Boolean).forEach((value) => query.append(input.name, value));
    }
  }
  if (query.size > 0) address += "?" + query;
  const headers = {};
  if (keyField.value) headers.Authorization = "Bearer " + keyField.value;
  const body = form.querySelector("textarea")?.value;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const begun = performance.now();
  try {
    const answer = await fetch(address, { method: method.toUpperCase(), headers, body });
    let text = await answer.text();
    try {
      text = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // Not JSON: shown as it is.
    }
    const took = Math.round(performance.now() - begun);
    output.textContent = `${method.toUpperCase()} ${address}\n${answer.status} ${answer.statusText}, ${took} ms\n\n${text}`;
  } catch (error) {
    output.textContent = String(error);
  }
}

function operation(api, path, method, about) {
  const details = element("details");
  const summary = element("summary");
  summary.append(element("code", method.toUpperCase() + " " + path), " " + (about.summary || ""));
  details.append(summary);
  const form = element("form");
  for (const parameter of about.parameters || []) form.append(field(parameter));
  const content = about.requestBody?.content?.["application/json"];
  if (content) {
    const label = element("label", "", { class: "field" });
    label.append(element("code", "body"));
    const text = element("textarea", "", { spellcheck: "false" });
    text.value = JSON.stringify(example(api, content.schema), null, 2);
    label.append(text);
    form.append(label);
  }
  form.append(element("button", "Send"));
  const output = element("pre", "", { tabindex: "0", "aria-live": "polite", "aria-label": "Answer" });
  output.hidden = true;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    output.hidden = false;
    output.textContent = "…";
    send(method, path, form, output);
  });
  details.append(form, output);
  return details;
}

async function show() {
  const main = document.getElementById("paths");
  try {
    const api = await (await fetch("/openapi.json")).json();
    main.textContent = "";
    for (const tag of api.tags) {
      main.append(element("h2", tag.description || tag.name));
      for (const [path, item] of Object.entries(api.paths)) {
        for (const [method, about] of Object.entries(item)) {
          if ((about.tags || []).includes(tag.name)) main.append(operation(api, path, method, about));
        }
      }
    }
  } catch (error) {
    main.textContent = "openapi.json cannot be read: " + error;
  }
}

show();
