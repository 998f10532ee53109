// How the search finds sections. Sphinx puts this file into the script of the search page (html_search_scorer); the
// index is of show/theme.py.
"use strict";

var Scorer = {
  // Most readers look for a page that explains something; who types plot_time or KernelTask, which are no words of
  // English, wants its reference.
  score: ([docname, title, anchor, description, score, filename, kind]) => {
    // A lesson answers more than an exercise on it, unless the words are the title of the exercise.
    if (!docname.startsWith("api/")) return 2000 + (docname.startsWith("exercises/") ? 0.6 : 1) * score;
    const named = kind === "object" && score >= Scorer.objNameMatch && /_|[a-z][A-Z]/.test(title.split(".").pop());
    return named ? 4000 + score : score;
  },

  objNameMatch: 100,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
};

{
  // The sections that have a word, with its weight in each; a word that only begins or ends like it weighs half.
  const sectionsWith = (word) => {
    const { sections, words } = Search._index;
    const known = Object.hasOwn(words, word);
    const names = known ? [word] : Object.keys(words).filter((name) => word.length > 2 && name.includes(word));
    return names.flatMap((name) => words[name]).map((entry) => {
      const section = entry >> 3;
      return { section, page: sections[section][0], weight: (entry & 7) / (known ? 1 : 2) };
    });
  };
  const stemmer = new Stemmer();
  const sum = (numbers) => [...numbers].reduce((total, number) => total + number, 0);
  const more = (map, key, value) => map.set(key, (map.get(key) || 0) + value);
  const spelled = (words) => [...words].join(" ");

  // One hit a page, which leads to the section that says most about the words. What few pages have says more.
  Search.performTermsSearch = (asked) => {
    const { docnames, filenames, sections, titles } = Search._index;
    // CUDA_ERROR_NO_DEVICE is looked for by its parts; a page that has it whole has more of it.
    const parts = [...asked].flatMap((name) => name.split("_")).filter((part) => part && !stopwords.has(part));
    const needed = new Set(parts.map((part) => stemmer.stemWord(part)));
    const pages = new Map();
    for (const word of new Set([...needed, ...asked])) {
      const having = sectionsWith(word);
      const rarity = Math.log(1 + docnames.length / new Set(having.map(({ page }) => page)).size);
      for (const { section, page, weight } of having) {
        if (!pages.has(page)) pages.set(page, { best: new Map(), places: new Map() });
        const { best, places } = pages.get(page);
        best.set(word, Math.max(best.get(word) || 0, rarity * weight));
        more(places, section, rarity * weight);
      }
    }
    const hits = [...pages].map(([page, { best, places }]) => {
      const [section, most] = [...places].reduce((first, next) => (next[1] > first[1] ? next : first));
      const [, anchor, heading] = sections[section];
      const title = anchor ? `${titles[page]} > ${heading}` : titles[page];
      // Such as a term of the glossary.
      const answers = anchor && spelled(Search._parseQuery(heading)[1]) === spelled(asked) ? 1000 : 0;
      const hit = [docnames[page], title, anchor && `#${anchor}`, null, answers + most + sum(best.values())];
      return { missing: [...needed].filter((word) => !best.has(word)).length, hit: [...hit, filenames[page], "text"] };
    });
    // Where no page has all words, as with most error messages, those will do that have the most of them.
    const whole = hits.filter(({ missing }) => !missing);
    const shown = whole.length ? whole : hits.sort((a, b) => b.hit[4] - a.hit[4]).slice(0, 10);
    return shown.map(({ hit }) => hit);
  };

  // A summary shows what a page or section says, without its card, the notes of its numbers and what stands around it.
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    const around = ".gg-tip, .gg-byline, .no-search, .headerlink, script, style";
    for (const element of page.querySelectorAll(around)) element.remove();
    for (const meaning of page.querySelectorAll("dd")) meaning.prepend(" ");
    const target = page.getElementById(anchor.slice(1)) || page.querySelector("article");
    return (target.tagName === "DT" ? target.nextElementSibling : target).textContent;
  };
}
