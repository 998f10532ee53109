"""A Python whose imports are done; tests fork copies of it where a fresh one would import the same again.

A copy differs from a fresh Python in what is imported, and in its seed of hashes, which all copies share.
Where one of these is what a test is about, the test starts a fresh one.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import json
import os
import runpy
import select
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
    """Ends with the process that made the first one of its name.

    Parameters
    ----------
    modules : sequence of str
        What it imports.
    options : sequence of str
        Of Python.
    env : mapping of str to str
        What Python and the modules read while they start. Each copy gets an environment of its own.
    shared : pathlib.Path, optional
        Where processes that want the same meet: the first starts it, and the others use it, too.
    """

    def __init__(
        self,
        modules: Sequence[str],
        *,
        options: Sequence[str] = (),
        env: Mapping[str, str],
        shared: Path | None = None,
    ) -> None:
        self._command = [*options, __file__, *modules]
        self._env = {
            **env,
            "PYTHONPATH": os.pathsep.join([*filter(None, [env.get("PYTHONPATH")]), COMPILED_ONCE]),
        }
        self._original: subprocess.Popen[bytes] | None = None
        self._here = socket.socket(socket.AF_UNIX)
        if shared is None:
            with tempfile.TemporaryDirectory() as folder:
                self._start(Path(folder, "socket"))
        else:
            with shared.with_suffix(".lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                try:
                    self._here.connect(str(shared))
                except OSError:
                    # There is none yet, or it has ended with the process that started it.
                    shared.unlink(missing_ok=True)
                    self._start(shared)
        atexit.register(self.end)

    def _start(self, place: Path) -> None:
        """Start the original, which serves whoever connects, until its standard input ends."""
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(place))
            listening.listen()
            options, script = self._command[: (at := self._command.index(__file__))], self._command[at:]
            self._original = subprocess.Popen(
                [sys.executable, *options, script[0], str(listening.fileno()), *script[1:]],
                env=self._env,
                pass_fds=[listening.fileno()],
                stdin=subprocess.PIPE,
            )
            # Who connects now waits until all is imported.
            self._here.connect(str(place))

    def end(self) -> None:
        self._here.close()
        if self._original is not None:
            self._original.communicate()

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
        assert said, "the warm Python has ended"
        return int(NUMBER.unpack(said)[0])


def wait_for_clients(listening: socket.socket) -> socket.socket | None:
    """Fork a copy for each client, and return in it the connection; the original returns None in the end."""
    # The system forgets copies that have ended.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([listening, sys.stdin], [], [])
        if sys.stdin in ready:
            return None
        client, _ = listening.accept()
        if not fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listening.close()
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, 0)
            os.close(nothing)
            return client
        client.close()


def fork() -> int:
    with warnings.catch_warnings():
        # Python 3.12 warns of threads, and NumPy's library for linear algebra has some.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def wait_for_orders(control: socket.socket) -> dict[str, Any] | None:
    """Fork a copy for each order, and return in it what is ordered; return None when there are no more."""
    while True:
        said, files, _, _ = socket.recv_fds(control, NUMBER.size, 2)
        if not said:
            return None
        request = json.loads(control.recv(NUMBER.unpack(said)[0], socket.MSG_WAITALL))
        copy = fork()
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
    client = wait_for_clients(socket.socket(fileno=int(sys.argv[1])))
    if client and (order := wait_for_orders(client)):
        end_as_python_does(order)
