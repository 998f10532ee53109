"""Lets the rows of the block follow one another, as if it had been copied.

Found: wrong.
"""


def block(interface, top, left, rows, columns):
    itemsize = int(interface["typestr"][2:])
    strides = interface["strides"] or (interface["shape"][1] * itemsize, itemsize)
    address, read_only = interface["data"]
    address += top * strides[0] + left * strides[1]
    return {**interface, "shape": (rows, columns), "strides": None, "data": (address, read_only)}
