"""The command line: ``gpuguide list``, ``run``, ``compare``, ``exercises``, ``trace``, ``doctor`` ..."""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gpuguide.errors import ArgumentError, GpuGuideError, NoGpuError, UnknownNameError, unknown
from gpuguide.version import __version__

if TYPE_CHECKING:
    from gpuguide.catalogue import Entry, Recorded
    from gpuguide.measure.session import Session
    from gpuguide.measure.study import Study
    from gpuguide.own_run import PageRun
    from gpuguide.recordings.recording import Recording
    from gpuguide.results.results import Results
    from gpuguide.run_bar import RunBar

__all__ = ["main"]

# No array has as many elements.
_SIZE_BITS = 64
# No table has as many characters in a line.
_WIDE = 10_000
_DESCRIPTION = "Measure GPU programming topics on your own machine, each result checked before it is timed."

_EXAMPLES = """\
examples:
  gpuguide doctor                       what is installed, and what to do where something is missing
  gpuguide list                         the topics by section, and when each was recorded
  gpuguide run first_kernel             check and time a page here, beside the guide's GPUs
  gpuguide run first_kernel --quick     a first look in seconds, with fewer samples
  gpuguide compare mine.json            what 'run --json' wrote, beside the guide's machines
  gpuguide check-my-gpu                 measure in a minute or two whether this GPU is as fast as it should be
  gpuguide exercises                    exercises that check themselves
  gpuguide trace script.py              run a script's kernels without a GPU; say what is wrong with them
"""

_RUN_EXAMPLES = """\
examples:
  gpuguide run primes matmul --quick
  gpuguide run primes --sizes 1e6 2**24
  gpuguide run primes --variants sieve_global sieve_shared --plot primes.svg --json primes.json

Every variant is first compared with the reference; a wrong one is not timed. The time on the device
and the time with copies are in separate rows and never mixed. Beside your times are those of the guide's
machines, and below them which of the page's findings hold here. Sizes that do not fit this machine are left
out and named; Ctrl-C keeps what was measured. Without a GPU only the CPU variants run. Of several pages, each
gets a file of its own, and with --plot each study. In Python, gpuguide.load("primes.json") reads the file.
"""

_COMPARE_EXAMPLES = """\
examples:
  gpuguide compare mine.json                        beside all machines that the guide recorded
  gpuguide compare mine.json nvidia-h200            beside one of them
  gpuguide compare class/*.json --plot class.svg    a whole class

Only the same studies at the same sizes are compared; what differs is said below the tables.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line."""
    options = _parser().parse_args(argv)
    try:
        return int(options.command(options))
    except GpuGuideError as error:
        _complain(str(error))
        return 2 if isinstance(error, ArgumentError | UnknownNameError) else 1
    except BrokenPipeError:
        # The reader (`| head`) has gone; a later flush of standard output would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        _complain("interrupted")
        # 128 and the number of SIGINT, as a shell says it.
        return 130
    except Exception as error:
        if options.traceback:
            raise
        _complain(_in_words(error))
        return 1


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "gpuguide", description=_DESCRIPTION, epilog=_EXAMPLES, formatter_class=raw
    )
    parser.add_argument("--version", action="version", version=f"gpuguide {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show where an unexpected error came from")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    listing = commands.add_parser("list", help="list the topics and what has been recorded for each")
    listing.set_defaults(command=_list)

    run = commands.add_parser(
        "run",
        help="check and time pages on this machine, beside the guide's",
        epilog=_RUN_EXAMPLES,
        formatter_class=raw,
    )
    run.add_argument("pages", nargs="+", metavar="PAGE", help="a name that 'gpuguide list' shows")
    run.add_argument(
        "--quick", action="store_true", help="a first look within 10 s a page: smaller sizes, fewer samples"
    )
    run.add_argument("--sizes", nargs="+", type=_size, metavar="N", help="problem sizes: 1000, 1e6, 2**20")
    run.add_argument("--variants", nargs="+", metavar="NAME", help="only these variants")
    run.add_argument("--study", metavar="NAME", help="only this study of a topic that has several")
    run.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the run as recordings are written",
    )
    run.add_argument("--plot", type=Path, metavar="FILE", help="draw the times beside the guide's, as SVG")
    run.set_defaults(command=_run)

    _add_compare(commands)
    _add_exercises(commands)

    trace = commands.add_parser(
        "trace", help="run a script's kernels without a GPU; say what is wrong with them"
    )
    trace.add_argument("script", type=Path, metavar="SCRIPT", help="a Python file that launches kernels")
    trace.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...", help="arguments of the script")
    trace.set_defaults(command=_trace)

    doctor = commands.add_parser("doctor", help="say what is installed and how to get what is missing")
    doctor.add_argument("--json", action="store_true", help="print facts and findings as JSON")
    doctor.set_defaults(command=_doctor)

    health = commands.add_parser(
        "check-my-gpu", help="measure whether this GPU is as fast as it should be, in three minutes at most"
    )
    health.add_argument("--json", action="store_true", help="print rates, state and findings as JSON")
    health.set_defaults(command=_check_my_gpu)
    return parser


