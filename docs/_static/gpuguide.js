/* Folded parts that a link opens and a print shows; what a number rests on. Nothing is loaded. */
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

  /* What a number rests on: above all else, within the window, and put away by Escape. Browsers without popovers
     have the style sheet's. */
  let tip = null;
  const numberAt = (element) => element.closest && element.closest(".gg-measured, .gg-claimed, .gg-unmeasured");
  /* In every frame: a picture that arrives above moves the number. */
  const place = () => {
    if (!tip || !tip.matches(":popover-open")) return;
    const own = tip.parentElement.getBoundingClientRect();
    const box = tip.getBoundingClientRect();
    const below = own.bottom + box.height < innerHeight || own.top < box.height;
    const left = Math.max(8, Math.min(own.left, document.documentElement.clientWidth - box.width - 8));
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(below ? own.bottom : own.top - box.height) + scrollY}px`;
    requestAnimationFrame(place);
  };
  const show = (number) => {
    const asked = number && number.querySelector(".gg-tip");
    if (asked === tip || (asked && !asked.showPopover)) return;
    if (tip) tip.hidePopover();
    tip = asked;
    if (!tip) return;
    tip.popover = "manual";
    tip.showPopover();
    place();
  };
  const putAway = ({ key }) => {
    if (key === "Escape" && tip) tip.hidePopover();
  };

  /* Copying takes the focus away; the next Tab would start at the end of the page. */
  const stayAt = ({ target }) => {
    const button = target.closest("button.copybtn");
    if (button) button.focus();
  };

  /* A chart that is wider than a phone scrolls, by the arrow keys, too: then Tab comes to it. */
  const reachCharts = () => {
    for (const chart of document.querySelectorAll(".gg-chart")) {
      if (chart.scrollWidth > chart.clientWidth) chart.tabIndex = 0;
      else chart.removeAttribute("tabindex");
    }
  };

  /* Of a chart with choices, the one that the buttons ask for. A reload may have kept what was chosen. */
  const choose = (box) => {
    if (!box) return;
    const chosen = [...box.querySelectorAll("input:checked")].map((button) => button.value).join("-");
    for (const chart of box.querySelectorAll(".gg-choice")) {
      chart.classList.toggle("gg-shown", chart.classList.contains(`gg-choice-${chosen}`));
    }
    reachCharts();
  };
  const offerChoices = () => {
    for (const row of document.querySelectorAll(".gg-choices fieldset")) row.hidden = false;
    document.querySelectorAll(".gg-choices").forEach(choose);
  };

  const begin = () => {
    offerChoices();
    reachCharts();
    openTarget();
  };

  addEventListener("hashchange", openTarget);
  addEventListener("resize", reachCharts);
  addEventListener("toggle", reachCharts, true);
  addEventListener("focusin", ({ target }) => show(numberAt(target)));
  addEventListener("focusout", () => show(null));
  addEventListener("mouseover", ({ target }) => show(numberAt(target) || numberAt(document.activeElement)));
  addEventListener("keydown", putAway);
  addEventListener("click", stayAt);
  addEventListener("change", ({ target }) => choose(target.closest(".gg-choices")));
  addEventListener("beforeprint", openAll);
  addEventListener("afterprint", foldAgain);
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin);
  else begin();
})();
