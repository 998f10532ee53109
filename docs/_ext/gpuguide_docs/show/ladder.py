"""Directive ``rung``: a kernel with the cell that launches it, and a strip of what was measured of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import ArgumentError, GpuGuideError, unknown
from gpuguide.results.units import REGIONS, size_words
from gpuguide_docs.show.cells import cell_node
from gpuguide_docs.show.kernel import ModuleSource, functions_in, imports_and_rest, kernel_block
from gpuguide_docs.show.numbers import measured_number, unmeasured_number
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from gpuguide.recordings.recording import Recording
    from gpuguide.results.results import Results
    from gpuguide.results.starts import Quantity
    from gpuguide_docs.pages.pages_toml import Page

__all__ = [
    "Cell",
    "Ladder",
    "LadderParts",
    "RungDirective",
    "ladder_of",
    "strip_cell",
    "strip_node",
    "study_of",
]

# A share of the arithmetic units below this says nothing.
_TELLING = 0.1
_UNITS = {
    "fp32": "the FP32 units",
    "fp64": "the ordinary FP64 units",
    "fp64_tensor": "the FP64 tensor cores",
    "tf32": "the TF32 tensor cores",
    "fp16_tensor": "the FP16 tensor cores",
    "bf16_tensor": "the BF16 tensor cores",
}


@dataclass(frozen=True)
class Cell:
    """A number of a study: what the role ``measured`` would be given, and the size that it is of."""

    key: str
    size: int


@dataclass(frozen=True)
class Ladder:
    """A study's rungs on one clock, each above the next, in the study's order."""

    results: Results
    rungs: tuple[str, ...]

    def above(self, name: str) -> str:
        """Return the rung above; empty for the first one and for what stands beside."""
        at = self.rungs.index(name) if name in self.rungs else 0
        return self.rungs[at - 1] if at else ""

    def time(self, name: str) -> Cell | None:
        """Return the time at the largest size that a rung reaches."""
        return next(filter(None, (self._cell(name, size, "time") for size in self.results.sizes[::-1])), None)

    def gain(self, name: str) -> Cell | None:
        """Return the gain over the rung above, at the largest size that both reach."""
        above = self.above(name)
        cells = (self._cell(name, size, "speedup", above) for size in self.results.sizes[::-1] if above)
        return next(filter(None, cells), None)

    def share(self, name: str) -> tuple[str, Cell] | None:
        """Return the larger share of what memory or arithmetic can do, where the time stands."""
        if (time := self.time(name)) is None:
            return None
        values = {quantity: self._value(name, time.size, quantity) for quantity in ("share", "flop_share")}
        shares = {quantity: value.value for quantity, value in values.items() if value}
        quantity = max(shares, key=shares.__getitem__, default="")
        traffic = self.results.measurement(name, time.size).traffic
        # If memory or the launch decides, the share of the arithmetic units is close to zero.
        if not traffic or not quantity or (quantity == "flop_share" and shares[quantity] < _TELLING):
            return None
        units = f"what {_UNITS.get(traffic.unit, traffic.unit)} can do"
        words = f"share of {'the peak memory speed' if quantity == 'share' else units}"
        return words, Cell(self._key(name, time.size, quantity), time.size)

    def _value(self, name: str, size: int, quantity: str, of: str = "") -> Quantity | None:
        try:
            return self.results.quantity(name, size, quantity, of or None)
        except ArgumentError:
            return None

    def _cell(self, name: str, size: int, quantity: str, of: str = "") -> Cell | None:
        if self._value(name, size, quantity, of) is None:
            return None
        return Cell(self._key(name, size, quantity) + (f"({of})" if of else ""), size)

    def _key(self, name: str, size: int, quantity: str) -> str:
        return f"{self.results.name}[{name}, {size}].{quantity}"


def study_of(recording: Recording, name: str) -> Results:
    """Find the first study that has a variant of this name."""
    studies = list(recording.studies.values())
    owners = {info.name: study for study in reversed(studies) for info in study.variants}
    if name not in owners:
        raise unknown("variant", name, owners)
    return owners[name]


def ladder_of(results: Results, rungs: Sequence[str], beside: Iterable[str] = ()) -> Ladder:
    """Build the ladder of a page; what stands beside it, or shows a mistake, is no step."""
    infos = {name: results.variant(name) for name in rungs}
    order = [info.name for info in results.variants]
    steps = sorted({*rungs} - {*beside}, key=order.index)
    clocks = Counter(infos[name].clock for name in steps)
    # If two clocks have equally many rungs, that of the later ones.
    clock = max(reversed([infos[name].clock for name in steps]), key=clocks.__getitem__, default="")
    return Ladder(results, tuple(name for name in steps if infos[name].clock == clock))


# Directives and what they show ------------------------------------------------------------------------------


class strip_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """What was measured of a rung (attribute ``strip``, its name), as cells."""


class strip_cell(nodes.General, nodes.TextElement):  # noqa: N801
    """One cell of a strip: attributes ``kind`` and ``title``."""


class RungDirective(SphinxDirective):
    """``.. rung:: NAME`` shows a kernel with the cell below that launches it, and what was measured of it."""

    required_arguments = 1
    option_spec: ClassVar = {"beside": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Mark the place; the transform fills it."""
        name = self.arguments[0]
        rung = nodes.container("", classes=["gg-rung"], ids=[f"rung-{name.replace('_', '-')}"])
        rung["rung"], rung["beside"] = name, "beside" in self.options
        self.set_source_info(rung)
        return [rung]


