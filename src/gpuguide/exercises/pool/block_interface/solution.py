def block(interface, top, left, rows, columns):
    """Describe a block of an array that is on the GPU."""
    strides = interface["strides"]
    if strides is None:
        itemsize = int(interface["typestr"][2:])
        strides = (interface["shape"][1] * itemsize, itemsize)
    address, read_only = interface["data"]
    address += top * strides[0] + left * strides[1]
    if rows == 0 or columns == 0:
        address = 0
    return {**interface, "shape": (rows, columns), "strides": strides, "data": (address, read_only)}
