"""Takes strides with a 0 for missing.

Found: wrong.
"""


def block(interface, top, left, rows, columns):
    itemsize = int(interface["typestr"][2:])
    strides = interface["strides"]
    if not strides or not all(strides):
        strides = (interface["shape"][1] * itemsize, itemsize)
    address, read_only = interface["data"]
    address = address + top * strides[0] + left * strides[1] if rows and columns else 0
    return {**interface, "shape": (rows, columns), "strides": strides, "data": (address, read_only)}
