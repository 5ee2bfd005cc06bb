"use strict";
(function () {
  var data = JSON.parse(document.getElementById("data").textContent);
  var store = "pericope-review-" + data.sha256;
  var decisions = {};
  var at = 0;
  var shown = [];
  var editing = false;
  var WORDS = { keep: "keep", drop: "drop", mend: "mended" };
  var SIGNS = { keep: "✓", drop: "✕", mend: "✎" };
  function id(name) { return document.getElementById(name); }
  function make(tag, parent, text, className) {
    var node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (className) node.className = className;
    if (parent) parent.appendChild(node);
    return node;
  }

  // What was decided survives a reload where the browser lets a page of this kind remember.
  function remember() { try { localStorage.setItem(store, JSON.stringify(decisions)); } catch (e) { return; } }
  try { decisions = JSON.parse(localStorage.getItem(store)) || {}; } catch (e) { decisions = {}; }

  var which = id("which");
  var kinds = Array.from(new Set(data.entries.map(function (entry) { return entry.kind; }).filter(Boolean))).sort();
  [["all", "all"], ["undecided", "undecided"], ["keep", "kept"], ["drop", "dropped"], ["mend", "mended"]].concat(
    kinds.map(function (kind) { return ["kind:" + kind, "kind: " + kind]; })
  ).forEach(function (option) { make("option", which, option[1]).value = option[0]; });

  function isShown(entry) {
    var decision = decisions[entry.number];
    if (which.value === "all") return true;
    if (which.value === "undecided") return !decision;
    if (which.value.indexOf("kind:") === 0) return "kind:" + entry.kind === which.value;
    return Boolean(decision) && decision.decision === which.value;
  }
  function words(entry) {
    var decision = decisions[entry.number];
    return decision && decision.decision === "mend" ? decision.question : entry.question;
  }
  function filter() {
    shown = data.entries.filter(isShown);
    at = Math.max(0, Math.min(at, shown.length - 1));
    list();
    draw();
  }
  function list() {
    var parent = id("list");
    parent.replaceChildren();
    shown.forEach(function (entry, i) {
      var decision = decisions[entry.number];
      var button = make("button", make("li", parent));
      button.type = "button";
      make("span", button, decision ? SIGNS[decision.decision] : "·").setAttribute("aria-hidden", "true");
      var text = make("span", button, words(entry), decision ? decision.decision : "");
      text.dir = "auto";
      if (decision) button.setAttribute("aria-label", WORDS[decision.decision] + ": " + words(entry));
      if (i === at) button.setAttribute("aria-current", "true");
      button.addEventListener("click", function () { go(i); });
    });
  }
  function mark() {
    Array.from(id("list").querySelectorAll("button")).forEach(function (button, i) {
      if (i === at) button.setAttribute("aria-current", "true"); else button.removeAttribute("aria-current");
      if (i === at) button.scrollIntoView({ block: "nearest" });
    });
  }
  function count() {
    var n = { keep: 0, drop: 0, mend: 0 };
    Object.keys(decisions).forEach(function (key) { n[decisions[key].decision] += 1; });
    var done = n.keep + n.drop + n.mend;
    id("says").textContent = done + " of " + data.entries.length + " decided: " + n.keep + " kept, " + n.mend +
      " mended, " + n.drop + " dropped.";
  }
  function draw() {
    editing = false;
    var card = id("card");
    card.replaceChildren();
    count();
    var entry = shown[at];
    if (!entry) { make("p", card, "No question here."); return; }
    var decision = decisions[entry.number];
    make("p", card, "Question " + entry.number + (entry.kind ? " · " + entry.kind : "") + " · " + entry.document, "where");
    make("h2", card, words(entry)).dir = "auto";
    if (decision && decision.decision === "mend") make("p", card, "It was: " + entry.question, "note");
    var choices = make("div", card, null, "choices");
    [["keep", "Keep", "y"], ["drop", "Drop", "n"], ["mend", "Mend", "e"]].forEach(function (one) {
      var button = make("button", choices, one[1] + " ");
      button.type = "button";
      make("kbd", button, one[2]);
      button.setAttribute("aria-pressed", String(Boolean(decision) && decision.decision === one[0]));
      button.addEventListener("click", function () { if (one[0] === "mend") edit(); else decide(one[0]); });
    });
    if (entry.problem) make("p", card, "The answer cannot be shown in its place: " + entry.problem + ".", "error");
    var passage = make("p", card, null, "passage");
    passage.dir = "auto";
    passage.append(entry.before);
    make("mark", passage, entry.answer);
    passage.append(entry.after);
  }
  function go(to) {
    if (to < 0 || to >= shown.length) return;
    at = to;
    mark();
    draw();
    id("card").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
  function decide(choice, question) {
    var entry = shown[at];
    if (!entry) return;
    decisions[entry.number] = { number: entry.number, id: entry.id, decision: choice };
    if (choice === "mend") decisions[entry.number].question = question;
    remember();
    var last = shown.length - 1;
    if (which.value === "all" || which.value.indexOf("kind:") === 0) {
      list();
      if (at < last) go(at + 1); else draw();
    } else {
      // The question may have left the list: the next one has its place now.
      filter();
      mark();
    }
  }
  function edit() {
    var entry = shown[at];
    if (!entry) return;
    editing = true;
    var heading = id("card").querySelector("h2");
    var area = make("textarea");
    area.rows = 2;
    area.value = words(entry);
    area.setAttribute("aria-label", "The question in other words");
    heading.replaceWith(area);
    area.focus();
    area.select();
    area.addEventListener("keydown", function (event) {
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        event.stopPropagation();
        var text = area.value.trim();
        editing = false;
        if (text && text !== entry.question) decide("mend", text); else draw();
      } else if (event.key === "Escape") {
        event.stopPropagation();
        draw();
        id("card").focus({ preventScroll: true });
      }
    });
  }
  function save() {
    var all = Object.keys(decisions).map(function (key) { return decisions[key]; });
    all.sort(function (a, b) { return a.number - b.number; });
    var file = { file: data.file, sha256: data.sha256, decisions: all };
    var link = make("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(file, null, 2) + "\n"], { type: "application/json" }));
    link.download = "decisions.json";
    link.click();
    URL.revokeObjectURL(link.href);
    id("says").textContent = all.length + " decisions saved as decisions.json. Next: pericope dataset review " + data.file +
      " --apply decisions.json --out kept.json";
  }
  id("save").addEventListener("click", save);
  id("load").addEventListener("change", function (event) {
    var file = event.target.files[0];
    if (!file) return;
    file.text().then(function (text) {
      var read = JSON.parse(text);
      if (read.sha256 !== data.sha256) throw new Error("it is about another file");
      decisions = {};
      read.decisions.forEach(function (one) { decisions[one.number] = one; });
      remember();
      filter();
    }).catch(function (error) { id("says").textContent = "Not loaded: " + error.message + "."; });
  });
  which.addEventListener("change", function () { at = 0; filter(); });
  document.addEventListener("keydown", function (event) {
    var tag = event.target.tagName;
    if (editing || event.ctrlKey || event.metaKey || event.altKey || tag === "SELECT" || tag === "INPUT" || tag === "TEXTAREA") return;
    var acts = {
      j: function () { go(at + 1); },
      k: function () { go(at - 1); },
      y: function () { decide("keep"); },
      n: function () { decide("drop"); },
      e: edit,
      u: function () { if (shown[at]) { delete decisions[shown[at].number]; remember(); list(); draw(); } },
      s: save
    };
    if (Object.prototype.hasOwnProperty.call(acts, event.key)) {
      event.preventDefault();
      acts[event.key]();
    }
  });
  filter();
})();
