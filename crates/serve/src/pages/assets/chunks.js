// Shows a text as its chunks, with the score at every boundary.
import { Places } from "./bytes.js";
import { count, el } from "./dom.js";
import { headingPath } from "./page.js";

/// How a text is cut: chunks, sentences (both byte ranges of the text) and the scores of the gaps between sentences.
export class Cut {
  constructor({ chunks, sentences = [], scores = [], threshold }) {
    this.chunks = chunks;
    this.sentences = sentences;
    this.scores = scores;
    this.threshold = threshold;
  }

  /// Returns the gap at which a chunk ends: its number (from 0), or null where the end lies inside a sentence.
  gap(end) {
    let low = 0;
    let high = this.sentences.length;
    // How many sentences end before or at this byte.
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sentences[middle][1] <= end) low = middle + 1;
      else high = middle;
    }
    const next = this.sentences[low];
    return low === 0 || !next || next[0] < end ? null : low - 1;
  }

  /// Returns the bytes at which chunks end, but for the last.
  ends() {
    return this.chunks.slice(0, -1).map(({ end }) => end);
  }

  /// Says how many chunks there are, and how large.
  facts() {
    const sizes = this.chunks.map(({ tokens }) => tokens).filter(Number.isFinite);
    const some = [count(this.chunks.length, "chunk")];
    if (sizes.length) {
      const mean = Math.round(sizes.reduce((sum, size) => sum + size, 0) / sizes.length);
      some.push(`mean ${count(mean, "token")}`, `largest ${Math.max(...sizes)}`);
    }
    return some.join(" · ");
  }
}

/// Returns the list of a cut's chunks. `others` are the ends of another cut, to tell which are in both; `toSource`
/// turns a byte of the text into the one that is said.
export function chunkList(text, places, cut, { others = null, gaps = false, toSource = (byte) => byte } = {}) {
  let covered = 0;
  const items = cut.chunks.map((chunk, i) => {
    const repeat = Math.min(Math.max(covered, chunk.start), chunk.end);
    covered = Math.max(covered, chunk.end);
    const before = cut.chunks[i - 1];
    return el("li", { class: "chunk", "data-start": chunk.start, "data-end": chunk.end, tabindex: "-1" },
      before && boundary(cut, before.end, others),
      el("p", { class: "meta" }, [`${i + 1}`, Number.isFinite(chunk.tokens) ? count(chunk.tokens, "token") : null,
        `bytes ${toSource(chunk.start)}–${toSource(chunk.end)}`, headingPath(chunk.heading_path)].filter(Boolean).join(" · ")),
      el("div", { class: "text" },
        repeat > chunk.start && el("span", { class: "repeat", title: "Repeated from the chunk before" }, places.slice(chunk.start, repeat)),
        gaps ? withGaps(places, cut, repeat, chunk.end) : places.slice(repeat, chunk.end)));
  });
  return el("ol", { class: "cut" }, items);
}

/// The line between two chunks: the score of the gap, and whether the other segmenter cuts here too.
function boundary(cut, end, others) {
  const gap = cut.gap(end);
  const score = gap === null ? null : cut.scores[gap] ?? null;
  let says = "";
  if (score !== null) {
    const low = Number.isFinite(cut.threshold) && score <= cut.threshold;
    says = `score ${score.toFixed(2)}${low ? ", below the threshold" : ""}`;
  } else if (gap === null && cut.sentences.length) {
    says = "inside a sentence";
  }
  const both = others?.has(end);
  return el("p", { class: both ? "boundary both" : "boundary" },
    el("span", {}, "Cut", says && `: ${says}`, both && el("b", {}, " · in both")));
}

/// The text of a chunk with the score of every gap inside it.
function withGaps(places, cut, start, end) {
  const nodes = [];
  let at = start;
  cut.sentences.forEach(([, last], i) => {
    const score = cut.scores[i];
    if (last <= start || last >= end || score === undefined || score === null) return;
    nodes.push(places.slice(at, last), gapMark(score, cut.threshold));
    at = last;
  });
  nodes.push(places.slice(at, end));
  return nodes;
}

function gapMark(score, threshold) {
  return el("span", { class: score > (threshold ?? 1) ? "gap over" : "gap" }, ` ${score.toFixed(2)} `);
}

/// Returns the places of a text; the same object for the same text.
export function placesOf(text) {
  if (last?.text !== text) last = new Places(text);
  return last;
}

let last = null;
