"""The actions of ``gpuguide exercises``, as its parser knows them."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ["EXAMPLES", "add_actions"]

EXAMPLES = """\
examples:
  gpuguide exercises                  the exercises, and which of them you have done
  gpuguide exercises next             write the file of the next one, with its task
  gpuguide exercises start guard      write guard.py to start from
  gpuguide exercises check            check what you saved last; or: check guard, check guard.py
  gpuguide exercises watch            check it whenever you save it
  gpuguide exercises hint             a hint for it; hint 2 is the second one
  gpuguide exercises reset guard      write guard.py anew, and keep yours as guard.py.bak
  gpuguide exercises show guard       the task; --solution shows one right answer
"""


def add_actions(exercises: argparse.ArgumentParser) -> None:
    """Add the actions to the parser of ``gpuguide exercises``."""
    actions = exercises.add_subparsers(title="actions", metavar="ACTION", dest="action")
    name = "an exercise, or its file; by default the one whose file here was saved last"

    actions.add_parser("list", help="the exercises, and which of them you have done: as without an action")
    start = actions.add_parser("start", help="write a file to start from")
    start.add_argument("name", metavar="NAME", help="an exercise that 'gpuguide exercises' lists")
    start.add_argument("--to", type=Path, metavar="FILE", help="NAME.py in this folder by default")
    actions.add_parser("next", help="start the next one that you have not done")
    for action, what in (("check", "judge your answer"), ("watch", "judge it whenever you save it")):
        check = actions.add_parser(action, help=what)
        check.add_argument("name", nargs="?", metavar="NAME", help=name)
        check.add_argument(
            "file", nargs="?", type=Path, metavar="FILE", help="NAME.py in this folder by default"
        )
        check.add_argument("--gpu", action="store_true", help="launch a right kernel on this GPU, too")
    hint = actions.add_parser("hint", help="show a hint")
    hint.add_argument("name", nargs="?", metavar="NAME", help=name)
    hint.add_argument("number", nargs="?", type=int, metavar="N", help="1 is the gentlest")
    show = actions.add_parser("show", help="show a task")
    show.add_argument("name", nargs="?", metavar="NAME", help=name)
    more = show.add_mutually_exclusive_group()
    more.add_argument("--hint", dest="number", type=int, metavar="N", help="show the Nth hint instead")
    more.add_argument("--solution", action="store_true", help="show one right answer instead")
    reset = actions.add_parser("reset", help="write the file anew; yours is kept as NAME.py.bak")
    reset.add_argument("name", metavar="NAME", help="an exercise, or its file")
