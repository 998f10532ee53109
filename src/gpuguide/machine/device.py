"""The GPU of this machine: what it is, the most that it can do, and how it runs right now.

Nothing here touches CUDA when it is imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpuguide.errors import BackendError, NoGpuError, unknown
from gpuguide.machine.backends import cupy, nvml, simulated

__all__ = [
    "EXAMPLE_DEVICE",
    "UNITS",
    "ClockReading",
    "DeviceInfo",
    "clocks",
    "current",
    "flops_per_sm_per_cycle",
    "require_gpu",
]


UNKNOWN = "unknown"


@dataclass(frozen=True)
class DeviceInfo:
    """What one GPU is."""

    name: str
    slug: str
    compute_capability: tuple[int, int]
    sm_count: int
    l2_bytes: int
    memory_bytes: int
    memory_clock_hz: int
    bus_width_bits: int
    sm_clock_hz: int
    max_threads_per_sm: int
    max_blocks_per_sm: int
    shared_bytes_per_sm: int
    shared_bytes_per_block_optin: int
    registers_per_sm: int
    warp_size: int
    driver: str
    cuda_runtime: str
    cuda_driver: str
    power_limit_w: float | None
    ecc: bool | None
    pcie: str
    gpu_count: int

    @property
    def peak_memory_bandwidth(self) -> float:
        """Physical peak of the memory in bytes per second: two transfers per clock over the whole bus."""
        return self.memory_clock_hz * 2 * self.bus_width_bits / 8

    def peak_flops(self, unit: str) -> float | None:
        """Give the physical peak of an arithmetic unit."""
        per_cycle = flops_per_sm_per_cycle(self.compute_capability, unit)
        return None if per_cycle is None else float(per_cycle * self.sm_count * self.sm_clock_hz)


#: The GPU of this guide's recordings, for examples and tests on machines without one.
EXAMPLE_DEVICE = DeviceInfo(
    name="NVIDIA H200",
    slug="nvidia-h200",
    compute_capability=(9, 0),
    sm_count=132,
    l2_bytes=62_914_560,
    memory_bytes=150_109_880_320,
    memory_clock_hz=3_201_000_000,
    bus_width_bits=6016,
    sm_clock_hz=1_980_000_000,
    max_threads_per_sm=2048,
    max_blocks_per_sm=32,
    shared_bytes_per_sm=233_472,
    shared_bytes_per_block_optin=232_448,
    registers_per_sm=65_536,
    warp_size=32,
    driver="580.159.04",
    cuda_runtime="13.0",
    cuda_driver="13.0",
    power_limit_w=700.0,
    ecc=True,
    pcie="5.0 x16",
    gpu_count=1,
)


def require_gpu() -> DeviceInfo:
    """Return this machine's GPU, or say what to do about its absence.

    Returns
    -------
    DeviceInfo
        The current GPU.

    Raises
    ------
    NoGpuError
        No GPU can be used; the message holds the cure.

    Examples
    --------
    >>> from gpuguide.errors import NoGpuError
    >>> try:
    ...     answer = require_gpu().name
    ... except NoGpuError as error:
    ...     answer = str(error)
    >>> isinstance(answer, str)
    True
    """
    if simulated():
        raise NoGpuError(
            "This needs a GPU, but kernels run in the simulator: NUMBA_ENABLE_CUDASIM is set. "
            "Unset it and start Python again."
        )
    try:
        count = int(cupy().cuda.runtime.getDeviceCount())
    except BackendError as error:
        raise NoGpuError(f"This needs a GPU. {error}") from None
    except Exception as error:  # CuPy's CUDARuntimeError, which has no name until CuPy is imported
        raise NoGpuError(_no_gpu_message(str(error))) from None
    if count == 0:
        raise NoGpuError(_no_gpu_message("cudaErrorNoDevice"))
    return current()


def current() -> DeviceInfo:
    """Describe the current GPU."""
    cp = cupy()
    device = cp.cuda.Device()
    attributes = device.attributes
    properties = cp.cuda.runtime.getDeviceProperties(device.id)
    count = int(cp.cuda.runtime.getDeviceCount())
    name = properties["name"].decode()
    return DeviceInfo(
        name=name,
        slug=_slug(name, count),
        compute_capability=(int(properties["major"]), int(properties["minor"])),
        sm_count=int(attributes["MultiProcessorCount"]),
        l2_bytes=int(attributes["L2CacheSize"]),
        memory_bytes=int(properties["totalGlobalMem"]),
        # CUDA gives clocks in kHz.
        memory_clock_hz=int(attributes["MemoryClockRate"]) * 1000,
        bus_width_bits=int(attributes["GlobalMemoryBusWidth"]),
        sm_clock_hz=int(attributes["ClockRate"]) * 1000,
        max_threads_per_sm=int(attributes["MaxThreadsPerMultiProcessor"]),
        max_blocks_per_sm=int(attributes["MaxBlocksPerMultiprocessor"]),
        shared_bytes_per_sm=int(attributes["MaxSharedMemoryPerMultiprocessor"]),
        shared_bytes_per_block_optin=int(attributes["MaxSharedMemoryPerBlockOptin"]),
        registers_per_sm=int(attributes["MaxRegistersPerMultiprocessor"]),
        warp_size=int(attributes["WarpSize"]),
        cuda_runtime=_cuda_version(_local_runtime(cp)),
        cuda_driver=_cuda_version(cp.cuda.runtime.driverGetVersion()),
        ecc=bool(attributes["EccEnabled"]),
        gpu_count=count,
        # By its place on the bus: NVML's numbers ignore CUDA_VISIBLE_DEVICES.
        **_from_nvml(device.pci_bus_id),
    )


@dataclass(frozen=True)
class ClockReading:
    """How a GPU runs at one moment; None or ``()`` where the driver does not say."""

    sm_hz: int | None = None
    memory_hz: int | None = None
    throttle: tuple[str, ...] = ()
    temperature_c: float | None = None
    power_w: float | None = None


# Bits of nvmlClocksEventReasons (nvml.h). Idle and user-set clocks are not throttling.
_THROTTLE_REASONS = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x10: "sync boost",
    0x20: "thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}


def clocks() -> ClockReading:
    """Read the current GPU's clocks, temperature and power, and why the clocks are throttled."""
    library = nvml()
    if library is None:
        return ClockReading()
    try:
        handle = library.nvmlDeviceGetHandleByPciBusId(cupy().cuda.Device().pci_bus_id)
    except Exception:  # no CuPy, no GPU, or one hidden from NVML: the reading is unknown
        return ClockReading()
    sm_mhz = _ask(library.nvmlDeviceGetClockInfo, handle, library.NVML_CLOCK_SM)
    memory_mhz = _ask(library.nvmlDeviceGetClockInfo, handle, library.NVML_CLOCK_MEM)
    reasons = _ask(library.nvmlDeviceGetCurrentClocksThrottleReasons, handle) or 0
    power_mw = _ask(library.nvmlDeviceGetPowerUsage, handle)
    return ClockReading(
        sm_hz=None if sm_mhz is None else sm_mhz * 1_000_000,
        memory_hz=None if memory_mhz is None else memory_mhz * 1_000_000,
        throttle=tuple(text for bit, text in _THROTTLE_REASONS.items() if reasons & bit),
        temperature_c=_ask(library.nvmlDeviceGetTemperature, handle, library.NVML_TEMPERATURE_GPU),
        power_w=None if power_mw is None else power_mw / 1000,
    )


