"""Counts instructions in a kernel's PTX: those on floats by their type, and those that keep a loop going."""

import re
from collections import Counter, namedtuple

# A predicate such as @!%p1 may stand before an instruction; labels and directives are passed over.
_OPCODE = re.compile(r"^\s*(?:@!?%p\d+\s+)?([a-z]\w*(?:\.\w+)*)\s", re.MULTILINE)
_LOOP = re.compile(r"^(\$\w+):\n((?:(?!^\$).*\n)*?.*\bbra\s+\1;)", re.MULTILINE)
_MOVES = ("ld", "st", "mov", "atom", "red", "shfl")


# Of PTX, as they are written: those of a loop count once.
FloatInstructions = namedtuple("FloatInstructions", "float32 float64 conversions")


def float_instructions(ptx):
    r"""Count the instructions of a kernel that work on floats; loads, stores and moves left out.

    >>> ptx = "\tcvt.f64.f32 %fd1, %f1;\n\tmul.f64 %fd2, %fd1, %fd1;\n\tst.global.f64 [%rd1], %fd2;"
    >>> float_instructions(ptx)
    FloatInstructions(float32=0, float64=1, conversions=1)
    """
    counts = Counter(kind_of(opcode) for opcode in _OPCODE.findall(ptx))
    return FloatInstructions(counts["float32"], counts["float64"], counts["conversion"])


def counting_words(ptx):
    r"""Count what a loop does with whole numbers for each float32 addition, in words of 32 bits.

    A GPU's integer units have 32 bits, so 64 bits are two words. Of several loops the one with the most
    additions counts: the others do the rest of it.

    >>> body = "\tadd.f32 %f2, %f1, 0f40200000;\n\tadd.s64 %rd2, %rd1, -1;\n\tsetp.gt.s64 %p1, %rd2, 0;\n"
    >>> counting_words("$L__BB0_1:\n" + body + "\t@%p1 bra \t$L__BB0_1;\n")
    4.0
    """
    loops = [_OPCODE.findall(body) for _, body in _LOOP.findall(ptx)]
    additions, opcodes = max((sum(map(adds, each)), each) for each in loops)
    whole = [
        each for each in opcodes if re.search(r"\.[subp](32|64)$", each.replace(".lo", ""))
    ]
    return sum(2 if each.endswith("64") else 1 for each in whole) / additions


def kind_of(opcode):
    """Say what an instruction of PTX works on.

    >>> kind_of("fma.rn.f32"), kind_of("cvt.f64.f32"), kind_of("add.s64")
    ('float32', 'conversion', 'other')
    """
    name, *types = opcode.split(".")
    if name in _MOVES:
        return "move"
    if name == "cvt":
        return "conversion" if {"f32", "f64"} <= set(types) else "other"
    return "float64" if "f64" in types else "float32" if "f32" in types else "other"


def adds(opcode):
    """Say whether an instruction of PTX adds float32.

    >>> adds("fma.rn.f32"), adds("mul.f32")
    (True, False)
    """
    return opcode.endswith(".f32") and opcode.startswith(("add", "fma"))
