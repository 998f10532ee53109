"""What is installed here, and whether CuPy and Numba run a kernel: the facts that the doctor judges."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from gpuguide.errors import BackendError
from gpuguide.machine import backends, compilers, device
from gpuguide.machine.backends import release

__all__ = ["COMPILERS", "LINKERS", "Facts", "gather"]

Version = tuple[int, ...]

COMPILERS = {
    "nvidia-nvvm": "NVVM",
    "nvidia-cuda-nvcc-cu12": "NVVM",
    "nvidia-cuda-nvrtc": "NVRTC",
    "nvidia-cuda-nvrtc-cu12": "NVRTC",
}
"""Distributions of NVVM, which compiles Numba's kernels, and of NVRTC, which compiles CUDA C++."""

LINKERS = {"nvidia-nvjitlink": "nvJitLink", "nvidia-nvjitlink-cu12": "nvJitLink"}

_LIBRARIES = {
    "cublas": "cuBLAS",
    "curand": "cuRAND",
    "cusolver": "cuSOLVER",
    "cusparse": "cuSPARSE",
    "cufft": "cuFFT",
    "nvrtc": "NVRTC",
}
_SCHEDULERS = {"sbatch": "Slurm", "qsub": "PBS", "bsub": "LSF"}
# Packages of conda that hold what cupy-cuda13x and nvidia-* of pip hold, too.
_OF_CONDA = re.compile(r"cupy|numba-cuda|cudatoolkit|cuda-(nvrtc|nvvm|cudart)|lib(cublas|nvjitlink)")


@dataclass(frozen=True)
class Facts:
    """What was seen of this computer; an error is empty where nothing failed.

    A kernel is ``"ok"`` where it ran, empty where none was tried, and else the message of the error.
    """

    python: str = ""
    system: str = "linux"
    packages: dict[str, str] = field(default_factory=dict)
    conda: tuple[str, ...] = ()
    wsl: bool = False
    scheduler: str = ""
    visible_devices: str | None = None
    odd_path: str = ""
    simulator: bool = False
    driver: str = ""
    driver_cuda: Version | None = None
    gpu: str = ""
    gpu_error: str = ""
    capability: Version | None = None
    throttle: tuple[str, ...] = ()
    cupy_error: str = ""
    cupy_missing: tuple[str, ...] = ()
    cupy_kernel: str = ""
    numba_error: str = ""
    numba_redirected: bool = True
    numba_compiler: str = ""
    numba_missing: tuple[str, ...] = ()
    numba_kernel: str = ""

    @property
    def without_gpu(self) -> bool:
        """Whether there is neither a GPU nor a driver."""
        return not self.gpu and not self.driver

    @property
    def sees_none(self) -> bool:
        """Whether there is a driver, and CUDA sees no GPU."""
        return bool(self.driver) and re.search("no_?device", self.gpu_error, re.I) is not None

    @property
    def works(self) -> bool:
        """Whether both CuPy and Numba have run a kernel."""
        return self.cupy_kernel == self.numba_kernel == "ok"

    @property
    def cupys(self) -> list[str]:
        """The installed distributions of CuPy, of which there should be one."""
        return [name for name in self.packages if re.fullmatch(r"cupy(-cuda\d+x)?", name)]

    @property
    def compiler_cuda(self) -> Version | None:
        """CUDA version of the newest of NVVM and NVRTC."""
        return self._newest(COMPILERS)

    @property
    def linker(self) -> tuple[str, Version | None]:
        """What must understand the compilers, and its CUDA version: nvJitLink if it fits, else the driver.

        A driver takes what nvJitLink of its own major version makes, however new that is.
        """
        link, driver = self._newest(LINKERS), self.driver_cuda
        if link is None and "nvJitLink" not in self.numba_missing:
            return "nvJitLink", self.compiler_cuda  # it came without a wheel, so its version is unknown
        fits = link is not None and driver is not None and link[0] == driver[0]
        return ("nvJitLink", link) if fits else ("the driver", driver)

    @property
    def stack_major(self) -> int:
        """Major version of CUDA that the newest of the packages is made for; 0 without any."""
        wheels = [int(match[1]) for name in self.cupys if (match := re.search(r"cuda(\d+)x", name))]
        return max([*wheels, *(self.compiler_cuda or ())[:1], 0])

    @property
    def major(self) -> int:
        """Major version of CUDA that both the driver and the GPU take."""
        # CUDA 13 compiles for no GPU before Turing.
        older = (self.driver_cuda or (13,)) < (13,) or (self.capability or (9,)) < (7, 5)
        return 12 if older else 13

    def _newest(self, names: Iterable[str]) -> Version | None:
        versions = [release(self.packages[name])[:2] for name in names if name in self.packages]
        return max(versions, default=None)