#: Every unit that some GPU of the tables has.
UNITS = ("fp16", "fp32", "fp64", "tf32", "fp16_tensor", "bf16_tensor", "fp8_tensor", "fp64_tensor")

# Plain units: "Throughput of Native Arithmetic Instructions" in NVIDIA's CUDA C++ Programming Guide, which
# counts results per cycle and multiprocessor; a fused multiply-add is two FLOPs, hence the factor 2 below.
_FMA_RESULTS: dict[tuple[int, int], dict[str, int]] = {
    (6, 0): {"fp16": 128, "fp32": 64, "fp64": 32},
    (6, 1): {"fp16": 2, "fp32": 128, "fp64": 4},
    (6, 2): {"fp16": 256, "fp32": 128, "fp64": 4},
    (7, 0): {"fp16": 128, "fp32": 64, "fp64": 32},
    (7, 2): {"fp16": 128, "fp32": 64, "fp64": 32},
    (7, 5): {"fp16": 128, "fp32": 64, "fp64": 2},
    (8, 0): {"fp16": 256, "fp32": 64, "fp64": 32},
    (8, 6): {"fp16": 128, "fp32": 128, "fp64": 2},
    (8, 7): {"fp16": 128, "fp32": 128, "fp64": 2},
    (8, 9): {"fp16": 128, "fp32": 128, "fp64": 2},
    (9, 0): {"fp16": 256, "fp32": 128, "fp64": 64},
    (10, 0): {"fp16": 256, "fp32": 128, "fp64": 64},
    (12, 0): {"fp16": 128, "fp32": 128, "fp64": 2},
}

