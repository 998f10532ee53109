/* Folded parts that a link opens and a print shows; filters for the table of exercises. Nothing is loaded. */
"use strict";

(() => {
  /* Browsers open the fold that holds a link's target; this also opens a fold that is itself the target. */
  const openTarget = () => {
    const name = decodeURIComponent(location.hash.slice(1));
    const target = name && document.getElementById(name);
    const fold = target && target.closest("details");
    if (!fold || fold.open) return;
    for (let each = fold; each; each = each.parentElement.closest("details")) each.open = true;
    target.scrollIntoView();
  };

  /* On paper nothing can be unfolded. What was folded before is folded again afterwards. */
  let opened = [];
  const openAll = () => {
    opened = [...opened, ...document.querySelectorAll("details:not([open])")];
    for (const fold of opened) fold.open = true;
  };
  const foldAgain = () => {
    for (const fold of opened) fold.open = false;
    opened = [];
  };

  const connectFilter = (form) => {
    const table = document.querySelector("table.gg-pool");
    if (!table) return;
    const rows = [...table.tBodies[0].rows];
    const boxes = [...form.querySelectorAll("input")];
    const about = form.querySelector("select");
    const count = form.querySelector("output");
    const apply = () => {
      const levels = boxes.filter((box) => box.checked).map((box) => box.value);
      const fits = (row) => levels.some((level) => row.classList.contains(level)) &&
        (!about.value || row.classList.contains(about.value));
      for (const row of rows) row.hidden = !fits(row);
      count.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} exercises`;
    };
    form.addEventListener("change", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    /* A browser that goes back keeps what was chosen. */
    apply();
  };

  const begin = () => {
    openTarget();
    document.querySelectorAll("form.gg-filter").forEach(connectFilter);
  };

  addEventListener("hashchange", openTarget);
  addEventListener("beforeprint", openAll);
  addEventListener("afterprint", foldAgain);
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
  else begin();
})();
