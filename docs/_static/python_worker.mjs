/* Runs the package in Python, in the browser: a page hands in answers, and gets verdicts. Loaded on the first use. */
const start = async () => {
  const folder = new URL("./python/", import.meta.url);
  const [{ loadPyodide }, sources] = await Promise.all([
    import(new URL("pyodide.mjs", folder)),
    /* The package changes with each build; Python itself does not. */
    fetch(new URL("gpuguide.zip", folder), { cache: "no-cache" }).then((reply) => reply.arrayBuffer()),
  ]);
  /* An answer's Python sees nothing of the browser. */
  const python = await loadPyodide({ jsglobals: { Object, setTimeout, clearTimeout } });
  python.unpackArchive(sources, "zip");
  return python.pyimport("gpuguide.exercises.in_page");
};

const ready = start().then(
  (module) => (postMessage({ state: "ready" }), module),
  (error) => postMessage({ state: "failed", text: String(error) }),
);

addEventListener("message", async ({ data: { call, args } }) => {
  const module = await ready;
  if (!module) return;
  try {
    postMessage({ state: "done", reply: JSON.parse(module[call](...args)) });
  } catch (error) {
    /* Python itself broke, such as by too deep a recursion: the page starts another one. */
    postMessage({ state: "failed", text: String(error).trim().split("\n").at(-1) });
  }
});
