"""The built site says nothing of the machine that built it."""

import re
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SITE = REPOSITORY / "docs" / "_build" / "html"

pytestmark = pytest.mark.skipif(not SITE.is_dir(), reason="takes the built site: run make html")


def files():
    """Every file below the site, those in archives too: name -> bytes."""
    for path in sorted(SITE.rglob("*")):
        name = path.relative_to(SITE).as_posix()
        if path.is_file() and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield from ((f"{name}: {part}", archive.read(part)) for part in archive.namelist())
        elif path.is_file():
            yield name, path.read_bytes()


def test_no_file_names_a_folder_of_the_builder():
    # A prefix as short as "/usr" is no secret, and is named where a page says how to install something.
    prefixes = [path for path in map(Path, (sys.prefix, sys.base_prefix)) if len(path.parts) > 2]
    private = [REPOSITORY, Path.home(), Path(tempfile.gettempdir()), *prefixes]
    own = re.compile("|".join(re.escape(f"{folder}/") for folder in private).encode())
    named = {name: found[0] for name, data in files() if (found := own.search(data))}
    assert named == {}
    assert sum(1 for _ in files()) > 300
