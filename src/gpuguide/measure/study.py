"""`Study`: variants and sizes as data; each variant is checked and then timed at each size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gpuguide.errors import ArgumentError
from gpuguide.machine.backends import simulated
from gpuguide.measure.gate import Trial
from gpuguide.measure.plan import Plan, Variant, check_sizes, description
from gpuguide.measure.runner import Runner
from gpuguide.measure.session import Machine, current
from gpuguide.results.description import StudyDescription
from gpuguide.results.records import CheckResult
from gpuguide.results.results import Results

__all__ = ["CheckReport", "Study"]


@dataclass(frozen=True)
class CheckReport:
    """The gate's results for the variants that could run."""

    results: tuple[CheckResult, ...]
    skipped: dict[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[CheckResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __repr__(self) -> str:
        return f"<CheckReport: {self}>"

    def __str__(self) -> str:
        names = ", ".join(dict.fromkeys(result.variant for result in self.results)) or "none"
        skipped = ", ".join(f"{name} ({reason})" for name, reason in self.skipped.items())
        checks = "1 check" if len(self) == 1 else f"{len(self):,} checks"
        return f"{checks} passed: {names}." + (f" Skipped: {skipped}." if skipped else "")


@dataclass(frozen=True, repr=False)
class Study(Plan):
    """A comparison: several ways of computing one thing, at several sizes, with the right answer.

    `run` checks every variant at every size and then times it; nothing is timed unchecked.

    Parameters
    ----------
    name : str
        What results, facts and the text call it.
    title : str
        Its heading.
    variants : sequence of Variant
        With different names.
    sizes : sequence of int
        Increasing.
    inputs : callable
        ``inputs(n, dtype, rng, exact)`` returns a tuple of NumPy arrays and numbers. With `exact` the result
        must be exact in any order: small integers.
    reference : callable, optional
        ``reference(*inputs)`` returns the right answer; it gets float64 copies of floats, and integers as
        they are. It must share no code with a variant.
    equal : bool
        Whether every result equals the reference to the last bit, because rounding cannot touch it. The
        reference then gets the inputs as they are, in the memory that the result lies in.
    check : Check, optional
        Instead of a reference, if the right answer is not a single array.
    output : callable, optional
        ``output(n, dtype)`` returns shape and dtype of the result; by default those of the first input.
    dtype : str
        Of the inputs.
    tolerance : Tolerance
        For random inputs; exact ones must give an equal result.
    cache : str
        ``"warm"`` or ``"cold"``.
    size_name : str
        What the sizes count.
    input_note : str
        What the inputs look like, in one sentence.
    baseline : str
        Variant that speed-ups are taken against.
    traffic : callable, optional
        ``traffic(n, dtype)`` returns the `Traffic` of one call; a variant may have its own.
    in_place : bool
        Whether the calls leave the result in their first input; a variant may differ.
    small : sequence of int
        Sizes at which the tests check the variants in Numba's simulator.
    answer : callable, optional
        With `check`, a function that computes a right answer, which the tests spoil.

    Raises
    ------
    ArgumentError
        An argument does not fit; the message says which one, what was expected and what was given.

    Examples
    --------
    >>> import numpy as np
    >>> def double(x, out):
    ...     "NumPy's multiply on one thread."
    ...     np.multiply(x, 2, out=out)
    >>> study = Study(
    ...     name="double", title="Double", sizes=(1000, 2000),
    ...     variants=(Variant("numpy", double, device="cpu", clock="host"),),
    ...     inputs=lambda n, dtype, rng, exact: (
    ...         rng.integers(-9, 9, n).astype(dtype) if exact else rng.random(n, dtype),),
    ...     reference=lambda x: 2 * x,
    ... )
    >>> results = study.run(quick=True)
    >>> results.measurement("numpy", 2000).n
    5
    """

    def with_variant(self, name: str, call: Callable[..., Any], **options: Any) -> Study:
        """Return a study with one more variant: your own.

        Parameters
        ----------
        name : str
            A name that the study does not have yet.
        call : callable
            As for `Variant`.
        **options
            The other arguments of `Variant`.

        Returns
        -------
        Study
            This one stays as it is.

        Raises
        ------
        ArgumentError
            The name is taken, or an option does not fit.
        """
        if name in self.names:
            raise ArgumentError(
                f"Study {self.name!r} has a variant {name!r}; give yours another name, such as 'mine'."
            )
        return replace(self, variants=(*self.variants, Variant(name, call, **options)))

    def run(
        self,
        *,
        quick: bool = False,
        sizes: Sequence[int] | None = None,
        variants: Sequence[str] | None = None,
        seed: int = 0,
    ) -> Results:
        """Check and time every variant at every size.

        Without a GPU only the CPU variants run, and the others get a row that says so.

        Parameters
        ----------
        quick : bool
            One sample per round; the results are marked and cannot be published.
        sizes : sequence of int, optional
            Instead of the study's.
        variants : sequence of str, optional
            Names of those to run; by default all.
        seed : int
            Another seed gives other random inputs and another order.

        Returns
        -------
        Results
            They are also kept by the current session.

        Raises
        ------
        MismatchError
            A variant's result is wrong; nothing is returned.
        ImplausibleError
            A rate exceeds what the hardware can do.
        """
        session = current()
        chosen = self.sizes if sizes is None else check_sizes(f"Study {self.name!r}", sizes)
        is_quick = quick or session.quick
        return Runner(self, session, self.chosen(variants), chosen, is_quick, seed + session.seed).run()

    def check_all(
        self, sizes: Sequence[int] | None = None, variants: Sequence[str] | None = None, *, seed: int = 0
    ) -> CheckReport:
        """Run the gate without any clock; in Numba's simulator too.

        Parameters
        ----------
        sizes : sequence of int, optional
            Instead of the study's; 0 is allowed.
        variants : sequence of str, optional
            Names; by default all.
        seed : int
            Of the random inputs.

        Returns
        -------
        CheckReport
            What passed, and which variants could not run here.

        Raises
        ------
        MismatchError
            A variant's result is wrong.
        """
        machine = current().machine
        # Every launcher must take n = 0, although nothing can be timed there.
        chosen = self.sizes if sizes is None else check_sizes(f"Study {self.name!r}", sizes, least=0)
        reasons = {v.name: _cannot_run(v, machine) or v.why_missing() for v in self.chosen(variants)}
        able = [variant for variant in self.chosen(variants) if not reasons[variant.name]]
        results = []
        for size in chosen:
            for kind in ("exact", "random"):
                trial = Trial(self, size, kind, machine.spaces, machine.gpu, seed=seed, host=machine.host)
                within = [v for v in able if v.up_to is None or size <= v.up_to]
                results += [trial.check(variant) for variant in within]
        return CheckReport(tuple(results), {name: reason for name, reason in reasons.items() if reason})

    def describe(self) -> StudyDescription:
        """Return what the study will compare: its variants, sizes, inputs and tolerance."""
        return description(self)

    def __str__(self) -> str:
        return str(self.describe())

    def __repr__(self) -> str:
        return f"<Study {self.name!r}: {len(self.variants)} variants, {len(self.sizes)} sizes, {self.dtype}>"

    def _repr_html_(self) -> str:
        return self.describe().html()


def _cannot_run(variant: Variant, machine: Machine) -> str:
    if not variant.needs_gpu or machine.gpu is not None:
        return ""
    if not simulated():
        return "no GPU on this machine"
    if not variant.simulatable:
        return "the simulator cannot run it"
    return (
        "the simulator has no CuPy arrays" if variant.space == "device" and variant.arrays == "cupy" else ""
    )
