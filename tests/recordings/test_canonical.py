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
from gpuguide.recordings.canonical import (
    FIELDS,
    UnknownSyntaxError,
    digest,
    digest_file,
    form,
    reads_docstrings,
)

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
        # Annotations outside class bodies count where they are read or act: they have rules of their own.
        **{kind: {"returns", "type_comment"} for kind in ("FunctionDef", "AsyncFunctionDef")},
        "Module": {"type_ignores"},
        "arg": {"annotation", "type_comment"},
    }
    for kind, fields in FIELDS.items():
        node = getattr(ast, kind, None)
        if node is not None:
            assert set(node._fields) - set(fields) == left_out.get(kind, set()), kind


WARN = "from warnings import warn\n"
WARNINGS = "import warnings\n"
FIELDS_OF_A = "class A(NamedTuple):\n    float32: int\n    float64: int\n"

SAME = {
    "comment": ("x = 1", "# one\nx = 1  # two\n"),
    "spelling of numbers and strings": ("x = 255, 1000, 'a'", 'x = (0xFF,\n 1_000, """a""")'),
    "module docstring": ("x = 1", '"""Doc."""\nx = 1'),
    "function docstring": ("def f(): return 1", "def f():\n    'Doc.'\n    return 1"),
    "class docstring": ("class A: x = 1", "class A:\n    'Doc.'\n    x = 1"),
    "docstring in place of pass": ("class A(B): pass", "class A(B):\n    'Doc.'"),
    "annotations of arguments": ("def f(x, *a, y=1): pass", "def f(x: int, *a: str, y: T = 1) -> None: pass"),
    "annotation of a variable": ("x = 1", "x: int = 1"),
    "annotation without value": ("def f():\n    x: int", "def f():\n    x: str"),
    "annotation without value in a module": ("x: int", "x: str"),
    "annotations of methods": (
        "class A:\n    def f(self, x): pass",
        "class A:\n    def f(self, x: int) -> A: pass",
    ),
    "annotations in methods": (
        "class A:\n    def f(self): self.x = 1",
        "class A:\n    def f(self): self.x: int = 1",
    ),
    "variable after a class": ("class A:\n    x: int\ny = 1", "class A:\n    x: int\ny: int = 1"),
    "error text": ("raise A('x', 1) from e", "raise A('y', 1) from e"),
    "error text of a class in a module": ("raise errors._A('x')", "raise errors._A('y')"),
    "error text as keyword": ("raise A(1, reason='x')", "raise A(1, reason='y')"),
    "text around a value": ("raise A(f'x {y}')", "raise A(f'{y} is wrong; ' f'mend it')"),
    "texts that are added": ("raise A('x ' + f'{y}')", "raise A(f'{y} z')"),
    "value shown with its name": ("raise A(f'{x=}')", "raise A(f'{x!r}')"),
    "warning text": (f"{WARN}warn('x')", f"{WARN}warn('y')"),
    "warnings.warn": (f"{WARNINGS}warnings.warn('x', U)", f"{WARNINGS}warnings.warn('y', U)"),
    "warn in wide letters": (
        "from ｗarnings import ｗarn\nｗarn('x')",
        "from ｗarnings import ｗarn\nｗarn('y')",
    ),
    "encoding that is the default": ("x = 1", "# -*- coding: UTF8 -*-\nx = 1"),
    "encoding declared too late": ("x = 1\ny = 2", "x = 1\n# coding: latin-1\ny = 2"),
    "encoding declared too late for other line ends": ("# a\nx = 1", "# a\rx = 1\r# coding: latin-1"),
    "docstring that names __doc__": ("def f(): return 1", "def f():\n    'Its __doc__.'\n    return 1"),
    "message that names __doc__": (
        "def f():\n    'One.'\n    raise A('no __doc__')",
        "def f():\n    'Two.'\n    raise A('no text')",
    ),
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
    # Class bodies
    "order of bare fields": (
        FIELDS_OF_A,
        "class A(NamedTuple):\n    float64: int\n    float32: int\n",
    ),
    "bare field": (FIELDS_OF_A, "class A(NamedTuple):\n    float32: int\n"),
    "annotation of a bare field": ("class A:\n    x: int", "class A:\n    x: ClassVar[int]"),
    "annotation of a field": ("class A:\n    x: int = 1", "class A:\n    x: InitVar[int] = 1"),
    "field and attribute": ("class A:\n    x: int = 1", "class A:\n    x = 1"),
    "value of a field": ("class A:\n    x: int = 1", "class A:\n    x: int = 2"),
    "annotation as string": ("class A:\n    x: int", "class A:\n    x: 'int'"),
    "text of an annotation": ("class A:\n    x: 'int'", "class A:\n    x: 'ClassVar[int]'"),
    "field in parentheses": ("class A:\n    x: int = 1", "class A:\n    (x): int = 1"),
    "field under a condition": ("class A:\n    if B:\n        x: int", "class A:\n    if B:\n        y: int"),
    "field of a class in a method": (
        "class A:\n    def f(self):\n        class B:\n            x: int\n        return B",
        "class A:\n    def f(self):\n        class B:\n            y: int\n        return B",
    ),
    "field after a method": (
        "class A:\n    def f(self): g()\n    x: int",
        "class A:\n    def f(self): g()\n    y: int",
    ),
    # Annotations elsewhere that do something
    "name made local": ("def f():\n    x: int\n    return x", "def f():\n    return x"),
    "name in parentheses is not made local": (
        "def f():\n    x: int\n    g(x)",
        "def f():\n    (x): int\n    g(x)",
    ),
    "target that is evaluated": ("f().x: int", "g().x: int"),
    "call in an annotation": ("def f(x: g()): pass", "def f(x: h()): pass"),
    "call in a result's annotation": ("def f() -> g(): pass", "def f() -> h(): pass"),
    "assignment in an annotation": ("x: (y := 1) = 2", "x: (y := 3) = 2"),
    "annotations that are read": (
        "def f(x: int): pass\ng(f.__annotations__)",
        "def f(x: str): pass\ng(f.__annotations__)",
    ),
    "dispatch on annotations": (
        "@singledispatch\ndef f(x): pass\n@f.register\ndef _(x: int): pass",
        "@singledispatch\ndef f(x): pass\n@f.register\ndef _(x: str): pass",
    ),
    "annotations of the module that are read": (
        "x: int = 1\ny = get_type_hints(module)",
        "x: str = 1\ny = get_type_hints(module)",
    ),
    "future import": ("from __future__ import annotations\nx = 1", "x = 1"),
    # Docstrings that are read
    "docstring of a function that is read": (
        "def f():\n    'one'\nk = RawKernel(f.__doc__, 'k')",
        "def f():\n    'two'\nk = RawKernel(f.__doc__, 'k')",
    ),
    "docstring of a class that is read": (
        "class A:\n    'one'\nk = inspect.getdoc(A)",
        "class A:\n    'two'\nk = inspect.getdoc(A)",
    ),
    "docstring of the module that is read": ("'one'\nk = f(__doc__)", "'two'\nk = f(__doc__)"),
    "docstring read by its name": (
        "async def f():\n    'one'\nk = getattr(f, '__doc__')",
        "async def f():\n    'two'\nk = getattr(f, '__doc__')",
    ),
    "docstring and help": ("def f():\n    'one'\nhelp(f)", "def f():\n    'two'\nhelp(f)"),
    "docstring and its source": (
        "def f():\n    'one'\nk = inspect.getsource(f)",
        "def f():\n    'two'\nk = inspect.getsource(f)",
    ),
    "docstring that an annotation reads": (
        "def f():\n    'one'\ndef g(x: f.__doc__): pass\ng.__annotations__",
        "def f():\n    'two'\ndef g(x: f.__doc__): pass\ng.__annotations__",
    ),
    "docstring and f-string": (
        "def f():\n    'one'\nk = f.__doc__",
        "def f():\n    f'one'\nk = f.__doc__",
    ),
    # Messages: what is computed, and what is no message
    "call in an error": ("raise A(f())", "raise A(g())"),
    "call in an error's text": ("raise A(f'x {f()}')", "raise A(f'x {g()}')"),
    "call in an error's added text": ("raise A('x' + f'{f()}')", "raise A('x' + f'{g()}')"),
    "order of what an error computes": ("raise A(f'{f()}{g()}')", "raise A(f'{g()}{f()}')"),
    "call in a format of an error": ("raise A(f'{x:{f()}}')", "raise A(f'{x:{g()}}')"),
    "number of an error": ("raise A('x', 1)", "raise A('x', 2)"),
    "attribute of an error": ("raise A(limit=3)", "raise A(limit=4)"),
    "name of an error's attribute": ("raise A(limit='x')", "raise A(other='x')"),
    "error without its text": ("raise A('x')", "raise A()"),
    "unpacked arguments of an error": ("raise A(*f())", "raise A(*g())"),
    "bytes of an error": ("raise A(b'x')", "raise A(b'y')"),
    "formatted text of an error": ("raise A('%s' % f())", "raise A('%s' % g())"),
    "operator of an error's text": ("raise A('x' + 'y')", "raise A('x' % 'y')"),
    "function that makes the error": ("raise make('x')", "raise make('y')"),
    "method that makes the error": ("raise self.make('x')", "raise self.make('y')"),
    "value of StopIteration": ("raise StopIteration('x')", "raise StopIteration('y')"),
    "call in a warning": (f"{WARN}warn(next(x))", f"{WARN}warn('x')"),
    "call in a warning's text": (
        WARNINGS + "warnings.warn(f'{next(x)}')",
        f"{WARNINGS}warnings.warn('x')",
    ),
    "category of a warning": (f"{WARN}warn('x', A)", f"{WARN}warn('x', B)"),
    "level of a warning": (f"{WARN}warn('x', stacklevel=2)", f"{WARN}warn('x', stacklevel=3)"),
    "warn from elsewhere": ("from a import warn\nwarn('x')", "from a import warn\nwarn('y')"),
    "warn defined here": (f"{WARN}def warn(x): f(x)\nwarn('x')", f"{WARN}def warn(x): f(x)\nwarn('y')"),
    "warn as argument": (f"{WARN}def f(warn): warn('x')", f"{WARN}def f(warn): warn('y')"),
    "warn replaced": (
        f"{WARNINGS}warnings.warn = f\nwarnings.warn('x')",
        f"{WARNINGS}warnings.warn = f\nwarnings.warn('y')",
    ),
    "warn after a star": (f"{WARN}from a import *\nwarn('x')", f"{WARN}from a import *\nwarn('y')"),
    "warn in a pattern": (
        f"{WARN}match x:\n    case {{**warn}}: warn('x')",
        f"{WARN}match x:\n    case {{**warn}}: warn('y')",
    ),
    "warn of a sibling": ("from .warnings import warn\nwarn('x')", "from .warnings import warn\nwarn('y')"),
    "warnings bound twice": (
        f"{WARNINGS}import a as warnings\nwarnings.warn('x')",
        f"{WARNINGS}import a as warnings\nwarnings.warn('y')",
    ),
    "warn unknown": ("warn('x')", "warn('y')"),
    "other module as warnings": (
        "import a as warnings\nwarnings.warn('x')",
        "import a as warnings\nwarnings.warn('y')",
    ),
    "message of an assertion": ("assert x, 'y'", "assert x, 'z'"),
    # The rest
    "pass that ends a cell": ("f(x)", "f(x)\npass"),
    "declared encoding": ("x = 'µ'", "# coding: latin-1\nx = 'µ'"),
    "declared encoding in the second line": (
        "#!python\nx = 'µ'",
        "#!python\n# vim: fileencoding=latin-1\nx = 'µ'",
    ),
    "slots": ("class A: __slots__ = 'x', 'y'", "class A: __slots__ = 'y', 'x'"),
    "global": ("def f():\n    global x\n    x = 1", "def f():\n    x = 1"),
    "body of a lambda": ("f = lambda: 1", "f = lambda: 2"),
    "guard of a case": ("match x:\n    case y if y: f()", "match x:\n    case y: f()"),
    "debug text": ("x = f'{y=}'", "x = f'{y = }'"),
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


def test_docstrings_count_on_request() -> None:
    """Another module may read them."""
    one, other = "def f():\n    'one'", "def f():\n    'two'"
    assert digest(one) == digest(other)
    assert digest(one, docstrings=True) != digest(other, docstrings=True)
    assert digest("'the only line of a cell'", docstrings=True) != digest("", docstrings=True)
    assert digest("x = 1", docstrings=True) == digest("x = 1")


def test_docstrings_of_a_file_count_on_request(tmp_path: Path) -> None:
    file = tmp_path / "topic.py"
    file.write_text('"""One."""\n')
    assert digest_file(file, docstrings=True) == digest('"""One."""', docstrings=True) != digest_file(file)


@pytest.mark.parametrize(
    "source",
    [
        "x = kernel.__doc__",
        "x = __doc__",
        "x = getattr(f, '__doc__')",
        "from a import __doc__ as text",
        "import inspect as i\nx = i.getdoc(f)",
        "from inspect import getdoc as g",
        "x = eval('f.__doc__')",
        "match f:\n    case A(__doc__=x): pass",
        "def f(x: g.__doc__): pass",
        "raise A(f'{g.__doc__}')",
        "help(f)",
        "import pydoc as p",
        "from doctest import testmod",
        "x = f.__code__.co_consts[0]",
    ],
)
def test_readers_of_docstrings_are_seen(source: str) -> None:
    assert reads_docstrings(source)


@pytest.mark.parametrize(
    "source",
    ["x = 1  # __doc__", "'Its __doc__.'", "raise A('no __doc__')", "x.document = doc", "f(help='text')"],
)
def test_prose_does_not_read_docstrings(source: str) -> None:
    assert not reads_docstrings(source)


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
