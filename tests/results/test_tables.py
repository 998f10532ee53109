"""Tables as text, HTML and CSV: exact, so that a change of what readers see is a change of a test."""

import csv
import dataclasses
import io
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from gpuguide.errors import ImplausibleError
from gpuguide.results.ceilings import Ceilings
from gpuguide.results.records import VariantInfo
from gpuguide.results.results import Results
from gpuguide.results.tables import Column, Row, Table
from study_results import CEILINGS, SIZES, VARIANTS, cell, make, missing


def noted() -> Results:
    """A quick run with a warning, a host-bound cell and a noted one."""
    results = make(quick=True, warnings=("The copy rate fell by 3 % during the run.",))
    changes: dict[int, dict[str, Any]] = {3: {"host_bound": True, "notes": ("two modes",)}}
    cells = [dataclasses.replace(m, **changes.get(i, {})) for i, m in enumerate(results.measurements)]
    return dataclasses.replace(results, measurements=tuple(cells))


def test_text_shows_what_there_is() -> None:
    assert str(noted()) == (
        """\
Add one (float32, warm cache, quick run, one machine start)
elements  variant        region  threads  median  spread (IQR)  n  launch      rate   arithmetic  share of ceiling  method  remarks
2^10      NumPy          CPU           1  2.0 µs         30 ns  6          4.1 GB/s  510 MFLOP/s                    events
          One a thread   kernel           3.0 µs         45 ns  6          2.7 GB/s  340 MFLOP/s             in L2  events  host-bound; two modes
          Four a thread  kernel           3.0 µs         45 ns  6          2.7 GB/s  340 MFLOP/s             in L2  events
2^20      NumPy          CPU           1  800 µs         12 µs  6           10 GB/s  1.3 GFLOP/s                    events
          One a thread   kernel           8.0 µs        120 ns  6          1.0 TB/s  130 GFLOP/s             in L2  events
          Four a thread  kernel           4.0 µs         60 ns  6          2.1 TB/s  260 GFLOP/s             in L2  events
2^26      NumPy          not measured (skipped: the previous size predicts 3 s)
          One a thread   kernel           200 µs        3.0 µs  6          2.7 TB/s  340 GFLOP/s              67 %  events
          Four a thread  kernel           160 µs        2.4 µs  6  5.0 µs  3.4 TB/s  420 GFLOP/s              84 %  events
The copy rate fell by 3 % during the run."""  # noqa: E501
    )


def test_columns_stand_only_where_they_have_content() -> None:
    """Kernels alone, without traffic: no region, threads, launch, rate, share, remarks."""
    cells = (cell("one", 1000, 3_000, traffic=None), cell("four", 1000, 2_000, traffic=None))
    results = make(variants=VARIANTS[1:], sizes=(1000,), measurements=cells, ceilings=None)
    assert str(results) == (
        "Add one (float32, warm cache, one machine start)\n"
        "elements  variant        median  spread (IQR)  n  method\n"
        "10^3      One a thread   3.0 µs         45 ns  6  events\n"
        "          Four a thread  2.0 µs         30 ns  6  events"
    )


def test_a_long_reason_widens_no_column() -> None:
    cells = (
        missing("one", 8, "out of memory: 300 GB wanted, 140 GB there"),
        cell("four", 8, 2_000, traffic=None),
    )
    results = make(variants=VARIANTS[1:], sizes=(8,), measurements=cells)
    assert str(results).splitlines()[2:] == [
        "8         One a thread   not measured (out of memory: 300 GB wanted, 140 GB there)",
        "          Four a thread  2.0 µs         30 ns  6  events",
    ]


def test_nothing_measured_is_said() -> None:
    assert (
        str(make(measurements=()))
        == "Add one (float32, warm cache, one machine start)\nNothing was measured."
    )
    only_reasons = make(sizes=(8,), measurements=(missing("one", 8, "no GPU"),))
    assert str(only_reasons).splitlines()[1:] == [
        "elements  variant",
        "8         One a thread  not measured (no GPU)",
    ]


def test_some_sizes_alone() -> None:
    lines = str(make().table(sizes=[2**26, 2**10])).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["2^26", "One", "Four", "2^10", "One", "Four"]


def test_rows_follow_the_study_not_the_order_of_measuring() -> None:
    results = make()
    shuffled = dataclasses.replace(results, measurements=results.measurements[::-1])
    assert str(shuffled) == str(results)


def test_other_regions_have_rows_of_their_own() -> None:
    cells = (cell("one", 8, 3_000), cell("one", 8, 9_000, clock="end_to_end", method="host"))
    lines = str(make(sizes=(8,), measurements=cells)).splitlines()
    assert [line.split("  ")[-1] for line in lines[2:]] == ["events", "host"]
    assert "kernel" in lines[2]
    assert "end to end" in lines[3]
    assert "in L2" not in lines[3]


def test_an_implausible_share_is_not_shown() -> None:
    low = Ceilings(tuple(dataclasses.replace(item, value=item.value / 2) for item in CEILINGS.items))
    with pytest.raises(ImplausibleError, match="'one' at 67108864 would reach"):
        make(ceilings=low).table()


