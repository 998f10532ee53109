"""The CPU: what it is, and how many threads a library may use."""

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
