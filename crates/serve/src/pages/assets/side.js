// One side of the document page: a segmenter, its settings and threshold, and the chunks that it makes.
import { byteAt, heightOf } from "./align.js";
import { ask } from "./api.js";
import { Cut, chunkList, placesOf } from "./chunks.js";
import { breakable, count, debounced, el } from "./dom.js";
import { fail } from "./page.js";
import { Plot } from "./plot.js";
import { joinSpec, splitSpec, withoutSetting, withSetting } from "./spec.js";

/// The choice that shows the chunks of the index.
export const INDEXED = "as indexed";
/// The choice that shows nothing.
export const NONE = "none";
const WAIT = 80;

export class Side {
  /// `page` has the text, the size limit and the other side; see document.js.
  constructor(letter, box, column, page) {
    this.letter = letter;
    this.column = column;
    this.page = page;
    this.name = NONE;
    this.tau = null;
    this.cut = null;
    this.generation = 0;
    this.build(box);
  }

  build(box) {
    const id = (name) => `${this.letter}-${name}`;
    const changed = () => {
      this.name = this.select.value;
      this.tau = null;
      this.page.changed();
      this.restart();
    };
    this.select = el("select", { id: id("segmenter"), "aria-label": `Segmenter ${this.letter.toUpperCase()}`, onchange: () => {
      this.settings.value = this.needed(this.select.value);
      changed();
    } });
    this.settings = el("input", { id: id("settings"), type: "text", autocomplete: "off", spellcheck: "false",
      placeholder: "key=value,…", "aria-label": `Settings of segmenter ${this.letter.toUpperCase()}`, onchange: changed });
    this.summary = el("p", { class: "note" });
    this.plot = new Plot((tau) => this.drag(tau));
    this.output = el("output", { for: id("threshold") });
    this.range = el("input", { id: id("threshold"), type: "range", min: "0", max: "1", step: "0.01",
      oninput: () => this.drag(Number(this.range.value)) });
    this.own = el("button", { type: "button", class: "plain", onclick: () => {
      this.drag(null);
      this.range.focus();
    } }, "Reset", el("span", { class: "unseen" }, " the threshold to the segmenter’s own"));
    this.scored = el("div", { class: "scored", hidden: true }, this.plot.node,
      el("div", { class: "row" }, el("label", { class: "slide", for: id("threshold") }, "Threshold"), this.output, this.own), this.range);
    box.append(el("div", { class: "add" }, this.select, this.settings), this.summary, this.scored);
  }

  /// Fills the choice with the segmenters of the server, and chooses a spec.
  offer(segmenters, spec, extra) {
    const { name, settings } = splitSpec(spec);
    const known = segmenters.map((one) => splitSpec(one.spec).name);
    const names = [...extra, ...new Set([...known, ...(extra.includes(name) ? [] : [name])])];
    this.about = new Map(segmenters.map((one) => [splitSpec(one.spec).name, one]));
    this.select.replaceChildren(...names.map((one) => el("option", { value: one, selected: one === name }, one)));
    this.name = name;
    this.settings.value = settings || this.needed(name);
  }

  /// Returns the settings without which a name is no spec: `same-size` asks for a reference, and the server lists it with one.
  needed(name) {
    return splitSpec(this.about.get(name)?.spec ?? "").settings;
  }

  /// Returns the spec of this side without a threshold that was dragged, or `none`, or `as indexed`.
  spec() {
    return this.name === NONE || this.name === INDEXED ? this.name : joinSpec(this.name, this.settings.value);
  }

  shown() {
    return this.name !== NONE;
  }

  /// Moves the threshold; null is the segmenter's own.
  drag(tau) {
    this.tau = tau === null ? null : Math.round(tau * 100) / 100;
    if (this.tau !== null) this.threshold(this.tau);
    this.page.changed();
    this.soon();
  }

  threshold(tau) {
    this.plot.set(this.cut?.scores ?? [], tau);
    const says = `${tau.toFixed(2)}${this.tau === null ? " (its own)" : ""}`;
    this.output.textContent = `${says} · ${count(this.plot.above(), "gap", "gaps")} above`;
    this.range.value = String(tau);
    this.range.setAttribute("aria-valuetext", says);
    this.own.hidden = this.tau === null;
  }

