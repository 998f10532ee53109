/* Editors in the page: a text area with line numbers, whose text is checked by Python in a worker. Python is loaded
   when the editor is first used. What was written and solved stays in this browser. */
"use strict";

(() => {
  const LIMIT_S = 10;
  const WORKER = new URL("python_worker.mjs", document.currentScript.src);

  /* What is kept ------------------------------------------------------------------------------------------- */
  /* Some browsers keep nothing, for pages from disk among others. */
  const read = (key) => {
    try {
      return localStorage.getItem(`gpuguide-${key}`);
    } catch {
      return null;
    }
  };
  const keep = (key, text) => {
    try {
      localStorage.setItem(`gpuguide-${key}`, text);
    } catch {
      /* It is lost with the page. */
    }
  };

  /* Marks the exercises that were passed here, wherever a page says what one is about. */
  const markSolved = () => {
    for (const about of document.querySelectorAll(".gg-exercise-about")) {
      const link = about.parentElement.querySelector("a[href*='exercises/']");
      const name = link && link.pathname.split("/").pop().replace(".html", "");
      if (!name || !read(`solved-${name}`) || about.querySelector(".gg-solved")) continue;
      const mark = document.createElement("span");
      mark.className = "gg-solved";
      mark.textContent = " · ✓ solved";
      about.append(mark);
    }
  };

  /* Python ------------------------------------------------------------------------------------------------- */
  let worker = null;
  let ready = null;
  let answered = null;
  const failed = (why) => ({
    text:
      location.protocol === "file:"
        ? "Browsers run Python only in pages that come from a server. In the folder of this site, " +
          "python3 -m http.server serves it at http://localhost:8000."
        : `Python stopped in this page (${why}). Try again, or use the command line, as described below.`,
  });
  const stop = () => {
    if (worker) worker.terminate();
    worker = ready = null;
  };
  /* Becomes null when Python is there, else what to say. */
  const load = () => {
    ready ??= new Promise((resolve) => {
      const end = (why) => {
        stop();
        resolve(failed(why));
        answered?.(failed(why));
      };
      try {
        worker = new Worker(WORKER, { type: "module" });
      } catch (error) {
        end(error.message);
        return;
      }
      worker.onerror = (event) => end(event.message || "no answer");
      worker.onmessage = ({ data }) => {
        if (data.state === "ready") resolve(null);
        else if (data.state === "failed") end(data.text);
        else answered?.(data.reply);
      };
    });
    return ready;
  };
  const ask = (call, ...args) =>
    new Promise((resolve) => {
      const clock = setTimeout(() => {
        stop();
        resolve({ text: `Your code had not ended after ${LIMIT_S} s, so it was stopped. Does each loop of it end?` });
      }, 1000 * LIMIT_S);
      answered = (reply) => {
        clearTimeout(clock);
        resolve(reply);
      };
      worker.postMessage({ call, args });
    });

  /* What it says ------------------------------------------------------------------------------------------- */
  /* Built anew from what verdicts consist of. A policy may forbid styles in a text, but not those of a script. */
  const PARTS = new Set("div p strong pre code svg title desc text line polygon rect".split(" "));
  const copy = (from, to) => {
    for (const node of from.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) to.append(node.data);
      if (!PARTS.has(node.localName)) continue;
      const part = document.createElementNS(node.namespaceURI, node.localName);
      for (const { name, value } of node.attributes) {
        if (name === "data-style") part.style.cssText = value;
        else if (!name.startsWith("on")) part.setAttribute(name, value);
      }
      copy(node, part);
      to.append(part);
    }
  };
  const show = (box, { html, text }) => {
    box.replaceChildren();
    const markup = (html || "").replaceAll(' style="', ' data-style="');
    if (html) copy(new DOMParser().parseFromString(markup, "text/html").body, box);
    else box.append(Object.assign(document.createElement("p"), { textContent: text }));
    for (const drawing of box.querySelectorAll("svg")) {
      const frame = document.createElement("div");
      frame.className = "gg-chart";
      drawing.replaceWith(frame);
      frame.append(drawing);
    }
    /* On a phone, drawings and code scroll, by the arrow keys, too. */
    for (const part of box.querySelectorAll(".gg-chart, pre")) {
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    }
  };

  /* The editor --------------------------------------------------------------------------------------------- */
  const insert = (area, text) => document.execCommand("insertText", false, text) || area.setRangeText(text);
  const lineStart = (area) => area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
  const indent = (area) => /^ */.exec(area.value.slice(lineStart(area), area.selectionStart))[0];

  /* Puts four spaces before each selected line, or takes them away. */
  const shift = (area, back) => {
    const from = lineStart(area);
    const old = area.value.slice(from, area.selectionEnd);
    const shifted = old.replace(back ? /^ {1,4}/gm : /^/gm, back ? "" : "    ");
    if (shifted === old) return;
    area.setSelectionRange(from, area.selectionEnd);
    insert(area, shifted);
    if (old.includes("\n")) area.setSelectionRange(from, from + shifted.length);
  };

  let number = 0;
  const build = (box) => {
    const { call, name } = box.dataset;
    const samples = [...box.querySelectorAll("pre")].map((pre) => {
      const caption = pre.closest(".literal-block-wrapper")?.querySelector(".caption-text");
      return { title: caption?.textContent, text: pre.textContent.trimEnd() + "\n" };
    });
    const key = `text-${name || call}`;
    const label = `gg-keys-${++number}`;
    box.innerHTML = `
      <p class="gg-samples"></p>
      <div class="gg-code">
        <pre class="gg-lines" aria-hidden="true"></pre>
        <textarea wrap="off" spellcheck="false" autocapitalize="off" autocomplete="off" aria-label="Your code"
          aria-describedby="${label}"></textarea>
      </div>
      <p class="gg-buttons"></p>
      <p class="gg-byline" id="${label}">Ctrl+Enter runs it. While you type, Tab indents; Escape, then Tab, leaves.</p>
      <div class="gg-verdict" role="status"></div>`;
    const [lines, area, verdict] = ["pre", "textarea", ".gg-verdict"].map((part) => box.querySelector(part));
    let typing = false;
    let marked = [];

    const renew = () => {
      const n = area.value.split("\n").length;
      area.rows = Math.max(n, 8);
      lines.replaceChildren(
        ...Array.from({ length: n }, (_, at) => {
          const line = document.createElement("span");
          line.textContent = `${at + 1}\n`;
          line.classList.toggle("gg-marked", marked.includes(at + 1));
          return line;
        }),
      );
    };
    const check = async () => {
      if (box.ariaBusy === "true") return;
      box.ariaBusy = "true";
      show(verdict, { text: "Loading Python, about 7 MB the first time …" });
      let reply = await load();
      if (!reply) {
        show(verdict, { text: "Python is at work …" });
        reply = await ask(call, ...(name ? [name] : []), area.value);
      }
      box.ariaBusy = "false";
      marked = reply.lines || [];
      renew();
      show(verdict, reply);
      verdict.classList.toggle("gg-passed", Boolean(reply.passed));
      verdict.scrollIntoView({ block: "nearest" });
      if (name && reply.passed) keep(`solved-${name}`, new Date().toISOString().slice(0, 10));
      markSolved();
    };
    const button = (row, text, act) => {
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: text, onclick: act });
      box.querySelector(row).append(made, " ");
      return made;
    };
    /* Fetches the next of the folds that stand further down. */
    const addUnfolding = (text, folds) => {
      if (!folds.length) return;
      const made = button(".gg-buttons", text, () => {
        const fold = folds.shift();
        made.disabled = !folds.length;
        verdict.before(fold);
        fold.open = true;
        fold.querySelector("summary").focus();
        section.hidden = !section.querySelector("details");
      });
    };
    /* As if the reader had typed it, so that it can be undone. */
    const replace = (text) => {
      area.focus();
      area.select();
      insert(area, text);
      area.blur();
      verdict.replaceChildren();
    };

    button(".gg-buttons", call === "check" ? "Check" : "Trace", check).classList.add("gg-main");
    const section = document.querySelector("#hints");
    addUnfolding("Hint", [...document.querySelectorAll("#hints details:not(.gg-solution)")]);
    addUnfolding("Solution", [...document.querySelectorAll("#hints .gg-solution")]);
    if (samples.length > 1) {
      for (const { title, text } of samples) button(".gg-samples", title, () => replace(text));
    } else {
      button(".gg-buttons", "Start over", () => replace(samples[0].text));
    }
    area.value = read(key) ?? samples[0].text;
    renew();

    area.addEventListener("focus", () => {
      typing = false;
      load();
    });
    area.addEventListener("input", () => {
      typing = true;
      marked = [];
      keep(key, area.value);
      renew();
    });
    area.addEventListener("keydown", (event) => {
      const { key: pressed, shiftKey } = event;
      if (pressed === "Escape") typing = false;
      else if (pressed === "Enter" && (event.ctrlKey || event.metaKey)) check();
      else if (pressed === "Enter") {
        const opens = /:\s*(#.*)?$/.test(area.value.slice(lineStart(area), area.selectionStart));
        insert(area, `\n${indent(area)}${opens ? "    " : ""}`);
      } else if (pressed === "Tab" && typing) shift(area, shiftKey);
      else return;
      if (pressed !== "Escape") event.preventDefault();
    });
  };

  document.querySelectorAll(".gg-editor").forEach(build);
  markSolved();
})();
