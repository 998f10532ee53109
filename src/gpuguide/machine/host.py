"""The host's hypervisor, clock source and machine start: what makes its times differ from day to day."""

from __future__ import annotations

import hashlib
from pathlib import Path

from gpuguide.machine.cpu import first_processor

__all__ = ["clock_source", "start_of_machine", "virtualisation"]

# Words in the maker's name -> hypervisor. The makers' own texts are not kept: some hosts write a name of
# their own there.
_MAKERS = (
    ("vmware", "vmware"),
    ("virtualbox", "virtualbox"),
    ("innotek", "virtualbox"),
    ("microsoft corporation virtual machine", "hyper-v"),
    ("xen", "xen"),
    ("parallels", "parallels"),
    ("bhyve", "bhyve"),
    ("amazon ec2", "amazon"),
    ("google", "kvm"),
    ("kvm", "kvm"),
    ("openstack", "kvm"),
    ("kubevirt", "kvm"),
    ("cloud hypervisor", "kvm"),
    ("qemu", "qemu"),
)


def virtualisation(root: Path = Path("/")) -> str:
    """Name the hypervisor that this machine runs under."""
    flags = first_processor(root).get("flags", "").split()
    # ARM's processors list "Features" and no "flags", which say nothing about this.
    if flags and "hypervisor" not in flags:
        return "none"
    kind = _text(root / "sys/hypervisor/type")
    if kind in {word for _, word in _MAKERS}:
        return kind
    made = " ".join(_text(root / "sys/class/dmi/id" / name) for name in ("sys_vendor", "product_name"))
    for word, name in _MAKERS:
        if word in made.lower():
            return name
    return "virtual machine" if flags else ""


def clock_source(root: Path = Path("/")) -> str:
    """Name the clock that the kernel reads the time from."""
    return _text(root / "sys/devices/system/clocksource/clocksource0/current_clocksource")


def start_of_machine(root: Path = Path("/")) -> str:
    """Return an identifier of this start of the machine."""
    boot_id = _text(root / "proc/sys/kernel/random/boot_id")
    # With a word of ours in front, so that it cannot be matched with another program's hash.
    return hashlib.sha256(f"gpuguide{boot_id}".encode()).hexdigest()[:12] if boot_id else ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
