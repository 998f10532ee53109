"""A Python whose imports are done; tests fork copies of it where a fresh one would import the same again.

A copy differs from a fresh Python in what is imported, and in its seed of hashes, which all copies share.
Where one of these is what a test is about, the test starts a fresh one.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import types
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

NUMBER = struct.Struct("q")
# On the path of a Python, it takes what another one has compiled.
COMPILED_ONCE = str(Path(__file__).parent / "compiled_once")


class WarmPython:
    """Ends with this process.

    Parameters
    ----------
    modules : sequence of str
        What it imports.
    options : sequence of str
        Of Python.
    env : mapping of str to str
        What Python and the modules read while they start. Each copy gets an environment of its own.
    """

    def __init__(
        self, modules: Sequence[str], *, options: Sequence[str] = (), env: Mapping[str, str]
    ) -> None:
        self._here, there = socket.socketpair()
        command = [sys.executable, *options, __file__, str(there.fileno()), *modules]
        env = {**env, "PYTHONPATH": os.pathsep.join([*filter(None, [env.get("PYTHONPATH")]), COMPILED_ONCE])}
        self._original = subprocess.Popen(command, env=env, pass_fds=[there.fileno()])
        there.close()
        atexit.register(self.end)

    def end(self) -> None:
        self._here.close()
        self._original.wait()

    def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str],
        timeout_s: float,
        in_one: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Run ``-m module arguments`` or ``-c code``; give what it printed, errors apart or all `in_one`."""
        request = json.dumps(
            {"command": list(command), "cwd": str(cwd or Path.cwd()), "env": dict(env)}
        ).encode()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            files = [out.fileno(), (out if in_one else errors).fileno()]
            socket.send_fds(self._here, [NUMBER.pack(len(request))], files)
            self._here.sendall(request)
            copy = self._answer()
            self._here.settimeout(timeout_s)
            try:
                code = self._answer()
            except TimeoutError:
                os.kill(copy, signal.SIGKILL)
                self._here.settimeout(None)
                self._answer()
                raise subprocess.TimeoutExpired(list(command), timeout_s) from None
            self._here.settimeout(None)
            texts = []
            for file in (out, errors):
                file.seek(0)
                texts.append(file.read().decode())
        return subprocess.CompletedProcess(list(command), code, *texts)

    def _answer(self) -> int:
        said = self._here.recv(NUMBER.size, socket.MSG_WAITALL)
        assert said, f"the warm Python ended with status {self._original.wait()}"
        return int(NUMBER.unpack(said)[0])


def wait_for_orders(control: socket.socket) -> dict[str, Any] | None:
    """Fork a copy for each order, and return in it what is ordered; the original returns None in the end."""
    while True:
        said, files, _, _ = socket.recv_fds(control, NUMBER.size, 2)
        if not said:
            return None
        request = json.loads(control.recv(NUMBER.unpack(said)[0], socket.MSG_WAITALL))
        with warnings.catch_warnings():
            # Python 3.12 warns of threads, and NumPy's library for linear algebra has some.
            warnings.simplefilter("ignore", DeprecationWarning)
            copy = os.fork()
        if not copy:
            control.close()
            for there, file in enumerate(files, start=1):
                os.dup2(file, there)
                os.close(file)
            return dict(request)
        for file in files:
            os.close(file)
        control.sendall(NUMBER.pack(copy))
        control.sendall(NUMBER.pack(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])))


def become(command: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
    """Do what a Python with this command line does."""
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    how, what, *arguments = command
    asked = filter(None, env.get("PYTHONPATH", "").split(os.pathsep))
    # The first is the folder of this script.
    sys.path[:] = [cwd if how == "-m" else "", *asked, *sys.path[1:]]
    sys.dont_write_bytecode = bool(env.get("PYTHONDONTWRITEBYTECODE"))
    sys.modules["__main__"] = main = types.ModuleType("__main__")
    if how == "-m":
        sys.argv[:] = ["-m", *arguments]
        runpy._run_module_as_main(what)
    else:
        assert how == "-c", command
        sys.argv[:] = ["-c", *arguments]
        exec(compile(what, "<string>", "exec"), vars(main))


def end_as_python_does(order: dict[str, Any]) -> NoReturn:
    """Do what is ordered, wait for its threads, and end as it says, without taking all modules apart."""
    code: Any = None
    try:
        become(**order)
    except SystemExit as error:
        code = error.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    if not (code is None or isinstance(code, int)):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit((code or 0) & 0xFF)


if __name__ == "__main__":
    for module in sys.argv[2:]:
        importlib.import_module(module)
    # The collector of a copy need not look at what all share, which would make the system copy its memory.
    gc.collect()
    gc.freeze()
    # As conftest.py has it for the tests.
    gc.set_threshold(100_000, 20, 50)
    if order := wait_for_orders(socket.socket(fileno=int(sys.argv[1]))):
        end_as_python_does(order)
