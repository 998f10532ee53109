"""Adds a stream where there was none.

Found: wrong.
"""


def block(interface, top, left, rows, columns):
    itemsize = int(interface["typestr"][2:])
    strides = interface["strides"] or (interface["shape"][1] * itemsize, itemsize)
    address, read_only = interface["data"]
    address = address + top * strides[0] + left * strides[1] if rows and columns else 0
    made = {"shape": (rows, columns), "strides": strides, "data": (address, read_only)}
    others = {key: interface.get(key) for key in ("typestr", "version", "stream")}
    return {**others, **made}
