"""The gate must let right variants through and reject each kind of wrong one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fake_clock import FakeGpu
from gpuguide.errors import ArgumentError, MismatchError
from gpuguide.machine.memory import HOST, Space
from gpuguide.measure.gate import Trial
from gpuguide.measure.plan import Plan, Variant
from gpuguide.measure.reference import Expected, Tolerance

N = 1000


def add_one(x, out):
    """Add one."""
    np.add(x, 1, out=out)


def map_inputs(n, dtype, rng, exact):
    return (rng.integers(-8, 8, n).astype(dtype) if exact else rng.random(n).astype(dtype),)


def sum_inputs(n, dtype, rng, exact):
    return (rng.integers(-1, 2, n).astype(dtype) if exact else rng.random(n).astype(dtype),)


def plan_of(call=add_one, *, plan=None, **options):
    variant = Variant("mine", call, **{"device": "cpu", "clock": "host", **options})
    settings = {"inputs": map_inputs, "reference": lambda x: x + 1, **(plan or {})}
    return Plan("add", "Add one", (variant,), (N,), **settings)


def check(call=add_one, *, n=N, kinds=("exact", "random"), spaces=None, gpu=None, plan=None, **options):
    made = plan_of(call, plan=plan, **options)
    trials = [Trial(made, n, kind, spaces or {"host": HOST}, gpu) for kind in kinds]
    return [trial.check(made.variants[0]) for trial in trials]


def wrong_at(*indices, amount=1):
    def call(x, out):
        add_one(x, out)
        for i in indices:
            out[i] += amount

    return call


TO_SCALAR = {"reference": lambda x: x.sum(), "output": lambda n, dtype: ((), dtype)}
SUM = {"inputs": sum_inputs, "tolerance": Tolerance(c=4, serial=1, scale="sum"), **TO_SCALAR}


@pytest.mark.parametrize("n", [0, 1, 31, 33, 256, 1000])
def test_a_right_variant_passes_both_checks(n):
    exact, random = check(n=n)
    assert (exact.kind, random.kind) == ("exact", "random")
    assert (exact.largest_difference, exact.tolerance) == (0, 0)
    assert random.largest_difference <= random.tolerance < 1e-5


def but_the_last(x, out):
    out[:-1] = x[:-1] + 1


def shifted(x, out):
    out[1:] = x[:-1] + 1
    out[0] = x[0] + 1


def changing_its_input(x, out):
    add_one(x, out)
    x[7] = 99


def beside(array, offset):
    """The element at an offset from the first one, outside of the array too."""
    address = array.ctypes.data + array.itemsize * offset
    return np.ctypeslib.as_array((np.ctypeslib.ctypes.c_float * 1).from_address(address))


RETURNED = {"allocates": True}
WRONG = {
    "writes nothing": (lambda x, out: None, {}, r"it wrote nothing\. 1,000 of 1,000 elements are wrong"),
    "the first": (wrong_at(0), {}, "1 of 1,000 elements are wrong, the first at index 0:"),
    "the last": (wrong_at(999), {}, "1 of 1,000 elements are wrong, the first at index 999:"),
    "left out": (but_the_last, {}, "index 999: expected .*, got nan"),
    "shifted": (shifted, {}, "elements are wrong"),
    "infinite": (wrong_at(5, amount=np.inf), {}, "got inf; largest difference inf"),
    "changes its input": (changing_its_input, {}, r"changed input 0 at flat index 7\. .* mutates=True"),
    "in place": (lambda x: np.add(x, 2, out=x, where=x != 3), {"mutates": True}, "index 0"),
    "another dtype": (lambda x: (x + 1).astype("f8"), RETURNED, r"got \(1000,\), float64"),
    "another shape": (lambda x: (x + 1).reshape(10, 100), RETURNED, r"got \(10, 100\), float32"),
    "no array": (lambda x: (x + 1).tolist(), RETURNED, r"a returned NumPy array; got builtins\.list"),
}


@pytest.mark.parametrize("kind", ["exact", "random"])
@pytest.mark.parametrize("what", WRONG)
def test_each_wrong_variant_is_rejected_by_each_check_alone(kind, what):
    call, options, message = WRONG[what]
    with pytest.raises(MismatchError, match=message):
        check(call, kinds=[kind], **options)


@pytest.mark.parametrize("kind", ["exact", "random"])
@pytest.mark.parametrize(("offset", "side"), [(-1, "before"), (N, "after")])
class TestBesideTheArrays:
    @pytest.mark.parametrize("argument", [0, 1])
    def test_writing(self, kind, offset, side, argument):
        def call(*arrays):
            add_one(*arrays)
            beside(arrays[argument], offset)[0] = 1

        name = ("input 0", "the output")[argument]
        with pytest.raises(MismatchError, match=f"it wrote outside its arrays, {side} {name}"):
            check(call, kinds=[kind])

    def test_reading(self, kind, offset, side):
        def call(x, out):
            out[...] = x.sum(dtype=np.float64) + float(beside(x, offset)[0])

        with pytest.raises(MismatchError, match=r"got (nan|inf)"):
            check(call, kinds=[kind], plan=SUM)


def test_twice_the_tolerance_fails_and_half_of_it_passes():
    plan = {"tolerance": Tolerance(c=4, serial=16)}

    value = float(plan_of().make_inputs(N, exact=False)[0][17]) + 1
    tolerance = 4 * np.finfo(np.float32).eps * 16 * value
    half, twice = (wrong_at(17, amount=share * tolerance) for share in (0.5, 2))
    assert check(half, kinds=["random"], plan=plan)[0].largest_difference > 0
    with pytest.raises(MismatchError, match="index 17"):
        check(twice, kinds=["random"], plan=plan)


def test_one_lost_element_in_ten_million_fails_a_sum_by_the_exact_check():
    def lossy(x, out):
        at = int(np.flatnonzero(x)[-1])
        out[...] = x.sum(dtype=np.float64) - x[at]

    assert check(lossy, n=10**7, kinds=["random"], plan=SUM)  # rounding alone allows as much
    with pytest.raises(MismatchError, match="1 of 1 elements are wrong"):
        check(lossy, n=10**7, kinds=["exact"], plan=SUM)
    assert check(lambda x, out: x.sum(out=out), n=10**7, kinds=["exact"], plan=SUM)


def test_the_message_names_variant_size_check_place_values_and_tolerance():
    plan = {"inputs": lambda n, dtype, rng, exact: (np.arange(n, dtype=dtype).reshape(-1, 10),)}
    with pytest.raises(MismatchError) as caught:
        check(wrong_at((0, 3), (7, 1), amount=2), plan=plan)
    assert str(caught.value) == (
        "Variant 'mine' at size 1,000, exact check: 2 of 1,000 elements are wrong, the first at index "
        "(0, 3): expected 4.0, got 6.0; largest difference 2, tolerance 0."
    )


def integers(n, dtype, rng, exact):
    return (rng.integers(90, 100, n).astype(dtype),)


REFERENCES = {
    "overflows on its way": (
        {"inputs": integers, "reference": lambda x: x + x, "dtype": "int8"},
        "^Study 'add' at size 1,000: An integer overflows in the reference: .* in wider integers",
    ),
    "overflows the output": ({"inputs": integers, "dtype": "int8", **TO_SCALAR}, "beyond int8"),
    "another shape": ({"reference": lambda x: x.sum()}, r"returns shape \(\); .* output has shape \(1000,\)"),
    "inexact": ({"reference": lambda x: x / 3}, "not exact in float32 on the exact inputs"),
    "fractions": (
        {"reference": lambda x: x + 0.5, "output": lambda n, dtype: (n, "int32")},
        "fractions where the study's output is int32",
    ),
}


@pytest.mark.parametrize("what", REFERENCES)
def test_a_reference_that_nothing_can_be_compared_with_is_rejected(what):
    plan, message = REFERENCES[what]
    with pytest.raises(MismatchError, match=message):
        check(lambda x, out: None, plan=plan)


def test_a_reference_gets_float64_copies_that_it_may_change():
    seen = []
    assert check(plan={"reference": lambda x: seen.append(x.dtype) or np.add(x, 1, out=x)})
    assert set(seen) == {np.dtype("float64")}


class SumCheck:
    """The sum is right to one part in a thousand."""

    def prepare(self, inputs):
        self.prepared = getattr(self, "prepared", 0) + 1
        return float(inputs[0].sum(dtype=np.float64)) + N

    def compare(self, output, prepared):
        if np.isnan(output).any():
            raise MismatchError("there are NaNs.")
        return abs(float(output.sum(dtype=np.float64)) - prepared), 1e-3 * N


class TestCheckObject:
    """An object that judges in the place of a reference."""

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda x, out: None, "Variant 'mine' at size 1,000, exact check: there are NaNs"),
            (lambda x, out: np.add(x, 2, out=out), "largest difference 1000, tolerance 1"),
            (changing_its_input, "changed input 0"),
        ],
    )
    def test_it_rejects_what_is_wrong_and_what_changes_inputs(self, call, message):
        with pytest.raises(MismatchError, match=message):
            check(call, plan={"reference": None, "check": SumCheck()})

    def test_a_variant_may_have_an_output_of_its_own(self):
        """Here one writes pairs, and the sum is the same; each gets an array of its own, guarded."""

        def in_pairs(x, out):
            np.add(x.reshape(-1, 2), 1, out=out)

        judge = SumCheck()
        made = plan_of(plan={"reference": None, "check": judge})
        (plain,) = made.variants
        pairs = dataclasses.replace(
            plain, name="pairs", call=in_pairs, output=lambda n, dtype: ((n // 2, 2), dtype)
        )
        trial = Trial(dataclasses.replace(made, variants=(plain, pairs)), N, "random")
        assert [trial.check(variant).passed for variant in (plain, pairs, plain)] == [True] * 3
        assert judge.prepared == 1, "the answer is prepared once for all variants"
        with pytest.raises(MismatchError, match="NaN"):
            trial.check(dataclasses.replace(pairs, call=lambda x, out: None))
        with pytest.raises(ArgumentError, match="'mine' has an output of its own, so the study needs check="):
            plan_of(output=lambda n, dtype: (n, dtype))


class TestEqual:
    """Studies whose results must equal the reference to the last bit."""

    @pytest.mark.parametrize("shape", [(6,), (1, 2, 3), (0, 3), ()])
    def test_equal_arrays_of_any_shape_pass_nan_included(self, shape):
        """The reference gets the inputs as they are, not in float64."""
        seen = []
        plan = {
            "inputs": lambda n, dtype, rng, exact: (np.arange(np.prod(shape), dtype=dtype).reshape(shape),),
            "reference": lambda x: seen.append(x.dtype) or np.where(x == 1, np.nan, x + 1),
            "equal": True,
        }
        call = lambda x, out: np.copyto(out, np.where(x == 1, np.nan, x + 1))  # noqa: E731
        assert [one.tolerance for one in check(call, plan=plan)] == [0, 0]
        assert set(seen) == {np.dtype("float32")}

    @pytest.mark.parametrize(
        ("call", "reference", "message"),
        [
            (wrong_at(14, amount=1e-6), lambda x: x + 1, "element at 14 is wrong: expected"),
            (wrong_at(2, amount=np.nan), lambda x: x + 1, "element at 2 is wrong: expected .* got nan"),
            (add_one, lambda x: x.reshape(10, -1), r"shape \(10, 100\); it has \(1000,\)"),
        ],
    )
    def test_what_differs_is_rejected_with_its_place(self, call, reference, message):
        with pytest.raises(MismatchError, match=message):
            check(call, plan={"reference": reference, "equal": True})


class TestOtherTypes:
    def test_a_boolean_that_was_not_written_is_not_taken_for_true(self):
        plan = {"reference": lambda x: x > -100, "output": lambda n, dtype: (n, "bool")}
        with pytest.raises(MismatchError, match="1 of 1,000 elements are wrong, the first at index 999"):
            check(lambda x, out: out[:-1].fill(True), plan=plan)
        assert check(lambda x, out: out.fill(True), plan=plan)

    def test_integers_must_be_equal(self):
        inputs = lambda n, dtype, rng, exact: (rng.integers(0, 2**62, n),)  # noqa: E731
        plan = {"inputs": inputs, "reference": lambda x: x + 1, "dtype": "int64"}
        assert check(lambda x, out: np.add(x, 1, out=out), plan=plan)
        with pytest.raises(MismatchError, match="1,000 of 1,000"):
            check(lambda x, out: np.add(x, 2, out=out), plan=plan)

    def test_complex_numbers(self):
        def inputs(n, dtype, rng, exact):
            parts = rng.integers(-4, 4, (2, n)) if exact else rng.random((2, n))
            return ((parts[0] + 1j * parts[1]).astype(dtype),)

        plan = {"inputs": inputs, "dtype": "complex64"}
        assert check(plan=plan)
        with pytest.raises(MismatchError, match="index 4"):
            check(wrong_at(4, amount=1j), plan=plan, kinds=["exact"])

    def test_nan_and_infinity_that_the_reference_has_are_right(self):
        def inputs(n, dtype, rng, exact):
            x = map_inputs(n, dtype, rng, exact)[0]
            x[:3] = np.nan, np.inf, -np.inf
            return (x,)

        assert check(plan={"inputs": inputs})
        finite = lambda x, out: np.clip(x + 1, -9, 9, out=out)  # noqa: E731
        with pytest.raises(MismatchError, match="index 1: expected inf, got 9"):
            check(finite, plan={"inputs": inputs})


def test_a_call_runs_on_the_clocks_stream_and_is_waited_for():
    gpu = FakeGpu()
    kernel = gpu.kernel(1000)
    spaces = {"host": HOST, "device": Space("device", np)}
    call = lambda x, out: (kernel(), add_one(x, out))  # noqa: E731
    check(call, device="gpu", clock="device", spaces=spaces, gpu=gpu, kinds=["exact"])
    assert (gpu.log, gpu.depth) == (["call", "synchronize"], 0)


def test_variants_of_one_memory_share_arrays_and_each_check_starts_anew():
    made = plan_of()
    lazy = Variant("lazy", lambda x, out: None, device="cpu", clock="host")
    trial = Trial(dataclasses.replace(made, variants=(*made.variants, lazy)), N, "exact")
    trial.check(made.variants[0])
    with pytest.raises(MismatchError, match=r"Variant 'lazy'.* it wrote nothing"):
        trial.check(lazy)


def test_inputs_differ_by_size_kind_study_and_seed_and_are_the_same_each_time():
    made = plan_of()

    def first(n=N, exact=False, seed=0, plan=made):
        return plan.make_inputs(n, exact=exact, seed=seed)[0][0]

    assert first() == first()
    other = dataclasses.replace(made, name="b")
    assert first() not in [first(n=N + 1), first(exact=True), first(seed=1), first(plan=other)]


def test_random_inputs_must_vary_and_be_arrays():
    with pytest.raises(ArgumentError, match="constants are never timed"):
        check(plan={"inputs": lambda n, dtype, rng, exact: (np.zeros(n, dtype),)})
    with pytest.raises(ArgumentError, match="must return a tuple of NumPy arrays and numbers; got ndarray"):
        check(plan={"inputs": lambda n, dtype, rng, exact: np.zeros(n, dtype)})


class TestTolerance:
    def test_formula_for_a_sum(self):
        tolerance = Tolerance(c=2, serial=lambda n: n // 256, scale="sum", threads=256)
        assert tolerance.factor(1024, np.dtype("f4")) == pytest.approx(2 * 2**-23 * (4 + 8))

        assert Tolerance(scale="sum").factor(1024, np.dtype("f8")) == pytest.approx(4 * 2**-52 * 11)
        assert tolerance.factor(1024, np.dtype("int32")) == 0

    def test_elementwise_takes_the_operands_where_they_cancel(self):
        expected = Expected(np.array([0.0, 1.0]), np.dtype("f4"), 1e-6)
        got = np.array([5e-7, 1.0], "f4")
        assert expected.difference(got, (np.array([1.0, 1.0]),)).n_wrong == 0
        assert expected.difference(got, ()).first_wrong == 0

    def test_a_callable_scale_is_per_element(self):
        scale = lambda x: np.where(np.arange(x.size) < 10, 1e6, 10.0)  # noqa: E731
        plan = {"tolerance": Tolerance(c=1, scale=scale, threads=1)}
        assert check(wrong_at(9, amount=0.01), plan=plan, kinds=["random"])
        with pytest.raises(MismatchError, match="index 10:"):
            check(wrong_at(9, 10, amount=0.01), plan=plan, kinds=["random"])


def test_differences_are_found_across_blocks():
    n = 300_000  # three blocks
    expected = Expected(np.zeros(n), np.dtype("f4"), 0.0)
    got = np.zeros(n, "f4")
    got[[140_000, 290_000]] = 1, 3
    found = expected.difference(got, ())
    assert (found.n_wrong, found.first_wrong, found.largest) == (2, 140_000, 3)
    got[3] = np.nan
    found = expected.difference(got, ())
    assert (found.n_wrong, found.first_wrong) == (3, 3)
    assert np.isnan(found.largest)
