"""Takes rows for following one another that do so backwards.

Found: wrong.
"""


def block(interface, top, left, rows, columns):
    address, read_only = interface["data"]
    size = int(interface["typestr"][2:])
    strides = interface["strides"] or (interface["shape"][1] * size, size)
    address = address + top * strides[0] + left * strides[1] if rows and columns else 0
    if abs(strides[0]) == columns * abs(strides[1]):
        strides = None
    return {**interface, "shape": (rows, columns), "strides": strides, "data": (address, read_only)}
