"""A page as the cells of a notebook that is complete: its code, the code that it shows, and its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpuguide.exercises import pool
from gpuguide.results.units import size_words
from gpuguide_docs.downloads.markdown import Block, Words, blocks, fold, markdown_table, quoted, table_rows
from gpuguide_docs.downloads.notebook import Piece, joined
from gpuguide_docs.pages.cells import Cell, read_cells
from gpuguide_docs.show.exercises import check_call, check_commands
from gpuguide_docs.show.kernel import ModuleSource, names_option, shown_source
from gpuguide_docs.show.ladder import Ladder, ladder_of, study_of
from gpuguide_docs.show.numbers import measured_on
from gpuguide_docs.show.site import pip_command, wheel_path

if TYPE_CHECKING:
    from gpuguide.results.results import Results
    from gpuguide_docs.pages.pages_toml import Page
    from gpuguide_docs.show.site import Site

__all__ = ["exercise_cells", "live_page_cells", "page_cells"]

_IMPORTS = "import matplotlib.pyplot as plt\nimport numpy as np\n\nimport gpuguide as gg"
_USES_THE_PACKAGE = re.compile(r"\bgpuguide\b|\bgg\.")
_WITH_CUPY = """\
To run it you need an NVIDIA GPU and CuPy, and nothing of gpuguide:

```
pip install "cupy-cuda13x[ctk]" "cuda-toolkit<13.1"
```

If `nvidia-smi` shows CUDA 12, install `"cupy-cuda12x[ctk]"` instead. On Colab, CuPy is already installed."""
_INSTALL = "# Run this cell first: it installs gpuguide from the site of the guide."
_YOUR_OWN = """\
## Time a version of your own

`{0}` checks and times the package's own code, not the cells above. Add your version as one more variant:

```python
mine = {0}.with_variant("mine", launch)
print(mine.run())
```

`launch` is called like the other variants, which `print({0})` lists: with the inputs and the array for the
result. Add `mutates=True` if it leaves the result in its first input, `allocates=True` if it returns it, and
`device="cpu", clock="host"` if it runs on the CPU. A wrong result raises `MismatchError` and is not timed."""
# A download has to define what the build puts into the namespace of drawn cells.
_PRESET = {
    "facts": "from gpuguide.measure.session import current\n\nfacts = current().facts",
    "arrays": (
        "from gpuguide.measure.session import current\n\n"
        "arrays = {name: kept.array() for name, kept in current().arrays.items()}"
    ),
    "ceilings": "ceilings = gg.machine_ceilings()",
}
_STUDY = re.compile(r"^\w+ = ([\w.]+(?:\(\))?)\.run\(", re.MULTILINE)
_LIVE_CELL = re.compile(r"^```\{code-cell\}.*\n(?:---\n(?:.*\n)*?---\n)?((?:.*\n)*?)```$", re.M)
_NOT_TEXT = re.compile(r"\A---\n.*?\n---\n|^:::\{container\} gg-byline\n.*?\n:::\n", re.M | re.DOTALL)


def page_cells(site: Site, page: Page, url: str, *, solutions: bool = True) -> list[Piece]:
    """Turn a page into the cells of its notebook; a site with an address installs the package from there."""
    body = joined(_PageCells(site, page, url, solutions=solutions).pieces())
    if not any(_USES_THE_PACKAGE.search(piece.text) for piece in body if piece.kind == "code"):
        # A page that does not use the package must not ask for it in its download.
        return [Piece("markdown", f"{_introduction(site, page, url)}\n\n{_WITH_CUPY}"), *body]
    intro = f"{_introduction(site, page, url)}\n\n{_installation(page.needs.gpus, url)}"
    names = ", ".join(f'"{name}"' for name in page.exercises)
    skip = "# Without a GPU: skips what needs one\nimport gpuguide.exercises\n\n"
    skip += f"gpuguide.exercises.skip_without_gpu({names})"
    skipping = [Piece("code", skip)] if page.needs.gpus else []
    head = [*_install_cell(url), Piece("markdown", intro)]
    return [*head, *skipping, Piece("code", _IMPORTS), *body]


def live_page_cells(site: Site, docname: str, url: str) -> list[Piece]:
    """Turn a Markdown page whose code runs at every build into the cells of its notebook."""
    text = _NOT_TEXT.sub("", (site.layout.docs / f"{docname}.md").read_text(encoding="utf-8"))
    words = Words(site, docname, url)
    # Text and code take turns.
    parts = enumerate(_LIVE_CELL.split(text))
    body = [
        Piece("code", part.strip("\n")) if at % 2 else Piece("markdown", words.without_myst_roles(part))
        for at, part in parts
    ]
    intro = f"This is a page of gpuguide, GPU programming in Python, measured.\n\n{_installation(0, url)}"
    return [*_install_cell(url), Piece("markdown", intro), *joined(body)]


def _install_cell(url: str) -> list[Piece]:
    """Install the package where the site's address is known; CuPy is left as it is."""
    command = pip_command(url)
    quiet = command.replace("pip install", "%pip install --quiet")
    return [Piece("code", f"{_INSTALL}\n{quiet}", script=f"# First: {command}")] if url else []


