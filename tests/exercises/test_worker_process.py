"""A worker process may crash, hang or write anything: a report comes of it in any case."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from gpuguide.exercises.report import FAILED, NOT_AT_HAND, LaneReport
from gpuguide.exercises.simulator.findings import Finding, ThreadId
from gpuguide.exercises.worker_process import LIMIT_S, Ended, WorkerProcess, read_ending

REPORT = LaneReport(
    "gpu",
    FAILED,
    findings=(Finding("wrong", "out[3] is wrong.", 4, (4, 5), "out", (3,), (ThreadId((0,), (3,)),)),),
    call="n = 33",
    n_calls=2,
    notes=("A note.",),
)


def fake(code: str, limit_s: float = 30) -> Ended:
    """What a worker that runs this code instead ends with."""
    with WorkerProcess(["gpu"], [sys.executable, "-c", "import json, os, sys, time\n" + code]) as worker:
        return worker.judge("gpu", {"source": "x" * 100_000}, limit_s)


def test_a_report_ends_a_lane() -> None:
    ended = fake(f"""
json.loads(sys.stdin.readline())
print(json.dumps({{"at": "n = 33"}}))
print("what a library prints")
print({json.dumps({"report": REPORT.as_json()})!r})
print("to the reader", file=sys.stderr)
""")
    report = read_ending("gpu", ended)
    assert report.findings == REPORT.findings
    assert (report.call, report.n_calls, report.notes) == ("n = 33", 2, ("A note.",))
    assert report.printed == "to the reader"


def test_a_worker_that_hangs_in_a_launch_is_killed_and_the_launch_named(monkeypatch) -> None:
    begin = time.monotonic()
    monkeypatch.setitem(LIMIT_S, "gpu", 20.0)
    ended = fake("print(json.dumps({'at': 'n = 33'}), flush=True)\ntime.sleep(60)", limit_s=1.5)
    assert time.monotonic() - begin < 15
    report = read_ending("gpu", ended)
    assert (report.state, report.call) == (FAILED, "n = 33")
    assert [(finding.kind, finding.message) for finding in report.findings] == [
        ("endless", "The kernel had not ended after 20 s, and was stopped.")
    ]


def test_what_the_worker_started_is_killed_too(tmp_path: Path) -> None:
    """A child that holds the pipes open must not hold up the session."""
    code = (
        "import subprocess\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)"
    )
    begin = time.monotonic()
    assert fake(code, limit_s=2).code is None
    assert time.monotonic() - begin < 15
    child = int((tmp_path / "pid").read_text())
    for _ in range(50):
        if not alive(child):
            break
        time.sleep(0.1)
    assert not alive(child)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text().split()[2] != "Z"


KILLED = (
    "The worker process was killed from outside (signal 9), as happens where the computer runs out of memory."
)


def test_a_compiler_that_ends_says_nothing_of_the_gpu_s_memory() -> None:
    ended = fake("print('cupy.OutOfMemoryError', file=sys.stderr); sys.exit(1)")
    assert read_ending("compile", ended).reason.endswith("(exit status 1): cupy.OutOfMemoryError")


def test_a_worker_that_dies_in_a_launch_is_a_finding() -> None:
    ended = fake("print(json.dumps({'at': 'n = 1'}), flush=True)\nos.kill(os.getpid(), 11)")
    report = read_ending("gpu", ended)
    assert (report.state, report.call) == (FAILED, "n = 1")
    assert str(report.findings[0]) == "The process that launched the kernel died in the launch (signal 11)."
    assert report.findings[0].kind == "gpu"


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("os.kill(os.getpid(), 6)", "The worker process gave no verdict (signal 6)."),
        ("os.kill(os.getpid(), 9)", KILLED),
        ("print(json.dumps({'at': 'n = 1'}), flush=True)\nos.kill(os.getpid(), 9)", KILLED),
        (
            "raise MemoryError('no room on the host')",
            "The worker process gave no verdict (exit status 1): MemoryError: no room on the host",
        ),
        ("print('garbage')", "The worker process gave no verdict (exit status 0)."),
        ('print(\'{"report": {"lane": 3}}\')', "The worker process gave no verdict (exit status 0)."),
        ("print('{\"report\": [1, 2]}')", "The worker process gave no verdict (exit status 0)."),
        (
            "raise ImportError('libcuda.so is missing')",
            "The worker process gave no verdict (exit status 1): ImportError: libcuda.so is missing",
        ),
        (
            "print('CUDA_ERROR_OUT_OF_MEMORY', file=sys.stderr); sys.exit(1)",
            "The GPU has too little free memory at the moment.",
        ),
        (
            "print(json.dumps({'at': 'n = 1'})); raise MemoryError('cudaErrorMemoryAllocation')",
            "The GPU has too little free memory at the moment.",
        ),
        ("time.sleep(60)", "The worker process took more than 20 s to start, and was stopped."),
    ],
)
def test_what_is_not_the_reader_s_fault_is_no_finding(code: str, reason: str) -> None:
    report = read_ending("gpu", fake(code, limit_s=3))
    assert (report.state, report.reason) == (NOT_AT_HAND, reason)


def test_a_report_that_a_killed_worker_had_written_is_not_believed() -> None:
    """It was killed because it did not end: its last line may be cut short, or a lie."""
    ended = Ended(None, ({"at": "n = 1"}, {"report": LaneReport("gpu", "passed").as_json()}))
    assert read_ending("gpu", ended).state == FAILED


def test_a_report_of_another_lane_is_not_believed() -> None:
    assert (
        read_ending("gpu", Ended(0, ({"report": LaneReport("compile", "passed").as_json()},))).state
        == NOT_AT_HAND
    )


def test_the_worker_does_not_run_in_the_simulator_and_finds_this_package(monkeypatch) -> None:
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    ended = fake(
        "import gpuguide\n"
        "print(json.dumps({'package': gpuguide.__file__, 'simulated': 'NUMBA_ENABLE_CUDASIM' in os.environ}))"
    )
    import gpuguide

    assert ended.messages == ({"package": gpuguide.__file__, "simulated": False},)


def test_closing_ends_a_worker_that_was_given_no_job() -> None:
    with WorkerProcess(["gpu"], [sys.executable, "-c", "import sys; sys.stdin.read()"]) as worker:
        process = worker._process
    assert process.returncode is not None


def test_one_process_serves_one_lane_after_the_other() -> None:
    """And what the first one printed is not told of the second."""
    code = """
import json, sys
job = json.loads(sys.stdin.readline())
for line in sys.stdin:
    lane = json.loads(line)["lane"]
    print(lane, "with", job["exercise"], file=sys.stderr, flush=True)
    report = dict(lane=lane, state="passed", reason="", call="", n_calls=0, notes=[], printed="", findings=[])
    print(json.dumps({"report": report}), flush=True)
"""
    with WorkerProcess(["compile", "gpu"], [sys.executable, "-c", code]) as worker:
        for lane in ("compile", "gpu"):
            report = read_ending(lane, worker.judge(lane, {"exercise": "guard"}, 30))
            assert (report.lane, report.state) == (lane, "passed")
            assert lane == "compile" or report.printed.endswith("gpu with guard")


def test_a_lane_after_the_end_of_the_process_has_no_verdict() -> None:
    with WorkerProcess(["compile", "gpu"], [sys.executable, "-c", "import os; os._exit(3)"]) as worker:
        for lane in ("compile", "gpu"):
            report = read_ending(lane, worker.judge(lane, {}, 5))
            assert (report.state, report.reason) == (
                NOT_AT_HAND,
                "The worker process gave no verdict (exit status 3).",
            )
