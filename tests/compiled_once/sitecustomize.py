"""Lets Pythons that find this folder on their path share the code of modules that have no bytecode.

Those are the modules of trees that tests copy and change, where an edit may come within the second, and in as
many bytes, by which Python would tell that its bytecode is old. Here the source itself says which code is its
own. Python imports this file when it starts.
"""

import _imp
import hashlib
import marshal
import os
from importlib.machinery import SourceFileLoader

FOLDER = os.environ.get("GPUGUIDE_COMPILED_ONCE")
compiled = SourceFileLoader.source_to_code


def source_to_code(loader, data, path, **options):
    """Take the place of the method of `SourceFileLoader`."""
    if not isinstance(data, bytes):
        return compiled(loader, data, path, **options)
    kept = f"{FOLDER}/{hashlib.sha256(data).hexdigest()}"
    try:
        with open(kept, "rb") as file:
            code = marshal.load(file)
    except FileNotFoundError:
        code = compiled(loader, data, path, **options)
        # Another Python may be writing the same.
        written = f"{kept}.{os.getpid()}"
        with open(written, "wb") as file:
            marshal.dump(code, file)
        os.replace(written, kept)
    else:
        _imp._fix_co_filename(code, path)
    return code


if FOLDER:
    SourceFileLoader.source_to_code = source_to_code
