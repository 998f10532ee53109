"""A ladder: directive ``rungs``, the table of a study's rungs, and ``rung``, one of them with its strip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import ArgumentError, GpuGuideError, unknown
from gpuguide.results.counters import COUNTERS
from gpuguide.results.units import REGIONS, format_quantity, size_words
from gpuguide_docs.show.cells import cell_node
from gpuguide_docs.show.kernel import (
    ModuleSource,
    functions_in,
    imports_and_rest,
    kernel_block,
    names_option,
)
from gpuguide_docs.show.numbers import (
    NOT_COUNTED,
    measured_number,
    not_measured,
    parse_size,
    unmeasured_number,
)
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from gpuguide.recordings.recording import Recording
    from gpuguide.results.results import Results
    from gpuguide.results.starts import Quantity
    from gpuguide_docs.pages.pages_toml import Page
    from gpuguide_docs.replay.states import PageState

__all__ = [
    "MOST_ROWS",
    "Cell",
    "Done",
    "Ladder",
    "LadderParts",
    "RungDirective",
    "RungsDirective",
    "ladder_of",
    "strip_cell",
    "strip_node",
]

#: With more rows the table would not stay on the first screen of a phone.
MOST_ROWS = 9
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
class Done:
    """What a rung does, in words, with its numbers and the same numbers of the rung above."""

    words: str
    cells: tuple[Cell, ...]
    before: tuple[Cell, ...]
    share: Cell | None = None
    counts: str = ""


@dataclass(frozen=True)
class Ladder:
    """Rungs on one clock, each above the next, and rows beside them; all in the study's order."""

    results: Results
    clock: str
    rungs: tuple[str, ...]
    beside: tuple[str, ...]
    wrong: frozenset[str]
    sizes: tuple[int, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """Rungs and what stands beside them."""
        return tuple(info.name for info in self.results.variants if info.name in {*self.rungs, *self.beside})

    def above(self, name: str) -> str:
        """Return the rung above; empty for the first one and for what stands beside."""
        at = self.rungs.index(name) if name in self.rungs else 0
        return self.rungs[at - 1] if at else ""

    def time(self, name: str, size: int) -> Cell | None:
        """Return the time of a row; None where it does not reach the size."""
        return self._cell(name, size, "time")

    def last_time(self, name: str) -> Cell | None:
        """Return the time at the largest listed size that a row reaches."""
        return next(filter(None, (self.time(name, size) for size in self.sizes[::-1])), None)

    def gain(self, name: str) -> Cell | None:
        """Return the gain over the rung above, at the largest listed size that both reach."""
        above = self.above(name)
        cells = (self._cell(name, size, "speedup", above) for size in self.sizes[::-1] if above)
        return next(filter(None, cells), None)

    def done(self, name: str) -> Done | None:
        """Return declared work, else the larger share of a ceiling or a rate, where the last time stands."""
        last, above = self.last_time(name), self.above(name)
        if last is None:
            return None
        size = last.size
        declared = [work.name for work in self.results.declared_work(name, size)]
        if declared:
            # Only work that the rung above counts as well can be compared.
            theirs = {work.name for work in self.results.declared_work(above, size)} if above else set()
            work = next((work for work in declared if work in theirs), declared[0])
            return Done(
                work.replace("_", " "),
                self._cells(name, size, ("work", "rate"), work),
                self._cells(above, size, ("work", "rate"), work) if work in theirs else (),
                self._cell(name, size, "share", work=work),
                work,
            )
        moved = self._moved(name, size)
        if moved is None:
            return None
        words, quantity = moved
        before = self._cells(above, size, (quantity,)) if above else ()
        if quantity == "flop_share" and before and self._unit(above, size) != self._unit(name, size):
            before = ()  # a share of other units is no value before
        return Done(words, self._cells(name, size, (quantity,)), before)

    @cached_property
    def best(self) -> frozenset[tuple[str, int]]:
        """The fastest rung at each size, and those whose times look the same as its time."""
        fastest = set()
        for size in self.sizes:
            times = {name: time for name in self.rungs if (time := self._value(name, size, "time"))}
            if len(times) > 1:
                shown = str(min(times.values(), key=lambda time: time.value))
                fastest |= {(name, size) for name, time in times.items() if str(time) == shown}
        return frozenset(fastest)

    def _value(self, name: str, size: int, quantity: str, of: str = "", work: str = "") -> Quantity | None:
        try:
            return self.results.quantity(name, size, quantity, of or None, work=work or None)
        except ArgumentError:
            return None

    def _cell(self, name: str, size: int, quantity: str, of: str = "", work: str = "") -> Cell | None:
        if self._value(name, size, quantity, of, work) is None:
            return None
        brackets = f"({of or work})" if of or work else ""
        return Cell(f"{self.results.name}[{name}, {size}].{quantity}{brackets}", size)

    def _cells(self, name: str, size: int, quantities: Iterable[str], work: str = "") -> tuple[Cell, ...]:
        return tuple(filter(None, (self._cell(name, size, quantity, work=work) for quantity in quantities)))

    def _unit(self, name: str, size: int) -> str:
        traffic = self.results.measurement(name, size).traffic
        return traffic.unit if traffic else ""

    def _moved(self, name: str, size: int) -> tuple[str, str] | None:
        traffic = self.results.measurement(name, size).traffic
        if traffic is None:
            return None
        share, flop_share = (self._value(name, size, quantity) for quantity in ("share", "flop_share"))
        # If memory or the launch decides, the share of the arithmetic units is close to zero.
        if flop_share and flop_share.value >= max(_TELLING * (share is None), share.value if share else 0):
            return f"share of what {_UNITS.get(traffic.unit, traffic.unit)} can do", "flop_share"
        if share:
            return "share of the peak memory speed", "share"
        if self._value(name, size, "rate"):
            return f"rate, {format_quantity(traffic.bytes_total, 'B')} moved", "rate"
        if self._value(name, size, "flop_rate"):
            return f"rate, {format_quantity(traffic.flops, '1')} operations", "flop_rate"
        return None


def ladder_of(
    results: Results,
    rungs: Sequence[str],
    beside: Sequence[str] = (),
    wrong: Iterable[str] = (),
    sizes: Sequence[int] = (),
) -> Ladder:
    """Build the ladder of a page."""
    infos = {name: results.variant(name) for name in (*rungs, *beside)}
    for size in sizes:
        results.measurement(results.variants[0].name, size)
    order = [info.name for info in results.variants]
    right = sorted({*rungs} - {*wrong} - {*beside}, key=order.index)
    clocks = Counter(infos[name].clock for name in right)
    # If two clocks have equally many rungs, that of the later ones.
    clock = max(reversed([infos[name].clock for name in right]), key=clocks.__getitem__, default="")
    numbered = tuple(name for name in right if infos[name].clock == clock)
    others = tuple(sorted(set(infos) - {*numbered}, key=order.index))
    ladder = Ladder(results, clock, numbered, others, frozenset(wrong), tuple(sorted(sizes or results.sizes)))
    if len(sizes) > 3:
        raise ArgumentError(f"A table of rungs lists one to three sizes; got {len(sizes)}.")
    if len(ladder.rows) > MOST_ROWS:
        raise ArgumentError(
            f"A table of rungs has at most {MOST_ROWS} rows; got {len(ladder.rows)}: "
            f"{', '.join(ladder.rows)}. Remove some from :beside:."
        )
    return ladder


# Directives and what they show ------------------------------------------------------------------------------


class strip_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """What was measured of a rung (attribute ``strip``, its name), as cells."""


class strip_cell(nodes.General, nodes.TextElement):  # noqa: N801
    """One cell of a strip: attributes ``kind`` and ``title``."""


def _sizes_option(text: str | None) -> list[int]:
    try:
        return [parse_size(size) for size in (text or "").split(",")]
    except ArgumentError as error:
        raise ValueError(str(error)) from None


def _counter_option(text: str | None) -> str:
    name = (text or "").strip()
    if name not in COUNTERS:
        raise ValueError(str(unknown("counter", name, COUNTERS)))
    return name


class RungsDirective(SphinxDirective):
    """``.. rungs:: STUDY`` with ``:at:`` and ``:beside:`` is the table of a page's rungs."""

    required_arguments = 1
    option_spec: ClassVar = {"at": _sizes_option, "beside": names_option}

    def run(self) -> list[nodes.Node]:
        """Mark the place; the transform fills it when it knows the rungs."""
        if "at" not in self.options:
            raise self.error("rungs: list one to three sizes, as in :at: 10**4, 10**6")
        table = nodes.container()
        table["rungs"], table["at"] = self.arguments[0], self.options["at"]
        table["beside"] = self.options.get("beside", [])
        self.set_source_info(table)
        return [table]


class RungDirective(SphinxDirective):
    """``.. rung:: NAME`` shows a kernel with the cell below that launches it, and what was measured of it."""

    required_arguments = 1
    option_spec: ClassVar = {"beside": directives.flag, "counter": _counter_option}

    def run(self) -> list[nodes.Node]:
        """Mark the place; the transform fills it."""
        name = self.arguments[0]
        rung = nodes.container("", classes=["gg-rung"], ids=[f"rung-{name.replace('_', '-')}"])
        rung["rung"], rung["wrong"] = name, False
        rung["beside"] = "beside" in self.options
        rung["counter"] = self.options.get("counter", "")
        self.set_source_info(rung)
        return [rung]


@dataclass(frozen=True)
class _Shown:
    """A ladder with the recording that it is read from."""

    ladder: Ladder
    recording: Recording
    env: BuildEnvironment

    def number(self, cell: Cell, *, short: bool = False) -> nodes.Node:
        return measured_number(self.env, cell.key, self.recording, short=short)

    def numbers(self, cells: Sequence[Cell]) -> list[nodes.Node]:
        """Show a count and its rate; what is counted stands beside them."""
        shown: list[nodes.Node] = []
        for cell in cells:
            shown += [nodes.Text(" at ")] if shown else []
            shown.append(self.number(cell, short=True))
        return shown

    def label(self, name: str) -> str:
        return self.ladder.results.variant(name).label

    def size(self, cell: Cell) -> str:
        return f"{size_words(cell.size)} {self.ladder.results.size_name}"


class LadderParts(SphinxTransform):
    """Fills tables and rungs of a page, once all of it is read."""

    default_priority = 395  # before the byline looks where the answer ends

    def apply(self, **_kwargs: object) -> None:
        """Put kernel, launch and strip into each rung, and the rows into each table."""
        places = list(self.document.findall(nodes.container))
        rungs = [place for place in places if "rung" in place]
        tables = [place for place in places if "rungs" in place]
        site = site_of(self.env)
        page = site.page_of(self.env.docname)
        if not (rungs or tables) or page is None or page.format != "script":
            return
        for rung in rungs:
            cell = _cell_below(rung)
            rung["wrong"] = cell is not None and cell["wrong"]
        seen: set[str] = set()
        defined: set[str] = set()
        for rung in rungs:
            self._tried(rung, partial(self._put_code, page, rung, seen, defined))
        state = site.state(page.name, self.env)
        recording = site.recording(state)
        if recording is None:
            self._wait(state, tables, rungs)
            return
        ladders: list[_Shown] = []
        for table in tables:
            self._tried(table, partial(self._fill_table, table, rungs, recording, ladders))
        for rung in rungs:
            self._tried(rung, partial(self._fill_strip, rung, rungs, recording, ladders))

    def _tried(self, place: nodes.Element, do: Callable[[], object]) -> None:
        """Fill a place, or report an error that the next build finds again."""
        try:
            do()
        except GpuGuideError as error:
            self.env.note_reread()
            name = f"rungs {place['rungs']!r}" if "rungs" in place else f"rung {place['rung']!r}"
            place += self.document.reporter.error(f"{name}: {error}", base_node=place)

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

    def _wait(
        self, state: PageState, tables: Sequence[nodes.Element], rungs: Sequence[nodes.Element]
    ) -> None:
        """Say that nothing has been measured yet, and why."""
        for table in tables:
            table.append(nodes.paragraph("", "", *not_measured(state), classes=["gg-placeholder"]))
        for rung in rungs:
            number = unmeasured_number(self.env, rung["rung"], state)
            time = strip_cell("", "", number, kind="time", title="time")
            rung.append(strip_node("", time, classes=["gg-strip"], strip=rung["rung"]))

    def _ladder(
        self, results: Results, rungs: Sequence[nodes.Element], recording: Recording, table: Any = None
    ) -> _Shown:
        own = [rung for rung in rungs if rung["rung"] in {info.name for info in results.variants}]
        ladder = ladder_of(
            results,
            [rung["rung"] for rung in own],
            [*(table["beside"] if table else ()), *(rung["rung"] for rung in own if rung["beside"])],
            [rung["rung"] for rung in own if rung["wrong"]],
            table["at"] if table else (),
        )
        return _Shown(ladder, recording, self.env)

    def _fill_table(
        self,
        place: nodes.Element,
        rungs: Sequence[nodes.Element],
        recording: Recording,
        ladders: list[_Shown],
    ) -> None:
        """Fill a table, and add its ladder to those whose rungs get strips."""
        if place["rungs"] not in recording.studies:
            raise unknown("study", place["rungs"], recording.studies)
        shown = self._ladder(recording.studies[place["rungs"]], rungs, recording, place)
        if not shown.ladder.rungs:
            raise ArgumentError("no rung of this study is on the page. Write .. rung:: NAME above a cell.")
        place += [_table(shown, _targets(rungs)), _note(shown.ladder)]
        _number_headings(shown.ladder, rungs)
        ladders.append(shown)

    def _fill_strip(
        self,
        rung: nodes.Element,
        rungs: Sequence[nodes.Element],
        recording: Recording,
        ladders: Sequence[_Shown],
    ) -> None:
        """Put what was measured under a rung's code."""
        name = rung["rung"]
        shown = next((shown for shown in ladders if name in shown.ladder.rows), None)
        if shown is None:
            studies = list(recording.studies.values())
            owner = {info.name: study for study in reversed(studies) for info in study.variants}
            if name not in owner:
                raise unknown("variant", name, owner)
            shown = self._ladder(owner[name], rungs, recording)
        rung += _strip(shown, name, rung["counter"])
        done = shown.ladder.done(name)
        rung["counts"] = done.counts if done else ""  # evidence leads here where no code counts it


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


def _targets(rungs: Sequence[nodes.Element]) -> dict[str, str]:
    """Give the place that each row leads to: the section of which it is the first rung, else the rung."""
    targets: dict[str, str] = {}
    for rung in rungs:
        section = _section(rung)
        own = section["ids"][0] if section is not None and section["ids"] else ""
        targets[rung["rung"]] = rung["ids"][0] if not own or own in targets.values() else own
    return targets


def _number_headings(ladder: Ladder, rungs: Sequence[nodes.Element]) -> None:
    """Put the numbers of a section's rungs before its heading, so that a row is found again."""
    numbers: dict[nodes.Element, list[int]] = {}
    for rung in rungs:
        section = _section(rung)
        if section is not None and rung["rung"] in ladder.rungs:
            numbers.setdefault(section, []).append(ladder.rungs.index(rung["rung"]) + 1)
    for section, own in numbers.items():
        title = section.next_node(nodes.title)
        if title is not None and title.parent is section:
            said = ", ".join(str(number) for number in sorted(own))
            title.insert(0, [nodes.inline("", said, classes=["gg-no"]), nodes.Text(" ")])


def _section(rung: nodes.Element) -> nodes.Element | None:
    """Give the section that a rung stands in; None where that is the whole page."""
    section = rung.parent
    while section is not None and not isinstance(section, nodes.section):
        section = section.parent
    return section if section is not None and isinstance(section.parent, nodes.section) else None


def _table(shown: _Shown, targets: dict[str, str]) -> nodes.table:
    ladder = shown.ladder
    head = [ladder.results.size_name, *(size_words(size) for size in ladder.sizes), "gain"]
    body = []
    for name in ladder.rows:
        times = [_shown_or(shown, ladder.time(name, size), "–") for size in ladder.sizes]
        row = _row([_name(shown, name, targets), *times, _shown_or(shown, ladder.gain(name), "")])
        row["classes"] += [] if name in ladder.rungs else ["gg-beside"]
        for entry, size in zip(list(row.findall(nodes.entry))[1:], ladder.sizes, strict=False):
            entry["classes"] += ["gg-best"] if (name, size) in ladder.best else []
        body.append(row)
    table = _table_of(head, body, classes=["gg-rungs"])
    next(table.findall(nodes.colspec))["stub"] = 1
    return table


def _table_of(head: Sequence[str], rows: Sequence[nodes.row], **attributes: Any) -> nodes.table:
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += nodes.thead("", _row([[nodes.Text(words)] for words in head]))
    group += nodes.tbody("", *rows)
    return nodes.table("", group, **attributes)


def _row(cells: Sequence[Sequence[nodes.Node]]) -> nodes.row:
    entries = (nodes.entry("", *([nodes.paragraph("", "", *cell)] if cell else [])) for cell in cells)
    return nodes.row("", *entries)


def _shown_or(shown: _Shown, cell: Cell | None, otherwise: str) -> list[nodes.Node]:
    if cell is not None:
        return [shown.number(cell)]
    return [nodes.Text(otherwise)] if otherwise else []


def _name(shown: _Shown, name: str, targets: dict[str, str]) -> list[nodes.Node]:
    ladder, label = shown.ladder, shown.label(name)
    number = str(ladder.rungs.index(name) + 1) if name in ladder.rungs else ""
    linked: nodes.Node = nodes.Text(label)
    if name in targets:
        linked = nodes.reference("", label, refid=targets[name], internal=True)
    clock = ladder.results.variant(name).clock
    remarks = ["a mistake on purpose"] if name in ladder.wrong else []
    region = REGIONS[clock].column
    remarks += [region] if clock != ladder.clock and region not in label else []
    after = [nodes.Text(f", {', '.join(remarks)}")] if remarks else []
    return [nodes.inline("", number, classes=["gg-no"]), nodes.Text(" "), linked, *after]


def _note(ladder: Ladder) -> nodes.paragraph:
    """Say what the columns hold."""
    clock = REGIONS[ladder.clock].sentence
    other = any(ladder.results.variant(name).clock != ladder.clock for name in ladder.rows)
    words = f"{clock[0].upper()}{clock[1:]}{', unless the row names another clock' if other else ''}. "
    if len(ladder.rungs) > 1:
        most = "at the largest of these sizes that both reach" if len(ladder.sizes) > 1 else "at this size"
        words += f"Gain over the step above, {most}. "
    if ladder.best:
        words += "Bold: the fastest step."
    return nodes.paragraph("", words.strip(), classes=["gg-rungs-note"])


def _strip(shown: _Shown, name: str, counter: str) -> strip_node:
    ladder = shown.ladder
    clock = REGIONS[ladder.results.variant(name).clock].sentence
    time, gain, done = ladder.last_time(name), ladder.gain(name), ladder.done(name)
    value, size = (shown.number(time), shown.size(time)) if time else (nodes.Text("–"), "at no listed size")
    cells = [_strip_cell("time", clock, [value], [nodes.Text(size)])]
    if gain:
        over = f"over {shown.label(ladder.above(name))}"
        over += "" if time and gain.size == time.size else f", {shown.size(gain)}"
        cells.append(_strip_cell("gain", "gain", [shown.number(gain)], [nodes.Text(over)]))
    if done:
        small = [shown.number(done.share), nodes.Text(" of the peak")] if done.share else []
        if done.before:
            small += [nodes.Text("; before: " if small else "before: "), *shown.numbers(done.before)]
        cells.append(_strip_cell("work", done.words, shown.numbers(done.cells), small))
    if counter:
        cells.append(_counter_cell(shown, name, counter, time))
    return strip_node("", *cells, classes=["gg-strip"], strip=name)


def _counter_cell(shown: _Shown, name: str, counter: str, time: Cell | None) -> strip_cell:
    """Show a counter, and that of the rung above, at the size of the strip's time where it was read there."""
    counted = {(cell.variant, cell.size): cell for cell in shown.recording.counters}
    sizes = sorted((size for variant, size in counted if variant == name), reverse=True)
    title = COUNTERS[counter].words
    if not sizes:
        missing = nodes.inline("", NOT_COUNTED, classes=["gg-unmeasured"])
        return _strip_cell("counter", title, [missing], [])
    size, above = time.size if time and time.size in sizes else sizes[0], shown.ladder.above(name)

    def number(variant: str) -> nodes.Node:
        key = f"{shown.ladder.results.name}[{variant}, {size}].counter({counter})"
        return measured_number(shown.env, key, shown.recording)

    before = (above, size) in counted and counter in counted[above, size].names
    small = [nodes.Text("before: "), number(above)] if before else []
    cell = _strip_cell("counter", title, [number(name)], small)
    cell["counters"] = [counter]
    return cell


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
    app.add_directive("rungs", RungsDirective)
    app.add_directive("rung", RungDirective)
    app.add_transform(LadderParts)
