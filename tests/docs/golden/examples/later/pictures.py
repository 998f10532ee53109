"""
Pictures
========

What does a drawn cell state?
"""

# %%
# A fact.

import gpuguide as gg
import numpy as np

print("   indented", flush=True)

gg.fact("answer", 42, unit="1")
with open("ran.txt", "a") as counter:
    counter.write("once ")
half = np.float64(0.5)
half

# %%
# A study that does not run.

from gpuguide.topics.toy import study as toy

toy.study()

# %%
# A figure and another fact.

# draw
_ = plt.plot(np.arange(5), np.arange(5) ** 2)

# %%

# draw
_ = gg.fact("twice", 2 * facts["answer"].value, unit="1")

# %%

# record: The study
from gpuguide.topics.toy.kernels import dot

results = toy.study().run()

# %%
# .. rungs:: sums
#    :at: 256, 65536
#    :beside: numpy

# %%
# One product
# -----------
# A row of ones would do.
#
# .. rung:: dot

out = np.empty(1)
print(dot(np.arange(4.0), out))

# %%
# The reference is slow and sure.
#
# .. kernel:: gpuguide.topics.toy.study
#    :names: sum_reference
#
# .. exercise:: add_one
