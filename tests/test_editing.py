"""An edited kernel takes the place of the package's own, wherever that one is launched from."""

from collections.abc import Callable

import pytest

from gpuguide.editing import use_instead
from gpuguide.errors import UnknownNameError


def test_launchers_tables_and_other_pages_use_the_edited_kernel(fresh_python: Callable[..., str]) -> None:
    snippet = """
from gpuguide.editing import use_instead
from gpuguide.topics.compile_cost import study as compile_cost
from gpuguide.topics.grids_2d_3d import boxes_3d, kernels as grids
from gpuguide.topics.launch_sizes import kernels, maximum
own, four = object(), object()
use_instead("gpuguide.topics.grids_2d_3d.kernels", maximum_fast_kernel=own)
print([module.maximum_fast_kernel is own for module in (grids, boxes_3d, compile_cost)])
use_instead("gpuguide.topics.launch_sizes.kernels", maximum_four_kernel=four)
print(maximum.KERNELS[4] is four, kernels.maximum_one_kernel is maximum.KERNELS[1])
"""
    assert fresh_python(snippet) == "[True, True, True]\nTrue True\n"


def test_a_name_that_the_module_lacks_is_told() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'increment_grid_kernel'"):
        use_instead("gpuguide.topics.first_kernel.kernels", increment_gird_kernel=None)
