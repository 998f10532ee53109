"""Is this GPU as fast as it should be: a sentence for each rate that is off, with the cause that shows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from fake_clock import FakeGpu, FakeHost
from gpuguide import cli, health
from gpuguide.errors import NoGpuError
from gpuguide.health import THINGS, Health, State, check
from gpuguide.machine import backends
from gpuguide.machine.device import EXAMPLE_DEVICE, ClockReading
from gpuguide.measure import ceilings
from gpuguide.measure.session import Machine
from gpuguide.results.units import format_quantity

GIB, MS = 2**30, 1_000_000
H200 = {
    "copy": 4.26e12, "fp32": 6.6e13, "h2d": 5.5e10, "h2d_pageable": 8e9, "d2h": 5.5e10, "d2h_pageable": 1e10,
    "launch": 5e-7, "launch_host": 5e-6,
}  # fmt: skip
BUSY = State(busy=0.8)
THROTTLED = State(load=ClockReading(sm_hz=990_000_000, throttle=("thermal slowdown",)))
POWER_CAP = State(load=ClockReading(sm_hz=1_200_000_000, throttle=("power cap",)))


def healthy(*, gpu: Any = EXAMPLE_DEVICE, state: Any = None, **values: float) -> Health:
    return Health(gpu, {**H200, **values}, state or State())


def words(checked: Health, status: str = "off") -> str:
    return " ".join(finding.words for finding in checked.findings if finding.status == status)


def test_the_guide_s_own_gpu_is_healthy_and_stands_beside_itself() -> None:
    checked = replace(healthy(), recorded=health.recorded_machines())
    assert checked.findings == ()
    assert "Healthy" in checked.text(80)
    for name, values in checked.recorded.items():
        assert name in checked.text(200)
        assert set(values) == {thing.name for thing in THINGS}


@pytest.mark.parametrize(
    ("checked", "subjects", "parts"),
    [
        (healthy(copy=1e12), ["copy"], ["21 %", "4.8 TB/s", "70 %", "MIG"]),
        (healthy(copy=1e12, state=BUSY), ["busy", "copy"], ["Another process kept", "80 % of the time"]),
        (healthy(fp32=3e13, state=THROTTLED), ["fp32", "throttle"], ["thermal slowdown", "fans"]),
        (healthy(fp32=3e13, state=POWER_CAP), ["fp32"], ["held down (power cap)"]),
        (
            healthy(fp32=3e13, state=State(load=ClockReading(sm_hz=990_000_000))),
            ["fp32"],
            ["990 MHz of 2.0 GHz"],
        ),
        (healthy(h2d=1.3e10, state=State(link=(5, 4))), ["h2d"], ["PCIe 5.0 x4", "could as 5.0 x16"]),
        (healthy(d2h_pageable=1e9), ["d2h_pageable"], ["1.0 GB/s", "CPU copies"]),
        (
            healthy(launch_host=5e-5, state=State(blocking=True)),
            ["blocking", "launch_host"],
            ["CUDA_LAUNCH_BLOCKING"],
        ),
        (healthy(state=State(blocking=True)), ["blocking"], ["Unset it"]),
        (healthy(launch_host=5e-5, state=State(wsl=True)), ["launch_host"], ["50 µs", "WSL"]),
        (healthy(state=State(default_limit_w=1000.0)), ["power"], ["700 W", "nvidia-smi -pl 1000"]),
    ],
)
def test_what_is_off_has_a_sentence_with_its_cause(
    checked: Health, subjects: list[str], parts: list[str]
) -> None:
    assert [finding.subject for finding in checked.findings if finding.status == "off"] == subjects
    for part in parts:
        assert part in words(checked)


def test_the_sentence_says_what_the_guide_s_machines_have() -> None:
    checked = replace(healthy(copy=1e12), recorded=health.recorded_machines())
    assert "4.3 TB/s on the H200" in words(checked)


def test_a_laptop_is_healthy_and_its_limits_are_notes() -> None:
    """Eight lanes, a power cap under load, and half the bandwidth of a desktop are no faults."""
    laptop = replace(
        EXAMPLE_DEVICE, name="RTX", pcie="4.0 x8", memory_clock_hz=6_000_000_000, bus_width_bits=128,
        power_limit_w=60.0,
    )  # fmt: skip
    # The peak is at 2.0 GHz, and the power limit allows 1.2.
    checked = healthy(gpu=laptop, state=POWER_CAP, fp32=3.5e13, copy=1.7e11, h2d=1.3e10, d2h=1.3e10)
    assert checked.is_healthy
    assert "8 lanes" in words(checked, "note")
    assert "60 W" in words(checked, "note")


def test_a_gpu_of_unknown_peaks_is_not_judged_by_them() -> None:
    unknown = replace(EXAMPLE_DEVICE, compute_capability=(99, 0), pcie="unknown", memory_clock_hz=0)
    assert healthy(gpu=unknown, copy=1.0, fp32=1.0, h2d=1.0).is_healthy


def test_the_page_says_the_limits_that_the_code_has() -> None:
    text = (Path(__file__).parents[1] / "docs" / "your_gpu.md").read_text(encoding="utf-8")
    for thing in THINGS:
        share, limit = thing.least_share, thing.least or thing.most
        shown = f"{share:.0%}".replace("%", " %") if share else f"{format_quantity(limit or 0, thing.unit)}"
        assert f"{{rule}}`{shown.replace('.0', '')}`" in text


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A fake H200 whose kernels take a millisecond; copies of pageable memory are not simulated."""
    gpu = FakeGpu(FakeHost())
    gpu_type: Any = type(gpu)
    monkeypatch.setattr(gpu_type, "stream", MagicMock())
    module = MagicMock()
    module.cuda.runtime.memGetInfo.return_value = (140 * GIB, 140 * GIB)
    module.cuda.runtime.memcpyAsync.side_effect = lambda *arguments: gpu.kernel(5 * MS)()
    module.empty = module.zeros = lambda n, dtype: MagicMock(size=n)
    monkeypatch.setattr(backends, "cupy", lambda: module)
    monkeypatch.setattr(backends, "nvml", lambda: None)
    monkeypatch.setattr(ceilings, "raw_kernel", lambda source, name: lambda *args: gpu.kernel(MS // 2)())
    monkeypatch.setattr(health, "_pageable", lambda name, *rest: {name: 9e9})
    return Machine(gpu, EXAMPLE_DEVICE, read_clocks=ClockReading, host=gpu.host)


def test_a_fake_machine_is_measured_within_three_minutes(machine: Machine) -> None:
    said: list[str] = []
    checked = check(machine, say=said.append)
    assert checked.missing == {}
    assert set(checked.values) == {thing.name for thing in THINGS}
    assert checked.values["copy"] == pytest.approx(2 * GIB / 0.5e-3, rel=0.01)
    assert machine.host.now_ns() < 180e9
    assert "nvidia-ml-py" in words(checked, "note")
    assert len(said) > len(THINGS) / 2
    assert json.loads(checked.as_json())["values"] == checked.values


def test_what_fails_is_named_and_costs_no_other_rate(machine: Machine, monkeypatch: Any) -> None:
    def fail(*arguments: Any) -> None:
        raise MemoryError("out of\nmemory")

    monkeypatch.setattr(ceilings, "fma_candidates", fail)
    checked = check(machine)
    assert checked.missing == {"fp32": "MemoryError: out of memory"}
    assert "FP32: not measured (MemoryError: out of memory)" in words(checked)
    assert "not measured (MemoryError" in checked.text(200)


@pytest.mark.parametrize(("copied", "status"), [(4.2e12, 0), (1e12, 1)])
def test_the_command_says_it_and_its_status_too(
    copied: float, status: int, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(health, "check", lambda say: healthy(copy=copied))
    assert cli.main(["check-my-gpu"]) == status
    assert ("Healthy" in capsys.readouterr().out) == (status == 0)


def test_without_a_gpu_the_command_says_so(monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def no_gpu(say: Any) -> None:
        raise NoGpuError("This needs a GPU.")

    monkeypatch.setattr(health, "check", no_gpu)
    assert cli.main(["check-my-gpu"]) == 1
    assert "needs a GPU" in capsys.readouterr().err
