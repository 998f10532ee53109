"""The charts of the guide, in one place: each function draws on axes and returns them."""

from gpuguide.line_charts import plot_rate, plot_share_of_ceiling, plot_speedup, plot_time
from gpuguide.shape_charts import plot_decomposition, plot_heatmap, plot_samples

__all__ = [
    "plot_decomposition",
    "plot_heatmap",
    "plot_rate",
    "plot_samples",
    "plot_share_of_ceiling",
    "plot_speedup",
    "plot_time",
]
