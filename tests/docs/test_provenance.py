"""What a recording says of its machine can be written and read back."""

from __future__ import annotations

from dataclasses import replace

from mini_project import MACHINE, Project

from gpuguide.machine import backends, cpu, device
from gpuguide.recordings import store as recordings
from gpuguide_docs.record import provenance


def test_a_gpu_is_described_in_full(monkeypatch):
    monkeypatch.setattr(backends, "has_gpu", lambda: True)
    monkeypatch.setattr(device, "current", lambda: device.EXAMPLE_DEVICE)
    made = provenance.make_provenance("nvidia-h200", "0" * 40, 1.5, 2**30, cpu.cpu_info())
    assert made.gpu == device.EXAMPLE_DEVICE.name
    assert isinstance(made.sm_clock_hz, float)
    assert made.peak_memory_bytes == 2**30


def test_whole_numbers_in_the_place_of_floats_are_read_back(project: Project):
    folder = project.layout.recorded / MACHINE / "toy"
    recording = recordings.read(folder, complete=True)
    changed = replace(recording, provenance=replace(recording.provenance, sm_clock_hz=1980000000))
    saved = recordings.save(changed, project.layout.recorded)
    assert recordings.read(folder, complete=True).run_id == saved.run_id


def test_the_commit_can_be_given_where_there_is_no_checkout(monkeypatch, tmp_path):
    monkeypatch.setenv("GPUGUIDE_COMMIT", "abc+dirty")
    assert provenance.commit_of(tmp_path) == "abc+dirty"
    monkeypatch.delenv("GPUGUIDE_COMMIT")
    assert provenance.commit_of(tmp_path) == "unknown"
