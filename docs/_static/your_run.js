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
  const RATES = [["TB/s", 1e12], ["GB/s", 1e9], ["MB/s", 1e6], ["kB/s", 1e3]];
  const written = (value, units = UNITS) => {
    const rounded = Number(value.toPrecision(2));
    const [unit, scale] = units.find(([, least]) => rounded >= 0.9999 * least) || units[3];
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

  /* The guide's lines and the reader's dots: what the page charts, time or rate against size. */
  const draw = (parent, name, attributes, text = "") => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    node.textContent = text;
    parent.append(node);
    return node;
  };
  const linesOf = (theirs, times) => {
    const { looks, bytes } = theirs.chart;
    return Object.entries(looks).flatMap(([variant, [colour, dashes]]) => {
      const cells = theirs.cells.filter((cell) => cell[0] === variant);
      if (!cells.length) return [];
      const [, clock, , label, ...recorded] = cells[0];
      const key = `${variant} ${clock} `;
      const points = (pairs) =>
        pairs
          .map(([size, seconds]) => [size, bytes ? bytes[`${variant} ${size}`] / seconds : seconds])
          .filter(([size, value]) => size > 0 && value > 0 && value < Infinity);
      const own = [...times].filter(([name]) => name.startsWith(key)).map(([name, seconds]) => [Number(name.slice(key.length)), seconds]);
      const machines = recorded.map((_, index) => points(cells.map((cell) => [cell[2], cell[4 + index]])));
      const ratios = cells.map((cell) => times.get(key + cell[2]) / cell[4]).filter((ratio) => ratio > 0);
      return [{ clock, label, colour, dashes, machines, own: points(own), ratios }];
    });
  };
  /* "on the GPU, your run takes about 12 times as long as the H200; on the CPU, it takes as long" */
  const message = (lines, machine) => {
    const parts = new Map();
    for (const [clock, where] of [["device", "on the GPU"], ["host", "on the CPU"], ["end_to_end", "end to end"]]) {
      const ratios = lines.filter((line) => line.clock === clock).flatMap((line) => line.ratios);
      if (!ratios.length) continue;
      const ratio = median(ratios);
      const factor = ratioWords(Math.max(ratio, 1 / ratio)).replace(/(\.0)?×/, " times");
      let words = ratio > 1 ? `takes about ${factor} as long` : `is about ${factor} as fast`;
      if (ratio > 0.95 && ratio < 1.05) words = "takes as long";
      parts.set(words, [...(parts.get(words) || []), where]);
    }
    const said = [...parts].map(([words, places], index) => {
      const who = index ? `it ${words}` : `your run ${words} as the ${machine}`;
      return parts.size === 1 ? who : `${places.join(" and ")}, ${who}`;
    });
    return said.join("; ");
  };
  const wrapped = (label, most) => {
    const rows = [""];
    for (const word of label.split(" "))
      rows.push(...(`${rows.at(-1)} ${word}`.length > most ? [rows.pop(), word] : [`${rows.pop()} ${word}`.trim()]));
    return rows.filter((row) => row);
  };
  /* Of labels in 13 pixels: the width of a letter, and the height of a row. */
  const LETTER = 7.7;
  const ROW = 15;
  const chart = (theirs, times, machines, width) => {
    const lines = linesOf(theirs, times);
    const all = lines.flatMap((line) => [...line.machines.flat(), ...line.own]);
    const sizes = [...new Set(all.map(([size]) => size))].sort((a, b) => a - b);
    if (sizes.length < 2 || !lines.some((line) => line.own.length)) return null;
    const rate = Boolean(theirs.chart.bytes);
    const ends = lines
      .map((line) => ({ ...line, rows: wrapped(line.label, width < 500 ? 13 : 26), at: (line.machines[0].at(-1) || line.own[0] || [1, 1])[1] }))
      .sort((a, b) => b.at - a.at);
    const lowest = ends.flatMap((end) => end.rows).length * ROW + ends.length * 4;
    const [top, left] = [24, 70];
    const bottom = top + Math.max(width < 500 ? 230 : 270, lowest);
    const right = width - 12 - LETTER * Math.max(...ends.flatMap((end) => end.rows.map((row) => row.length)));
    const scale = (values, from, to, margin) => {
      const [least, most] = [Math.log(Math.min(...values)) - margin, Math.log(Math.max(...values)) + margin];
      return (value) => from + ((Math.log(value) - least) / (most - least)) * (to - from);
    };
    const x = scale(sizes, left + 8, right - 8, 0);
    const values = all.map(([, value]) => value);
    const y = scale(values, bottom, top, 0.3);
    const svg = draw(document.createElement("div"), "svg", { role: "img", viewBox: `0 0 ${width} ${bottom + 40}`, width });
    const title = `${theirs.title}: ${message(lines, machines[0])}`;
    draw(svg, "title", {}, `${title}. ${rate ? "Rate" : "Time"} against ${theirs.size_name}, both logarithmic.`);
    let last = -Infinity;
    for (const size of sizes) {
      const words = sizeWords(size);
      const room = LETTER * words.length + 8;
      if (x(size) - last < room) continue;
      last = x(size);
      draw(svg, "path", { class: "gg-grid", d: `M${last},${top}V${bottom}` });
      draw(svg, "text", { x: last, y: bottom + 17, "text-anchor": "middle" }, words);
    }
    draw(svg, "text", { x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, theirs.size_name);
    draw(svg, "text", { x: 0, y: 12 }, rate ? "rate" : "time");
    const powers = Array.from({ length: 40 }, (_, index) => 10 ** (index - 15));
    const within = (numbers) => numbers.filter((number) => y(number) <= bottom && y(number) >= top);
    const decades = within(powers);
    const every = Math.ceil(decades.length / 7);
    const marks = decades.length > 2 ? decades.filter((_, index) => index % every === 0) : within(powers.flatMap((power) => [power, 2 * power, 5 * power]));
    for (const mark of marks) {
      draw(svg, "path", { class: "gg-grid", d: `M${left},${y(mark)}H${right}` });
      draw(svg, "text", { x: left - 6, y: y(mark) + 4, "text-anchor": "end" }, written(mark, rate ? RATES : UNITS).replace(".0", ""));
    }
    /* Labels keep clear of each other: down from the first, and up again from the lowest. */
    let free = top;
    for (const end of ends) {
      end.y = Math.max(free, y(end.at) - (end.rows.length * ROW) / 2);
      free = end.y + end.rows.length * ROW + 4;
    }
    free = bottom + 4;
    for (const end of [...ends].reverse()) {
      end.y = Math.min(end.y, free - end.rows.length * ROW - 4);
      free = end.y;
    }
    for (const { machines: recorded, rows, colour, dashes, y: from } of ends) {
      recorded.forEach((points, index) => {
        const places = points.map(([size, value]) => `${x(size).toFixed(1)},${y(value).toFixed(1)}`);
        const look = { class: index ? "gg-other" : "gg-line", stroke: colour, "stroke-dasharray": dashes };
        if (places.length) draw(svg, "path", { ...look, d: `M${places[0]}L${places.join("L")}` });
      });
      rows.forEach((row, index) => draw(svg, "text", { x: right + 8, y: from + 12 + index * ROW, fill: colour }, row));
    }
    for (const { own, colour, dashes } of ends)
      for (const [size, value] of own)
        draw(svg, "circle", { cx: x(size), cy: y(value), r: 4.5, ...(dashes ? { class: "gg-hollow", stroke: colour } : { fill: colour }) });
    const figure = make("figure", "", { className: "gg-your-chart" });
    const others = machines.slice(1).map((name) => `, paler its ${name}`).join("");
    const words = `Lines: the guide's ${machines[0]}${others}. Dots: your run.`;
    figure.append(make("p", title, { className: "gg-headline" }), svg, make("figcaption", words));
    return figure;
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
      const drawn = shown && chart(theirs, times, page.machines, Math.min(place.clientWidth, 760));
      if (shown) parts.push(...(drawn ? [drawn, shown] : [shown]));
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
