"""The CPU: what it is, and how many threads a library may use."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from gpuguide.machine.cpu import cpu_info


def test_the_cpu_is_described() -> None:
    cpu = cpu_info()
    assert cpu.n_cpus >= 1
    assert cpu.threads >= 1
    assert cpu.steal_s >= 0
    assert cpu.model
    assert cpu.blas


def test_the_thread_limit_of_the_environment_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert cpu_info().threads == 3


EMERALD_RAPIDS = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 207
model name\t: Intel(R) Xeon(R) Processor
stepping\t: 2
cpu MHz\t\t: 2100.000
flags\t\t: fpu sse hypervisor avx

processor\t: 1
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 1
model name\t: another
stepping\t: 1
"""


def system(root: Path, cpuinfo: str, caches: Sequence[tuple[str, str, str]] = ()) -> Path:
    """Write what Linux would tell of a machine."""
    (root / "proc").mkdir()
    (root / "proc/cpuinfo").write_text(cpuinfo)
    for i, texts in enumerate(caches):
        folder = root / f"sys/devices/system/cpu/cpu0/cache/index{i}"
        folder.mkdir(parents=True)
        for name, text in zip(("level", "type", "size"), texts, strict=True):
            (folder / name).write_text(f"{text}\n")
    return root


def test_a_virtual_cpu_without_a_name_is_named_by_family_and_model(tmp_path: Path) -> None:
    caches = [
        ("3", "Unified", "300M"),
        ("1", "Data", "48K"),
        ("1", "Instruction", "32K"),
        ("2", "Unified", "2048K"),
    ]
    cpu = cpu_info(system(tmp_path, EMERALD_RAPIDS, caches))
    assert cpu.model == "Intel Emerald Rapids (family 6, model 207, stepping 2)"
    assert cpu.signature == "GenuineIntel 6/207/2"
    assert cpu.caches == (("L1i", 32 << 10), ("L1d", 48 << 10), ("L2", 2 << 20), ("L3", 300 << 20))
    assert cpu.clock_hz == 2.1e9


@pytest.mark.parametrize(
    ("told", "vendor", "numbers", "model"),
    [
        ("Intel(R) Xeon(R) Platinum 8480C", "GenuineIntel", (6, 143, 8), "Intel(R) Xeon(R) Platinum 8480C"),
        ("AMD EPYC 9654 96-Core Processor", "AuthenticAMD", (25, 17, 1), "AMD EPYC 9654 96-Core Processor"),
        ("AMD EPYC", "AuthenticAMD", (26, 2, 1), "AMD EPYC Turin (family 26, model 2, stepping 1)"),
        (
            "Intel(R) Xeon(R) CPU @ 2.20GHz",
            "GenuineIntel",
            (6, 79, 0),
            "Intel Broadwell (family 6, model 79, stepping 0)",
        ),
        (
            "Intel(R) Xeon(R) CPU @ 2.000GHz",
            "GenuineIntel",
            (6, 85, 3),
            "Intel Skylake (family 6, model 85, stepping 3)",
        ),
        (
            "Intel(R) Xeon(R) Processor",
            "GenuineIntel",
            (6, 85, 7),
            "Intel Cascade Lake (family 6, model 85, stepping 7)",
        ),
        (
            "Intel(R) Xeon(R) Processor",
            "GenuineIntel",
            (6, 85, 11),
            "Intel Cooper Lake (family 6, model 85, stepping 11)",
        ),
        (
            "Common KVM processor",
            "Nobody",
            (99, 1, 1),
            "Common KVM processor (family 99, model 1, stepping 1)",
        ),
    ],
)
def test_a_cpu_keeps_a_name_that_says_something(
    tmp_path: Path, told: str, vendor: str, numbers: tuple[int, int, int], model: str
) -> None:
    family, number, stepping = numbers
    text = f"vendor_id: {vendor}\nmodel name: {told}\n"
    text += f"cpu family: {family}\nmodel: {number}\nstepping: {stepping}\n"
    assert cpu_info(system(tmp_path, text)).model == model


def test_an_arm_processor_is_named_by_its_part(tmp_path: Path) -> None:
    text = "processor: 0\nCPU implementer: 0x41\nCPU variant: 0x0\nCPU part: 0xd4f\nCPU revision: 0\n"
    cpu = cpu_info(system(tmp_path, text))
    assert (cpu.model, cpu.signature, cpu.clock_hz) == ("Arm Neoverse V2", "0x41 0xd4f/0x0/0", None)


def test_a_system_that_tells_nothing_is_no_error(tmp_path: Path) -> None:
    cpu = cpu_info(tmp_path)
    assert cpu.model
    assert (cpu.signature, cpu.caches, cpu.clock_hz, cpu.steal_s) == ("", (), None, 0.0)
