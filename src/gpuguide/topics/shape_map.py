"""Many variants at one size, checked and timed on the device alone: the cells of a map."""

from __future__ import annotations

from gpuguide.device import require_gpu
from gpuguide.errors import ArgumentError
from gpuguide.gate import Trial
from gpuguide.plan import generator
from gpuguide.session import current
from gpuguide.study import Study
from gpuguide.timing import DeviceTimer, device_timer, keep_busy


def measure_map(study: Study, size: int, n_rounds: int = 5) -> dict[str, tuple[float, ...]]:
    """Check every variant of a study at one size, then time them all in shuffled rounds.

    A study's own run times the launches, too, and takes samples until they agree. For the
    cells of a map that would be too much: here each variant gets one sample a round, on the device's clock.

    Parameters
    ----------
    study : Study
        All its variants run on the GPU.
    size : int
        At which they are checked and timed.
    n_rounds : int
        How many samples of each.

    Returns
    -------
    dict of str to tuple of float
        Name of the variant -> seconds of each sample.

    Raises
    ------
    MismatchError
        A variant's result is wrong, before the clock or after it.
    NoGpuError
        There is no GPU.
    ArgumentError
        `n_rounds` is below 1.

    Examples
    --------
    >>> from gpuguide.topics.launch_sizes import shapes_study
    >>> try:
    ...     measure_map(shapes_study(), 2**26, n_rounds=0)
    ... except ArgumentError as error:
    ...     print(error)
    measure_map: n_rounds must be at least 1; got 0.
    """
    if n_rounds < 1:
        raise ArgumentError(f"measure_map: n_rounds must be at least 1; got {n_rounds}.")
    machine = current().machine
    if machine.gpu is None:
        require_gpu()
    assert machine.gpu is not None
    _passed(study, size, "exact")
    trial = _passed(study, size, "random")
    timers: dict[str, DeviceTimer] = {}
    for variant in study.variants:
        with trial.on_stream(variant):
            timers[variant.name] = device_timer(
                trial.call(variant), machine.gpu, batchable=False
            )
    samples: dict[str, list[int]] = {variant.name: [] for variant in study.variants}
    order = generator(study.name, size, "map")
    for _ in range(n_rounds):
        keep_busy(machine.gpu, seconds=0.02, host=machine.host)
        for name in order.permutation(study.names):
            samples[str(name)].append(timers[str(name)].sample())
    for variant in study.variants:
        trial.check(variant)
    return {name: timers[name].samples(ns).seconds for name, ns in samples.items()}


def _passed(study: Study, size: int, kind: str) -> Trial:
    machine = current().machine
    trial = Trial(study, size, kind, machine.spaces, machine.gpu, host=machine.host)
    for variant in study.variants:
        trial.check(variant)
    return trial
