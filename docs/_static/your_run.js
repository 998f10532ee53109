/* Lays a file of the reader's own run beside the guide's numbers. It is read here and sent nowhere. */
"use strict";

(() => {
  const guide = window.gpuguideNumbers;
  const place = document.querySelector(".gg-your-run");
  if (!guide || !place) return;

  const make = (name, text = "", options = {}) =>
    Object.assign(document.createElement(name), { textContent: text, ...options });

  /* Two digits, as in the tables of the guide. */
  const UNITS = [["s", 1], ["ms", 1e-3], ["µs", 1e-6], ["ns", 1e-9]];
  const written = (seconds) => {
    const rounded = Number(seconds.toPrecision(2));
    const [unit, scale] = UNITS.find(([, least]) => rounded >= 0.9999 * least) || UNITS[3];
    const number = rounded / scale;
    return `${number < 10 ? number.toFixed(1) : Math.round(number)} ${unit}`;
  };
  const ratioWords = (ratio) => {
    const rounded = Number(ratio.toPrecision(2));
    return `${rounded < 10 ? ratio.toPrecision(2) : rounded}×`;
  };
  const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const raised = (base, power) => base + [...String(power)].map((digit) => SUPERSCRIPTS[digit]).join("");
  const sizeWords = (size) => {
    const power = Math.round(Math.log10(size));
    if (size >= 1000 && 10 ** power === size) return raised("10", power);
    const twos = Math.round(Math.log2(size));
    return size >= 1024 && 2 ** twos === size ? raised("2", twos) : String(size);
  };
  const median = (numbers) => {
    const sorted = [...numbers].sort((a, b) => a - b);
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  };

  /* The errors below are sentences for the reader. */
  const fail = (words) => {
    throw new Error(words);
  };
  const isObject = (thing) => typeof thing === "object" && thing !== null && !Array.isArray(thing);
  const readRun = (text) => {
    let run = null;
    try {
      run = JSON.parse(text);
    } catch {
      fail("This is no JSON, or the file was cut short. Write it again: gpuguide run PAGE --json mine.json");
    }
    if (!isObject(run) || !isObject(run.studies) || typeof run.page !== "string")
      fail("This JSON holds no run. Drop what gpuguide run PAGE --json mine.json wrote.");
    return run;
  };
  const pageOf = (run) => {
    if (!Object.hasOwn(guide.pages, run.page)) fail(`The guide has no current numbers of the page ${run.page}.`);
    return guide.pages[run.page];
  };
  /* Times of a study in seconds, by variant, clock and size; fields that are absent have their defaults. */
  const timesOf = (study) => {
    const times = new Map();
    for (const cell of Array.isArray(study.measurements) ? study.measurements.filter(isObject) : []) {
      const samples = Array.isArray(cell.samples_ns) ? cell.samples_ns.filter(Number.isFinite) : [];
      if (samples.length)
        times.set(`${cell.variant} ${cell.clock || "device"} ${cell.size}`, median(samples) / (cell.n_calls || 1) / 1e9);
    }
    return times;
  };
  const differences = (mine, theirs) =>
    ["title", "dtype", "size_name", "cache"].filter((name) => (mine[name] || "warm") !== theirs[name]);

  const timeCell = (seconds, slowest, own) => {
    const cell = make("td", "", { className: "number" });
    if (seconds === null || seconds === undefined) return cell;
    const bar = make("span", "", { className: own ? "gg-bar gg-bar-own" : "gg-bar" });
    bar.style.width = `${Math.max(1, (100 * seconds) / slowest)}%`;
    cell.append(written(seconds), bar);
    return cell;
  };
  const table = (theirs, times, machines) => {
    const names = ["variant", "your run", `yours / ${machines[0]}`, ...machines];
    const body = make("tbody");
    let last = null;
    for (const [variant, clock, size, label, ...recorded] of theirs.cells) {
      const own = times.get(`${variant} ${clock} ${size}`);
      if (own === undefined) continue;
      const slowest = Math.max(own, ...recorded.filter((seconds) => seconds !== null));
      if (size !== last) {
        const words = `${sizeWords(size)} ${theirs.size_name}`;
        const heading = make("tr");
        heading.append(make("th", words, { scope: "rowgroup", colSpan: names.length, className: "gg-your-size" }));
        body.append(heading);
        last = size;
      }
      const row = make("tr");
      row.append(make("th", label, { scope: "row" }), timeCell(own, slowest, true));
      /* Beside one's own time, where a phone shows it without scrolling. */
      row.append(make("td", ratioWords(own / recorded[0]), { className: "number" }));
      recorded.forEach((seconds) => row.append(timeCell(seconds, slowest, false)));
      body.append(row);
    }
    if (!body.children.length) return null;
    const head = make("tr");
    for (const name of names) head.append(make("th", name, { scope: "col" }));
    const whole = make("table", "", { className: "gpuguide-results" });
    whole.append(make("caption", `${theirs.title} (${theirs.dtype}, ${theirs.cache} cache)`), make("thead"), body);
    whole.querySelector("thead").append(head);
    const box = make("div", "", { className: "gg-your-table" });
    box.append(whole);
    return box;
  };

  const compared = (text) => {
    const run = readRun(text);
    const page = pageOf(run);
    const parts = [];
    const notes = [];
    for (const [name, study] of Object.entries(run.studies)) {
      const theirs = Object.hasOwn(page.studies, name) ? page.studies[name] : null;
      if (!theirs || !isObject(study)) {
        notes.push(`The guide has no study ${name} on this page.`);
        continue;
      }
      const unlike = differences(study, theirs);
      const times = timesOf(study);
      const shown = unlike.length ? null : table(theirs, times, page.machines);
      if (shown) parts.push(shown);
      else if (unlike.length) notes.push(`${name} is another study: its ${unlike.join(" and ")} ${unlike.length === 1 ? "differs" : "differ"}.`);
      else notes.push(`Of ${name} no size and variant was measured on both sides.`);
      if (shown) {
        const sizes = Array.isArray(study.sizes) ? study.sizes : [];
        const others = [...new Set(theirs.cells.map((cell) => cell[2]))];
        const more = sizes.filter((size) => !others.includes(size));
        if (more.length) notes.push(`Only your run of ${name} has the sizes ${more.map(sizeWords).join(", ")}.`);
        const own = new Set([...times.keys()].map((key) => Number(key.split(" ")[2])));
        const lacking = others.filter((size) => !own.has(size));
        const wanted = theirs.cells.map(([variant, , size]) => `${variant} ${size}`);
        const silent = study.measurements.filter(
          (cell) => cell.reason && lacking.includes(cell.size) && wanted.includes(`${cell.variant} ${cell.size}`),
        );
        const reasons = new Set(silent.map((cell) => cell.reason));
        if (lacking.length) {
          const why = reasons.size ? `: ${[...reasons].join("; ")}` : "";
          notes.push(`Your run of ${name} has no times of ${lacking.map(sizeWords).join(", ")} ${theirs.size_name}${why}.`);
        }
      }
      if (study.quick) notes.push(`${name} was a quick run, with fewer samples.`);
    }
    const topics = isObject(run.key) && Array.isArray(run.key.topics) ? Object.fromEntries(run.key.topics) : {};
    for (const [topic, digest] of Object.entries(page.topics))
      if (topic in topics && topics[topic] !== digest) notes.push(`Your code of ${topic} is another version's.`);
    if (!parts.length) fail(`There is nothing to compare. ${notes.join(" ")}`);
    const about = isObject(run.provenance) ? run.provenance : null;
    const where = about ? `${!about.gpu || about.gpu === "none" ? "no GPU" : about.gpu}, ${String(about.cpu || "").split(" (")[0]}` : "";
    const title = make("p", "", { className: "gg-your-title" });
    title.append("Your run", where ? ` (${where})` : "", " of the page ");
    title.append(make("a", page.title, { href: page.address }), ". The longer a bar, the longer it takes.");
    const list = make("ul");
    for (const note of notes) list.append(make("li", note));
    return [title, ...parts, ...(notes.length ? [list] : [])];
  };

  const input = make("input", "", { type: "file", accept: ".json,application/json", id: "gg-your-file" });
  const label = make("label", "Drop your file here, or choose it: ", { htmlFor: input.id });
  const area = make("div", "", { className: "gg-drop" });
  const status = make("p", "", { className: "gg-your-status" });
  status.setAttribute("role", "status");
  const result = make("div");
  area.append(label, input);
  place.append(area, status, result);

  const take = async (file) => {
    if (!file) return;
    result.replaceChildren();
    try {
      result.append(...compared(await file.text()));
      status.textContent = `${file.name} was read in this browser, and sent nowhere.`;
    } catch (error) {
      status.textContent = `${file.name}: ${error.message}`;
    }
  };
  input.addEventListener("change", () => take(input.files[0]));
  /* Without the first, the browser would open a file that is dropped. */
  for (const name of ["dragover", "dragenter"])
    area.addEventListener(name, (event) => {
      event.preventDefault();
      area.classList.add("gg-over");
    });
  area.addEventListener("dragleave", () => area.classList.remove("gg-over"));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("gg-over");
    take(event.dataTransfer.files[0]);
  });
})();