def test_html_is_semantic() -> None:
    html = noted().table(sizes=[2**26]).html()
    table = ET.fromstring(html)
    assert [part.tag for part in table] == ["caption", "thead", "tbody", "tfoot"]
    assert table.findtext("caption") == "Add one (float32, warm cache, quick run, one machine start)"
    assert {header.get("scope") for header in table.iterfind("thead/tr/th")} == {"col"}
    headings = ["".join(header.itertext()) for header in table.iterfind("thead/tr/th")]
    assert headings[:4] == ["elements", "variant", "region", "median"]
    first, *others = table.iterfind("tbody/tr")
    assert ET.tostring(first, encoding="unicode").strip() == (
        '<tr><th scope="rowgroup" rowspan="3">2<sup>26</sup></th><th scope="row">NumPy</th>'
        f'<td colspan="{len(headings) - 2}">not measured (skipped: the previous size predicts 3 s)</td></tr>'
    )
    for row in others:
        assert [header.get("scope") for header in row.iterfind("th")] == ["row"]
        assert len(row) == len(headings) - 1
    assert table.findtext("tfoot/tr/td") == "The copy rate fell by 3 % during the run."
    assert html.count('<td class="number">84 %</td>') == 1
    assert html.count("<td>events</td>") == 2
    assert noted()._repr_html_() == noted().table().html()


def test_html_has_one_body_for_each_size() -> None:
    bodies = ET.fromstring(make().table().html()).findall("tbody")
    sizes = ["".join(body.find("tr/th").itertext()) for body in bodies]  # type: ignore[union-attr]
    assert sizes == ["210", "220", "226"]
    assert [len(body) for body in bodies] == [3, 3, 3]


def test_html_escapes_every_text() -> None:
    wicked = "<script>&\"'"
    results = make(
        title=wicked,
        size_name=wicked,
        variants=(VariantInfo("one", wicked),),
        sizes=(8, 16),
        measurements=(cell("one", 8, 5, notes=(wicked,)), missing("one", 16, wicked)),
        warnings=(wicked,),
    )
    html = results.table().html()
    assert "<script" not in html
    texts = "".join(ET.fromstring(html).itertext())
    assert texts.count(wicked) == 7


def test_csv_is_in_base_units_at_full_precision() -> None:
    rows = list(csv.DictReader(io.StringIO(noted().table().csv())))
    assert len(rows) == 9
    assert rows[8] == {
        "size": "67108864",
        "variant": "four",
        "device": "gpu",
        "threads": "",
        "clock": "device",
        "method": "events",
        "cache": "warm",
        "n_starts": "1",
        "n_runs": "1",
        "n": "6",
        "n_calls": "1",
        "median_s": "0.00016",
        "low_s": "",
        "high_s": "",
        "iqr_s": "2.399999999999977e-06",
        "launch_s": "5e-06",
        "floor_s": "",
        "bytes_per_s": repr(2**29 / 0.00016),
        "flop_per_s": repr(2**26 / 0.00016),
        "share": repr(2**29 / 0.00016 / 4e12),
        "work": "",
        "host_bound": "0",
        "reason": "",
        "notes": "",
    }
    assert (rows[1]["host_bound"], rows[1]["notes"], rows[1]["share"]) == ("1", "two modes", "")
    assert (rows[6]["reason"], rows[6]["median_s"]) == ("skipped: the previous size predicts 3 s", "")


def test_csv_has_the_same_columns_whatever_was_measured() -> None:
    bare = make(measurements=(missing("one", SIZES[0], "no GPU"),)).table().csv()
    assert bare.splitlines()[0] == make().table().csv().splitlines()[0]
    assert make(measurements=()).table().csv() == ""


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_no_spreadsheet_takes_a_text_for_a_formula(text: str) -> None:
    table = Table("Add", "n", "variant", (), (Row("8", "x", raw={"label": text, "median_s": -5e-06}),))
    (row,) = csv.DictReader(io.StringIO(table.csv()))
    assert row == {"label": f"'{text}", "median_s": "-5e-06"}


def test_csv_knows_the_floor() -> None:
    table = make(sizes=(8,), measurements=(cell("one", 8, 5_000, floor_ns=1_200),)).table()
    (row,) = csv.DictReader(io.StringIO(table.csv()))
    assert row["floor_s"] == "1.2e-06"


def test_a_table_shows_itself() -> None:
    table = Table(
        "Add", "size", "variant", (Column("a", "A", True), Column("b", "B")), (Row("8", "x", {"a": "1"}),)
    )
    assert [column.key for column in table.shown] == ["a"]
    assert (str(table), table._repr_html_()) == (table.text(), table.html())
    assert table.text() == "Add\nsize  variant  A\n8     x        1"


def test_the_share_of_the_kernel_is_not_that_of_the_whole() -> None:
    cells = (cell("one", 2**26, 200_000), cell("one", 2**26, 900_000, clock="end_to_end", method="host"))
    rows = csv.DictReader(io.StringIO(make(sizes=(2**26,), measurements=cells).table().csv()))
    assert [(row["clock"], bool(row["share"])) for row in rows] == [("device", True), ("end_to_end", False)]


def test_threads_are_shown_without_a_region() -> None:
    table = make(sizes=(8,), measurements=(cell("numpy", 8, 5),)).table()
    assert [column.key for column in table.shown][:2] == ["threads", "median"]
