// A filter with several values: a field, a button that adds, and a list from which each can be taken away.
import { el } from "./dom.js";

/// One filter of the search page: `box` holds the field, the button and the list.
export class Chips {
  constructor(box, changed) {
    this.name = box.dataset.name;
    this.field = box.querySelector("input");
    this.list = box.querySelector("ul");
    this.values = [];
    this.changed = changed;
    box.querySelector("button").addEventListener("click", () => this.add());
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      // Not the whole form.
      event.preventDefault();
      this.add();
    });
  }

  add() {
    const value = this.field.value.trim();
    this.field.value = "";
    this.field.focus();
    if (!value || this.values.includes(value)) return;
    this.set([...this.values, value]);
    this.changed();
  }

  set(values) {
    this.values = values;
    this.list.replaceChildren(...values.map((value) => el("li", {},
      el("button", { type: "button", "aria-label": `Remove ${value}`, onclick: () => this.remove(value) },
        value, el("span", { "aria-hidden": "true" }, " ×")))));
  }

  remove(value) {
    this.set(this.values.filter((other) => other !== value));
    this.field.focus();
    this.changed();
  }
}
