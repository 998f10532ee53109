"""What is said of CUDA's errors, as CuPy, Numba and CUDA's own bindings write them."""

from __future__ import annotations

import pytest

from gpuguide.machine.cuda_errors import explain


@pytest.mark.parametrize(
    "text",
    [
        "cudaErrorIllegalAddress: an illegal memory access was encountered",
        "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered",
        "[700] Call to cuMemcpyDtoH results in CUDA_ERROR_ILLEGAL_ADDRESS",
        "cudaErrorLaunchFailure: unspecified launch failure",
    ],
)
def test_a_kernel_that_was_stopped_needs_a_new_process(text):
    assert "so restart it" in explain(RuntimeError(text))


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("CUDA_ERROR_INVALID_VALUE: invalid argument", "1,024 threads"),
        ("[1] Call to cuLaunchKernel results in CUDA_ERROR_INVALID_VALUE", "1,024 threads"),
        ("CUDA_ERROR_INVALID_VALUE: invalid argument", "48 KB of shared memory"),
        ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch", "65,536 registers"),
    ],
)
def test_a_launch_that_cannot_start_names_the_limit(text, limit):
    assert limit in explain(RuntimeError(text))
    assert explain(RuntimeError(text)).endswith("Nothing needs to be restarted.")


@pytest.mark.parametrize("text", ["no such file", "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"])
def test_other_errors_are_left_as_they_are(text):
    assert explain(RuntimeError(text)) == ""
