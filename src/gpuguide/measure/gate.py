"""The gate: no variant is timed until its result has been checked, on exact and on random inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gpuguide.errors import MismatchError
from gpuguide.machine.backends import is_device_array
from gpuguide.machine.memory import HOST, Space
from gpuguide.measure.buffers import Buffers
from gpuguide.measure.clocks import GpuClock, HostClock, SystemClock
from gpuguide.measure.plan import Check, Plan, Variant
from gpuguide.measure.reference import Difference, Expected, expect
from gpuguide.measure.step_timer import StepTimer
from gpuguide.results.records import CheckResult
from gpuguide.results.units import format_size

__all__ = ["Trial"]


@dataclass
class Trial:
    """One set of inputs of one size and the expected result, against which variants are checked.

    Arrays are made when they are first needed; all variants that use one memory share them.
    """

    plan: Plan
    size: int
    kind: str
    spaces: Mapping[str, Space] = field(default_factory=lambda: {"host": HOST})
    gpu: GpuClock | None = None
    host: HostClock = field(default_factory=SystemClock)
    seed: int = 0
    steps: StepTimer = field(default_factory=StepTimer, repr=False)
    call_ns: dict[str, int] = field(default_factory=dict, init=False)
    _buffers: dict[tuple[Space, str], Buffers] = field(default_factory=dict, init=False, repr=False)
    _prepared: dict[Space, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def inputs(self) -> tuple[Any, ...]:
        """The inputs on the host."""
        with self.steps.step("inputs"):
            return self.plan.make_inputs(self.size, exact=self.kind == "exact", seed=self.seed)

    @cached_property
    def spec(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and dtype of the study's result; a variant may have an output of its own."""
        return self.plan.output_spec(self.size, self.inputs)

    def spec_of(self, variant: Variant) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return shape and dtype of a variant's result."""
        return self.spec if variant.output is None else self.plan.output_spec(self.size, self.inputs, variant)

    @cached_property
    def expected(self) -> Expected:
        """The reference's answer; only if the study has a reference."""
        assert self.plan.reference is not None
        shape, dtype = self.spec
        try:
            with self.steps.step("reference"):
                return expect(
                    self.plan.reference, self.inputs, shape, dtype, self.plan.tolerance, self.size,
                    exact=self.kind == "exact",
                )  # fmt: skip
        except MismatchError as error:
            raise MismatchError(f"Study {self.plan.name!r} at size {self.size:,}: {error}") from None

    def describe_bytes(self) -> str:
        """Describe the size, and the bytes of inputs and output, in words."""
        shown = f"{format_size(self.size)} {self.plan.size_name}"
        try:
            shape, dtype = self.spec
        except MemoryError:
            return f"{shown}, whose inputs cannot even be made"
        n_bytes = sum(x.nbytes for x in self.inputs if isinstance(x, np.ndarray))
        n_bytes += int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return f"{shown}, whose inputs and output take {_bytes_text(n_bytes)}"

    def buffers(self, variant: Variant) -> Buffers:
        """Return the arrays that a variant works on."""
        space = self.spaces[variant.space]
        key = space, "" if variant.output is None else variant.name
        # Shared, because the inputs of one size may take much of the memory, and copying them takes long.
        if key not in self._buffers:
            sharing = [other for other in self.plan.variants if self.spaces.get(other.space) is space]
            # If every variant allocates its result or works in place, an output would only waste memory.
            needs_output = any(other.takes_output for other in sharing)
            spec = self.spec_of(variant) if needs_output else None
            inputs = self.inputs
            with self.steps.step("inputs"):
                self._buffers[key] = Buffers(space, inputs, spec, self.kind)
        return self._buffers[key]

    def call(self, variant: Variant) -> Callable[[], Any]:
        """Return the variant's call on its buffers; a kernel is bound to the current stream."""
        arguments = self.buffers(variant).arguments(variant.arrays, with_output=variant.takes_output)
        return variant.on(self.size, arguments)

    def on_stream(self, variant: Variant) -> AbstractContextManager[Any]:
        """Return the context that a variant runs in: the GPU clock's stream for GPU variants."""
        return self.gpu.use() if self.gpu is not None and variant.needs_gpu else nullcontext()

    def check(self, variant: Variant) -> CheckResult:
        """Restore all arrays, call the variant once, and compare."""
        with self.on_stream(variant):
            self.buffers(variant).restore()
            call = self.call(variant)
            begin = self.host.now_ns()
            returned = call()
            # A launch returns at once, so the clock is read when the work is done.
            if self.gpu is not None and variant.needs_gpu:
                self.gpu.synchronize()
            # Kept, so that a slow call is neither warmed up again nor timed beyond its limit.
            self.call_ns[variant.name] = self.host.now_ns() - begin
            return self.verify(variant, returned, self.kind)

    def verify(self, variant: Variant, returned: Any, kind: str) -> CheckResult:
        """Compare the result of a call with what it should be."""
        if self.plan.judge is None:
            _ = self.expected  # an error in the reference is not the variant's fault
        try:
            with self.on_stream(variant):
                output = self._result(variant, returned)
                found = self._judge(variant, output)
                self._look_beside(variant)
        except MismatchError as error:
            raise MismatchError(
                f"Variant {variant.name!r} at size {self.size:,}, {kind} check: {error}"
            ) from None
        return CheckResult(variant.name, self.size, kind, found.largest, found.tolerance)

    def _result(self, variant: Variant, returned: Any) -> Any:
        buffers = self.buffers(variant)
        if variant.mutates:
            return buffers.first_input()
        if variant.takes_output:
            assert buffers.output is not None
            return buffers.output.array
        return _as_array(returned, buffers.space)

    def _judge(self, variant: Variant, output: Any) -> Difference:
        shape, dtype = self.spec_of(variant)
        if output.dtype != dtype or output.shape != shape:
            raise MismatchError(
                f"expected a result of shape {shape}, dtype {dtype}; got {output.shape}, {output.dtype}."
            )
        buffers = self.buffers(variant)
        if (judge := self.plan.judge) is not None:
            return self._ask_check(judge, buffers, output)
        found = self.expected.difference(output, buffers.pristine)
        if found.first_wrong is not None:
            raise MismatchError(self._describe(found, output, variant))
        return found

    def _ask_check(self, check: Check, buffers: Buffers, output: Any) -> Difference:
        if buffers.space not in self._prepared:
            self._prepared[buffers.space] = check.prepare(buffers.pristine)
        largest, tolerance = check.compare(output, self._prepared[buffers.space])
        # Not `largest > tolerance`, which NaN would pass.
        if not largest <= tolerance:
            raise MismatchError(f"largest difference {largest:.6g}, tolerance {tolerance:.6g}.")
        return Difference(float(largest), float(tolerance))

    def _describe(self, found: Difference, output: Any, variant: Variant) -> str:
        assert found.first_wrong is not None
        # A result without axes has no index.
        index = tuple(int(i) for i in np.unravel_index(found.first_wrong, output.shape or (1,)))
        expected = self.expected.values.reshape(-1)[found.first_wrong]
        got = output.reshape(-1)[found.first_wrong].item()
        guarded = self.buffers(variant).output
        untouched = variant.takes_output and guarded is not None and guarded.untouched()
        return (
            ("it wrote nothing. " if untouched else "")
            + f"{found.n_wrong:,} of {output.size:,} elements are wrong, the first at index "
            + f"{index[0] if len(index) == 1 else index}: expected {expected.item()!r}, got {got!r}; "
            + f"largest difference {found.largest:.6g}, tolerance {found.tolerance:.6g}."
        )

    def _look_beside(self, variant: Variant) -> None:
        buffers = self.buffers(variant)
        zone = buffers.damage()
        if zone:
            raise MismatchError(f"it wrote outside its arrays, {zone}. Check the bounds of its indices.")
        changed = buffers.changed_input(but_first=bool(variant.mutates))
        if changed:
            raise MismatchError(
                f"it changed input {changed[0]} at flat index {changed[1]:,}. "
                "Inputs must stay as they are unless the variant says mutates=True."
            )


def _bytes_text(n_bytes: int) -> str:
    for power, unit in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n_bytes >= power:
            return f"{n_bytes / power:.{1 if n_bytes < 10 * power else 0}f} {unit}"
    return f"{n_bytes} B"


def _as_array(returned: Any, space: Space) -> Any:
    if space.name == "device":
        if not (is_device_array(returned) or isinstance(returned, space.xp.ndarray)):
            raise MismatchError(f"expected a returned array in GPU memory; got {type(returned).__name__}.")
        return space.xp.asarray(returned)
    if is_device_array(returned) or not isinstance(returned, np.ndarray | np.generic):
        raise MismatchError(
            f"expected a returned NumPy array; got {type(returned).__module__}.{type(returned).__name__}."
        )
    return np.asarray(returned)
