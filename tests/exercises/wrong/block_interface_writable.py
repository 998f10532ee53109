"""Forgets the flag of memory that may not be written to.

Found: wrong.
"""


def block(interface, top, left, rows, columns):
    itemsize = int(interface["typestr"][2:])
    strides = interface["strides"] or (interface["shape"][1] * itemsize, itemsize)
    address = interface["data"][0] + top * strides[0] + left * strides[1]
    return {**interface, "shape": (rows, columns), "strides": strides, "data": (address, False)}
