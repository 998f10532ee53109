"""Writes into the dictionary of the caller, whose array it still describes.

Found: input_changed.
"""


def block(interface, top, left, rows, columns):
    itemsize = int(interface["typestr"][2:])
    strides = interface["strides"] or (interface["shape"][1] * itemsize, itemsize)
    address, read_only = interface["data"]
    interface["strides"], interface["shape"] = strides, (rows, columns)
    interface["data"] = (address + top * strides[0] + left * strides[1], read_only)
    return interface
