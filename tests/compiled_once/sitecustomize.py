"""Lets Pythons that find this folder on their path share the code of modules that have no bytecode.

Those are the modules of trees that tests copy and change, where an edit may come within the second, and in as
many bytes, by which Python would tell that its bytecode is old. Here the source itself says which code is its
own. Python imports this file when it starts.
"""

import _imp
import gc
import hashlib
import marshal
import os
from importlib.machinery import SourceFileLoader

# As conftest.py has it for the tests.
gc.set_threshold(100_000, 20, 50)
FOLDER = os.environ.get("GPUGUIDE_COMPILED_ONCE")
compiled = SourceFileLoader.source_to_code
# Code that this Python has read before it is needed, and the path of the module that took it.
read = {}


def source_to_code(loader, data, path, **options):
    """Take the place of the method of `SourceFileLoader`."""
    if not isinstance(data, bytes):
        return compiled(loader, data, path, **options)
    digest = hashlib.sha256(data).hexdigest()
    code, taken_by = read.get(digest, (None, None))
    # Code has one path, so a module elsewhere with the same text gets code of its own.
    if code is None or taken_by not in (None, path):
        return read_or_compiled(loader, data, digest, path, **options)
    if taken_by is None:
        _imp._fix_co_filename(code, path)
        read[digest] = code, path
    return code


def read_or_compiled(loader, data, digest, path, **options):
    kept = f"{FOLDER}/{digest}"
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


def keep(module, more=""):
    """Have the code of a module at hand for one of the same text, with `more` at its end."""
    loader = module.__spec__.loader
    path = module.__file__
    data = loader.get_data(path)
    code = compile(data + more.encode(), path, "exec") if more else loader.get_code(module.__name__)
    read[hashlib.sha256(data).hexdigest()] = code, None


if FOLDER:
    SourceFileLoader.source_to_code = source_to_code
