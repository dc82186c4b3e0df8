/* The little that pages can't do without a script. Every action works without it: what only a script
   can do stays hidden until this file has run. */
(function () {
  "use strict";
  function copyText(button) {
    var target = button.getAttribute("data-copy-of");
    var source = target ? document.getElementById(target) : button.parentElement.querySelector("code");
    return button.getAttribute("data-copy") || (source ? source.textContent : "");
  }
  function prepare(root) {
    root.querySelectorAll("[data-needs-script]").forEach(function (element) { element.hidden = false; });
  }
  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-copy], [data-copy-of], .copy > .btn, .copy-line > .btn");
    if (button && navigator.clipboard) {
      navigator.clipboard.writeText(copyText(button)).then(function () {
        var word = button.querySelector("[data-word]");
        if (!word) return;
        var before = word.textContent;
        word.textContent = "Copied";
        setTimeout(function () { word.textContent = before; }, 1500);
      });
    }
    document.querySelectorAll("details.pop[open]").forEach(function (pop) {
      if (!pop.contains(event.target)) pop.open = false;
    });
  });
  document.addEventListener("change", function (event) {
    var all = event.target.closest("[data-picks]");
    if (!all) return;
    document.querySelectorAll("input[name='" + all.getAttribute("data-picks") + "']").forEach(function (box) {
      box.checked = all.checked;
    });
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") {
      document.querySelectorAll("details.pop[open]").forEach(function (pop) {
        pop.open = false;
        pop.querySelector("summary").focus();
      });
    }
    var typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      var find = Array.prototype.find.call(document.querySelectorAll(".find input"), function (input) {
        return input.offsetParent !== null;
      });
      if (find) { event.preventDefault(); find.focus(); }
    }
  });
  prepare(document);
  document.addEventListener("htmx:load", function (event) { prepare(event.target); });
})();