@dataclass(frozen=True)
class _Shown:
    """A ladder with the recording that it is read from."""

    ladder: Ladder
    recording: Recording
    env: BuildEnvironment

    def number(self, cell: Cell) -> nodes.Node:
        return measured_number(self.env, cell.key, self.recording)

    def label(self, name: str) -> str:
        return self.ladder.results.variant(name).label

    def size(self, cell: Cell) -> str:
        return f"{size_words(cell.size)} {self.ladder.results.size_name}"


class LadderParts(SphinxTransform):
    """Fills the rungs of a page, once all of it is read."""

    default_priority = 395  # before the byline looks where the answer ends

    def apply(self, **_kwargs: object) -> None:
        """Put kernel, launch and strip into each rung."""
        rungs = [place for place in self.document.findall(nodes.container) if "rung" in place]
        site = site_of(self.env)
        page = site.page_of(self.env.docname)
        if not rungs or page is None or page.format != "script":
            return
        for rung in rungs:
            cell = _cell_below(rung)
            rung["beside"] |= cell is not None and cell["wrong"]
        seen: set[str] = set()
        defined: set[str] = set()
        for rung in rungs:
            self._tried(rung, partial(self._put_code, page, rung, seen, defined))
        state = site.state(page.name, self.env)
        recording = site.recording(state)
        for rung in rungs:
            if recording is None:
                number = unmeasured_number(self.env, rung["rung"], state)
                time = strip_cell("", "", number, kind="time", title="time")
                rung.append(strip_node("", time, classes=["gg-strip"], strip=rung["rung"]))
            else:
                self._tried(rung, partial(self._fill_strip, rung, rungs, recording))

    def _tried(self, rung: nodes.Element, do: Callable[[], object]) -> None:
        """Fill a place, or report an error that the next build finds again."""
        try:
            do()
        except GpuGuideError as error:
            self.env.note_reread()
            rung += self.document.reporter.error(f"rung {rung['rung']!r}: {error}", base_node=rung)

    def _put_code(self, page: Page, rung: nodes.Element, seen: set[str], defined: set[str]) -> None:
        """Put the kernel above the cell that launches it, with what it reads and no rung above has shown."""
        name = rung["rung"]
        if name in seen:
            raise ArgumentError(f"occurs more than once on page {page.name!r}. A rung has one place.")
        seen.add(name)
        cell = _cell_below(rung)
        if cell is not None:
            cell.parent.remove(cell)
        own = {function for code in _code_in(cell) for function in functions_in(code)}
        layout, kernels = site_of(self.env).layout, f"gpuguide.topics.{page.topic}.kernels"
        path = layout.source.joinpath(*kernels.split(".")).with_suffix(".py")
        if name not in own and path.is_file():
            source = ModuleSource(layout.source, kernels)
            self.env.note_dependency(str(path))
            if name in source.names:
                names = [part for part in source.with_read(name) if part == name or part not in defined]
                defined.update(names)
                block = kernel_block(source, names, _imports_cut(cell))
                block.source, block.line = rung.source, rung.line
                rung += block
        defined.update(own)
        if cell is not None:
            rung += nodes.container("", cell, classes=["gg-rung-cell"])

    def _fill_strip(self, rung: nodes.Element, rungs: Sequence[nodes.Element], recording: Recording) -> None:
        """Put what was measured under a rung's code."""
        results = study_of(recording, rung["rung"])
        own = [place for place in rungs if place["rung"] in {info.name for info in results.variants}]
        beside = [place["rung"] for place in own if place["beside"]]
        ladder = ladder_of(results, [place["rung"] for place in own], beside)
        rung += _strip(_Shown(ladder, recording, self.env), rung["rung"])


