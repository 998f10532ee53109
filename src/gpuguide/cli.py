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
    from gpuguide.measure.study import Study
    from gpuguide.recordings.recording import Recording
    from gpuguide.results.results import Results

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
  gpuguide run first_kernel             check and time a topic here; print the table
  gpuguide run first_kernel --quick     a first look in seconds, with fewer samples
  gpuguide compare mine.json            what 'run --json' wrote, beside the guide's machines
  gpuguide check-my-gpu                 measure in a minute or two whether this GPU is as fast as it should be
  gpuguide exercises                    exercises that check themselves
  gpuguide trace script.py              run a script's kernels without a GPU; say what is wrong with them
"""

_RUN_EXAMPLES = """\
examples:
  gpuguide run primes --sizes 1e6 2**24
  gpuguide run primes --variants sieve_global sieve_shared --plot primes.svg --json primes.json

Every variant is first compared with the reference; a wrong one is not timed. The time on the device
and the time with copies are in separate rows and never mixed. Beside your times are those of the guide's
recording. Without a GPU only the CPU variants run. In Python, gpuguide.load("primes.json") reads the file.
"""

_COMPARE_EXAMPLES = """\
examples:
  gpuguide compare mine.json                        beside all machines that the guide recorded
  gpuguide compare mine.json nvidia-h200            beside one of them
  gpuguide compare class/*.json --plot class.svg    a whole class

Only the same studies at the same sizes are compared; what differs is said below each table.
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
        _complain(f"{type(error).__name__}: {error} (use --traceback to see where)")
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
        "run", help="check and time a topic on this machine", epilog=_RUN_EXAMPLES, formatter_class=raw
    )
    run.add_argument("topic", metavar="TOPIC", help="a name that 'gpuguide list' shows")
    run.add_argument("--quick", action="store_true", help="take fewer samples, for a first look only")
    run.add_argument("--sizes", nargs="+", type=_size, metavar="N", help="problem sizes: 1000, 1e6, 2**20")
    run.add_argument("--variants", nargs="+", metavar="NAME", help="only these variants")
    run.add_argument("--study", metavar="NAME", help="only this study of a topic that has several")
    run.add_argument(
        "--json", type=Path, metavar="FILE", help="write every sample as JSON, for gpuguide.load"
    )
    run.add_argument("--plot", type=Path, metavar="FILE", help="draw time against size as SVG")
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
    print(f"\n{_list_notes(entries)}\nRun one on this machine: gpuguide run TOPIC")
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
    from gpuguide.recordings import store
    from gpuguide.run_table import recorded_on

    # Before minutes of measuring, not after.
    for path in (options.json, options.plot):
        if path is not None and not path.absolute().parent.is_dir():
            raise ArgumentError(f"Cannot write {path}: its folder does not exist. Create it first.")
    chosen = _choose(catalogue.studies(options.topic), options.study)
    recording = store.load_or_none(options.topic)
    has_gpu = _say_machine()
    if recording is not None:
        print(textwrap.fill(recorded_on(recording), _width()))
    done = {}
    for name, (study, names) in _with_variants(chosen, options.variants).items():
        results = _run_study(study, names, recording, has_gpu, options)
        if results is not None:
            done[name] = results
    if not done and (options.json or options.plot):
        raise NoGpuError("Nothing was measured, so no file was written.")
    if options.json is not None:
        _write(options.json, _as_json(done))
    if options.plot is not None:
        _plot(options.plot, done)
    return 0


def _run_study(
    study: Study,
    names: list[str] | None,
    recording: Recording | None,
    has_gpu: bool,
    options: argparse.Namespace,
) -> Results | None:
    """Run and print a study; None where a GPU is missing for all that was chosen of it."""
    from gpuguide.run_table import run_table

    variants = study.chosen(names)
    able = [each for each in variants if has_gpu or not each.needs_gpu]
    if not able:
        print(f"\n{study.title}: not measured, because it needs a GPU.")
        return None
    results = study.run(quick=options.quick, sizes=options.sizes, variants=[each.name for each in able])
    print(f"\n{run_table(results, recording, _width())}")
    if missing := [each.label or each.name for each in variants if each not in able]:
        print(textwrap.fill(f"Not measured without a GPU: {'; '.join(missing)}.", _width()))
    print(f"\n{results.checks_line()}")
    for warning in results.warnings:
        print(f"Warning: {warning}")
    return results


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


def _as_json(done: dict[str, Results]) -> str:
    from gpuguide.recordings.plain import dumps
    from gpuguide.recordings.recording import SavedRun

    return dumps(SavedRun(__version__, done))


def _plot(path: Path, done: dict[str, Results]) -> None:
    from matplotlib.figure import Figure

    from gpuguide.charts.lines import plot_time
    from gpuguide.charts.style import save_svg, style

    for name, results in done.items():
        target = path if len(done) == 1 else path.with_stem(f"{path.stem}-{name}")
        with style():
            # Not by pyplot, which would look for a display and keep the figure.
            figure = Figure()
            plot_time(results, ax=figure.subplots())
            svg = save_svg(figure)
        _write(target, svg.decode())


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
