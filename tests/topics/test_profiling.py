"""What is read of Nsight Compute's report."""

from __future__ import annotations

import pytest

from gpuguide.topics.profiling import counters

# As Nsight Compute 2025.3 printed it on an H200, shortened.
DETAILS = """\
==PROF== Disconnected from process 3953
[3953] python3.12@127.0.0.1
  turn_by_threads[v1,cw51cX](Array<float, 2, C, mutable, aligned>) (8, 4, 1)x(32, 8, 1), Context 1, CC 9.0
    Section: GPU Speed Of Light Throughput
    ----------------------- ----------- ------------
    Metric Name             Metric Unit Metric Value
    ----------------------- ----------- ------------
    SM Frequency                    Ghz         1.98
    Memory Throughput                 %        85.47
    DRAM Throughput                   %        11.73
    Duration                         us       992.06
    L2 Cache Throughput               %        85.47
    SM Active Cycles              cycle 1,964,919.49
    Compute (SM) Throughput           %        11.75
    ----------------------- ----------- ------------

    INF   This workload is utilizing greater than 80.0% of the available compute or memory performance.

    Section: Memory Workload Analysis
    Memory Throughput                          Gbyte/s       564.45

    Section: Occupancy
    Theoretical Occupancy                     %          100
    Achieved Occupancy                        %        94.61

  turn_by_tiles[v2,cw51c](Array<float, 2, C>) (256, 256, 1)x(32, 8, 1), Context 1, Stream 7, Device 0, CC 9.0
    Section: GPU Speed Of Light Throughput
    DRAM Throughput                   %        48.29
    Duration                         us       231.00
"""
STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
RAW = "\n".join(
    ",".join(f'"{word}"' for word in row)
    for row in (
        [
            *("ID", "Kernel Name", counters.SECTORS.format("ld"), counters.SECTORS.format("st")),
            *map(STALLED.format, ("long_scoreboard", "lg_throttle", "selected")),
        ],
        ["", "", "sector", "sector", "inst", "inst", "inst"],
        ["0", "turn_by_threads", "4", "32", "9.5", "61.25", "70"],
        ["1", "turn_by_tiles", "4", "4", "12.5", "1", "1"],
    )
)
# The address of a row of machine code stands where one of Python has a dash.
SOURCE = """\
"File Path","/tmp/kernels.py"
"Function Name","turn_by_threads"
"Line No","Source","Address","Source","# Samples","L2 Theoretical Sectors Global",\
"L2 Theoretical Sectors Global Ideal"
"10","col, row = cuda.grid(2)","-","-","20","0","0"
"","","0x7f8b037a6300","      S2R R2, SR_TID.X","20","0","0"
"12","out[col, row] = x[row, col]","-","-","60","75","16"
"13","nothing","-","-","0","0","0"
"""


def test_the_report_is_parted_by_kernels_and_its_shares_are_read() -> None:
    first, second = counters.by_kernel(DETAILS).values()
    assert list(counters.by_kernel(DETAILS)) == ["turn_by_threads", "turn_by_tiles"]
    assert counters.values_of(first) == pytest.approx(
        {"dram": 0.1173, "l2": 0.8547, "compute": 0.1175, "occupancy": 0.9461}
    )
    assert counters.values_of(second) == pytest.approx({"dram": 0.4829})
    assert counters.shown(first).splitlines() == [
        "Section: GPU Speed Of Light Throughput",
        "  DRAM Throughput                   %        11.73",
        "  Duration                         us       992.06",
        "  L2 Cache Throughput               %        85.47",
        "  Compute (SM) Throughput           %        11.75",
        "Section: Occupancy",
        "  Achieved Occupancy                        %        94.61",
    ]


def test_sectors_and_the_most_frequent_stall_of_each_kernel() -> None:
    assert counters.counted(RAW) == [
        {"ld": 4, "st": 32, "stall": "lg_throttle", "stall_cycles": 61.25},
        {"ld": 4, "st": 4, "stall": "long_scoreboard", "stall_cycles": 12.5},
    ]


def test_lines_of_the_source_without_those_of_the_machine_code() -> None:
    assert counters.lines_of(SOURCE) == [
        [10, "col, row = cuda.grid(2)", 0.25, 0, 0],
        [12, "out[col, row] = x[row, col]", 0.75, 75, 16],
    ]
