"""Judges former answers by the new exercises: ``python tests/drills/old_corpus.py [-v] [NAME ...]``.

It says which right answers are refused and which wrong ones pass, and goes with the former exercises.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from gpuguide.drills.answer import read_source
from gpuguide.drills.checking import judge
from gpuguide.drills.pool import get, names
from gpuguide.exercises import pool as former

ANSWERS = Path(__file__).parents[1] / "exercises"


def owner(path: Path) -> str:
    return max((name for name in former.ORDER if path.stem.startswith(f"{name}_")), key=len)


def main(words: list[str]) -> None:
    chosen = [word for word in words if word != "-v"] or names()
    counts = {"right": [0, 0], "wrong": [0, 0]}
    for name in chosen:
        exercise = get(name)
        for kind, count in counts.items():
            for path in sorted((ANSWERS / kind).glob(f"{name}_*.py")):
                if owner(path) != name:
                    continue
                source = path.read_text(encoding="utf-8")
                findings = judge(exercise, read_source(source, exercise.function_name)).findings
                count[0] += 1
                count[1] += bool(findings) == (kind == "wrong")
                title = ast.get_docstring(ast.parse(source)) or ""
                expected = (re.findall(r"^Found: (.+)\.$", title, re.M) or [""])[0]
                said = f"{findings[0].kind}: {findings[0].text}" if findings else title.splitlines()[0]
                if kind == "right" and findings:
                    print(f"RIGHT REFUSED {path.stem}: {said}")
                elif kind == "wrong" and not findings:
                    print(f"WRONG PASSES {path.stem} ({expected}): {said}")
                elif kind == "wrong" and "-v" in words:
                    print(f"  {path.stem} ({expected}): {said}")
    for kind, (n, good) in counts.items():
        print(f"{kind} answers: {good} of {n} {'accepted' if kind == 'right' else 'refused'}")


if __name__ == "__main__":
    main(sys.argv[1:])
