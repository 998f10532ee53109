"""What a page runs in fresh processes is loaded in its own, too: so it is part of the measuring key."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuguide import topics

ROOT = Path(__file__).parents[2]


def modules_named(path: Path) -> Iterator[str]:
    """Modules of topics whose names stand in the code as text, with a function behind a colon or without."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if re.search("[\"']gpuguide", text) else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = re.fullmatch(r"(gpuguide\.topics(?:\.\w+)+)(?::\w+)?", node.value)
            if found:
                yield found[1]


NAMED = {
    folder.name: names
    for folder in sorted(Path(topics.__path__[0]).iterdir())
    if (names := sorted({name for path in folder.glob("*.py") for name in modules_named(path)}))
}


def imports_of(page: str) -> str:
    (script,) = (ROOT / "examples").glob(f"*/{page}.py")
    tree = ast.parse(script.read_text(encoding="utf-8"))
    found = [ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(line for line in found if "gpuguide" in line)


def test_there_are_such_pages() -> None:
    assert "compile_cost" in NAMED


@pytest.mark.parametrize("page", NAMED)
def test_a_page_loads_what_it_runs_in_fresh_processes(page: str, fresh_python: Callable[..., str]) -> None:
    snippet = f"{imports_of(page)}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(fresh_python(snippet).splitlines()[-1])
    assert [name for name in NAMED[page] if name not in loaded] == []