def _code_in(cell: cell_node | None) -> Iterator[str]:
    return (block.astext() for block in cell.findall(nodes.literal_block)) if cell is not None else iter(())


def _imports_cut(cell: cell_node | None) -> str:
    """Take the imports away with which a cell begins: the kernel above it may need them."""
    code = cell[0] if cell is not None else None
    if not isinstance(code, nodes.literal_block):
        return ""
    imports, rest = imports_and_rest(code.astext())
    if imports and rest:
        code.rawsource, code.children = rest, []
        code += nodes.Text(rest)
        return imports
    return ""


def _cell_below(rung: nodes.Element) -> cell_node | None:
    """Give the cell that begins right below a rung."""
    siblings = rung.parent.children
    below = (node for node in siblings[siblings.index(rung) + 1 :] if not isinstance(node, nodes.comment))
    cell = next(below, None)
    return cell if isinstance(cell, cell_node) else None


def _strip(shown: _Shown, name: str) -> strip_node:
    ladder = shown.ladder
    clock = REGIONS[ladder.results.variant(name).clock].sentence
    time, gain, share = ladder.time(name), ladder.gain(name), ladder.share(name)
    value, size = (shown.number(time), shown.size(time)) if time else (nodes.Text("–"), "at no size")
    cells = [_strip_cell("time", clock, [value], [nodes.Text(size)])]
    if gain:
        over = f"over {shown.label(ladder.above(name))}"
        over += "" if time and gain.size == time.size else f", {shown.size(gain)}"
        cells.append(_strip_cell("gain", "gain", [shown.number(gain)], [nodes.Text(over)]))
    if share:
        words, cell = share
        cells.append(_strip_cell("work", words, [shown.number(cell)], []))
    return strip_node("", *cells, classes=["gg-strip"], strip=name)


def _strip_cell(kind: str, title: str, value: list[nodes.Node], small: list[nodes.Node]) -> strip_cell:
    below = [nodes.Text(" "), nodes.inline("", "", *small, classes=["gg-small"])] if small else []
    return strip_cell("", "", *value, *below, kind=kind, title=title)


def _visit_strip(writer: Any, node: strip_node) -> None:
    writer.body.append(writer.starttag(node, "dl"))


def _depart_strip(writer: Any, _node: strip_node) -> None:
    writer.body.append("</dl>\n")


def _visit_cell(writer: Any, node: strip_cell) -> None:
    writer.body.append(writer.starttag(node, "div", "", CLASS=f"gg-strip-{node['kind']}"))
    writer.body.append(f"<dt>{writer.encode(node['title'])}</dt><dd>")


def _depart_cell(writer: Any, _node: strip_cell) -> None:
    writer.body.append("</dd></div>\n")


def setup(app: Sphinx) -> None:
    """Register directives, nodes and the transform."""
    app.add_node(strip_node, html=(_visit_strip, _depart_strip))
    app.add_node(strip_cell, html=(_visit_cell, _depart_cell))
    app.add_directive("rung", RungDirective)
    app.add_transform(LadderParts)
