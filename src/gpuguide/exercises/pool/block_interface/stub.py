def block(interface, top, left, rows, columns):
    """Describe a block of an array that is on the GPU."""
    address, read_only = interface["data"]
    row_length = interface["shape"][1]
    address += top * row_length + left
    return {**interface, "shape": (rows, columns), "data": (address, False)}
