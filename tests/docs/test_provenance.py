"""What a recording says of its machine, and what it does not say: who owns it."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from gpuguide.machine import cpu, device
from gpuguide.measure import provenance
from gpuguide.measure.session import Machine, Session
from gpuguide_docs.record.provenance import commit_of

READING = device.ClockReading(sm_hz=1_980_000_000, power_w=700.0)


def made_of(session: Session, machine: str = "ci"):
    return provenance.make_provenance(machine, "0" * 40, 1.5, 2**30, cpu.cpu_info(), session, "0f" * 6)


def test_a_gpu_is_described_in_full():
    readings = iter([READING, replace(READING, power_w=90.5)])
    session = Session(given_machine=Machine(info=device.EXAMPLE_DEVICE, read_clocks=readings.__next__))
    session.read_clocks()
    session.read_clocks()
    session.host_pace = SimpleNamespace(best_s=2e-5, shared=0.25)
    made = made_of(session, "nvidia-h200")
    assert made.gpu == device.EXAMPLE_DEVICE.name
    assert isinstance(made.sm_clock_hz, float), "a whole number would be refused when it is read back"
    assert made.sm_clock_seen_hz == (1.98e9, 1.98e9)
    assert made.power_seen_w == (90.5, 700.0)
    assert (made.pace_s, made.shared_host, made.peak_memory_bytes) == (2e-5, 0.25, 2**30)
    assert made.start == "0f" * 6


def test_what_the_driver_did_not_say_is_unknown():
    session = Session()
    session.clocks_seen.append(device.ClockReading())
    made = made_of(session)
    assert made.sm_clock_seen_hz is made.power_seen_w is None


def test_a_recording_session_without_a_boot_id_names_a_start_of_its_own(monkeypatch):
    monkeypatch.setattr(provenance, "start_of_machine", lambda: "")
    first, second = provenance.start_of_recording(), provenance.start_of_recording()
    assert first != second
    assert len(first) == 12


def test_nothing_names_the_host_or_its_owner():
    private = [socket.gethostname(), str(Path.home()), str(Path.cwd())]
    boot_id = Path("/proc/sys/kernel/random/boot_id")
    if boot_id.exists():
        private.append(boot_id.read_text().strip())
    made = repr(made_of(Session()))
    assert not [text for text in private if len(text) > 3 and text in made]


def test_the_commit_can_be_given_where_there_is_no_checkout(monkeypatch, tmp_path):
    monkeypatch.setenv("GPUGUIDE_COMMIT", "abc+dirty")
    assert commit_of(tmp_path) == "abc+dirty"
    monkeypatch.delenv("GPUGUIDE_COMMIT")
    assert commit_of(tmp_path) == "unknown"
