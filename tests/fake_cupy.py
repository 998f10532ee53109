"""A CuPy and an NVML that know one H200, for tests on machines without a GPU."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

from gpuguide_docs.commands import cupy_by_numpy

ATTRIBUTES = {**cupy_by_numpy.ATTRIBUTES, "MultiProcessorCount": 132}


class FakeArray:
    """As much of a CuPy array as a view of it needs."""

    __module__ = "cupy"
    __cuda_array_interface__: ClassVar = {
        "shape": (8,),
        "typestr": "<f8",
        "descr": [("", "<f8")],
        "stream": 1,
        "version": 3,
        "strides": None,
        "data": (139_611_410_006_016, False),
    }


def make_cupy(*, count: int = 1, error: Exception | None = None) -> Any:
    """A module `cupy` that sees `count` GPUs, or raises `error` when asked."""

    def get_device_count() -> int:
        if error is not None:
            raise error
        return count

    module: Any = ModuleType("cupy")
    module.launches = []
    module.RawModule = lambda code, options: FakeRawModule(code, options, module.launches)
    module.ndarray = lambda shape, dtype, memptr: SimpleNamespace(shape=shape, dtype=dtype, memptr=memptr)
    module.cuda = SimpleNamespace(
        Device=lambda: SimpleNamespace(id=0, attributes=ATTRIBUTES, pci_bus_id="0000:00:06.0"),
        get_current_stream=lambda: SimpleNamespace(ptr=142_309_792),
        get_local_runtime_version=lambda: 13_000,
        runtime=SimpleNamespace(
            getDeviceCount=get_device_count,
            getDeviceProperties=lambda _: {
                "name": b"NVIDIA H200",
                "major": 9,
                "minor": 0,
                "totalGlobalMem": 150_109_880_320,
            },
            driverGetVersion=lambda: 13_000,
            runtimeGetVersion=lambda: 13_020,
        ),
    )
    return module


class FakeRawModule:
    """As much of `cupy.RawModule` as a lazy kernel needs; it records its launches."""

    def __init__(self, code: str, options: tuple[str, ...], launches: list[Any]) -> None:
        self.code, self.options, self.launches = code, options, launches

    def get_function(self, name: str) -> Any:
        launches = self.launches

        class Kernel:
            max_dynamic_shared_size_bytes = 49_152

            def __call__(self, grid: Any, block: Any, args: Any, *, shared_mem: int) -> None:
                launches.append((name, grid, block, args, shared_mem, self.max_dynamic_shared_size_bytes))

        return Kernel()

    def get_global(self, name: str) -> str:
        return f"pointer to {name}"


def make_nvml(*, throttle: int = 0, cuda_driver: int = 13_000) -> Any:
    """A module `pynvml` that reports one healthy H200."""
    return SimpleNamespace(
        NVML_CLOCK_SM=1,
        NVML_CLOCK_MEM=2,
        NVML_TEMPERATURE_GPU=0,
        nvmlInit=lambda: None,
        nvmlSystemGetDriverVersion=lambda: "580.159.04",
        nvmlSystemGetCudaDriverVersion=lambda: cuda_driver,
        nvmlDeviceGetHandleByPciBusId=lambda bus_id: f"handle of {bus_id}",
        nvmlDeviceGetEnforcedPowerLimit=lambda _: 700_000,
        nvmlDeviceGetMaxPcieLinkGeneration=lambda _: 5,
        nvmlDeviceGetMaxPcieLinkWidth=lambda _: 16,
        nvmlDeviceGetClockInfo=lambda _, which: {1: 1980, 2: 3201}[which],
        nvmlDeviceGetCurrentClocksThrottleReasons=lambda _: throttle,
        nvmlDeviceGetPowerUsage=lambda _: 99_256,
        nvmlDeviceGetTemperature=lambda *_: 32,
    )
