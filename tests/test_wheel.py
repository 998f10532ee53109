"""The wheel as a reader gets it: built, installed apart from the checkout, listed and run on the CPU."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", "-w", str(folder), str(ROOT)], check=True, timeout=120)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def gpuguide(wheel, tmp_path_factory):
    """Runs the installed command in an environment of its own, which sees this one's dependencies only."""
    home = tmp_path_factory.mktemp("reader")
    venv.create(home, with_pip=False)
    site = next(home.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # A path file is not followed from here, so the checkout's editable install stays out of sight.
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")

    def run(*arguments):
        code = "import sys; from gpuguide.cli import main; sys.exit(main())"
        environment = {**os.environ, "PYTHONPATH": "", "MPLBACKEND": "agg"}
        command = [str(home / "bin" / "python"), "-W", "error", "-c", code, *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=150, cwd=home, env=environment)

    run.home = home
    return run


def test_the_wheel_is_small_and_holds_the_measurements_but_no_figures(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.stat().st_size < 5_000_000
    assert any("/recorded/nvidia-h200/sort_search/20" in name for name in names)
    assert "gpuguide/measure/harness.toml" in names
    assert not [name for name in names if name.endswith(".svg")]
    assert "gpuguide/py.typed" in names


def test_without_an_extra_there_is_the_runtime_that_numba_cuda_asks_for_when_it_is_imported(wheel):
    """Else `from numba import cuda` raises on a computer without CUDA, where the exercises are to be done."""
    archive = zipfile.ZipFile(wheel)
    metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    needed = re.findall(r"^Requires-Dist: (.+)$", archive.read(metadata).decode(), re.M)
    (runtime,) = [each for each in needed if each.startswith("cuda-toolkit") and "extra ==" not in each]
    assert runtime.startswith("cuda-toolkit[cudart]")
    assert runtime.replace('"', "'").endswith("sys_platform != 'darwin'")


def test_list_names_what_was_recorded(gpuguide):
    listed = gpuguide("list")
    assert listed.returncode == 0, listed.stderr
    assert re.search("^Arrays on the GPU$.*^  sort_search  .*^Moving data$", listed.stdout, re.M | re.S)
    assert "nvidia-h200" in listed.stdout


def test_run_measures_on_the_cpu_and_says_that_there_is_no_gpu(gpuguide):
    target = gpuguide.home / "sort.json"
    options = ["--study", "sort", "--sizes", "1000", "10000", "--quick", "--json", str(target)]
    ran = gpuguide("run", "sort_search", *options)
    assert ran.returncode == 0, ran.stderr
    assert "NumPy" in ran.stdout
    assert "no GPU" in ran.stdout + ran.stderr or "CuPy" in ran.stdout
    assert "What the page finds, and whether it holds here:" in ran.stdout
    measured = json.loads(target.read_text())
    assert measured


def test_recorded_results_can_be_loaded_and_drawn(gpuguide):
    code = (
        "import gpuguide as gg; r = gg.load('sort_search').studies['sort']; "
        "print(gg.plot_time(r, variants=['numpy', 'cupy']).get_xlabel())"
    )
    command = [str(gpuguide.home / "bin" / "python"), "-c", code]
    environment = {**os.environ, "PYTHONPATH": "", "MPLBACKEND": "agg"}
    drawn = subprocess.run(
        command, capture_output=True, text=True, timeout=60, cwd=gpuguide.home, env=environment
    )
    assert drawn.stdout.strip(), drawn.stderr