# Tensor cores, dense, fused multiply-adds per cycle and multiprocessor, from the white papers of the
# architectures: V100 and Turing (64 a core, 8 cores), A100 (256 a core, 4 cores), GA102 and Ada AD102 (128 a
# core, 4 cores; GeForce boards run some modes at half of it, so these are upper bounds), H100 (512 a core).
_TENSOR_FMA: dict[tuple[int, int], dict[str, int]] = {
    (7, 0): {"fp16_tensor": 512},
    (7, 5): {"fp16_tensor": 512},
    (8, 0): {"fp16_tensor": 1024, "bf16_tensor": 1024, "tf32": 512, "fp64_tensor": 64},
    (8, 6): {"fp16_tensor": 512, "bf16_tensor": 512, "tf32": 256},
    (8, 9): {"fp16_tensor": 512, "bf16_tensor": 512, "tf32": 256, "fp8_tensor": 1024},
    (9, 0): {"fp16_tensor": 2048, "bf16_tensor": 2048, "tf32": 1024, "fp64_tensor": 128, "fp8_tensor": 4096},
}


def flops_per_sm_per_cycle(compute_capability: tuple[int, int], unit: str) -> int | None:
    """Look up how many floating-point operations one multiprocessor completes per clock cycle."""
    if unit not in UNITS:
        raise unknown("arithmetic unit", unit, UNITS)
    # A GPU that is not in the tables has no peak; that of a similar GPU would be a guess.
    results = {**_FMA_RESULTS.get(compute_capability, {}), **_TENSOR_FMA.get(compute_capability, {})}
    return 2 * results[unit] if unit in results else None


def _from_nvml(pci_bus_id: str) -> dict[str, Any]:
    answers: dict[str, Any] = {"driver": UNKNOWN, "power_limit_w": None, "pcie": UNKNOWN}
    library = nvml()
    if library is None:
        return answers
    answers["driver"] = _ask(library.nvmlSystemGetDriverVersion) or UNKNOWN
    handle = _ask(library.nvmlDeviceGetHandleByPciBusId, pci_bus_id)
    if handle is None:
        return answers
    limit_mw = _ask(library.nvmlDeviceGetEnforcedPowerLimit, handle)
    generation = _ask(library.nvmlDeviceGetMaxPcieLinkGeneration, handle)
    # The highest speed of the link: when idle, it saves power and reports less.
    lanes = _ask(library.nvmlDeviceGetMaxPcieLinkWidth, handle)
    answers["power_limit_w"] = None if limit_mw is None else limit_mw / 1000
    answers["pcie"] = UNKNOWN if None in (generation, lanes) else f"{generation}.0 x{lanes}"
    return answers


def _ask(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except Exception:  # NVML raises its own class for what a board or a container does not report
        return None


def _slug(name: str, count: int) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{slug}-x{count}" if count > 1 else slug


def _local_runtime(cp: Any) -> int:
    # CuPy's wheels are built with a newer runtime than the one that they load; the loaded one counts.
    try:
        return int(cp.cuda.get_local_runtime_version())
    except Exception:  # CuPy raises various classes when no libcudart is found beside its own
        return int(cp.cuda.runtime.runtimeGetVersion())


def _cuda_version(number: int) -> str:
    # CUDA counts 13.1 as 13010.
    return f"{number // 1000}.{number % 1000 // 10}"


def _no_gpu_message(cause: str) -> str:
    # CUDA gives this error both for an old driver and for none at all.
    if "InsufficientDriver" in cause:
        return (
            "This needs a GPU with a driver that CuPy can use; the driver is missing or too old. Install "
            "driver 580 or newer for cupy-cuda13x, 525 for cupy-cuda12x; 'nvidia-smi' shows what there is."
        )
    if "NoDevice" in cause:
        return (
            "This needs a GPU, and CUDA sees none. Check 'nvidia-smi' and the variable CUDA_VISIBLE_DEVICES. "
            "Without a GPU set NUMBA_ENABLE_CUDASIM=1 to try Numba kernels in the simulator."
        )
    return f"This needs a GPU, and CUDA cannot use one here ({cause}). 'gpuguide doctor' looks for the cause."
