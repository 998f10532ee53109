"""The device: what it is, its physical peaks by compute capability, and errors that say what to do."""

import sys
from dataclasses import replace
from typing import Any

import pytest

from fake_cupy import make_cupy, make_nvml
from gpuguide.errors import NoGpuError, UnknownNameError
from gpuguide.machine import device
from gpuguide.machine.device import UNITS, flops_per_sm_per_cycle


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pretend to be a machine with the given CuPy and NVML."""

    def pretend(cupy: Any, nvml: Any = None) -> None:
        monkeypatch.setitem(sys.modules, "cupy", cupy)
        monkeypatch.setattr(device, "nvml", lambda: nvml)

    return pretend


def test_current_reads_cupy_and_nvml(machine: Any) -> None:
    machine(make_cupy(), make_nvml())
    assert device.current() == device.EXAMPLE_DEVICE
    assert device.require_gpu() == device.EXAMPLE_DEVICE


def test_without_nvml_what_it_alone_knows_is_unknown(machine: Any) -> None:
    machine(make_cupy())
    expected = replace(device.EXAMPLE_DEVICE, driver="unknown", power_limit_w=None, pcie="unknown")
    assert device.current() == expected
    assert device.clocks() == device.ClockReading()


def test_several_gpus_are_another_machine(machine: Any) -> None:
    machine(make_cupy(count=4), make_nvml())
    assert (device.current().slug, device.current().gpu_count) == ("nvidia-h200-x4", 4)


def test_clocks_name_what_holds_them_down(machine: Any) -> None:
    machine(make_cupy(), make_nvml(throttle=0x01 | 0x04 | 0x40))
    reading = device.clocks()
    assert reading.throttle == ("power cap", "hardware thermal slowdown")
    assert (reading.sm_hz, reading.memory_hz) == (1_980_000_000, 3_201_000_000)
    assert (reading.temperature_c, reading.power_w) == (32, 99.256)


def test_what_a_board_does_not_tell_is_unknown(machine: Any) -> None:
    nvml = make_nvml()
    nvml.nvmlDeviceGetPowerUsage = lambda _: (_ for _ in ()).throw(RuntimeError("Not Supported"))
    machine(make_cupy(), nvml)
    assert device.clocks().power_w is None


@pytest.mark.parametrize(
    ("cupy", "cure"),
    [
        (make_cupy(count=0), "CUDA_VISIBLE_DEVICES"),
        (make_cupy(error=RuntimeError("cudaErrorNoDevice: no CUDA-capable device")), "CUDA_VISIBLE_DEVICES"),
        (make_cupy(error=RuntimeError("cudaErrorInsufficientDriver: too old")), "driver 580 or newer"),
        (make_cupy(error=RuntimeError("cudaErrorUnknown: odd")), "gpuguide doctor"),
    ],
)
def test_a_missing_gpu_comes_with_its_cure(machine: Any, cupy: Any, cure: str) -> None:
    machine(cupy)
    with pytest.raises(NoGpuError, match=cure):
        device.require_gpu()


def test_the_simulator_is_no_gpu(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    machine(make_cupy())
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    with pytest.raises(NoGpuError, match="Unset it"):
        device.require_gpu()


@pytest.mark.parametrize(
    ("unit", "tera"), [("fp32", 66.9), ("fp64", 33.5), ("fp64_tensor", 66.9), ("tf32", 535.3)]
)
def test_peaks_of_an_h200(unit: str, tera: float) -> None:
    """Datasheet: 67, 34 and 67 TFLOP/s; TF32 494 at the lower clock that its data sheet assumes."""
    peak = device.EXAMPLE_DEVICE.peak_flops(unit)
    assert peak is not None
    assert peak / 1e12 == pytest.approx(tera, abs=0.1)


def test_peak_memory_bandwidth_is_clock_times_bus() -> None:
    assert device.EXAMPLE_DEVICE.peak_memory_bandwidth == 3_201_000_000 * 2 * 6016 / 8


@pytest.mark.parametrize(
    ("name", "capability", "sm_count", "boost_hz", "unit", "datasheet"),
    [
        ("V100 SXM2", (7, 0), 80, 1.53e9, "fp32", 15.7e12),
        ("T4", (7, 5), 40, 1.59e9, "fp16_tensor", 65e12),
        ("A100", (8, 0), 108, 1.41e9, "fp64_tensor", 19.5e12),
        ("A100", (8, 0), 108, 1.41e9, "tf32", 156e12),
        ("A40", (8, 6), 84, 1.74e9, "fp32", 37.4e12),
        ("L40S", (8, 9), 142, 2.52e9, "fp32", 91.6e12),
        ("RTX 5090", (12, 0), 170, 2.407e9, "fp32", 104.8e12),
    ],
)
def test_peaks_agree_with_datasheets(
    name: str, capability: tuple[int, int], sm_count: int, boost_hz: float, unit: str, datasheet: float
) -> None:
    gpu = replace(
        device.EXAMPLE_DEVICE, compute_capability=capability, sm_count=sm_count, sm_clock_hz=int(boost_hz)
    )
    assert gpu.peak_flops(unit) == pytest.approx(datasheet, rel=0.01), name


def test_an_unknown_architecture_has_no_peak_and_an_unknown_unit_is_an_error() -> None:
    assert all(flops_per_sm_per_cycle((99, 0), unit) is None for unit in UNITS)
    with pytest.raises(UnknownNameError, match="Did you mean 'fp64_tensor'"):
        flops_per_sm_per_cycle((9, 0), "fp64_tensors")


@pytest.mark.gpu
def test_this_gpu_answers() -> None:
    gpu = device.require_gpu()
    assert gpu.peak_memory_bandwidth > 1e10
    assert gpu.driver != "unknown"
    reading = device.clocks()
    assert reading.sm_hz is not None
    assert reading.sm_hz <= gpu.sm_clock_hz * 1.01