def _add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    compare = commands.add_parser(
        "compare",
        help="lay runs of several machines side by side",
        epilog=_COMPARE_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    compare.add_argument(
        "what", nargs="+", metavar="FILE", help="what 'gpuguide run --json FILE' wrote, or a recorded machine"
    )
    compare.add_argument("--study", metavar="NAME", help="only this study of a page that has several")
    compare.add_argument("--plot", type=Path, metavar="FILE", help="draw all machines in one plot, as SVG")
    compare.add_argument("--html", type=Path, metavar="FILE", help="write the tables as HTML")
    compare.set_defaults(command=_compare)


def _add_exercises(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from gpuguide.exercises.actions import EXAMPLES, add_actions

    exercises = commands.add_parser(
        "exercises",
        help="exercises that check themselves",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    exercises.set_defaults(command=_exercises)
    add_actions(exercises)


def _compare(options: argparse.Namespace) -> int:
    from gpuguide.comparison import compare

    _need_folders(options.plot, options.html)
    comparison = compare(*options.what).only(options.study)
    print(comparison.text(_width()))
    if options.html is not None:
        _write(options.html, comparison._repr_html_())
    if options.plot is not None:
        from gpuguide.charts.style import save_svg

        several = len(comparison.studies) > 1
        for name in comparison.studies:
            path = options.plot
            target = path.with_stem(f"{path.stem}-{name}") if several else path
            _write(target, save_svg(comparison.figure(name)).decode())
    return 0


def _exercises(options: argparse.Namespace) -> int:
    # Commands import what they need, so that help and doctor appear at once, even where packages are missing.
    from gpuguide.exercises import shell

    return shell.perform(options)


def _trace(options: argparse.Namespace) -> int:
    from gpuguide.tracer.script import run_script

    return int(run_script(options.script, options.arguments) > 0)


def _list(options: argparse.Namespace) -> int:
    from itertools import groupby

    from gpuguide import catalogue

    entries = catalogue.entries()
    topics = [entry for entry in entries if entry.runnable]
    name = max((len(entry.name) for entry in topics), default=0)
    print(f"  {'topic':{name}}  recorded   starts  about")
    for section, members in groupby(topics, key=lambda entry: entry.section):
        print(section or "Without a page")
        for entry in members:
            newest, machines = _recorded(entry.recorded)
            print(f"  {entry.name:{name}}  {newest:17}  {entry.title}{machines}")
    print(f"\n{_list_notes(entries)}\nRun one on this machine: gpuguide run PAGE")
    return 0


def _recorded(recordings: Sequence[Recorded]) -> tuple[str, str]:
    """Say when a page was recorded, how often, and on which machines other than the guide's."""
    from gpuguide.recordings.store import PRIMARY_MACHINE

    if not recordings:
        return "not yet", ""
    first, *others = recordings
    named = [first.machine] if first.machine != PRIMARY_MACHINE else []
    named += [f"{each.machine} {_date(each)}" for each in others]
    machines = f" ({', '.join(named)})" if named else ""
    return f"{_date(first):11}{first.n_starts or '':>5}", machines


def _date(recorded: Recorded) -> str:
    return f"{recorded.date}*" if recorded.outdated else recorded.date


def _list_notes(entries: Sequence[Entry]) -> str:
    from gpuguide.recordings.store import PRIMARY_MACHINE

    lines = [
        f"recorded: date of the newest run, on {PRIMARY_MACHINE} where no machine is named",
        "starts: on how many machine starts; with three or more, numbers have a range",
    ]
    if any(recorded.outdated for entry in entries for recorded in entry.recorded):
        lines.append("*: its code has changed since; its page is waiting to be measured again")
    if pages := [entry.name for entry in entries if not entry.runnable]:
        lines.append(f"Pages with numbers, but without a study to run: {', '.join(pages)}")
    return "\n".join(lines)


def _run(options: argparse.Namespace) -> int:
    from gpuguide import catalogue
    from gpuguide.measure.session import Session, entered
    from gpuguide.own_run import INTERRUPTED, QUICK_S
    from gpuguide.run_bar import RunBar

    # Before minutes of measuring, not after.
    _need_folders(options.json, options.plot)
    pages = {
        page: _with_variants(_choose(catalogue.studies(page), options.study), options.variants)
        for page in dict.fromkeys(options.pages)
    }
    has_gpu = _say_machine()
    n_cells = sum(_cells(*each, options) for studies in pages.values() for each in studies.values())
    bar = RunBar(n_cells, QUICK_S * len(pages) if options.quick else math.inf)
    session, failed, written = Session(quick=options.quick), False, False
    for page, studies in pages.items():
        # Entered, because what is timed by hand asks for the session's clocks.
        with entered(session):
            run, page_failed = _run_page(page, studies, session, bar, has_gpu, options)
        failed = failed or page_failed
        if run.studies:
            _write_files(run, options, several=len(pages) > 1)
            written = True
        if run.interrupted:
            kept = "what was measured before is kept" if written else "nothing had been measured yet"
            _complain(f"{INTERRUPTED}; {kept}")
            return 130
    if not written and not failed and (options.json or options.plot):
        raise NoGpuError("Nothing was measured, so no file was written.")
    return int(failed)


def _cells(study: Study, names: list[str] | None, options: argparse.Namespace) -> int:
    return len(study.chosen(names)) * len(options.sizes or study.sizes)


def _run_page(
    page: str,
    studies: dict[str, tuple[Study, list[str] | None]],
    session: Session,
    bar: RunBar,
    has_gpu: bool,
    options: argparse.Namespace,
) -> tuple[PageRun, bool]:
    """Run a page's studies and print them; also say whether one failed, which does not end the others."""
    from gpuguide.own_run import PageRun
    from gpuguide.recordings import store
    from gpuguide.recordings.findings import read_findings
    from gpuguide.run_table import findings_here, recorded_on

    recordings = [found for name in store.machines() if (found := store.load_or_none(page, name))]
    print(f"\n{page}")
    if recordings:
        print(textwrap.fill(recorded_on(recordings), _width()))
    guide = recordings[0].studies if recordings else {}
    run, failed = PageRun(page, session, options.quick, options.sizes), False
    able = [
        name
        for name, (study, names) in studies.items()
        if has_gpu or not all(variant.needs_gpu for variant in study.chosen(names))
    ]
    for name, (study, names) in studies.items():
        if name not in able:
            print(f"\n{study.title}: not measured, because it needs a GPU.")
            bar.skip(_cells(study, names, options))
            continue
        try:
            with bar.study(f"{page}: {study.title}") as advance:
                n_left = len(able) - able.index(name)
                results = run.measure(study, names, guide=guide.get(name), n_left=n_left, advance=advance)
        # A wrong result or a library that is missing here is no reason to lose what comes before and after.
        except Exception as error:
            if options.traceback:
                raise
            _complain(f"{name}: {_in_words(error)}")
            failed = True
            continue
        if name in run.studies:
            _print_study(results, recordings)
        if run.interrupted:
            break
    if recordings and (findings := read_findings(page)) and run.studies:
        print("\nWhat the page finds, and whether it holds here:")
        print("\n".join(findings_here(findings, run.studies, recordings, _width())))
    return run, failed


def _print_study(results: Results, recordings: Sequence[Recording]) -> None:
    from gpuguide.run_table import left_out_words, run_table

    print(f"\n{run_table(results, recordings, _width())}")
    print(f"\n{results.checks_line()}")
    for line in (*left_out_words(results), *(f"Warning: {warning}" for warning in results.warnings)):
        print(textwrap.fill(line, _width()))


def _in_words(error: Exception) -> str:
    if isinstance(error, GpuGuideError):
        return str(error)
    return f"{type(error).__name__}: {error} (use --traceback to see where)"


def _width() -> int:
    # What is not a terminal has room for all columns.
    return shutil.get_terminal_size((_WIDE, 0)).columns


def _doctor(options: argparse.Namespace) -> int:
    from gpuguide import doctor

    facts = doctor.gather()
    diagnoses = doctor.examine(facts)
    if options.json:
        print(doctor.as_json(facts, diagnoses))
    else:
        doctor.show(facts, diagnoses)
    return int(doctor.has_problems(diagnoses))


def _check_my_gpu(options: argparse.Namespace) -> int:
    from gpuguide import health

    checked = health.check(say=lambda words: print(f"Measuring {words} ...", file=sys.stderr))
    print(checked.as_json() if options.json else checked.text(_width()))
    return int(not checked.is_healthy)


def _choose(studies: dict[str, Study], name: str | None) -> dict[str, Study]:
    if name is None:
        return studies
    if name not in studies:
        raise unknown("study", name, studies)
    return {name: studies[name]}


def _with_variants(
    studies: dict[str, Study], names: list[str] | None
) -> dict[str, tuple[Study, list[str] | None]]:
    """Select for each study the wanted variants that it has; a study with none of them is left out."""
    if names is None:
        return {name: (study, None) for name, study in studies.items()}
    known = {variant for study in studies.values() for variant in study.names}
    for name in names:
        if name not in known:
            raise unknown("variant", name, sorted(known))
    shared = {name: [each for each in names if each in study.names] for name, study in studies.items()}
    return {name: (studies[name], variants) for name, variants in shared.items() if variants}


def _say_machine() -> bool:
    """Say which GPU there is, or why there is none; return whether there is one."""
    from gpuguide.machine.device import require_gpu

    try:
        gpu = require_gpu()
    except NoGpuError as error:
        print(f"{error}\nOnly the CPU variants run here.", file=sys.stderr)
        return False
    print(f"{gpu.name}, driver {gpu.driver}, CUDA {gpu.cuda_runtime}")
    return True


def _size(text: str) -> int:
    base, power, exponent = text.partition("**")
    try:
        # A float, for sizes such as 1e6.
        value = _power(int(base), int(exponent)) if power else float(text)
        whole = int(value)
    except (ValueError, OverflowError):
        whole, value = -1, 0
    if whole != value or whole < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number such as 1000, 1e6 or 2**20; got {text!r}")
    return whole


def _power(base: int, exponent: int) -> float:
    # Asked first, because Python would compute 7**9999999999 for hours.
    if abs(base) > 1 and exponent * math.log2(abs(base)) >= _SIZE_BITS:
        raise OverflowError
    return float(base**exponent) if exponent < 0 else int(base**exponent)


def _write_files(run: PageRun, options: argparse.Namespace, *, several: bool) -> None:
    from gpuguide.recordings import store

    def named(path: Path, *more: str) -> Path:
        return path.with_stem("-".join((path.stem, *([run.page] if several else []), *more)))

    if options.json is not None:
        _write(named(options.json), store.dumps_run(run.run()))
    if options.plot is not None:
        for name, results in run.studies.items():
            more = [name] if len(run.studies) > 1 else []
            _plot(named(options.plot, *more), run.page, results)


def _plot(path: Path, page: str, results: Results) -> None:
    from matplotlib.figure import Figure

    from gpuguide.charts.lines import plot_time
    from gpuguide.charts.style import save_svg, style
    from gpuguide.recordings import store
    from gpuguide.recordings.recording import machine_name

    shown = {"this machine": results} if any(cell.n for cell in results.measurements) else {}
    for machine in store.machines():
        recording = store.load_or_none(page, machine)
        if recording is not None and results.name in recording.studies:
            shown[machine_name(recording)] = recording.studies[results.name]
    with style():
        # Not by pyplot, which would look for a display and keep the figure.
        figure = Figure(figsize=(6 * len(shown), 4.5))
        axes = figure.subplots(1, len(shown), sharex=True, sharey=True, squeeze=False)[0]
        for ax, (title, each) in zip(axes, shown.items(), strict=True):
            plot_time(each, ax=ax)
            ax.set_title(title)
        svg = save_svg(figure)
    _write(path, svg.decode())


def _need_folders(*paths: Path | None) -> None:
    for path in paths:
        if path is not None and not path.absolute().parent.is_dir():
            raise ArgumentError(f"Cannot write {path}: its folder does not exist. Create it first.")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"Cannot write {path}: {error.strerror}. Choose another file.") from None
    print(f"Wrote {path}")


def _complain(message: str) -> None:
    print(f"gpuguide: {' '.join(message.split())}", file=sys.stderr)
