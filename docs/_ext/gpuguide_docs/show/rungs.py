"""Directives ``rungs`` and ``rung``: the table of a ladder, and each rung as one block with its strip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from gpuguide.errors import ArgumentError, GpuGuideError, unknown
from gpuguide.results.counters import COUNTERS
from gpuguide.results.units import REGIONS, size_words
from gpuguide_docs.show.cells import cell_node
from gpuguide_docs.show.changed_lines import changed_node, definition_in, functions_in
from gpuguide_docs.show.kernel import imports_and_rest, kernel_block, names_option
from gpuguide_docs.show.ladder import Cell, Ladder, ladder_of
from gpuguide_docs.show.module_source import ModuleSource, module_file
from gpuguide_docs.show.numbers import NOT_MEASURED, measured_number, unmeasured_number, why_unmeasured
from gpuguide_docs.show.references import NOT_COUNTED, parse_size
from gpuguide_docs.show.site import site_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from gpuguide.recordings.recording import Recording
    from gpuguide_docs.pages.pages_toml import Page
    from gpuguide_docs.replay.states import PageState

__all__ = ["LadderParts", "RungDirective", "RungsDirective", "strip_cell", "strip_node", "strip_table"]


class strip_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """What was measured of a rung (attribute ``strip``, its name), as cells."""


class strip_cell(nodes.General, nodes.TextElement):  # noqa: N801
    """One cell: attributes ``kind`` and ``title``; without content it is a place kept free."""


def _sizes_option(text: str | None) -> list[int]:
    sizes = [size.strip() for size in (text or "").split(",")]
    try:
        return [parse_size(size) for size in sizes]
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
        table = nodes.container("", classes=["gg-ladder"])
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


@dataclass
class _CodeAbove:
    """What the rungs above have shown: how many there are, what they define, and the last kernel."""

    n_rungs: int = 0
    names: set[str] = field(default_factory=set)
    above: str = ""


class LadderParts(SphinxTransform):
    """Fills tables and rungs of a page, once all of it is read."""

    default_priority = 395  # before the byline looks where the answer ends

    def apply(self, **_kwargs: object) -> None:
        """Put kernel, launch and strip into each rung, and the rows into each table."""
        places = list(self.document.findall(nodes.container))
        rungs = [place for place in places if "rung" in place]
        tables = [place for place in places if "rungs" in place]
        if not rungs and not tables:
            return
        site = site_of(self.env)
        page = site.page_of(self.env.docname)
        if page is None:
            self._fail((tables or rungs)[0], "only a page of examples/pages.toml has rungs")
            return
        for rung in rungs:
            cell = _cell_below(rung)
            rung["wrong"] = cell is not None and cell["wrong"]
        above = _CodeAbove()
        for rung in rungs:
            self._tried(rung, partial(self._put_code, page, rung, above))
        state = site.state(page.name, self.env)
        try:
            recording = site.recording(state)
        except GpuGuideError as error:
            self._fail((tables or rungs)[0], str(error))
            return
        if recording is None:
            self._wait(state, tables, rungs)
            return
        ladders: list[_Shown] = []
        for table in tables:
            self._tried(table, partial(self._fill_table, table, rungs, recording, ladders))
        for rung in rungs:
            self._tried(rung, partial(self._fill_strip, rung, rungs, ladders, recording))

    def _tried(self, place: nodes.Element, do: Callable[[], object]) -> None:
        try:
            do()
        except GpuGuideError as error:
            self._fail(place, str(error))

    def _fail(self, place: nodes.Element, why: str) -> None:
        """Report an error that the next build finds again."""
        self.env.note_reread()
        name = f"rungs {place['rungs']!r}" if "rungs" in place else f"rung {place['rung']!r}"
        place += self.document.reporter.error(f"{name}: {why}", base_node=place)

    def _put_code(self, page: Page, rung: nodes.Element, shown: _CodeAbove) -> None:
        """Put the kernel above the cell that launches it, with what it reads and no rung above has shown."""
        name = rung["rung"]
        if sum(other["rung"] == name for other in self._rungs()) > 1:
            raise ArgumentError(f"occurs more than once on page {page.name!r}. A rung has one place.")
        cell = _cell_below(rung)
        if cell is not None:
            cell.parent.remove(cell)
        layout = site_of(self.env).layout
        module = f"gpuguide.topics.{page.topic}.kernels"
        kernel = next(filter(None, (definition_in(code, name) for code in _code_in(cell))), "")
        if not kernel and _exists(layout.source, module):
            source = ModuleSource(layout.source, module)
            self.env.note_dependency(str(source.path))
            if name in source.names:
                read = source.with_read(name)
                names = [each for each in read if each == name or each not in shown.names]
                shown.names.update(names)
                block = kernel_block(source, names, _imports_cut(cell))
                kernel = source.cut(name)
                changed = changed_node(block.astext(), kernel, shown.above) if shown.n_rungs > 1 else None
                if changed:
                    block.replace(block[0], changed)
                block.source, block.line = rung.source, rung.line
                rung += block
        shown.names.update(name for code in _code_in(cell) for name in functions_in(code))
        shown.n_rungs += 1
        shown.above = kernel or shown.above
        if cell is not None:
            rung += nodes.container("", cell, classes=["gg-rung-cell"])

    def _rungs(self) -> Iterator[nodes.Element]:
        return (place for place in self.document.findall(nodes.container) if "rung" in place)

    def _wait(
        self, state: PageState, tables: Sequence[nodes.Element], rungs: Sequence[nodes.Element]
    ) -> None:
        """Say that nothing has been measured yet, and why."""
        for table in tables:
            words = nodes.inline("", NOT_MEASURED, classes=["gg-unmeasured"])
            why = nodes.Text(f": {why_unmeasured(state)}")
            table.append(nodes.paragraph("", "", words, why, classes=["gg-placeholder"]))
        for rung in rungs:
            number = unmeasured_number(self.env, rung["rung"], state)
            time = strip_cell("", "", number, kind="time", title="time")
            rung.append(strip_node("", time, classes=["gg-strip"], strip=rung["rung"]))

    def _ladder(
        self, results_name: str, rungs: Sequence[nodes.Element], recording: Recording, table: Any
    ) -> _Shown:
        if results_name not in recording.studies:
            raise unknown("study", results_name, recording.studies)
        results = recording.studies[results_name]
        known = {info.name for info in results.variants}
        own = [rung for rung in rungs if rung["rung"] in known]
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
        shown = self._ladder(place["rungs"], rungs, recording, place)
        if not shown.ladder.rungs:
            raise ArgumentError("no rung of this study is on the page. Write .. rung:: NAME above a cell.")
        place += [_table(shown, _targets(rungs)), _note(shown.ladder)]
        _number_headings(shown.ladder, rungs)
        ladders.append(shown)

    def _fill_strip(
        self,
        rung: nodes.Element,
        rungs: Sequence[nodes.Element],
        ladders: Sequence[_Shown],
        recording: Recording,
    ) -> None:
        """Put what was measured under a rung's code."""
        name = rung["rung"]
        shown = next((each for each in ladders if name in each.ladder.rows), None)
        if shown is None:
            studies = recording.studies
            owners = [key for key in studies if name in {info.name for info in studies[key].variants}]
            if not owners:
                raise unknown(
                    "variant", name, [info.name for study in studies.values() for info in study.variants]
                )
            shown = self._ladder(owners[0], rungs, recording, None)
        rung += _strip(shown, name, rung["counter"])
        done = shown.ladder.done(name)
        rung["counts"] = done.counts if done else ""  # evidence leads here where no code counts it


