"""
Toy sums
========

How long does a sum take?
"""

# %%
# A sum is quick.
# *NumPy* needs :measured:`sums[numpy, 65536].time` of it. More.

# %%
# Four numbers by hand
# --------------------
# Nothing but NumPy.

import numpy as np

values = np.arange(4)
print(values.sum(), "|not a substitution| `nor a role`_")

# %%
# The study runs.

from gpuguide.topics.toy import study as toy

results = toy.study().run()
results

# %%

# draw
gg.claim(results, "numpy", faster_than="dot", at=65536)

# %%
# Time grows with the size.

# draw
gg.plot_time(results)