def gather() -> Facts:
    """Look at this computer: packages, driver and GPU; load CuPy's libraries; run a kernel of each."""
    packages = {
        re.sub(r"[-_.]+", "-", package.name).lower(): package.version
        for package in reversed(list(metadata.distributions()))  # of two, Python imports the first
        if re.match(r"(numpy$|numba|cupy|cuda[-_]|nvidia[-_])", package.name or "", re.I)
    }
    of_conda = {path.stem.rsplit("-", 2)[0] for path in Path(sys.prefix, "conda-meta").glob("*.json")}
    paths = (str(Path.home()), tempfile.gettempdir(), sys.prefix)
    library = backends.nvml()
    number = _ask(library.nvmlSystemGetCudaDriverVersion) if library else None
    cupy = _try_cupy()
    return Facts(
        python=f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}",
        system=sys.platform,
        packages=dict(sorted(packages.items())),
        conda=tuple(sorted(name for name in of_conda if _OF_CONDA.match(name))),
        wsl="microsoft" in platform.release().lower(),
        scheduler=next((name for program, name in _SCHEDULERS.items() if shutil.which(program)), ""),
        visible_devices=os.environ.get("CUDA_VISIBLE_DEVICES"),
        odd_path=next((path for path in paths if not path.isascii()), ""),
        simulator=backends.simulated(),
        driver=(_ask(library.nvmlSystemGetDriverVersion) or "unknown") if library else "",
        # CUDA counts 13.1 as 13010.
        driver_cuda=None if number is None else (number // 1000, number % 1000 // 10),
        **cupy,
        **_try_numba(with_gpu="gpu" in cupy),
    )


def _try_cupy() -> dict[str, Any]:
    try:
        cp = backends.cupy()
    except BackendError as error:
        # Without a cause it is not installed, which the packages show.
        return {"cupy_error": _message(error.__cause__)} if error.__cause__ else {}
    facts: dict[str, Any] = {
        "cupy_missing": tuple(name for part, name in _LIBRARIES.items() if not _loads(cp, part))
    }
    if backends.simulated():
        return facts
    try:
        if not cp.cuda.runtime.getDeviceCount():
            return {**facts, "gpu_error": "cudaErrorNoDevice"}
        gpu = device.current()
    except Exception as error:  # CuPy's classes cannot be named without importing it
        return {**facts, "gpu_error": _message(error)}
    try:
        # Arithmetic of arrays, because its kernels include CUDA's header files.
        int((cp.arange(4) + 1).sum())
        facts["cupy_kernel"] = "ok"
    except Exception as error:  # the compiler, the driver and the cache each raise classes of their own
        facts["cupy_kernel"] = _message(error)
    major, minor = facts["capability"] = gpu.compute_capability
    count = f", {gpu.gpu_count} of them" if gpu.gpu_count > 1 else ""
    facts["gpu"] = (
        f"{gpu.name}, compute capability {major}.{minor}, {gpu.memory_bytes / 2**30:.0f} GiB{count}"
    )
    facts["throttle"] = device.clocks().throttle
    return facts


def _try_numba(*, with_gpu: bool) -> dict[str, Any]:
    try:
        module = backends.numba_cuda()
    except BackendError as error:
        return {"numba_error": str(error)}
    facts: dict[str, Any] = {"numba_redirected": "numba_cuda" in Path(module.__file__).parts}
    if backends.simulated():
        return facts
    facts["numba_compiler"] = compilers.why_not(compilers.capability())
    facts["numba_missing"] = compilers.missing_parts()
    if with_gpu and not facts["numba_compiler"]:
        try:
            module.jit(_nothing)[1, 1]()
            module.synchronize()
            facts["numba_kernel"] = "ok"
        except Exception as error:  # Numba, nvJitLink and the driver each raise classes of their own
            facts["numba_kernel"] = _message(error)
    return facts


def _nothing() -> None:
    """Be the kernel that is linked and launched."""


def _loads(cp: Any, part: str) -> bool:
    try:
        library = getattr(cp.cuda, part)
        if part == "nvrtc":
            library.getVersion()  # its module loads without the library
    except Exception:  # each way of not finding it has its own class
        return False
    return True


def _ask(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception:  # NVML raises its own class, which cannot be named without importing it
        return None


def _message(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:400]