def _introduction(site: Site, page: Page, url: str) -> str:
    title = f"[{page.title}]({url.rstrip('/')}/{page.docname}.html)" if url else page.title
    recording = site.state(page.name).shown
    measured = "Its code has not been measured yet, so numbers are missing in the text."
    if recording:
        where = measured_on(recording, gpu=bool(page.needs.gpus))
        measured = f"The numbers in the text were measured on {where} (run {recording.name})."
        measured += " Yours will differ."
    return f"This is the page {title} of gpuguide, GPU programming in Python, measured.\n\n{measured}"


def _installation(gpus: int, url: str) -> str:
    needed = {0: "no GPU, only", 1: "an NVIDIA GPU and"}.get(gpus, f"{gpus} NVIDIA GPUs and")
    text = f"To run it you need {needed} the package"
    if url and not gpus:
        return f"{text}, which the first cell installs."
    wheel = wheel_path().rpartition("/")[2]
    served = f". Download `{wheel}` on the guide's page *Install*. In the folder that holds it, run:"
    first = ", which the first cell installs. That is enough on Colab. With a GPU of your own, run instead:"
    text += f"{first if url else served}\n\n```\n{pip_command(url, 'cuda13' if gpus else '')}\n```"
    if gpus:
        text += "\n\nWrite `cuda12` for `cuda13` if `nvidia-smi` shows CUDA 12. Without a GPU, leave out "
        text += "`[cuda13]` and run all cells: those that need a GPU are skipped, and exercises need none."
    return text


def exercise_cells(name: str, *, solutions: bool = True) -> list[Piece]:
    """Turn an exercise into cells that need nothing of the page before them."""
    exercise = pool.get(name)
    commands = check_commands(exercise).replace("$ ", "")
    imported, call = check_call(exercise).rsplit("\n", 1)
    folded = [fold(f"Hint {number}", hint) for number, hint in enumerate(exercise.hints, start=1)]
    if solutions:
        solution = exercise.solution.strip("\n")
        folded.append(fold("Solution", f"```python\n{solution}\n```"))
    return [
        Piece(
            "markdown",
            f"### Exercise: {exercise.title}\n\n"
            f"*{exercise.level}, {exercise.minutes} minutes, checked without a GPU*\n\n"
            f"{exercise.statement}\n\n"
            "Change the next cell, run it, and then the one below it, which checks your answer. "
            f"Neither needs the cells above. On the command line:\n\n```\n{commands}\n```",
        ),
        Piece("code", exercise.start.strip("\n")),
        # A notebook shows the value of the last line, with drawings; a script has to print it.
        Piece("code", f"{imported}\n{call}", script=f"{imported}\nprint({call})"),
        Piece("markdown", "\n\n".join(folded)),
    ]


