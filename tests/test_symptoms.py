"""The table of symptoms knows the messages that the package explains, and the page shows all of it."""

import re
from pathlib import Path

import pytest

from gpuguide.machine import cuda_errors
from gpuguide.symptoms import in_message, symptoms

PAGE = Path(__file__).parents[1] / "docs" / "symptoms.md"


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("cudaErrorNoDevice: no CUDA-capable device is detected", "no-device"),
        ("[100] Call to cuInit results in CUDA_ERROR_NO_DEVICE", "no-device"),
        ("ptxas fatal : Unsupported .version 9.1; current version is '9.0'", "unsupported-ptx"),
        ("[1] Call to cuLaunchKernel results in CUDA_ERROR_INVALID_VALUE", "launch-shape"),
        ("Out of memory allocating 512 bytes (allocated so far: 4,096 bytes).", "out-of-memory"),
        ("CuPy failed to load libnvrtc.so.13: OSError: libnvrtc.so.13: cannot open shared", "libnvrtc"),
    ],
)
def test_a_message_leads_to_its_row(message, name):
    assert in_message(message).name == name


def test_an_unknown_message_leads_nowhere():
    assert in_message("no such file") is None


@pytest.mark.parametrize("kind", [*cuda_errors._STOPPED, *cuda_errors._REFUSED])
def test_what_the_benchmark_explains_is_in_the_table(kind):
    names = {
        message.removeprefix("CUDA_ERROR_").removeprefix("cudaError").replace("_", "").lower()
        for row in symptoms()
        for message in row.messages
    }
    assert kind in names


def test_the_page_shows_each_row_under_a_name_of_its_own():
    shown = re.findall(r"^```\{symptoms\} (\w+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert shown == list(dict.fromkeys(row.group for row in symptoms()))
    assert len({row.name for row in symptoms()}) == len(symptoms())
