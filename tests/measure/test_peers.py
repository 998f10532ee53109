"""The comparison with other tools: its verdicts and its reading of them; on a GPU, the agreement itself."""

from __future__ import annotations

import subprocess

import peers
import pytest

from compile_lane import needs_compilers, raw_facts


@needs_compilers()
def test_the_copy_is_not_folded_into_one_pass():
    facts = raw_facts(peers.SOURCE, "copy_passes")
    assert facts.spills == 0
    assert facts.count("ld.global.v4") == facts.count("st.global.v4") > 0


def test_near_is_a_share_of_the_peer_s_time():
    assert peers.near(0.02, 1.019e-3, 1e-3)
    assert peers.near(0.02, 0.981e-3, 1e-3)
    assert not peers.near(0.02, 1.021e-3, 1e-3)


def test_a_launch_explains_a_difference_to_three_microseconds():
    assert peers.explained_by_launch(100e-6, 108e-6, 8e-6)
    assert peers.explained_by_launch(100e-6, 108e-6, 10.9e-6)
    assert not peers.explained_by_launch(100e-6, 108e-6, 12e-6)
    assert not peers.explained_by_launch(100e-6, 99e-6, 1e-6)


def test_sizes_above_a_gibibyte_become_passes():
    assert peers.bounded(2**20, 1) == (2**20, 1)
    assert peers.bounded(100 * 2**30, 1) == (2**30, 100)
    n_bytes, passes = peers.bounded(5 * 2**29, 1)
    assert (passes, n_bytes) == (2, 2**30)
    assert peers.bounded(1, 1) == (2**16, 1)


@pytest.mark.parametrize(("statistic", "seconds"), [("median", 2e-3), ("mean", 3e-3)])
def test_nvbench_s_median_is_read_or_else_its_mean(statistic, seconds):
    mean = {"tag": "nv/cold/time/gpu/mean", "data": [{"name": "value", "type": "float64", "value": "0.003"}]}
    median = {
        "tag": "nv/cold/time/gpu/median",
        "data": [{"name": "value", "type": "float64", "value": "0.002"}],
    }
    summaries = [mean, median] if statistic == "median" else [mean]
    answer = {"benchmarks": [{"name": "1_ms", "states": [{"summaries": summaries}]}]}
    assert peers.nvbench_medians(answer) == {"1 ms": seconds}


def test_the_table_says_what_was_wanted_and_why_a_peer_is_absent():
    rows = [
        peers.Row("cupyx benchmark", "warm", "1 ms", "2 %", 1.01e-3, 1e-3, 8e-6, within=True),
        peers.Row("nvbench", "cold", "1 ms", "3 %", note="not installed: cuda.bench"),
    ]
    lines = peers.table(rows).splitlines()
    assert " ".join(lines[1].split()) == "cupyx benchmark warm 1 ms 1010.00 1000.00 +1.00% 8.00 2 % yes"
    assert lines[2].endswith("3 %     not installed: cuda.bench")


def test_a_peer_that_fails_gets_a_row_that_says_why():
    def ask(copy, duration):
        raise ModuleNotFoundError("No module named 'triton'", name="triton")

    row = peers._attempt(ask, None, "1 ms", peers.Row("triton do_bench", "cold", "1 ms", "3 %"))
    assert (row.note, row.within, row.difference) == ("not installed: triton", None, None)


def test_the_comparison_is_a_program_of_its_own():
    """It runs itself again, because nvbench wants a process of its own."""
    ran = subprocess.run([*peers.COMMAND, "--help"], capture_output=True, text=True, timeout=120, check=True)
    assert "--json FILE" in ran.stdout


# CuPy 14.2 prefers `Stream.from_external`, which its older versions do not have.
@pytest.mark.filterwarnings("ignore:ExternalStream is deprecated:DeprecationWarning")
@pytest.mark.gpu
def test_we_agree_with_every_peer_that_is_installed():
    rows = peers.compare()
    assert not [row for row in rows if row.within is False], "\n" + peers.table(rows)
