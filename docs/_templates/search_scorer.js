// What the search ranks first. Sphinx puts this file into the script of the search page (html_search_scorer).
"use strict";

var Scorer = {
  // Most readers look for a page that explains something. Within a group, Sphinx's own score decides.
  score: ([docname, title, anchor, description, score, filename, kind]) => {
    // A whole entry of the glossary is a short answer with links to more.
    if (docname === "glossary" && kind === "index" && score === Scorer.wholeEntry) return 4000;
    if (docname.startsWith("api/")) {
      // A name such as plot_time or KernelTask is no word of English: who types it wants its reference.
      const last = title.split(".").pop();
      const named = kind === "object" && score >= Scorer.objNameMatch && /_|[a-z][A-Z]/.test(last);
      return named ? 3000 + score : score;
    }
    // Pages of the sections stand in folders; beside them are the glossary, the method and what contributors read.
    return (docname.includes("/") ? 2000 : 1000) + score + Scorer.about(docname);
  },
  // Sphinx counts a word that a page is about like one that it mentions. The index says more (show/search_index.py).
  about: (docname) => {
    const query = new URLSearchParams(location.search).get("q") || "";
    const words = (Search._index.about || {})[docname] || {};
    const said = [...Search._parseQuery(query)[1]].filter((word) => Object.hasOwn(words, word));
    return said.reduce((sum, word) => sum + words[word], 0);
  },
  wholeEntry: 100,

  objNameMatch: 100,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
