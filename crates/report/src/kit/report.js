"use strict";
// Everything here is an extra: the page reads in full without it.
(function () {
  function all(selector, root) { return Array.from((root || document).querySelectorAll(selector)); }
  function make(tag, text, before, parent) {
    var node = document.createElement(tag);
    if (text) node.textContent = text;
    if (parent) parent.insertBefore(node, before || null);
    return node;
  }

  // Tables sort by the column whose head is pressed: first the highest, then the lowest.
  function keyOf(row, column) {
    var cell = row.children[column];
    return cell.dataset.key === undefined ? cell.textContent.trim() : Number(cell.dataset.key);
  }
  all("table").forEach(function (table) {
    var body = table.tBodies[0];
    if (!body || body.rows.length < 3) return;
    all("thead th", table).forEach(function (head, column) {
      var button = make("button", head.textContent);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", function () {
        var falling = head.getAttribute("aria-sort") !== "descending";
        all("thead th", table).forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", falling ? "descending" : "ascending");
        var rows = Array.from(body.rows).map(function (row, i) { return { row: row, key: keyOf(row, column), i: i }; });
        rows.sort(function (a, b) {
          // What has no number goes last, whichever way the others are sorted.
          if (typeof a.key !== typeof b.key) return typeof a.key === "number" ? -1 : 1;
          var order = typeof a.key === "number" ? a.key - b.key : a.key.localeCompare(b.key, "en", { numeric: true });
          return (falling ? -order : order) || a.i - b.i;
        });
        rows.forEach(function (entry) { entry.row.classList.remove("opens"); body.appendChild(entry.row); });
      });
    });
  });

  // One metric's charts at a time.
  all(".panels").forEach(function (group) {
    var panels = all(".panel", group);
    if (panels.length < 2) return;
    var bar = make("div", "", group.firstChild, group);
    bar.className = "switch";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Metric of the charts");
    make("span", "Show", null, bar).className = "says";
    var buttons = panels.map(function (panel) {
      var button = make("button", panel.dataset.name, null, bar);
      button.type = "button";
      button.addEventListener("click", function () { show(panel); });
      return button;
    });
    function show(wanted) {
      panels.forEach(function (panel, i) {
        panel.hidden = panel !== wanted;
        buttons[i].setAttribute("aria-pressed", String(panel === wanted));
      });
    }
    show(panels[0]);
  });

  // The legend's names switch a chunker off and on, in the charts and among the questions.
  all(".legend").forEach(function (legend) {
    var says = make("li", "Chunkers", legend.firstChild, legend);
    says.className = "says";
  });
  all(".legend li[data-series]").forEach(function (entry) {
    var button = make("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.title = "Hide or show in charts and questions";
    button.append.apply(button, Array.from(entry.childNodes));
    entry.replaceChildren(button);
    button.addEventListener("click", function () {
      var hidden = document.body.classList.toggle("hide-" + entry.dataset.series);
      button.setAttribute("aria-pressed", String(!hidden));
    });
  });

  // Long lists of comparisons are filtered by metric.
  all(".filtered").forEach(function (group) {
    var rows = all("tbody tr[data-metric]", group);
    var metrics = Array.from(new Set(rows.map(function (row) { return row.dataset.metric; })));
    if (metrics.length < 2) return;
    var label = make("label", "Metric ", group.firstChild, group);
    label.className = "switch";
    var select = make("select", "", null, label);
    ["all"].concat(metrics).forEach(function (metric) { make("option", metric, null, select).value = metric; });
    select.addEventListener("change", function () {
      rows.forEach(function (row) { row.hidden = select.value !== "all" && row.dataset.metric !== select.value; });
    });
  });

  // All questions open and close together.
  var questions = all("details.question");
  if (questions.length > 1) {
    var bar = make("div", "", questions[0], questions[0].parentNode);
    bar.className = "switch";
    var button = make("button", "Open all questions", null, bar);
    button.type = "button";
    button.addEventListener("click", function () {
      var open = questions.some(function (question) { return !question.open; });
      questions.forEach(function (question) { question.open = open; });
      button.textContent = open ? "Close all questions" : "Open all questions";
    });
  }

  // On paper nothing stays folded.
  var folded = [];
  window.addEventListener("beforeprint", function () {
    folded = all("details:not([open])");
    folded.forEach(function (details) { details.open = true; });
  });
  window.addEventListener("afterprint", function () {
    folded.forEach(function (details) { details.open = false; });
  });
})();
