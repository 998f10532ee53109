"""Takes every array for one whose rows follow one another.

Found: wrong.
"""


def block(interface, top, left, rows, columns):
    itemsize = int(interface["typestr"][2:])
    strides = (interface["shape"][1] * itemsize, itemsize)
    address, read_only = interface["data"]
    address += top * strides[0] + left * strides[1]
    return {**interface, "shape": (rows, columns), "strides": strides, "data": (address, read_only)}
