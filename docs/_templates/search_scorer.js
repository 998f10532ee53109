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
    // Pages of the sections stand in folders; beside them are the glossary, the method and what contributors read. When
    // something goes wrong is for readers, too.
    return (docname.includes("/") || docname === "symptoms" ? 2000 : 1000) + score + Scorer.about(docname);
  },
  // Sphinx counts a word that a page is about like one that it mentions. The index says more (show/theme.py).
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

{
  // Sphinx asks for pages that have all words. Where none has, as with most error messages, these have the most of them;
  // a name such as CUDA_ERROR_NO_DEVICE counts as a whole and by its words, and what few pages have counts more.
  const withAll = Search.performTermsSearch;
  Search.performTermsSearch = (words, excluded) => {
    const pages = withAll(words, excluded);
    if (pages.length) return pages;
    const stemmer = new Stemmer();
    const parts = [...words].flatMap((word) => word.split("_")).filter((part) => part.length > 2);
    const found = new Map();
    for (const part of new Set([...words, ...parts.map((part) => stemmer.stemWord(part))])) {
      const having = withAll(new Set([part]), excluded);
      for (const page of having) {
        const before = found.has(page[0]) ? found.get(page[0])[4] : 0;
        page[4] = before + 10 * Math.log(1 + Search._index.docnames.length / having.length);
        found.set(page[0], page);
      }
    }
    return [...found.values()].sort((a, b) => b[4] - a[4]).slice(0, 10);
  };

  // A summary shows what a page says, and neither the notes of its numbers nor its card.
  const toText = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const note of page.querySelectorAll(".gg-tip, .no-search")) note.remove();
    return toText(page.documentElement.outerHTML, anchor);
  };
}
