"""Several machines side by side: only what is comparable, and exactly what differs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from gpuguide.errors import ArgumentError, unknown
from gpuguide.recordings import store
from gpuguide.recordings.recording import Recording, Run
from gpuguide.results.records import Provenance
from gpuguide.results.results import Results, sizes_left_out
from gpuguide.results.starts import Quantity
from gpuguide.results.tables import Column, Row, Table, fitted
from gpuguide.results.units import format_quantity, format_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Comparison", "Side", "StudyComparison", "compare"]

_HERE = "this machine"
# With more sides, a column for each would be wider than any terminal: a class of thirty.
_MOST_COLUMNS = 4
_MOST_NAMED = 4
_WIDTH = 110
# Columns that a narrow terminal goes without after the shares, the least important first.
_DISPENSABLE = ("cuda", "n_cpus", "cpu", "driver")
# Where these differ, the times of two studies are those of different things.
_SAME = {"title": "title", "dtype": "type", "cache": "cache", "size_name": "unit of sizes"}
_VERSIONS = ("numpy", "numba", "numba-cuda", "numba-cuda-mlir", "cupy-cuda13x", "cupy-cuda12x")
_SAME_NOTE = "(same): one time lies where nine of ten further runs of the other machine are expected."


@dataclass(frozen=True)
class Side:
    """The studies of one machine, file or session, under the name that it has in the comparison."""

    name: str
    studies: Mapping[str, Results]
    run: Run | None = None
    recorded: bool = False

    @property
    def page(self) -> str:
        """The page that was measured; empty where a file does not say."""
        return self.run.page if self.run else ""

    @property
    def provenance(self) -> Provenance | None:
        """Where and with what it was measured, if that is known."""
        return self.run.provenance if self.run else None


@dataclass(frozen=True)
class StudyComparison:
    """One study on several machines: the cells that at least two of them measured."""

    name: str
    studies: Mapping[str, Results]
    recorded: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def first(self) -> Results:
        """The study of the first side, whose words are used."""
        return next(iter(self.studies.values()))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Sizes at which at least two sides measured the same variant."""
        return tuple(dict.fromkeys(size for size, _ in self.cells))

    @cached_property
    def cells(self) -> dict[tuple[int, str], dict[str, Quantity]]:
        """Size and variant -> the time of each side that measured it, where at least two did."""
        sizes = sorted({size for study in self.studies.values() for size in study.sizes})
        times = {(size, name): self._times(size, name) for size in sizes for name in self._labels}
        return {cell: of_sides for cell, of_sides in times.items() if len(of_sides) > 1}

    @cached_property
    def _labels(self) -> dict[str, str]:
        infos = (info for study in reversed(tuple(self.studies.values())) for info in study.variants)
        known = {info.name: info.label or info.name for info in infos}
        # In the order of the first side, and then what only others have.
        order = dict.fromkeys(info.name for study in self.studies.values() for info in study.variants)
        return {name: known[name] for name in order}

    def _times(self, size: int, variant: str) -> dict[str, Quantity]:
        return {
            side: study.time(variant, size)
            for side, study in self.studies.items()
            if _measured(study, variant, size)
        }

    def _n_sides(self, size: int) -> int:
        return len({side for (at, _), times in self.cells.items() if at == size for side in times})

    def table(self) -> Table:
        """Return the times as a table: a column for each machine, or the ends and the middle of many."""
        many = len(self.studies) > _MOST_COLUMNS
        rows = [(self._many if many else self._few)(*cell) for cell in self.cells]
        sides = list(self.studies)
        if many:
            columns = [Column(key, key) for key in ("fastest", "middle", "slowest")]
            columns += [Column("n", "machines", numeric=True), *_numeric(self.recorded)]
        else:
            columns = [*_numeric(sides), *_numeric(f"{sides[0]} / {other}" for other in sides[1:])]
            columns += _numeric(f"share on {side}" for side in sides)
        notes = self.notes
        if any("(same)" in text for row in rows for text in row.cells.values()):
            notes = (_SAME_NOTE, *notes)
        caption = f"{self.first.title} ({self.first.dtype}, {self.first.cache} cache)"
        return Table(caption, self.first.size_name, "variant", tuple(columns), tuple(rows), notes)

    def _few(self, size: int, variant: str) -> Row:
        times = self.cells[size, variant]
        shown = {side: str(time) for side, time in times.items()}
        base, *others = self.studies
        for other in others:
            if base in times and other in times:
                shown[f"{base} / {other}"] = _ratio(times[base], times[other])
        for side in times:
            if share := self.studies[side].share(variant, size):
                shown[f"share on {side}"] = str(share)
        return Row(format_size(size), self._labels[variant], shown)

    def _many(self, size: int, variant: str) -> Row:
        times = self.cells[size, variant]
        # The guide's machines have columns of their own, and are no part of a class.
        own = {side: time.value for side, time in times.items() if side not in self.recorded}
        ordered = sorted(own or times, key=lambda side: times[side].value)
        middle = ordered[(len(ordered) - 1) // 2]
        chosen = {"fastest": ordered[0], "middle": middle, "slowest": ordered[-1]}
        shown = {key: f"{times[side]} ({side})" for key, side in chosen.items()}
        shown |= {side: str(times[side]) for side in self.recorded if side in times}
        shown["n"] = str(len(ordered))
        return Row(format_size(size), self._labels[variant], shown)

    def plot(self, size: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the times at one size, by default the largest that most machines have: a row a variant."""
        from gpuguide.charts.machines import plot_machines

        size = max(self.sizes, key=lambda each: (self._n_sides(each), each)) if size is None else size
        if size not in self.sizes:
            raise unknown("size", size, self.sizes)
        rows = {self._labels[variant]: times for (at, variant), times in self.cells.items() if at == size}
        words = f"{self.first.title}, {format_size(size)} {self.first.size_name}"
        return plot_machines(rows, words, list(self.studies), self.recorded, ax=ax)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Runs of the same studies on several machines; `gpuguide.compare` makes it.

    It prints as a table for each study, in a notebook as HTML, and `plot` draws one study.
    """

    sides: tuple[Side, ...]
    studies: Mapping[str, StudyComparison]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        names = ", ".join(side.name for side in self.sides)
        return f"<Comparison of {names}: {', '.join(self.studies)}>"

    def __str__(self) -> str:
        return self.text(_WIDTH)

    def _repr_html_(self) -> str:
        tables = [self.machines(), *(study.table() for study in self.studies.values())]
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return "\n".join((*(table.html() for table in tables), f"<ul>{notes}</ul>" if notes else ""))

    def text(self, width: int) -> str:
        """Write everything as text; notes are wrapped, and shares left out of tables that are too wide."""
        parts = [_text(self.machines(), width)]
        parts += [_text(study.table(), width) for study in self.studies.values()]
        if self.notes:
            parts.append("\n".join(_wrapped(self.notes, width)))
        return "\n\n".join(parts)

    def only(self, study: str | None) -> Comparison:
        """Return the comparison of one study; all where None is named."""
        return self if study is None else replace(self, studies={study: self._study(study)})

    def figure(self, study: str) -> Figure:
        """Draw one study on a figure of its own, which needs no display."""
        from matplotlib.figure import Figure

        from gpuguide.charts.machines import height_of
        from gpuguide.charts.style import style

        chosen = self._study(study)
        with style():
            figure = Figure()
            ax = chosen.plot(ax=figure.subplots())
            figure.set_figheight(height_of(len(ax.get_yticks())))
        return figure

    def _study(self, name: str) -> StudyComparison:
        if name not in self.studies:
            raise unknown("study", name, self.studies)
        return self.studies[name]

    def machines(self) -> Table:
        """Return where and when each side was measured, as a table."""
        keys = ("gpu", "driver", "cuda", "cpu", "n_cpus", "date")
        headings = ("GPU", "driver", "CUDA", "CPU", "CPUs", "measured on")
        columns = tuple(Column(key, heading) for key, heading in zip(keys, headings, strict=True))
        # A class of thirty may have two kinds of machines; of a few, each has a row.
        many = len(self.sides) > _MOST_COLUMNS
        alike: dict[object, list[Side]] = {}
        for side in self.sides:
            key = (side.page, *_described(side).values()) if many else side.name
            alike.setdefault(key, []).append(side)
        rows = tuple(
            Row(_listed(side.name for side in sides), sides[0].page or "-", _described(sides[0]))
            for sides in alike.values()
        )
        return Table("What is compared", "name", "page", columns, rows)

    def plot(self, study: str | None = None, *, size: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the times of all machines, a row for each variant.

        Parameters
        ----------
        study : str, optional
            Name of the study; by default the first one.
        size : int, optional
            One of its common sizes; by default the largest that most machines have.
        ax : matplotlib.axes.Axes, optional
            Where to draw; new axes by default.

        Returns
        -------
        matplotlib.axes.Axes
            Time on a logarithmic axis. The machines that the guide recorded are named.

        Raises
        ------
        UnknownNameError
            There is no such study or size in common; the message names the nearest.
        """
        return self._study(next(iter(self.studies)) if study is None else study).plot(size, ax)


def compare(*what: Results | Run | Side | str | Path) -> Comparison:
    """Lay the same studies of several machines side by side.

    Only what is comparable is compared: studies of the same title, type and cache, at the same sizes. What
    one side lacks, and what else differs (code, versions, threads), is said below the tables.

    Parameters
    ----------
    *what : Results, Recording, str or Path
        Two or more: what `Study.run` returned or `load` read; a file that ``gpuguide run PAGE --json FILE``
        wrote; or the name of a machine that the guide recorded, such as ``"nvidia-h200"``. One alone is
        compared with all machines that recorded its page.

    Returns
    -------
    Comparison
        Times, ratios to the first one, and the shares that kernels reach of their own GPU's memory speed.

    Raises
    ------
    ArgumentError
        There is nothing to compare.
    UnknownNameError
        No such machine was recorded.
    RecordingError
        A file cannot be read.

    Examples
    --------
    >>> import gpuguide as gg
    >>> from gpuguide.results.sample import sample_results
    >>> mine = sample_results()
    >>> gg.compare(mine, mine)
    <Comparison of this machine, this machine (2): sample>
    """
    if not what:
        raise ArgumentError('compare: expected results and a machine, such as "nvidia-h200"; got nothing.')
    names = [each for each in what if isinstance(each, str) and not _is_file(each)]
    if len(names) == len(what):
        raise ArgumentError(
            f"compare: expected results or a file beside {names[0]!r}; got only names of machines. To "
            "compare two of them, load a page of one: gg.load(page, machine)."
        )
    # Files and results first, because they say which studies of a recorded machine are wanted.
    own = {id(each): _own(each) for each in what if not (isinstance(each, str) and each in names)}
    wanted = next(iter(own.values()))
    sides = [own[id(each)] if id(each) in own else _named(str(each), wanted) for each in what]
    if len(sides) == 1:
        sides += [side for name in store.machines() if (side := _recorded(name, wanted))]
    if len(sides) == 1:
        of_page = f" of the page {wanted.page!r}" if wanted.page else ""
        raise ArgumentError(
            f"compare: the guide has no recording of {_listed(map(repr, wanted.studies))}{of_page}. Name a "
            "file of another machine beside it."
        )
    return _compared(_with_names(sides))


def _is_file(name: str) -> bool:
    return name.endswith(".json") or Path(name).is_file()


def _own(thing: Results | Run | Side | str | Path) -> Side:
    match thing:
        case Side():
            return thing
        case Results():
            return Side(_HERE, {thing.name: thing})
        case Run():
            return Side(
                thing.machine, thing.studies, thing, isinstance(thing, Recording) and bool(thing.folder)
            )
        case str() | Path():
            run = store.load(Path(thing))
            return Side(Path(thing).stem, run.studies, run)
    raise ArgumentError(
        f"compare: expected results, a file that ends with .json, or a machine; got {type(thing).__name__}."
    )


def _recorded(machine: str, wanted: Side) -> Side | None:
    """Take from a recorded machine the page with the studies that another side has."""
    for page in _pages(machine, wanted):
        recording = store.load(page, machine)
        # Of the same page, another version's study is worth the sentence that says how it differs.
        if any(
            name in recording.studies and (wanted.page or not _unlike(study, recording.studies[name]))
            for name, study in wanted.studies.items()
        ):
            return Side(machine, recording.studies, recording, recorded=True)
    return None


def _named(machine: str, wanted: Side) -> Side:
    known = store.machines()
    if machine not in known:
        raise unknown("machine", machine, known)
    if side := _recorded(machine, wanted):
        return side
    raise ArgumentError(
        f"compare: {machine!r} has no recording of {_listed(map(repr, wanted.studies))}. Its pages: "
        f"{', '.join(store.pages(machine))}."
    )


def _pages(machine: str, wanted: Side) -> Sequence[str]:
    pages = store.pages(machine)
    if wanted.page:
        return [page for page in pages if page == wanted.page]
    # Results alone do not say of which page they are. A page is often called like its study.
    return sorted(pages, key=lambda page: page not in wanted.studies)


def _with_names(sides: Iterable[Side]) -> tuple[Side, ...]:
    """Add a number to names that occur twice."""
    seen: dict[str, int] = {}
    named = []
    for side in sides:
        seen[side.name] = seen.get(side.name, 0) + 1
        number = seen[side.name]
        named.append(side if number == 1 else replace(side, name=f"{side.name} ({number})"))
    return tuple(named)


def _compared(sides: tuple[Side, ...]) -> Comparison:
    names = dict.fromkeys(name for side in sides for name in side.studies)
    studies: dict[str, StudyComparison] = {}
    alone: dict[str, list[str]] = {}
    apart = []
    for name in names:
        having = {side.name: side.studies[name] for side in sides if name in side.studies}
        if len(having) < 2:
            alone.setdefault(next(iter(having)), []).append(name)
            continue
        alike, unlike = _alike(having)
        recorded = tuple(side.name for side in sides if side.recorded and side.name in alike)
        lacking = [side.name for side in sides if name not in side.studies]
        said = [*unlike, *([f"Without this study: {_listed(lacking)}."] if lacking else ())]
        study = StudyComparison(name, alike, recorded, (*said, *_differences(alike)))
        if study.cells:
            studies[name] = study
        else:
            apart.append(" ".join((f"No size of the study {name!r} was measured twice.", *study.notes)))
    if not studies:
        holding = "; ".join(f"{side.name} has {_listed(map(repr, side.studies))}" for side in sides)
        why = " ".join(apart) or "Run the same page on both."
        raise ArgumentError(f"There is nothing to compare: {holding}. {why}")
    only = [
        f"Only {side} has the {'study' if len(names) == 1 else 'studies'} {', '.join(map(repr, names))}."
        for side, names in alone.items()
    ]
    notes = (*only, *apart, *_other_code(sides), *_other_versions(sides))
    return Comparison(sides, studies, notes)


def _unlike(one: Results, other: Results) -> list[str]:
    return [name for name in _SAME if getattr(one, name) != getattr(other, name)]


def _alike(studies: Mapping[str, Results]) -> tuple[dict[str, Results], list[str]]:
    """Keep what is the same study as the first one, and say what is not."""
    (base, first), *others = studies.items()
    alike, said = {base: first}, []
    for side, study in others:
        if names := _unlike(first, study):
            how = "; ".join(
                f"its {_SAME[n]} is {getattr(study, n)!r}, not {getattr(first, n)!r}" for n in names
            )
            said.append(f"{side} is left out, because it measured another study: {how}.")
        else:
            alike[side] = study
    return alike, said


def _measured(study: Results, variant: str, size: int) -> bool:
    known = size in study.sizes and any(info.name == variant for info in study.variants)
    return known and any(run.has(variant, size) for run in study.runs)


def _differences(studies: Mapping[str, Results]) -> Iterator[str]:
    """Say which sizes and variants some lack, and why; and which runs are short or use other threads."""
    for size in sorted({size for study in studies.values() for size in study.sizes}):
        having = [side for side, study in studies.items() if size in study.sizes]
        if len(having) < len(studies):
            yield f"Size {format_size(size)}: only {_listed(having)}."
    for variant in dict.fromkeys(info.name for study in studies.values() for info in study.variants):
        infos = {
            side: info for side, study in studies.items() for info in study.variants if info.name == variant
        }
        if len(infos) < len(studies):
            yield f"Variant {variant!r}: only {_listed(infos)}."
        yield from _grouped(f"Threads of {variant!r}", {side: info.threads for side, info in infos.items()})
        yield from _grouped(f"Clock of {variant!r}", {side: info.clock for side, info in infos.items()})
    sides: dict[str, list[str]] = {}
    for side, study in studies.items():
        for words in _not_measured(study, [each for name, each in studies.items() if name != side]):
            sides.setdefault(words, []).append(side)
    for words, names in sides.items():
        yield f"Not measured on {_listed(names)}: {words}."
    if short := [side for side, study in studies.items() if study.quick]:
        yield f"Quick runs, with fewer samples: {_listed(short)}."


def _not_measured(study: Results, others: Sequence[Results]) -> Iterator[str]:
    """Name what others measured and a study did not, variants that lack the same sizes together."""
    left_out = dict(sizes_left_out(study))
    lacks: dict[tuple[str, str], set[int]] = {}
    for info, size in product(study.variants, study.sizes):
        # What nobody measured is no difference.
        if not _measured(study, info.name, size) and any(_measured(each, info.name, size) for each in others):
            # Of a size that was left out, the variants need not be named.
            name = "" if size in left_out else repr(info.name)
            lacks.setdefault((study.measurement(info.name, size).reason, name), set()).add(size)
    places: dict[tuple[str, str], list[str]] = {}
    for (reason, name), sizes in lacks.items():
        places.setdefault((reason, ", ".join(map(format_size, sorted(sizes)))), []).append(name)
    for (reason, at), names in places.items():
        yield f"{', '.join(names)} at {at}: {reason}" if all(names) else f"{at} {study.size_name}: {reason}"


def _other_code(sides: Sequence[Side]) -> Iterator[str]:
    """Say whose kernels or harness are of another version: their times need not be of the same code."""
    keys = {side.name: side.run.key for side in sides if side.run}
    yield from _grouped("Version of the harness", {side: key.harness for side, key in keys.items()})
    topics = dict.fromkeys(topic for key in keys.values() for topic, _ in key.topics)
    for topic in topics:
        digests = {side: dict(key.topics)[topic] for side, key in keys.items() if topic in dict(key.topics)}
        for words in _grouped(f"Code of {topic}", digests):
            yield f"{words} What changed in it may be in the times."


def _other_versions(sides: Sequence[Side]) -> Iterator[str]:
    versions = {side.name: dict(side.provenance.versions) for side in sides if side.provenance}
    for name in _VERSIONS:
        if any(name in each for each in versions.values()):
            yield from _grouped(name, {side: each.get(name, "none") for side, each in versions.items()})


def _grouped(what: str, values: Mapping[str, object]) -> Iterator[str]:
    """Say who has which value, if not all have the same."""
    sides: dict[object, list[str]] = {}
    for side, value in values.items():
        sides.setdefault(value, []).append(side)
    if len(sides) > 1:
        yield f"{what}: {'; '.join(f'{value} ({_listed(names)})' for value, names in sides.items())}."


def _ratio(one: Quantity, other: Quantity) -> str:
    ratio = format_quantity(one.value / other.value, "ratio")
    inside = (a.has_range and a.low <= b.value <= a.high for a, b in ((one, other), (other, one)))
    return f"{ratio} (same)" if any(inside) else ratio


def _described(side: Side) -> dict[str, str]:
    if side.provenance is None:
        return {"gpu": "unknown"}
    where = side.provenance
    return {
        "gpu": where.gpu or "none",
        "driver": where.driver or "-",
        "cuda": where.cuda or "-",
        "cpu": where.cpu.partition(" (")[0],
        "n_cpus": "" if where.n_cpus is None else str(where.n_cpus),
        "date": where.utc_date[:10],
    }


def _numeric(names: Iterable[str]) -> list[Column]:
    return [Column(name, name, numeric=True) for name in names]


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    if len(known) > _MOST_NAMED:
        return f"{', '.join(known[:_MOST_NAMED])} and {len(known) - _MOST_NAMED} more"
    return ", ".join(known) or "nothing"


def _text(table: Table, width: int) -> str:
    shares = [column.key for column in table.columns if column.key.startswith("share on ")]
    plain, left_out = fitted(replace(table, notes=()), width, (*reversed(shares), *_DISPENSABLE))
    return "\n".join((plain.text(), *_wrapped((*table.notes, *left_out), width)))


def _wrapped(notes: Iterable[str], width: int) -> list[str]:
    return [textwrap.fill(note, width, subsequent_indent="  ") for note in notes]
