"""The chart of all kernels: which of them stand in it, where, and what leads to their pages."""

import re
from types import SimpleNamespace

from gpuguide.results.ceilings import Ceiling, Ceilings
from gpuguide.results.records import Measurement, Traffic, VariantInfo
from gpuguide.results.results import Results
from gpuguide_docs.show.roofline import chart, points_of

SMALL, LARGE = 2**20, 2**28
CEILINGS = Ceilings(
    (
        *(Ceiling(mix, 4e12, "B/s") for mix in ("read", "write", "copy")),
        Ceiling("fp32", 60e12, "FLOP/s"),
        Ceiling("fp64_tensor", 59e12, "FLOP/s"),
        Ceiling("fp16_tensor", 800e12, "FLOP/s"),
    )
)

PAGES = {"sums": SimpleNamespace(title="Sums: add them", docname="gallery/start/sums")}


def measured(name, size, ns, flops, unit="fp32", clock="device"):
    traffic = Traffic(4 * size, 4 * size, flops * size, unit)
    return Measurement(name, size, clock, (ns,) * 3, (0, 1, 2), traffic=traffic)


def recording():
    variants = {"own": {}, "small": {}, "tensor": {}, "no_flops": {}, "not_run": {}}
    variants |= {"numpy": {"device": "cpu", "clock": "host"}, "copied": {"clock": "end_to_end"}}
    return SimpleNamespace(
        studies={
            "add": Results(
                *("add", "Add", "elements", "float32"),
                variants=tuple(VariantInfo(name, name, **more) for name, more in variants.items()),
                sizes=(LARGE, SMALL),
                measurements=(
                    # Half of the memory's rate; at the small size the cache serves it.
                    measured("own", SMALL, 2_000, 1),
                    measured("own", LARGE, 1_073_742, 1),
                    measured("small", SMALL, 4_000, 1),
                    # Half of the unit's.
                    measured("tensor", SMALL, 3_554_000, 100_000, "fp64_tensor"),
                    measured("no_flops", LARGE, 1_000_000, 0),
                    Measurement("not_run", LARGE, reason="does not fit"),
                    measured("numpy", LARGE, 9_000_000, 1, clock="host"),
                    measured("copied", LARGE, 9_000_000, 1, clock="end_to_end"),
                ),
                l2_bytes=2**26,
            )
        }
    )


def test_kernels_stand_at_their_largest_size_with_their_share_of_the_nearer_limit():
    points = {point.key[2]: point for point in points_of("sums", recording(), CEILINGS)}
    assert list(points) == ["own", "small", "tensor"]
    assert points["own"].size.startswith("2²⁸")
    assert points["own"].intensity == 1 / 8
    assert (points["own"].share, points["small"].share, points["tensor"].share) == ("50 %", "", "50 %")
    assert [name for name, point in points.items() if "gg-cached" in point.look] == ["small"]


def test_each_point_is_a_link_and_words_keep_apart():
    points = [*points_of("sums", recording(), CEILINGS)]
    labels = {("sums", "add", name): words for name, words in (("own", "add"), ("gone", "of another code"))}
    labels["sums", "add", "small"] = "beside it"
    for narrow in (False, True):
        svg = chart(points, CEILINGS, labels, PAGES, narrow=narrow)
        assert svg.count('<a href="page:gallery/start/sums"') == len(points)
        assert "<title>Sums: own, 2²⁸ elements; 0.12 FLOP/byte; 250 GFLOP/s; 50 % of its limit<" in svg
        words = re.findall(r"<text [^>]*>([^<]*)<", svg)
        # Where two points lie side by side, a line leads to the words of the second.
        assert {"add", "beside it", "of another code", "memory: 4.0 TB/s"} & {*words} == {
            *("add", "beside it", "memory: 4.0 TB/s")
        }
        # Two limits side by side share their words, and one that no kernel has to do with is left out.
        assert [each for each in words if "float" in each] == ["float32, float64 tensor"]
        _keep_apart(svg, 11.5 if narrow else 13.0)


def _keep_apart(svg, size):
    """Fail if words lie on one another."""
    boxes = []
    for x, y, anchor, words in re.findall(
        r'<text x="([^"]+)" y="([^"]+)" text-anchor="(\w+)"[^>]*>([^<]*)<', svg
    ):
        width = 0.58 * size * len(words)
        left = float(x) - {"start": 0, "middle": 0.5, "end": 1}[anchor] * width
        boxes.append((left, float(y) - 0.7 * size, left + width, float(y), words))
    for at, box in enumerate(boxes):
        for other in boxes[:at]:
            apart = box[2] < other[0] or other[2] < box[0] or box[3] < other[1] or other[3] < box[1]
            assert apart, (box, other)