def _exists(source: Any, module: str) -> bool:
    try:
        return bool(module_file(source, module))
    except GpuGuideError:
        return False


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
    group = nodes.tgroup(cols=len(head))
    columns = [nodes.colspec(colwidth=1) for _ in head]
    columns[0]["stub"] = 1
    group += columns
    group += nodes.thead("", _row([[nodes.Text(words)] for words in head]))
    body = nodes.tbody()
    for name in ladder.rows:
        times = [_shown_or(shown, ladder.time(name, size), "–") for size in ladder.sizes]
        row = _row([_name(shown, name, targets), *times, _shown_or(shown, ladder.gain(name), "")])
        row["classes"] += [] if name in ladder.rungs else ["gg-beside"]
        row["variant"] = name
        for entry, size in zip(row.children[1:], ladder.sizes, strict=False):
            if (name, size) in ladder.best and isinstance(entry, nodes.entry):
                entry["classes"].append("gg-best")
        body += row
    group += body
    return nodes.table("", group, classes=["gg-rungs"])


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
    parts: list[nodes.Node] = [nodes.inline("", number, classes=["gg-no"]), nodes.Text(" "), linked]
    clock = ladder.results.variant(name).clock
    said = ["a mistake on purpose"] if name in ladder.wrong else []
    region = REGIONS[clock].column
    said += [region] if clock != ladder.clock and region not in label else []
    return [*parts, nodes.Text(f", {', '.join(said)}")] if said else parts


def _note(ladder: Ladder) -> nodes.paragraph:
    """Say what the columns hold."""
    clock = REGIONS[ladder.clock].sentence
    others = ", unless the row names another clock" if _other_clocks(ladder) else ""
    words = f"{clock[0].upper()}{clock[1:]}{others}. "
    if len(ladder.rungs) > 1:
        most = "at the largest of these sizes that both reach" if len(ladder.sizes) > 1 else "at this size"
        words += f"Gain over the rung above, {most}. "
    if ladder.best:
        words += "Bold: the fastest rung."
    return nodes.paragraph("", words.strip(), classes=["gg-rungs-note"])