class _PageCells:
    """The cells of one page's script, in their order."""

    def __init__(self, site: Site, page: Page, url: str, *, solutions: bool) -> None:
        self._site = site
        self._solutions = solutions
        self._recording = site.state(page.name).shown
        self._words = Words(site, page.docname, url)
        self._cells = read_cells(page.script(site.layout))
        self._kernels = f"gpuguide.topics.{page.topic}.kernels"
        # Full names of what cells so far show of topics, and names of the functions that the page writes out.
        self._defined: set[str] = set()
        # What the page's own cells mean by a name.
        self._own: dict[str, str] = {}
        for cell in self._cells:
            self._own |= _meanings(cell)

    def pieces(self) -> Iterator[Piece]:
        for cell, below in zip(self._cells, [*self._cells[1:], None], strict=True):
            if cell.kind == "text":
                yield from self._text(cell.content, below)
            elif cell.kind != "comment" and not cell.is_thumbnail:
                yield Piece("code", self._without_defined(_code(cell)).strip("\n"))
                functions = (n.name for n in ast.parse(cell.content).body if isinstance(n, ast.FunctionDef))
                self._defined |= {*functions}
        yield Piece("markdown", self._your_own())

    def _text(self, text: str, below: Cell | None = None) -> Iterator[Piece]:
        for part in blocks(text):
            if isinstance(part, str):
                yield Piece("markdown", self._words.markdown(part))
            elif part.name == "kernel":
                names = names_option(part.options["names"]) if "names" in part.options else []
                yield self._definitions(part.title, names, part.options.get("fold", ""))
            elif part.name == "rung":
                yield from self._rung(part.title, below)
            elif part.name == "exercise":
                yield from exercise_cells(part.title, solutions=self._solutions)
            elif part.name == "headline":
                title = self._words.markdown(" ".join(f"{part.title}\n{part.content}".split()))
                yield Piece("markdown", f"**{title}**")
            elif part.name in ("drawn", "choices"):
                # Their code may stand above the cell that makes what it draws.
                continue
            elif part.name == "dropdown":
                yield Piece("markdown", part.title and f"**{self._words.markdown(part.title)}**")
                yield from self._text(part.content)
            else:
                yield Piece("markdown", self._block(part))

    def _block(self, block: Block) -> str:
        title = self._words.markdown(block.title)
        match block.name:
            case "list-table" | "csv-table":
                rows = [[self._words.markdown(cell) for cell in row] for row in table_rows(block)]
                table = markdown_table(rows)
                return f"*{title}*\n\n{table}" if title else table
            case "code-block":
                code = f"```{block.title}\n{block.content}\n```"
                return f"{block.options['caption']}:\n\n{code}" if "caption" in block.options else code
            case "drawing":
                title = "Drawing"
            case "note" | "tip" | "hint" | "important" | "warning":
                block = Block(block.name, "", {}, f"{block.title}\n{block.content}".strip())
                title = block.name.capitalize()
        if not block.content:
            return ""
        inside = "\n\n".join(piece.text for piece in joined(self._text(block.content)))
        return quoted(f"**{title or block.name.replace('-', ' ').capitalize()}.** {inside}")

    def _ladder(self, results: Results) -> Ladder:
        """Give the rungs of a study that the page has."""
        known = {info.name for info in results.variants}
        rungs = {block.title: (block, below) for block, below in self._blocks("rung") if block.title in known}
        beside = [
            name
            for name, (block, below) in rungs.items()
            if "beside" in block.options or (below and below.is_wrong)
        ]
        return ladder_of(results, [*rungs], beside)

    def _blocks(self, name: str) -> Iterator[tuple[Block, Cell | None]]:
        for cell, below in zip(self._cells, [*self._cells[1:], None], strict=True):
            parts = blocks(cell.content) if cell.kind == "text" else ()
            yield from ((part, below) for part in parts if isinstance(part, Block) and part.name == name)

    def _strip(self, ladder: Ladder, name: str) -> str:
        """Write what was measured of a rung."""
        results, words = ladder.results, self._words
        time, gain, share = ladder.time(name), ladder.gain(name), ladder.share(name)
        parts = []
        if time:
            parts.append(f"{words.number(time.key)} for {size_words(time.size)} {results.size_name}")
        if gain:
            parts.append(f"{words.number(gain.key)} over {results.variant(ladder.above(name)).label}")
        if share:
            parts.append(f"{share[0]}: {words.number(share[1].key)}")
        return f"*Measured: {'; '.join(parts)}.*" if parts else ""

    def _rung(self, name: str, below: Cell | None) -> Iterator[Piece]:
        """Show a kernel, with what it reads and no cell has shown, unless the cell below defines it."""
        if self._recording:
            ladder = self._ladder(study_of(self._recording, name))
            yield Piece("markdown", self._strip(ladder, name))
        path = self._site.layout.source.joinpath(*self._kernels.split(".")).with_suffix(".py")
        source = self._source(self._kernels) if path.is_file() else None
        if source and name in source.names and f"def {name}(" not in (below.content if below else ""):
            read = source.with_read(name)
            new = [each for each in read if each == name or not self._is_defined(self._kernels, each)]
            yield self._definitions(self._kernels, new)

    def _is_defined(self, module: str | None, name: str) -> bool:
        return bool(self._defined & {name, f"{module}.{name}"})

    def _source(self, module: str) -> ModuleSource:
        return ModuleSource(self._site.layout.source, module)

    def _definitions(self, module: str, names: list[str], title: str = "") -> Piece:
        """Make a cell of definitions; only text if the page uses one of their names otherwise, or again."""
        source = self._source(module)
        names = names or list(source.names)
        names = [*(name for name in source.private_constants(names) if name not in names), *names]
        code = shown_source(source, names)
        head = self._without_defined("\n".join(source.needed(names)))
        paths = {name: f"{module}.{name}" for name in names}
        meant = _imported(ast.parse(head)) | paths
        is_taken = any(self._own.get(name, path) != path for name, path in meant.items())
        if is_taken or any(self._is_defined(module, name) for name in names):
            shown = f"```python\n{code}\n```"
            return Piece("markdown", f"**{title}**\n\n{shown}" if title else shown)
        self._defined |= set(paths.values())
        cell = "\n\n\n".join(filter(None, (head, code)))
        return Piece("code", f"# {title}\n{cell}" if title else cell)

    def _without_defined(self, code: str) -> str:
        """Keep a cell from importing what a cell above defines, perhaps as its reader edited it."""
        lines = code.split("\n")
        for node in reversed(ast.parse(code).body):
            if isinstance(node, ast.ImportFrom):
                kept = [each for each in node.names if not self._is_defined(node.module, each.name)]
                if len(kept) < len(node.names):
                    line = [ast.unparse(ast.ImportFrom(node.module, kept, 0))] if kept else []
                    lines[node.lineno - 1 : node.end_lineno] = line
        return "\n".join(lines)

    def _your_own(self) -> str:
        """Say how a reader's own version is timed by the page's first study."""
        calls = (_STUDY.search(cell.content) for cell in self._cells if cell.kind == "recorded")
        study = next((call[1] for call in calls if call), "")
        return _YOUR_OWN.format(study) if study else ""


def _imported(tree: ast.AST) -> dict[str, str]:
    """Give the full name behind each name that is imported from a module."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {each.asname or each.name: f"{node.module}.{each.name}" for node in nodes for each in node.names}


def _meanings(cell: Cell) -> dict[str, str]:
    """Give what a cell means by the names that it imports and assigns."""
    tree = ast.parse(cell.content if cell.is_code else "")
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {name.id: "" for name in names if isinstance(name.ctx, ast.Store)} | _imported(tree)


def _code(cell: Cell) -> str:
    if cell.place != "open":
        return f"# wrong: {cell.title}\n{cell.body}" if cell.is_wrong else f"# {cell.title}\n{cell.body}"
    if cell.kind != "drawn":
        return cell.content
    lines = [line for line in cell.content.splitlines() if not line.strip().startswith("# draw")]
    code = "\n".join(lines).strip("\n")
    title = [f"# {cell.title}"] if cell.title else []
    used = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
    return "\n".join([*title, *(text for name, text in _PRESET.items() if name in used), code])
