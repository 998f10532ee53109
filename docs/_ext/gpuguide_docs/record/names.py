"""Which documented objects a page uses: resolved while recording, so that back-references outlive replay."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

__all__ = ["CodeName", "page_names", "recorded_names", "short_module"]

#: What every drawn cell finds in its namespace, as imports.
PRESET = {"gg": "gpuguide", "plt": "matplotlib.pyplot", "np": "numpy"}
_NOISE = ("builtins", "types", "__main__", "abc", "typing", "functools", "inspect")


class CodeName(NamedTuple):
    """A name in the code and one object that it may mean, as sphinx-gallery's ``identify_names`` has it."""

    used: str
    module: str
    name: str
    module_short: str
    is_class: bool


def short_module(module: str, name: str) -> str:
    """Give the shortest module that offers an object of ours: the package for its public names."""
    import gpuguide

    ours = module == "gpuguide" or module.startswith("gpuguide.")
    return "gpuguide" if ours and name.split(".", 1)[0] in gpuguide.__all__ else module


def _finder(code: Iterable[str], namespace: Mapping[str, Any] | None, imports: Mapping[str, str]) -> Any:
    from sphinx_gallery.backreferences import NameFinder

    finder = NameFinder(dict(namespace or {}))
    # Drawn cells import nothing, so the names that they find are put in here.
    finder.imported_names.update(imports)
    for part in code:
        finder.visit(ast.parse(part))
    return finder


def _code_name(used: str, full: str, class_like: bool, is_class: bool) -> CodeName:
    parts = full.rsplit(".", 1 + class_like)
    module, name = (parts[0], ".".join(parts[1:])) if len(parts) > 1 else ("builtins", parts[0])
    return CodeName(used, module, name, short_module(module, name), is_class)


def recorded_names(code: str, namespace: Mapping[str, Any]) -> tuple[CodeName, ...]:
    """Resolve the names of a cell through the objects they are bound to."""
    found = _finder([code], _classes_only(namespace), {}).get_mapping()
    names = {
        _code_name(used, full, class_like, is_class)
        for used, full, class_like, is_class, _ in found
        if full.split(".")[0] not in _NOISE and (class_like or is_class or used in namespace)
    }
    defined = {name for name in names if _is_defined(name)}
    return tuple(sorted(defined))


def _classes_only(namespace: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in namespace.items()
        if not (name.startswith("__") or inspect.ismodule(value) or inspect.isroutine(value))
    }


def _is_defined(name: CodeName) -> bool:
    # sphinx-gallery also guesses every parent module; keep those from which the object can be had.
    import sys

    owner = sys.modules.get(name.module)
    return owner is not None and hasattr(owner, name.name.split(".")[0])


def page_names(
    code: Iterable[str], stored: Iterable[CodeName], results: Iterable[str] = ()
) -> dict[str, list[dict[str, Any]]]:
    """Put together what sphinx-gallery's ``identify_names`` would find if the page had run."""
    from gpuguide.results.results import Results

    finder = _finder(code, None, PRESET)
    names = [name for name in stored if name.used in finder.accessed_names]
    names += [
        CodeName(used, Results.__module__, f"Results.{used.split('.')[1]}", "gpuguide", False)
        for used in sorted(finder.accessed_names)
        if used.split(".")[0] in set(results)
        and used.count(".") == 1
        and hasattr(Results, used.split(".")[1])
    ]
    names += sorted(
        _code_name(used, full, class_like, is_class)
        for used, full, class_like, is_class, _ in finder.get_mapping()
    )
    resolved: dict[str, list[dict[str, Any]]] = {}
    for name in dict.fromkeys(names):
        resolved.setdefault(name.used, []).append(
            {
                "name": name.name,
                "module": name.module,
                "module_short": name.module_short,
                "is_class": name.is_class,
                "is_explicit": False,
            }
        )
    return dict(sorted(resolved.items()))