  /// Forgets what is on its way and cuts anew: another text or another segmenter.
  restart() {
    this.running?.abort();
    this.running = null;
    this.generation += 1;
    this.wanted = false;
    this.cut = null;
    const about = this.about?.get(this.name);
    this.summary.textContent = about?.summary ?? "";
    this.settings.disabled = this.name === NONE || this.name === INDEXED;
    this.scored.hidden = true;
    this.column.hidden = !this.shown();
    this.page.arrange();
    if (!this.shown()) {
      this.column.replaceChildren();
      this.page.other(this).show();
      return;
    }
    this.column.setAttribute("aria-busy", "true");
    this.pump(true);
  }

  soon = debounced(() => this.pump(true), WAIT);

  /// Cuts with what is set now. One question is on its way at a time; the newest wish follows it.
  async pump(wanted) {
    this.wanted ||= wanted;
    if (this.running || !this.wanted || !this.shown() || this.page.text === null) return;
    this.wanted = false;
    const generation = this.generation;
    const running = new AbortController();
    this.running = running;
    try {
      const cut = await this.ask(running.signal);
      if (generation !== this.generation) return;
      this.cut = cut;
      fail(null);
      this.show();
      this.page.other(this).show();
      this.page.told(this);
    } catch (problem) {
      if (generation === this.generation) fail(problem);
    } finally {
      if (this.running === running) {
        this.running = null;
        this.column.removeAttribute("aria-busy");
        if (this.wanted) this.pump(false);
      }
    }
  }

  async ask(signal) {
    const { text, format, max, indexed } = this.page;
    if (this.name === INDEXED) {
      const cut = { ...indexed };
      try {
        // The scores that led to the chunks of the index.
        const { sentences, scores, threshold } = await ask("v1/segment", { body: { text, format, segmenter: indexed.segmenter }, signal });
        Object.assign(cut, { sentences, scores, threshold });
      } catch (problem) {
        // The chunks show without scores where this server cannot make them again.
        if (problem.name === "AbortError" || [0, 401, 403, 429, 503].includes(problem.status)) throw problem;
      }
      return new Cut(cut);
    }
    let segmenter = withoutSetting(this.spec(), "max_tokens");
    if (this.tau !== null) segmenter = withSetting(segmenter, "tau", this.tau);
    return new Cut(await ask("v1/segment", { body: { text, format, segmenter, max_tokens: max }, signal }));
  }

  /// Shows the chunks. What was at the top of the window stays there.
  show() {
    if (!this.cut || !this.shown()) return;
    const others = this.page.other(this).cut;
    const held = this.hold();
    const list = chunkList(this.page.text, placesOf(this.page.text), this.cut,
      { others: others && new Set(others.ends()), gaps: this.page.gaps, toSource: this.page.toSource });
    const facts = [this.cut.facts()];
    if (others) {
      const theirs = new Set(others.ends());
      facts.push(`${this.cut.ends().filter((end) => theirs.has(end)).length} of ${count(this.cut.ends().length, "cut")} in both`);
    }
    if (!this.cut.scores.length) facts.push("no scores");
    this.column.replaceChildren(el("h2", {}, breakable(this.spec())), el("p", { class: "facts" }, facts.join(" · ")), list);
    const threshold = this.tau ?? this.cut.threshold;
    this.scored.hidden = !this.cut.scores.length || !Number.isFinite(threshold) || this.name === INDEXED;
    if (!this.scored.hidden) this.threshold(threshold);
    held();
  }

  /// Notes which byte is at the top of the window. Returns what brings it back there; the other side follows.
  hold() {
    const leads = this.page.sides[0] === this;
    const byte = leads ? byteAt(this.column, this.page.top()) : null;
    return () => {
      const height = byte === null ? null : heightOf(this.column, byte);
      if (height !== null) window.scrollBy({ top: height - this.page.top(), behavior: "instant" });
      this.page.align();
    };
  }
}
