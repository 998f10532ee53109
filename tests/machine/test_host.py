"""What the host runs under, and which start of the machine this is."""

from pathlib import Path

import pytest

from gpuguide.machine.host import clock_source, start_of_machine, virtualisation


def write(root: Path, **texts: str) -> Path:
    """Write files of /proc and /sys; the names are those of `PATHS`."""
    for name, text in texts.items():
        path = root / PATHS[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return root


PATHS = {
    "cpuinfo": "proc/cpuinfo",
    "boot_id": "proc/sys/kernel/random/boot_id",
    "vendor": "sys/class/dmi/id/sys_vendor",
    "product": "sys/class/dmi/id/product_name",
    "type": "sys/hypervisor/type",
    "clock": "sys/devices/system/clocksource/clocksource0/current_clocksource",
}


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"cpuinfo": "flags: fpu avx", "vendor": "Dell Inc."}, "none"),
        ({"cpuinfo": "flags: fpu hypervisor"}, "virtual machine"),
        ({"vendor": "Microsoft Corporation", "product": "Virtual Machine"}, "hyper-v"),
        ({"cpuinfo": "flags: fpu hypervisor", "vendor": "QEMU", "product": "KVM Virtual Machine"}, "kvm"),
        ({"cpuinfo": "flags: fpu hypervisor", "vendor": "QEMU", "product": "Standard PC"}, "qemu"),
        ({"cpuinfo": "flags: fpu hypervisor", "vendor": "Red Hat", "product": "KVM"}, "kvm"),
        ({"cpuinfo": "flags: fpu hypervisor", "vendor": "Amazon EC2"}, "amazon"),
        ({"cpuinfo": "flags: fpu hypervisor", "type": "xen", "vendor": "Amazon EC2"}, "xen"),
        ({"vendor": "Google", "product": "Google Compute Engine"}, "kvm"),
        ({"vendor": "ACME", "product": "ada's machine"}, ""),
    ],
)
def test_what_a_machine_runs_under(tmp_path: Path, files: dict[str, str], name: str) -> None:
    assert virtualisation(write(tmp_path, **files)) == name


def test_the_clock_source_is_the_kernels(tmp_path: Path) -> None:
    assert clock_source(write(tmp_path, clock="kvm-clock")) == "kvm-clock"


def test_a_start_is_told_from_another_and_not_by_the_boot_id_itself(tmp_path: Path) -> None:
    ids = ("9907883a-5171-4a91-aa56-3d828cbd3c94", "1107883a-5171-4a91-aa56-3d828cbd3c94")
    first, again, other = (start_of_machine(write(tmp_path, boot_id=ids[i])) for i in (0, 0, 1))
    assert first == again != other
    assert len(first) == 12
    assert first not in ids[0].replace("-", "")


def test_a_system_that_tells_nothing_has_no_start(tmp_path: Path) -> None:
    assert start_of_machine(tmp_path) == clock_source(tmp_path) == virtualisation(tmp_path) == ""
