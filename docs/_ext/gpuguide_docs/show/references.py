"""References to measured numbers: the grammar of the role ``measured``, and what each stands for."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal

from gpuguide.errors import ArgumentError, UnknownNameError, unknown
from gpuguide.results.counters import COUNTERS, counted_at
from gpuguide.results.results import HOST_BOUND, QUANTITIES, WORK_QUANTITIES
from gpuguide.results.starts import starts_words
from gpuguide.results.units import REGIONS, size_words

if TYPE_CHECKING:
    from gpuguide.recordings.recording import Recording
    from gpuguide.results.records import Fact
    from gpuguide.results.results import Results
    from gpuguide.results.starts import Quantity

__all__ = ["NOT_COUNTED", "Number", "Reference", "measured_on", "parse_reference", "parse_size", "resolve"]

#: Shown for a counter that was not read for the present code.
NOT_COUNTED = "not counted yet"

#: Not by `strftime`, whose months follow the locale: pages are the same bytes everywhere.
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_COUNTER = "counter"
_SIDES = ("slower_at", "faster_at")
_HOST_BOUND_WORDS = "a span that includes the host's time, because the host could not keep the GPU busy"
_WORD = r"[A-Za-z_][A-Za-z0-9_]*"
_HINT = (
    "write page:study[variant, 2**24].time, .speedup(baseline), .work(name), page:study.crossover(a, b) or "
    "page:fact"
)
_PAGE = re.compile(rf"(?:(?P<page>{_WORD})\s*:\s*)?(?P<rest>[^:]+)")
_CELL = re.compile(
    rf"(?P<study>{_WORD})\s*\[\s*(?P<variant>{_WORD})\s*,\s*(?P<size>[^\]]+)\]\s*\.\s*(?P<quantity>{_WORD})"
    rf"\s*(?:\(\s*(?P<given>{_WORD})\s*\))?"
)
_CROSSOVER = re.compile(
    rf"(?P<study>{_WORD})\s*\.\s*crossover\s*\(\s*(?P<a>{_WORD})\s*,\s*(?P<b>{_WORD})\s*\)"
    rf"\s*(?:\.\s*(?P<side>{_WORD}))?"
)


@dataclass(frozen=True)
class Reference:
    """What stands inside the role ``measured``."""

    page: str
    kind: Literal["cell", "counter", "crossover", "fact"]
    name: str
    variant: str = ""
    size: int = 0
    quantity: str = ""
    baseline: str = ""
    work: str = ""
    pair: tuple[str, str] = ("", "")
    side: str = ""


def parse_reference(text: str) -> Reference:
    """Read a reference."""
    outer = _PAGE.fullmatch(text.strip())
    if outer is None:
        raise ArgumentError(f"{text!r} is not a reference: {_HINT}.")
    page, rest = outer["page"] or "", outer["rest"].strip()
    if match := _CELL.fullmatch(rest):
        return _cell(page, match, text)
    if match := _CROSSOVER.fullmatch(rest):
        side = match["side"] or ""
        if side and side not in _SIDES:
            raise unknown("side of a crossover", side, _SIDES)
        return Reference(page, "crossover", match["study"], pair=(match["a"], match["b"]), side=side)
    if re.fullmatch(_WORD, rest):
        return Reference(page, "fact", rest)
    raise ArgumentError(f"{text!r} is not a reference: {_HINT}.")


def _cell(page: str, match: re.Match[str], text: str) -> Reference:
    quantity, given = match["quantity"], match["given"] or ""
    if quantity == _COUNTER:
        if given not in COUNTERS:
            raise unknown("counter", given, COUNTERS)
        return Reference(
            page, "counter", match["study"], match["variant"], parse_size(match["size"]), quantity, given
        )
    if quantity not in QUANTITIES:
        raise unknown("quantity", quantity, QUANTITIES)
    work = given if quantity in WORK_QUANTITIES else ""
    if quantity in ("work", "gain") and not work:
        raise ArgumentError(f"{text!r}: {quantity} needs the name of a work, as in .{quantity}(warp_steps).")
    baseline = "" if work else given
    if (quantity == "speedup") != bool(baseline):
        wanted = "needs a baseline" if quantity == "speedup" else "takes no baseline; only speedup does"
        raise ArgumentError(f"{text!r}: {quantity} {wanted}, as in .speedup(numpy).")
    size = parse_size(match["size"])
    return Reference(page, "cell", match["study"], match["variant"], size, quantity, baseline, work)


def parse_size(text: str) -> int:
    """Work out a size written as an integer expression."""
    try:
        size = _evaluate(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        size = 0
    if not 0 < size < 2**63:
        raise ArgumentError(f"{text!r} is not a size: write an integer such as 2**24, 10**6 or 65_536.")
    return size


def _evaluate(node: ast.expr) -> int:
    # Not isinstance: to Python, True is an integer.
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if not isinstance(node, ast.BinOp):
        raise ValueError(node)
    left, right = _evaluate(node.left), _evaluate(node.right)
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        # Bounded, so that 9**9**9 is an error and not a long wait.
        case ast.Mult() if max(left, right) < 2**64:
            return left * right
        case ast.Pow() if 0 <= right < 64 and left < 2**32:
            return int(left**right)
    raise ValueError(node)


@dataclass(frozen=True)
class Number:
    """A measured number, ready to be shown."""

    text: str
    detail: str
    short: str


def measured_on(recording: Recording, *, gpu: bool = True, starts: bool = True) -> str:
    """Say on which machine a recording was made, on how many starts of it, and on which day."""
    provenance = recording.provenance
    day = date.fromisoformat(provenance.utc_date[:10])
    with_gpu = gpu and provenance.gpu not in ("", "none")
    processor = provenance.gpu if with_gpu else provenance.cpu.replace("(R)", "")
    # As the folders of machines are called: nvidia-h200-x2.
    several = re.search(r"-x([1-9]\d*)$", provenance.machine)
    if with_gpu and several:
        processor = f"{several[1]} {processor}"
    if not with_gpu and provenance.threads:
        processor += f" with {provenance.threads} threads"
    said = [processor or provenance.machine]
    if starts:
        said.append(starts_words(recording.n_starts))
    said.append(f"{'latest on ' if recording.runs else ''}{day.day} {_MONTHS[day.month - 1]} {day.year}")
    return ", ".join(said)


def resolve(reference: Reference, recording: Recording) -> Number:
    """Look a reference up in its page's recording."""
    if reference.kind == "fact":
        if reference.name not in recording.facts:
            raise unknown("fact or study", reference.name, [*recording.facts, *recording.studies])
        text, detail = _fact(recording.facts[reference.name])
        short = text
    elif reference.kind == "counter":
        text, detail = _counter(reference, recording)
        short = text
    else:
        if reference.name not in recording.studies:
            raise unknown("study", reference.name, recording.studies)
        results = recording.studies[reference.name]
        short, detail = (_quantity if reference.kind == "cell" else _crossover)(reference, results)
        text = _with_noun(short, reference)
    return Number(text, f"{detail}; {measured_on(recording, starts=False)}", short)


