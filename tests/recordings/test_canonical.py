"""The canonical form: equal on every Python, blind to prose, awake to everything else."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gpuguide.recordings import canonical
from gpuguide.recordings.canonical import FIELDS, UnknownSyntaxError, digest, form

CORPUS = Path(__file__).parent / "canonical_corpus"
COMMITTED = json.loads((CORPUS / "digests.json").read_text())


def python(version: str) -> tuple[str, dict[str, str]]:
    """An installed Python of this version, and the environment it wants; skips the test without one."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable, {}
    found = shutil.which(f"python{version}")
    if found is None:
        pytest.skip(f"no python{version} on PATH")
    answer = subprocess.run([found, "-V"], capture_output=True, text=True, check=False)
    if answer.stdout.startswith(f"Python {version}."):
        return found, {}
    # pyenv's stand-in for a version that is installed but not the current one lists what there is.
    installed = re.findall(rf"^\s+({re.escape(version)}\.\d+)$", answer.stderr, re.MULTILINE)
    if not installed:
        pytest.skip(f"{found} does not run: {answer.stderr.splitlines()[:1]}")
    return found, {"PYENV_VERSION": installed[-1]}


@pytest.mark.parametrize("flags", [(), ("-OO",)], ids=["plain", "optimised"])
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_corpus_has_the_committed_digests_under_each_installed_python(
    version: str, flags: tuple[str, ...]
) -> None:
    files = [name for name in COMMITTED if version != "3.11" or name.endswith(".py")]
    found, extra = python(version)
    command = [found, "-P", *flags, canonical.__file__, *(str(CORPUS / name) for name in files)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | extra)
    lines = answer.stdout.splitlines()
    assert dict(reversed(line.split("  ")) for line in lines) == {name: COMMITTED[name] for name in files}


def test_every_file_of_the_corpus_is_committed() -> None:
    assert {path.name for path in CORPUS.glob("*.py*") if path.is_file()} == set(COMMITTED)


def test_corpus_holds_every_kind_of_node() -> None:
    """A node kind that no file uses would be in the table untested."""
    forms = " ".join(form(path.read_text(encoding="utf-8")) for path in CORPUS.glob("*.py"))
    assert set(FIELDS) - set(re.findall(r"\((\w+)", forms)) == {
        "TypeAlias",
        "TypeVar",
        "ParamSpec",
        "TypeVarTuple",
    }


def test_table_knows_every_node_and_field_of_this_python() -> None:
    """A new field or node of a future Python must be decided on, not passed over."""
    left_out = {
        **{kind: {"ctx"} for kind in ("Attribute", "Subscript", "Starred", "Name", "List", "Tuple")},
        **{kind: {"type_comment"} for kind in ("Assign", "For", "AsyncFor", "With", "AsyncWith")},
        **{kind: {"returns", "type_comment"} for kind in ("FunctionDef", "AsyncFunctionDef")},
        "Module": {"type_ignores"},
        "arg": {"annotation", "type_comment"},
    }
    for kind, fields in FIELDS.items():
        node = getattr(ast, kind, None)
        if node is not None:
            assert set(node._fields) - set(fields) == left_out.get(kind, set()), kind


SAME = {
    "comment": ("x = 1", "# one\nx = 1  # two\n"),
    "spelling of numbers and strings": ("x = 255, 1000, 'a'", 'x = (0xFF,\n 1_000, """a""")'),
    "module docstring": ("x = 1", '"""Doc."""\nx = 1'),
    "function docstring": ("def f(): return 1", "def f():\n    'Doc.'\n    return 1"),
    "class docstring": ("class A: x = 1", "class A:\n    'Doc.'\n    x = 1"),
    "docstring in place of pass": ("class A(B): pass", "class A(B):\n    'Doc.'"),
    "annotations of arguments": ("def f(x, *a, y=1): pass", "def f(x: int, *a: str, y: T = 1) -> None: pass"),
    "annotation of a variable": ("x = 1", "x: int = 1"),
    "annotation without value": ("def f(): return 1", "def f():\n    x: int\n    return 1"),
    "error text": ("raise A('x', 1) from e", "raise A(f'y {z}') from e"),
    "warning text": ("warn('x')", "warn('y', stacklevel=3)"),
    "warnings.warn": ("warnings.warn('x')", "warnings.warn(f'{y}', UserWarning)"),
    "line ends": ("x = '''a\nb'''", "x = '''a\r\nb'''\r\n"),
    "byte order mark": ("x = 1", "\ufeffx = 1"),
    "f-string without fields": ("x = 'ab'", "x = f'a' 'b'"),
    "joined strings": ("x = f'a{b}c'", "x = 'a' f'{b}' 'c'"),
    "empty format": ("x = f'{a}'", "x = f'{a:}'"),
}

