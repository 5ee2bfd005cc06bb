"use strict";
// Runs before the first paint, so that a page of the other theme never flashes. page.js has the button.
(function () {
  var theme = null;
  try { theme = localStorage.getItem("pericope-theme"); } catch (_) { /* Storage may be forbidden. */ }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
