"""What CUDA's errors of launches and kernels mean, in words, and whether the process can go on."""

from __future__ import annotations

import re

from gpuguide.machine.launch import MAX_THREADS_PER_BLOCK

__all__ = ["explain"]

# As the driver and the runtime call them; what follows is the same but for case and underscores.
_NAME = re.compile(r"\b(?:CUDA_ERROR_|cudaError)(\w+)")

# After one of these every later call of CUDA fails in the same way.
_STOPPED = {
    "illegaladdress": "it read or wrote memory outside its arrays",
    "misalignedaddress": "it read or wrote at an address that does not fit the type",
    "launchtimeout": "it ran for longer than the driver allows",
    "assert": "an assertion in it failed",
    "illegalinstruction": "it came to an instruction that this GPU does not have",
    "invalidaddressspace": "it used an address of another kind of memory",
    "invalidpc": "it jumped to where there is no code",
    "hardwarestackerror": "its stack was too small or damaged",
    "launchfailed": "CUDA does not say why",
    "launchfailure": "CUDA does not say why",
}
_SHAPE = (
    "an argument, most often the shape of a launch",
    f"a block has at most {MAX_THREADS_PER_BLOCK:,} threads, 64 along z, and 48 KB of shared memory unless "
    "its kernel is allowed more; a grid has at most 65,535 blocks along y and z; no side may be 0",
)
_REFUSED = {
    "invalidvalue": _SHAPE,
    "invalidconfiguration": _SHAPE,
    "launchoutofresources": (
        "a launch",
        "all threads of a block share 65,536 registers, and its shared memory is limited, too; take fewer "
        "threads per block",
    ),
}


def explain(error: BaseException) -> str:
    """Say in words what CUDA's error of a launch or a kernel means, or nothing if it is another error."""
    name = _NAME.search(str(error))
    kind = name[1].replace("_", "").lower() if name else ""
    if name and kind in _STOPPED:
        return (
            f"The GPU stopped a kernel of this call or an earlier one: {_STOPPED[kind]} ({name[0]}). Nothing "
            "more runs on the GPU in this process, so restart it; in a notebook, restart its kernel."
        )
    if name and kind in _REFUSED:
        what, limit = _REFUSED[kind]
        return f"CUDA refused {what} ({name[0]}): {limit}. Nothing needs to be restarted."
    return ""
