// The choice of a search mode, for the pages that search.
import { byId, el } from "./dom.js";

const NAMES = { bm25: "Words", dense: "Meaning", hybrid: "Both" };

/// Returns the mode that is chosen.
export function mode() {
  return document.querySelector("#modes input:checked")?.value;
}

/// Offers the modes of an index, and chooses the wanted one where the index has it.
export function offerModes(index, wanted) {
  const modes = index?.modes ?? [];
  const on = modes.includes(wanted) ? wanted : index?.default_mode;
  const box = byId("modes");
  box.replaceChildren(box.querySelector("legend"), ...modes.map((name) => el("label", {},
    el("input", { type: "radio", name: "mode", value: name, checked: name === on }),
    el("span", {}, NAMES[name] ?? name, " ", el("small", {}, name)))));
}
