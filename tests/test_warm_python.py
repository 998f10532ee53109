"""A copy of a warm Python does what a fresh one would, and leaves nothing to the next."""

from __future__ import annotations

import os
import subprocess

import pytest

from warm_python import WarmPython

MODULE = """\
import atexit
import sys

import json.tool

atexit.register(print, "at the end")
print(__name__, __spec__.name, sys.argv[1:], sys.path[0])
if sys.argv[1:]:
    raise SystemExit(int(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def warm():
    python = WarmPython(["json"], options=["-W", "error"], env=os.environ)
    yield python
    python.end()


def run(warm, *command, **options):
    options = {"env": os.environ, "timeout_s": 60, **options}
    return warm.run(command, **options)


def test_a_module_is_run_with_its_arguments_in_its_folder(warm, tmp_path):
    (tmp_path / "told.py").write_text(MODULE)
    done = run(warm, "-m", "told", "3", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == f"__main__ told ['3'] {tmp_path}\nat the end\n"


def test_the_path_of_the_environment_comes_first(warm, tmp_path):
    (tmp_path / "told.py").write_text("print('here')\n")
    env = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{tmp_path}/none", "SAID": "yes"}
    done = run(warm, "-c", "import os, sys, told; print(sys.path[1:3], os.environ['SAID'])", env=env)
    assert done.stdout == f"here\n{[str(tmp_path), f'{tmp_path}/none']} yes\n"
    assert run(warm, "-c", "import told").returncode == 1, "the next knows nothing of it"


def test_imports_are_done_in_the_original_alone(warm):
    told = "import sys; print('json' in sys.modules, 'wave' in sys.modules); import json, wave; json.mine = 1"
    assert run(warm, "-c", told).stdout == "True False\n"
    assert run(warm, "-c", told + "; print(hasattr(json, 'mine'))").stdout == "True False\nTrue\n"
    assert run(warm, "-c", "import json; print(hasattr(json, 'mine'))").stdout == "False\n"


def test_the_same_source_elsewhere_knows_its_place_and_a_changed_one_is_read(warm, tmp_path):
    """Where no bytecode is written, copies share what one of them has compiled."""
    told = "import told; print(told.where.__code__.co_filename, told.where())"
    for folder, value in (("one", 1), ("two", 1), ("two", 2)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "told.py").write_text(f"def where():\n    return {value}\n")
        env = {**os.environ, "PYTHONPATH": str(tmp_path / folder), "PYTHONDONTWRITEBYTECODE": "1"}
        assert run(warm, "-c", told, env=env).stdout == f"{tmp_path}/{folder}/told.py {value}\n"


def test_code_that_was_read_before_is_for_one_module_with_the_same_source(warm, tmp_path):
    """As `own_code` has it: so much the quicker are the copies."""
    for folder, value in (("zero", 1), ("one", 1), ("two", 1), ("three", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "told.py").write_text(f"def where():\n    return {value}\n")
    told = f"""
import sys, told, sitecustomize
sitecustomize.keep(told)
(kept, _), = sitecustomize.read.values()
for folder in ("one", "two", "one", "three"):
    del sys.modules["told"]
    sys.path[1] = {str(tmp_path)!r} + "/" + folder
    import told
    code = told.where.__code__
    print(code.co_filename, told.where(), any(code is each for each in kept.co_consts))
"""
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "zero"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = run(warm, "-c", told, env=env)
    places = [f"{tmp_path}/one/told.py 1", f"{tmp_path}/two/told.py 1", f"{tmp_path}/one/told.py 1"]
    assert done.stdout.splitlines() == [
        f"{places[0]} True",
        f"{places[1]} False",
        f"{places[2]} True",
        f"{tmp_path}/three/told.py 2 False",
    ], done.stderr


def test_errors_and_warnings_end_it_with_their_traceback(warm):
    for code, said in (
        ("1 / 0", "ZeroDivisionError: "),
        ("import warnings; warnings.warn('x')", "UserWarning: x"),
    ):
        done = run(warm, "-c", code)
        assert (done.returncode, done.stdout) == (1, "")
        assert said in done.stderr.splitlines()[-1]
    done = run(warm, "-c", "raise SystemExit('no')")
    assert (done.returncode, done.stderr) == (1, "no\n")


def test_what_is_told_in_one_keeps_its_order(warm):
    code = "import sys; print(1, flush=True); print(2, file=sys.stderr, flush=True); print(3)"
    assert run(warm, "-c", code, in_one=True).stdout == "1\n2\n3\n"


def test_threads_are_waited_for(warm):
    code = "import threading; threading.Timer(0.05, lambda: print('late')).start()"
    assert run(warm, "-c", code).stdout == "late\n"


def test_a_signal_and_too_long_a_time_are_told_and_the_next_runs(warm):
    assert run(warm, "-c", "import os; os.kill(os.getpid(), 11)").returncode == -11
    with pytest.raises(subprocess.TimeoutExpired):
        run(warm, "-c", "import time; time.sleep(60)", timeout_s=0.2)
    assert run(warm, "-c", "print('next')").stdout == "next\n"
