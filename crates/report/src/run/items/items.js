"use strict";
(function () {
  var data = JSON.parse(document.getElementById("data").textContent);
  var PAGE = 40;
  function make(tag, parent, text, className) {
    var node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (className) node.className = className;
    if (parent) parent.appendChild(node);
    return node;
  }
  function shown(metric, value) {
    if (value === undefined || value === null) return "–";
    return data.metrics[metric].most === 1 ? (100 * value).toFixed(1) + " %" : value.toFixed(1);
  }

  // One row a question and setting, with an item for each chunker.
  var rows = new Map();
  data.items.forEach(function (item) {
    var key = item.q + " " + item.s;
    if (!rows.has(key)) rows.set(key, { q: item.q, s: item.s, items: [] });
    rows.get(key).items.push(item);
  });
  rows = Array.from(rows.values());
  rows.forEach(function (row) {
    row.items.sort(function (a, b) { return a.c - b.c; });
    row.words = [data.questions[row.q].text, data.questions[row.q].gold.text, data.questions[row.q].gold.document]
      .concat(row.items.map(function (item) { return (item.a || "") + " " + (item.e || ""); })).join(" ").toLowerCase();
  });

  var form = document.getElementById("filters");
  function field(name, node) {
    var label = make("label", form, name);
    label.appendChild(node);
    node.addEventListener("input", function () { state.page = 0; draw(); });
    return node;
  }
  function choice(name, options, first) {
    var select = make("select");
    if (first) make("option", select, first).value = "";
    options.forEach(function (option, i) { make("option", select, option).value = String(i); });
    return field(name, select);
  }
  var state = { page: 0 };
  var search = field("Question, answer or document holds", Object.assign(make("input"), { type: "search" }));
  var setting = choice("Setting", data.settings, data.settings.length > 1 ? "all" : null);
  var metric = choice("Score", data.metrics.map(function (m) { return m.label; }));
  var chief = data.metrics.findIndex(function (m) { return m.key === "judge"; });
  if (chief < 0) chief = data.metrics.findIndex(function (m) { return m.key === "span_recall"; });
  if (chief >= 0) metric.value = String(chief);
  var a = choice("of", data.chunkers);
  var b = choice("against", data.chunkers, "–");
  a.value = String(data.chunkers.length - 1);
  if (data.chunkers.length > 1) b.value = String(data.chunkers.length - 2);
  var order = choice("Order", ["lowest first", "highest first", "as asked"]);
  var failed = Object.assign(make("input"), { type: "checkbox" });
  field("failed only", failed).parentNode.className = "tick";
  form.addEventListener("submit", function (event) { event.preventDefault(); });

  function score(row, chunker) {
    var item = row.items.find(function (item) { return item.c === chunker; });
    if (!item || item.e) return null;
    var value = item.m[Number(metric.value)];
    return value === undefined ? null : value;
  }
  function value(row) {
    var first = score(row, Number(a.value));
    if (b.value === "") return first;
    var second = score(row, Number(b.value));
    return first === null || second === null ? null : first - second;
  }
  function draw() {
    var words = search.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    var found = rows.filter(function (row) {
      return (setting.value === "" || row.s === Number(setting.value)) &&
        (!failed.checked || row.items.some(function (item) { return item.e; })) &&
        words.every(function (word) { return row.words.includes(word); });
    });
    found.forEach(function (row, i) { row.value = value(row); row.at = i; });
    if (order.value !== "2") {
      found.sort(function (x, y) {
        if ((x.value === null) !== (y.value === null)) return x.value === null ? 1 : -1;
        return (order.value === "0" ? x.value - y.value : y.value - x.value) || x.at - y.at;
      });
    }
    var pages = Math.max(1, Math.ceil(found.length / PAGE));
    state.page = Math.min(state.page, pages - 1);
    var list = document.getElementById("list");
    list.replaceChildren();
    found.slice(state.page * PAGE, (state.page + 1) * PAGE).forEach(function (row) { list.appendChild(entry(row)); });
    var says = found.length + " of " + rows.length + " questions and settings";
    if (data.withoutText) says += "; " + data.withoutText + " chunks are shown without their text, for want of room";
    if (data.leftOut) {
      says += "; " + data.leftOut.questions + " further questions (" + data.leftOut.items +
        " items) are left out for want of room: items.jsonl holds all";
    }
    document.getElementById("says").textContent = says + ".";
    var bar = document.getElementById("pages");
    bar.replaceChildren();
    if (pages > 1) {
      [["Before", -1], ["Next", 1]].forEach(function (step) {
        var button = make("button", bar, step[0]);
        button.type = "button";
        button.disabled = state.page + step[1] < 0 || state.page + step[1] >= pages;
        button.addEventListener("click", function () { state.page += step[1]; draw(); window.scrollTo(0, 0); });
      });
      make("span", bar, "page " + (state.page + 1) + " of " + pages, "says");
    }
  }
  function entry(row) {
    var question = data.questions[row.q];
    var line = make("li");
    var details = make("details", line);
    var summary = make("summary", details, question.text);
    summary.dir = "auto";
    var chips = make("span", summary, null, "chips");
    make("span", chips, data.settings[row.s]);
    row.items.forEach(function (item) {
      var text = data.chunkers[item.c] + " " + (item.e ? "failed" : shown(Number(metric.value), item.m[Number(metric.value)]));
      make("span", chips, text, item.e ? "error" : "");
    });
    // What is folded is made when it is opened: a page of items holds thousands of chunks.
    details.addEventListener("toggle", function () {
      if (details.open && details.children.length === 1) unfold(details, row, question);
    });
    return line;
  }
  function unfold(parent, row, question) {
    var gold = make("div", parent, null, "gold");
    make("p", gold, "Gold answer in " + question.gold.document, "where");
    make("p", gold, question.gold.text || "(none)", "text").dir = "auto";
    var sides = make("div", parent, null, "sides");
    row.items.forEach(function (item) {
      var side = make("section", sides, null, "side s" + item.c % 8);
      make("h3", side, data.chunkers[item.c]);
      var facts = data.metrics.map(function (m, i) {
        return item.m[i] === undefined || item.m[i] === null ? null : m.label + " " + shown(i, item.m[i]);
      }).filter(Boolean);
      facts.push(item.t + " tokens read");
      if (item.d) facts.push(item.d + " chunks dropped for want of room");
      make("p", side, facts.join(" · "), "facts");
      if (item.e) make("p", side, "Failed: " + item.e, "error");
      if (item.a) {
        var answer = make("details", side);
        answer.open = true;
        make("summary", answer, "Answer");
        make("p", answer, item.a, "text").dir = "auto";
      }
      if (item.j) {
        var votes = item.j.votes.length > 1 ? " (votes " + item.j.votes.join(", ") + ")" : "";
        make("p", side, "Judge: " + item.j.score.toFixed(1) + votes + ". " + item.j.reason, "note");
      }
      item.r.forEach(function (hit, i) {
        var chunk = data.chunks[hit[0]];
        var one = make("details", side);
        var held = hit[2] ? ", " + (100 * hit[2]).toFixed(0) + " % of the gold" : "";
        make("summary", one, (i + 1) + ". " + (chunk[3].join(" › ") || chunk[0]) + " (" + hit[3] + " tokens" + held + ")");
        make("p", one, chunk[0] + ", bytes " + chunk[1] + " to " + chunk[2], "where");
        make("p", one, chunk[4] || "(text left out)", "text").dir = "auto";
      });
    });
  }
  draw();
})();
