// The server counts bytes of UTF-8, strings here count UTF-16 units. This file is where one becomes the other.

const STEP = 256;

/// The places of a text: bytes in, units out.
export class Places {
  constructor(text) {
    this.text = text;
    // Every STEP units: how many units and bytes stand before.
    this.units = [0];
    this.bytes = [0];
    let unit = 0;
    let byte = 0;
    while (unit < text.length) {
      const code = text.codePointAt(unit);
      unit += code > 0xffff ? 2 : 1;
      byte += width(code);
      if (unit - this.units[this.units.length - 1] >= STEP) {
        this.units.push(unit);
        this.bytes.push(byte);
      }
    }
    this.length = byte;
  }

  /// Returns the unit at which a byte lies; inside a character the unit after it, past the end the end.
  at(target) {
    if (target >= this.length) return this.text.length;
    let low = 0;
    let high = this.bytes.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.bytes[middle] <= target) low = middle;
      else high = middle;
    }
    let unit = this.units[low];
    let byte = this.bytes[low];
    while (byte < target) {
      const code = this.text.codePointAt(unit);
      unit += code > 0xffff ? 2 : 1;
      byte += width(code);
    }
    return unit;
  }

  /// Returns the text between two bytes.
  slice(start, end) {
    return this.text.slice(this.at(start), this.at(end));
  }
}

function width(code) {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code > 0xffff ? 4 : 3;
}

/// Returns nodes for the part of a text between two units, with the ranges (in bytes of the text) in `mark` elements.
export function marked(text, ranges, from = 0, to = text.length) {
  const places = new Places(text);
  const nodes = [];
  let at = from;
  for (const [start, end] of ranges ?? []) {
    const first = Math.max(places.at(start), at);
    const last = Math.min(places.at(end), to);
    if (last <= first) continue;
    if (first > at) nodes.push(document.createTextNode(text.slice(at, first)));
    const mark = document.createElement("mark");
    mark.textContent = text.slice(first, last);
    nodes.push(mark);
    at = last;
  }
  if (to > at) nodes.push(document.createTextNode(text.slice(at, to)));
  return nodes;
}

/// Returns where a snippet stands in its text, in units: of several places the one with the most marks.
export function placeOf(snippet, text, ranges) {
  if (!snippet) return [0, text.length];
  const places = new Places(text);
  const marks = (ranges ?? []).map(([start, end]) => [places.at(start), places.at(end)]);
  let best = null;
  for (let at = text.indexOf(snippet); at >= 0; at = text.indexOf(snippet, at + 1)) {
    const inside = marks.filter(([start, end]) => start >= at && end <= at + snippet.length).length;
    if (best === null || inside > best.inside) best = { at, inside };
  }
  return best === null ? [0, text.length] : [best.at, best.at + snippet.length];
}
