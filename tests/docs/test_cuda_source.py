"""CUDA C++ in a Python string is highlighted as CUDA C++; everything else as before."""

from pathlib import Path

import pytest
from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Keyword, Literal, Name
from small_site import build, page, write

from gpuguide_docs.show.kernel import PythonWithCudaLexer

KERNEL = """\
extern "C" __global__ void add(float* x) {
    int i = threadIdx.x;  // each thread
    x[i] = x[i] + 1;
}
"""
NAMED = f'import cupy as cp\n\nADD_SOURCE = r"""\n{KERNEL}"""\nadd = cp.RawKernel(ADD_SOURCE, "add")\n'


def tokens(code: str, lexer: type[PythonLexer] = PythonWithCudaLexer) -> list[tuple]:
    return list(lexer().get_tokens(code))


def is_cuda(code: str) -> bool:
    return (Keyword.Reserved, "__global__") in tokens(code) and (Keyword.Type, "int") in tokens(code)


@pytest.mark.parametrize(
    "code",
    [
        NAMED,
        f"source = '''{KERNEL}'''\n",
        f'add = cp.RawKernel(r"""{KERNEL}""", "add")\n',
        f"add = cp.RawKernel(\n    r'''{KERNEL}''', 'add'\n)\n",
        # Only the changed lines of a rung: no whole program.
        f'    ADD_SOURCE = r"""{KERNEL}"""\nelse:\n',
        f'A_SOURCE = r"""{KERNEL}"""\nB_SOURCE = r"""{KERNEL}"""\n',
    ],
)
def test_a_kernel_is_cuda_wherever_it_stands(code):
    assert is_cuda(code)
    assert "".join(text for _, text in tokens(code)) == code
    assert [text for _, text in tokens(code)].count("__global__") == code.count("__global__")


def test_python_around_it_stays_python():
    made = tokens(NAMED)
    assert made[:3] == tokens(NAMED, PythonLexer)[:3]
    assert made[-9:] == tokens(NAMED, PythonLexer)[-9:]
    assert (Comment.Single, "// each thread\n") in made
    assert (Name.Builtin, "threadIdx") in made


@pytest.mark.parametrize(
    "code",
    [
        'words = """int i;"""\n',
        'SOURCE = """\ndef kernel(x):\n    x[0] = 1\n"""\n',
        f'def f():\n    r"""Say {KERNEL}"""\n',
        'resource = r"""__global__"""\n',
        "kernel = cp.RawKernel(SOURCE, 'add')\n",
    ],
)
def test_other_strings_stay_strings(code):
    assert tokens(code) == tokens(code, PythonLexer)


def test_the_guides_own_pages_stay_as_they_are():
    scripts = sorted((Path(__file__).parents[2] / "examples").rglob("*.py"))
    assert scripts
    for script in scripts:
        code = script.read_text(encoding="utf-8")
        if "__global__" not in code:
            assert tokens(code) == tokens(code, PythonLexer), script.name


def test_shown_kernels_and_cells_are_highlighted(tmp_path, monkeypatch):
    layout = write(tmp_path, {})
    toy = layout.source / "gpuguide" / "topics" / "toy" / "__init__.py"
    cell = "   " + NAMED.replace("\n", "\n   ").rstrip() + "\n"
    # sphinx-gallery writes a capital letter.
    shown = ".. kernel:: gpuguide.topics.toy\n   :names: ADD_SOURCE\n\n"
    rst = f"Index\n=====\n\n{shown}.. code-block:: Python\n\n{cell}"
    files = {
        "docs/index.rst": rst,
        "src/gpuguide/topics/toy/__init__.py": toy.read_text(encoding="utf-8") + "\n" + NAMED,
    }
    _, warnings = build(tmp_path, files, {}, monkeypatch)
    assert "unknown document" not in warnings
    html = page(tmp_path, "index")
    assert html.count('<span class="kr">__global__</span>') == 2
    assert Literal.String not in [kind for kind, text in tokens(NAMED) if "__global__" in text]
