// Makes elements. Data becomes text nodes and attributes, never markup.

/// Returns an element: attributes that are false, null or undefined are left out, `on...` are listeners.
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) {
      if (typeof value === "function") node.addEventListener(key.slice(2), value);
    } else {
      node.setAttribute(key, value === true ? "" : String(value));
    }
  }
  node.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return node;
}

/// Returns an SVG element.
export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

export const byId = (id) => document.getElementById(id);

/// Returns an address that a link may have, or null: what a server says is no script.
export function webAddress(text) {
  if (!text) return null;
  try {
    const url = new URL(text, document.baseURI);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : null;
  } catch (_) {
    return null;
  }
}

/// Says a number with its noun: `1 hit`, `1,204 hits`.
export function count(number, noun, nouns = `${noun}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? noun : nouns}`;
}

/// Returns a spec that can be broken over lines where a setting ends.
export function breakable(spec) {
  return spec.split(/(?<=[:,])/).map((part) => [part, el("wbr")]);
}

/// Returns a function that runs `action` once it has not been called for `wait` milliseconds; its `cancel` calls that off.
export function debounced(action, wait) {
  let timer = 0;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(action, wait);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}