DIFFERENT = {
    "type of a number": ("x = 1", "x = 1.0"),
    "bool and int": ("x = True", "x = 1"),
    "string and bytes": ("x = 'a'", "x = b'a'"),
    "string and its digits": ("x = '1'", "x = 1"),
    "None in a string": ("x = None", "x = 'None'"),
    "None as key and unpacking": ("x = {None: a}", "x = {**a}"),
    "zero and minus zero": ("x = 0.0", "x = -0.0"),
    "string inside a function": ("def f():\n    g()\n    'a'", "def f():\n    g()\n    'b'"),
    "kernel source": ("S = r'''a // b'''", "S = r'''a'''"),
    "class of an error": ("raise A('x')", "raise B('x')"),
    "raise and its cause": ("raise A('x') from e", "raise A('x')"),
    "class and instance": ("raise A", "raise a.A"),
    "other warn": ("log.warn('x')", "log.warn('y')"),
    "order of arguments": ("def f(a, b): pass", "def f(b, a): pass"),
    "default": ("def f(a=1): pass", "def f(a=2): pass"),
    "keyword-only": ("def f(a, *, b): pass", "def f(a, b): pass"),
    "decorator": ("def f(): pass", "@jit\ndef f(): pass"),
    "else": ("for x in y: f()\nelse: g()", "for x in y: f()\ng()"),
    "conversion": ("x = f'{a!r}'", "x = f'{a!s}'"),
    "format": ("x = f'{a:.2f}'", "x = f'{a:.3f}'"),
    "braces": ("x = f'{{a}}'", "x = f'{a}'"),
    "operator": ("x = a // b", "x = a / b"),
    "async": ("def f(): pass", "async def f(): pass"),
    "level of an import": ("from . import a", "from .. import a"),
    "name of a keyword": ("f(a=1)", "f(b=1)"),
    "grouping": ("x = (a + b) + c", "x = a + (b + c)"),
    "pattern": ("match x:\n    case 1: y()", "match x:\n    case 1.0: y()"),
    "singleton pattern": ("match x:\n    case None: y()", "match x:\n    case False: y()"),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_what_changes_no_number_changes_no_digest(one: str, other: str) -> None:
    assert digest(one) == digest(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_may_change_a_number_changes_the_digest(one: str, other: str) -> None:
    assert digest(one) != digest(other)


def test_unknown_node_is_an_error_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(FIELDS, "While")
    with pytest.raises(UnknownSyntaxError, match=r"line 2: .* node 'While'"):
        digest("x = 1\nwhile x: f()")


@pytest.mark.skipif(sys.version_info < (3, 14), reason="template strings came with Python 3.14")
def test_template_string_is_refused() -> None:
    with pytest.raises(UnknownSyntaxError, match="TemplateStr"):
        digest('x = t"{y}"')


def test_too_deep_nesting_is_an_error() -> None:
    with pytest.raises(UnknownSyntaxError, match="nested too deeply"):
        digest("x = " + "+".join(["a"] * 5000))


def test_source_that_does_not_parse_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        digest("x = (")


def test_doubtful_escape_raises_no_warning() -> None:
    assert form(r"x = '\d'") == form(r"x = '\\d'")