def _other_clocks(ladder: Ladder) -> bool:
    return any(ladder.results.variant(name).clock != ladder.clock for name in ladder.rows)


def _strip(shown: _Shown, name: str, counter: str) -> strip_node:
    ladder = shown.ladder
    clock = REGIONS[ladder.results.variant(name).clock].sentence
    cells = []
    time, gain, done = ladder.last_time(name), ladder.gain(name), ladder.done(name)
    if time is not None:
        cells.append(_cell("time", clock, shown.number(time), _of_size(ladder, time)))
    else:
        cells.append(_cell("time", clock, nodes.Text("–"), "at no listed size"))
    if gain is not None:
        below = f"over {shown.label(ladder.above(name))}"
        below += "" if gain == time or (time and gain.size == time.size) else f", {_of_size(ladder, gain)}"
        cells.append(_cell("gain", "gain", shown.number(gain), below))
    if done is not None:
        small = nodes.inline("", "", classes=["gg-small"])
        if done.share is not None:
            small += [shown.number(done.share), nodes.Text(" of the ceiling")]
        if done.before:
            small += [nodes.Text("; before: " if small.children else "before: "), *shown.numbers(done.before)]
        cells.append(strip_cell("", "", *shown.numbers(done.cells), kind="work", title=done.words))
        cells[-1] += [nodes.Text(" "), small] if small.children else []
    if counter:
        cells.append(_counter_cell(shown, name, counter, time))
    return strip_node("", *cells, classes=["gg-strip"], strip=name)


def _counter_cell(shown: _Shown, name: str, counter: str, time: Cell | None) -> strip_cell:
    """Show a counter, and that of the rung above, at the size of the strip's time where it was read there."""
    counted = {(each.variant, each.size): each for each in shown.recording.counters}
    sizes = sorted((size for variant, size in counted if variant == name), reverse=True)
    size = time.size if time is not None and time.size in sizes else next(iter(sizes), 0)
    cell = strip_cell("", "", kind="counter", title=COUNTERS[counter].words)
    cell["counters"] = [counter] if size else []
    study = shown.ladder.results.name
    if not size:
        cell += nodes.inline("", NOT_COUNTED, classes=["gg-unmeasured"])
        return cell
    cell += measured_number(shown.env, f"{study}[{name}, {size}].counter({counter})", shown.recording)
    above = shown.ladder.above(name)
    if (above, size) in counted and counter in counted[above, size].names:
        key = f"{study}[{above}, {size}].counter({counter})"
        small = nodes.inline("", "", nodes.Text("before: "), classes=["gg-small"])
        small += measured_number(shown.env, key, shown.recording)
        cell += [nodes.Text(" "), small]
    return cell


def _cell(kind: str, title: str, value: nodes.Node, below: str) -> strip_cell:
    small = nodes.inline("", below, classes=["gg-small"])
    return strip_cell("", "", value, nodes.Text(" "), small, kind=kind, title=title)


def _of_size(ladder: Ladder, cell: Cell) -> str:
    return f"{size_words(cell.size)} {ladder.results.size_name}"


def strip_table(strip: nodes.Element) -> nodes.table:
    """Turn a strip into a table with one row, for formats without strips."""
    cells = [cell for cell in strip.findall(strip_cell) if cell.children]
    group = nodes.tgroup(cols=len(cells))
    group += [nodes.colspec(colwidth=1) for _ in cells]
    group += nodes.thead("", _row([[nodes.Text(cell["title"])] for cell in cells]))
    group += nodes.tbody("", _row([list(cell.children) for cell in cells]))
    return nodes.table("", group)


def _visit_strip(writer: Any, node: strip_node) -> None:
    writer.body.append(writer.starttag(node, "dl"))


def _depart_strip(writer: Any, _node: strip_node) -> None:
    writer.body.append("</dl>\n")


def _visit_cell(writer: Any, node: strip_cell) -> None:
    if not node.children:
        raise nodes.SkipNode
    kind = f"gg-strip-{node['kind']}"
    writer.body.append(writer.starttag(node, "div", "", CLASS=kind))
    writer.body.append(f"<dt>{writer.encode(node['title'])}</dt><dd>")


def _depart_cell(writer: Any, _node: strip_cell) -> None:
    writer.body.append("</dd></div>\n")


def _pass(_writer: Any, _node: nodes.Node) -> None:
    """Other formats show the text alone."""


def setup(app: Sphinx) -> None:
    """Register directives, nodes and the transform."""
    app.setup_extension("gpuguide_docs.show.changed_lines")
    plain = (_pass, _pass)
    for node, written in (
        (strip_node, (_visit_strip, _depart_strip)),
        (strip_cell, (_visit_cell, _depart_cell)),
    ):
        app.add_node(node, html=written, latex=plain, text=plain, man=plain, texinfo=plain)
    app.add_directive("rungs", RungsDirective)
    app.add_directive("rung", RungDirective)
    app.add_transform(LadderParts)