def _with_noun(text: str, reference: Reference) -> str:
    """Name what is counted: "27.4 million warp steps", "4.1 G warp steps/s"."""
    noun = reference.work.replace("_", " ")
    if noun and reference.quantity == "work":
        return f"{text} {noun}"
    return f"{text.removesuffix('/s').strip()} {noun}/s" if noun and reference.quantity == "rate" else text


def _fact(fact: Fact) -> tuple[str, str]:
    parts = (fact.note or fact.name.replace("_", " "), fact.basis)
    return fact.shown, "; ".join(part for part in parts if part)


def _counter(reference: Reference, recording: Recording) -> tuple[str, str]:
    if not recording.counters:
        return NOT_COUNTED, "the hardware counters of this code have not been read yet"
    cell = counted_at(recording.counters, reference.name, reference.variant, reference.size)
    counter, kernel = COUNTERS[reference.baseline], cell.longest
    parts = [counter.words]
    if len(cell.kernels) > 1:
        of_all = counter.of_all == "sum"
        parts.append(f"all {len(cell.kernels)} kernels" if of_all else f"the longest kernel, {kernel.name}")
    if reference.baseline == "stall_cycles" and kernel.stall:
        parts.append(f"the profiler calls it {kernel.stall}")
    return cell.shown(reference.baseline), "; ".join([*parts, "counted once, caches empty"])


def _quantity(reference: Reference, results: Results) -> tuple[str, str]:
    quantity = results.quantity(
        reference.variant,
        reference.size,
        reference.quantity,
        baseline=reference.baseline or None,
        work=reference.work or None,
    )
    parts = [
        _subject(reference, results, quantity),
        quantity.basis,
        f"{size_words(reference.size)} {results.size_name}",
        *_remarks(reference, results),
    ]
    return str(quantity), "; ".join(parts)


def _remarks(reference: Reference, results: Results) -> list[str]:
    """Return the remarks that belong beside the number; for a ratio, with the side that they are about."""
    if reference.quantity in ("work", "gain"):
        return []  # a count has nothing to do with how its time was taken
    clock = "launch" if reference.quantity == "launch" else None
    if not reference.baseline:
        return [_in_words(remark) for remark in results.remarks(reference.variant, reference.size, clock)]
    sides = (reference.variant, reference.baseline)
    return [
        f"{results.variant(name).label}: {_in_words(remark)}"
        for name in sides
        for remark in results.remarks(name, reference.size)
    ]


def _in_words(remark: str) -> str:
    """Spell out what a table has no room for."""
    return remark.replace(HOST_BOUND, _HOST_BOUND_WORDS, 1) if remark.startswith(HOST_BOUND) else remark


def _subject(reference: Reference, results: Results, quantity: Quantity) -> str:
    noun = reference.work.replace("_", " ")
    if quantity.ratio_of:
        return f"{noun} of {quantity.ratio_of}" if noun else quantity.ratio_of
    label = results.variant(reference.variant).label
    if reference.quantity == "work":
        return f"{label}: {round(quantity.value):,} {noun}".replace(",", "\u202f")
    if noun and reference.quantity == "share":
        return f"{label}, share of the most {noun} per second that the GPU can do"
    region = "launch" if reference.quantity == "launch" else results.variant(reference.variant).clock
    return f"{label}, {REGIONS[region].sentence}"


def _crossover(reference: Reference, results: Results) -> tuple[str, str]:
    first, second = reference.pair
    labels = [results.variant(name).label for name in reference.pair]
    bracket = results.crossover(first, second)
    if bracket is None:
        raise UnknownNameError(
            f"{second!r} never overtakes {first!r} for good at the sizes of study {results.name!r}: "
            "there is no crossover to show. Swap the two names or measure other sizes."
        )
    below, above = size_words(bracket.slower_at), size_words(bracket.faster_at)
    detail = f"{labels[1]} is slower than {labels[0]} at {below} and faster at {above} {results.size_name}"
    detail += f"; {starts_words(results.n_starts)}"
    same = [run.crossover(first, second) == bracket for run in results.runs]
    if len(same) > 1:
        detail += f", the same in {'all' if all(same) else f'{sum(same)} of'} {len(same)} runs"
    if reference.side:
        return (below if reference.side == "slower_at" else above), detail
    return f"between {below} and {above} {results.size_name}", detail
