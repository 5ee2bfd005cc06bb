// The scores of a document's gaps as bars, with the threshold as a line that can be dragged.
import { svg } from "./dom.js";

const HEIGHT = 100;

export class Plot {
  /// `dragged` is called with the threshold that a pointer chose, 0 to 1.
  constructor(dragged) {
    this.under = svg("path", { class: "bars" });
    this.over = svg("path", { class: "bars over" });
    this.line = svg("line", { class: "threshold" });
    this.node = svg("svg", { class: "plot", preserveAspectRatio: "none", role: "img" }, this.under, this.over, this.line);
    this.scores = [];
    this.threshold = 0.5;
    const drag = (event) => {
      if (event.buttons !== 1 || !this.scores.length) return;
      event.preventDefault();
      const { top, height } = this.node.getBoundingClientRect();
      dragged(Math.min(1, Math.max(0, 1 - (event.clientY - top) / height)));
    };
    this.node.addEventListener("pointerdown", (event) => {
      this.node.setPointerCapture(event.pointerId);
      drag(event);
    });
    this.node.addEventListener("pointermove", drag);
  }

  /// Shows scores and a threshold.
  set(scores, threshold) {
    if (scores !== this.scores) {
      this.scores = scores;
      this.node.setAttribute("viewBox", `0 0 ${Math.max(scores.length, 1)} ${HEIGHT}`);
      this.line.setAttribute("x2", String(Math.max(scores.length, 1)));
    }
    this.threshold = threshold;
    const paths = { over: "", under: "" };
    scores.forEach((score, i) => {
      if (score === null) return;
      const top = HEIGHT * (1 - Math.min(1, Math.max(0, score)));
      paths[score > threshold ? "over" : "under"] += `M${i + 0.5} ${HEIGHT}V${top.toFixed(1)}`;
    });
    this.over.setAttribute("d", paths.over);
    this.under.setAttribute("d", paths.under);
    for (const end of ["y1", "y2"]) this.line.setAttribute(end, (HEIGHT * (1 - threshold)).toFixed(1));
    this.node.setAttribute("aria-label",
      `Scores of ${scores.length} gaps between sentences; ${this.above()} lie above ${threshold.toFixed(2)}`);
  }

  /// Returns how many gaps lie above the threshold.
  above() {
    return this.scores.filter((score) => score !== null && score > this.threshold).length;
  }
}
