"""The command line: one line for an error, a table for a topic, nothing hidden without a GPU."""

import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpuguide import __version__, catalogue, cli, topics
from gpuguide.catalogue import Recorded
from gpuguide.errors import MismatchError
from gpuguide.exercises.actions import EXAMPLES
from gpuguide.own_run import PageRun
from gpuguide.recordings import store
from gpuguide.results.results import Results
from study_results import make


class FakeStudy:
    def __init__(self, name: str = "adding", names: tuple[str, ...] = ("numpy", "cupy")) -> None:
        self.name, self.title, self.names, self.sizes = name, f"Study {name}", names, (1000,)
        self.variants = [SimpleNamespace(name=name, needs_gpu=name == "cupy") for name in names]
        self.error: Exception | None = None
        self.asked: list[dict[str, Any]] = []

    def chosen(self, names: list[str] | None) -> list[Any]:
        return [each for each in self.variants if each.name in (names or self.names)]


def measure(run: PageRun, study: FakeStudy, names: list[str] | None, **options: Any) -> Results:
    study.asked.append({"quick": run.quick, "sizes": run.sizes, "variants": names})
    if study.error is not None:
        raise study.error
    run.studies[study.name] = make(name=study.name, warnings=("two modes in 'cupy'",))
    return run.studies[study.name]


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> FakeStudy:
    study = FakeStudy()
    monkeypatch.setattr(catalogue, "studies", lambda topic: {study.name: study})
    monkeypatch.setattr(PageRun, "measure", measure)
    monkeypatch.setattr(cli, "_say_machine", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    return study


def test_run_prints_table_checks_and_warnings(study: FakeStudy, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "adding"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("\nadding\n\nAdd one (float32")
    assert out.endswith("was checked.\nWarning: two modes in 'cupy'\n")
    assert study.asked == [{"quick": False, "sizes": None, "variants": None}]


def test_run_passes_its_options_on(study: FakeStudy) -> None:
    arguments = ["run", "adding", "--quick", "--sizes", "1000", "1e6", "2**20", "--variants", "numpy", "cupy"]
    assert cli.main(arguments) == 0
    assert study.asked == [{"quick": True, "sizes": [1000, 10**6, 2**20], "variants": ["numpy", "cupy"]}]


def test_several_pages_run_one_after_another_with_a_file_each(
    study: FakeStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", "primes", "matmul", "primes", "--json", str(tmp_path / "mine.json")]) == 0
    assert len(study.asked) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine-matmul.json", "mine-primes.json"]
    assert "\nmatmul\n" in capsys.readouterr().out


def test_the_findings_of_the_page_are_below_its_tables(
    study: FakeStudy, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", "primes"]) == 0
    out = capsys.readouterr().out
    assert "H200, the median of" in " ".join(out.split())
    assert out.partition("What the page finds, and whether it holds here:\n")[2] == (
        "  not checked, 9 of 9: the study was not measured\n"
    )


@pytest.mark.parametrize("size", ["many", "1.5", "-3", "2**x"])
def test_a_size_is_a_whole_number(size: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["run", "adding", f"--sizes={size}"])
    assert caught.value.code == 2
    assert "expected a whole number such as 1000, 1e6 or 2**20" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (MismatchError("'cupy' differs:\n  3 elements"), 1, "gpuguide: adding: 'cupy' differs: 3 elements\n"),
        (RuntimeError("boom"), 1, "gpuguide: adding: RuntimeError: boom (use --traceback to see where)\n"),
        (KeyboardInterrupt(), 130, "gpuguide: interrupted\n"),
    ],
)
def test_an_error_is_one_line(
    study: FakeStudy, capsys: pytest.CaptureFixture[str], error: Exception, status: int, line: str
) -> None:
    study.error = error
    assert cli.main(["run", "adding"]) == status
    assert capsys.readouterr().err == line


def test_a_study_that_fails_does_not_cost_the_others(
    monkeypatch: pytest.MonkeyPatch, study: FakeStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = FakeStudy("other")
    monkeypatch.setattr(catalogue, "studies", lambda topic: {"adding": study, "other": other})
    study.error = MismatchError("'cupy' differs")
    path = tmp_path / "mine.json"
    assert cli.main(["run", "both", "--json", str(path)]) == 1
    assert capsys.readouterr().err == "gpuguide: adding: 'cupy' differs\n"
    assert list(store.load(path).studies) == ["other"]


def test_an_interruption_prints_and_writes_what_there_is(
    monkeypatch: pytest.MonkeyPatch, study: FakeStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(run: PageRun, *arguments: Any, **options: Any) -> Results:
        run.interrupted = True
        return measure(run, *arguments, **options)

    monkeypatch.setattr(PageRun, "measure", interrupted)
    assert cli.main(["run", "primes", "matmul", "--json", str(tmp_path / "mine.json")]) == 130
    captured = capsys.readouterr()
    assert "Add one (float32" in captured.out
    assert "matmul" not in captured.out
    assert "kept" in captured.err
    assert (tmp_path / "mine-primes.json").exists()


def test_an_interruption_before_the_first_time_writes_nothing(
    monkeypatch: pytest.MonkeyPatch, study: FakeStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(run: PageRun, *arguments: Any, **options: Any) -> Results:
        run.interrupted = True
        return make(measurements=())

    monkeypatch.setattr(PageRun, "measure", interrupted)
    assert cli.main(["run", "primes", "--json", str(tmp_path / "mine.json")]) == 130
    captured = capsys.readouterr()
    assert "Nothing was measured" not in captured.out
    assert "nothing had been measured yet" in captured.err
    assert not list(tmp_path.iterdir())


def test_the_traceback_is_there_when_asked_for(study: FakeStudy) -> None:
    study.error = RuntimeError("boom")
    with pytest.raises(RuntimeError, match="boom"):
        cli.main(["--traceback", "run", "adding"])


def test_an_unknown_topic_names_the_nearest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(catalogue, "topic_names", lambda: ("primes", "matmul"))
    assert cli.main(["run", "prime"]) == 2
    assert capsys.readouterr().err == "gpuguide: Unknown topic 'prime'. Did you mean 'primes'?\n"


def test_one_study_of_several_can_be_chosen(
    monkeypatch: pytest.MonkeyPatch, study: FakeStudy, capsys: pytest.CaptureFixture[str]
) -> None:
    other = FakeStudy("other")
    monkeypatch.setattr(catalogue, "studies", lambda topic: {"adding": study, "other": other})
    assert cli.main(["run", "both", "--study", "other"]) == 0
    assert (len(study.asked), len(other.asked)) == (0, 1)
    assert cli.main(["run", "both", "--study", "othr"]) == 2
    assert "Did you mean 'other'?" in capsys.readouterr().err


def test_each_study_runs_those_of_the_chosen_variants_that_it_has(
    monkeypatch: pytest.MonkeyPatch, study: FakeStudy, capsys: pytest.CaptureFixture[str]
) -> None:
    both, neither = FakeStudy("both", names=("numpy", "own")), FakeStudy("neither", names=("python",))
    studies = {"adding": study, "both": both, "neither": neither}
    monkeypatch.setattr(catalogue, "studies", lambda topic: studies)
    assert cli.main(["run", "several", "--variants", "own", "numpy"]) == 0
    assert [each["variants"] for each in (*study.asked, *both.asked)] == [["numpy"], ["own", "numpy"]]
    assert not neither.asked
    assert cli.main(["run", "several", "--variants", "nump"]) == 2
    assert "Did you mean 'numpy'?" in capsys.readouterr().err


def test_without_a_gpu_what_needs_one_takes_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from gpuguide.errors import NoGpuError
    from gpuguide.machine import device

    def no_gpu() -> Any:
        raise NoGpuError("This needs a GPU.")

    both, none = FakeStudy(), FakeStudy("streams", names=("cupy",))
    monkeypatch.setattr(catalogue, "studies", lambda topic: {"adding": both, "streams": none})
    monkeypatch.setattr(PageRun, "measure", measure)
    monkeypatch.setattr(device, "require_gpu", no_gpu)
    assert cli.main(["run", "adding"]) == 0
    out, error = capsys.readouterr()
    assert error == "This needs a GPU.\nOnly the CPU variants run here.\n"
    assert both.asked
    assert not none.asked
    assert "\nStudy streams: not measured, because it needs a GPU.\n" in out
    path = tmp_path / "none.json"
    assert cli.main(["run", "adding", "--study", "streams", "--json", str(path)]) == 1
    assert not path.exists()


@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_timed(
    study: FakeStudy, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["run", "adding", option, str(tmp_path / "none" / "file")]) == 2
    assert "its folder does not exist" in capsys.readouterr().err
    assert not study.asked


def test_json_and_plot_are_written(
    study: FakeStudy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", "adding", "--json", str(tmp_path / "a.json"), "--plot", str(tmp_path / "a.svg")]
    assert cli.main(arguments) == 0
    assert list(store.load(tmp_path / "a.json").studies) == ["adding"]
    assert "this machine" in (tmp_path / "a.svg").read_text()
    assert capsys.readouterr().out.count("Wrote ") == 2


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A topic with two modules, in a folder of its own beside those of the package."""
    folder = tmp_path / "sample"
    folder.mkdir()
    (folder / "__init__.py").touch()
    study = """Study(
    name="{0}", title="Add", variants=(Variant("add", max, device="cpu", clock="host"),), sizes=(1,),
    inputs=lambda n, dtype, rng, exact: (rng.random(n),), reference=max,
)"""
    start = "from gpuguide.measure import Study\nfrom gpuguide.measure.plan import Variant\n\n"
    (folder / "study.py").write_text(
        '"""What it is about.\n\nAnd more."""\nfrom gpuguide.topics.sample.other import borrowed\n'
        f"{start}study = {study.format('one')}\ntall = {study.format('two')}\n"
    )
    (folder / "other.py").write_text(f'"""Else."""\n{start}borrowed = {study.format("three")}\n')
    (folder / "kernels.py").write_text("raise AssertionError('a module without a study is not imported')\n")
    monkeypatch.setattr(topics, "__path__", [str(tmp_path)])
    yield folder
    for name in [name for name in sys.modules if name.startswith("gpuguide.topics.sample")]:
        del sys.modules[name]
    vars(topics).pop("sample", None)


@pytest.mark.usefixtures("page")
def test_a_topic_gives_the_studies_of_all_its_modules() -> None:
    """Each once, whoever imports it."""
    assert sorted(catalogue.studies("sample")) == ["one", "three", "two"]


@pytest.mark.usefixtures("page")
def test_the_list_says_what_the_first_line_of_study_says(tmp_path: Path) -> None:
    (entry,) = catalogue.entries(tmp_path / "no recordings")
    assert entry == catalogue.Entry("sample", "What it is about.")


@pytest.mark.parametrize("topic", catalogue.topic_names())
def test_the_studies_of_a_topic_have_names_of_their_own(topic: str) -> None:
    """Else one would hide the other, in `gpuguide run` and in the recording."""
    assert len(catalogue.studies(topic)) == sum(1 for _ in catalogue._studies(topic))


def test_the_list_has_a_line_for_each_topic_by_section(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    h200, t4 = Recorded("nvidia-h200", "2026-11-21", 3), Recorded("tesla-t4", "2026-12-01", 1, outdated=True)
    entries = (
        catalogue.Entry("primes", "Primes", "First kernels", recorded=(h200, t4)),
        catalogue.Entry("matmul", "Products", "First kernels"),
        catalogue.Entry("why_gpu", "Why a GPU", "Start here", runnable=False, recorded=(h200,)),
        catalogue.Entry("mine", "My own", recorded=(t4,)),
    )
    monkeypatch.setattr(catalogue, "entries", lambda: entries)
    assert cli.main(["list"]) == 0
    _, *lines = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "First kernels",
        "primes 2026-11-21 3 Primes (tesla-t4 2026-12-01*)",
        "matmul not yet Products",
        "Without a page",
        "mine 2026-12-01* 1 My own (tesla-t4)",
    ]


def test_the_list_fits_a_terminal_and_offers_only_what_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["list"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 90
    topics, notes = out.split("\n\n")
    assert re.findall(r"^  (\w+) ", topics, re.MULTILINE)[1:] == sorted(
        catalogue.topic_names(), key=list(catalogue._pages()).index
    )
    assert "without a study to run: five_minutes, several_hosts" in notes


@pytest.mark.parametrize("page", ["five_minutes", "several_hosts"])
def test_a_page_without_a_study_is_no_unknown_name(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", page]) == 2
    error = capsys.readouterr().err
    assert "has no study to run" in error
    assert "download its notebook" in error


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The miniature guide in the place of this one's sources and recordings."""
    root = tmp_path / "golden"
    shutil.copytree(Path(__file__).parent / "docs" / "golden", root)
    monkeypatch.setattr(catalogue, "_SOURCES", root / "src")
    monkeypatch.setattr(store, "ROOT", root / "src" / "gpuguide" / "recorded")
    return root


@pytest.mark.parametrize(
    ("old", "new", "outdated"),
    [
        ("A sum is quick.", "A sum is slow.", False),
        ("np.arange(4)", "np.arange(5)", True),
        ("plot_time", "plot_rate", False),
        ("np.arange(4)", "np.arange(", True),
    ],
    ids=["prose", "a recorded cell", "a drawn cell", "does not parse"],
)
def test_a_recording_of_other_code_is_listed_as_outdated(
    golden: Path, old: str, new: str, outdated: bool
) -> None:
    """Unlike a page, the list has no banner that says so."""
    script = golden / "examples" / "start" / "toy.py"
    script.write_text(script.read_text().replace(old, new))
    found = {entry.name: entry.recorded for entry in catalogue.entries()}
    assert found["toy"] == (Recorded("test-cpu", "2026-11-21", 1, outdated),)


def test_one_broken_recording_does_not_hide_the_others(golden: Path) -> None:
    (path,) = (golden / "src" / "gpuguide" / "recorded" / "test-cpu" / "toy").iterdir()
    path.write_text("{")
    found = {entry.name: entry.recorded for entry in catalogue.entries()}
    assert found["toy"] == (Recorded("test-cpu", "unreadable", 0),)
    assert found["pictures"] == (Recorded("test-cpu", "2026-11-21", 1),)


def test_listing_imports_no_topic(fresh_python: Callable[..., str]) -> None:
    snippet = """
import sys
from gpuguide import catalogue
assert catalogue.topic_names()
print([name for name in sys.modules if name.startswith("gpuguide.topics.") or name in ("numba", "cupy")])
"""
    assert fresh_python(snippet) == "[]\n"


def test_every_example_of_the_help_is_a_command_that_parses() -> None:
    examples = cli._EXAMPLES + cli._RUN_EXAMPLES + cli._COMPARE_EXAMPLES + EXAMPLES
    commands = re.findall(r"^  gpuguide (.+?)(?:   .*)?$", examples, re.MULTILINE)
    assert commands
    for command in commands:
        cli._parser().parse_args(command.split())


def test_it_runs_as_a_module(fresh_python: Callable[..., str]) -> None:
    snippet = """
import runpy, sys
sys.argv = ["gpuguide", "--version"]
runpy.run_module("gpuguide", run_name="__main__")
"""
    assert fresh_python(snippet) == f"gpuguide {__version__}\n"


def test_the_json_of_a_real_study_can_be_read_back(tmp_path: Path) -> None:
    """Runs the CPU variants of a topic, so that the pieces are seen to fit."""
    import gpuguide as gg

    path = tmp_path / "first_kernel.json"
    arguments = ["run", "first_kernel", "--quick", "--sizes", "1000", "--variants", "numpy"]
    assert cli.main([*arguments, "--json", str(path)]) == 0
    run = gg.load(str(path))
    assert repr(run).startswith("<Recording of page 'first_kernel' on ")
    (results,) = run.studies.values()
    assert results.sizes == (1000,)
    assert results.quick
