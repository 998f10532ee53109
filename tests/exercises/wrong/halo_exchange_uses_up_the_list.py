"""Takes the slabs out of the list.

Found: input_changed.
"""


def halo_exchange(slabs, width):
    above = slabs.pop(0)
    while slabs:
        below = slabs.pop(0)
        below[:width] = above[-2 * width : -width]
        above[-width:] = below[width : 2 * width]
        above = below
