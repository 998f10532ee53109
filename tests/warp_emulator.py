"""Runs CUDA C++ with warp operations on the CPU: g++ compiles it, a fiber stands for a CUDA thread.

Blocks take turns. Within a block a fiber runs until a barrier, or a warp operation, at which it waits for the
others. One that not all of them reach never ends: the launch gives up and says so. For kernels with one
dimension of threads, in warps of 32, that use the operations in `HEAD`. Dynamic shared memory must be called
`shared` and declared as ``extern __shared__ uint4 shared[];``; it is filled with rubbish before each block.
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

DYNAMIC = "extern __shared__ uint4 shared[];"

HEAD = r"""
#include <setjmp.h>
#include <ucontext.h>
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>
using std::max; using std::min;
struct uint4 { unsigned x, y, z, w; };
struct Dim { unsigned x; };
static Dim threadIdx, blockIdx, gridDim, blockDim;
struct Group { int size, arrived, kind; long round; int in[32], out[32]; };
enum { BARRIER, WARP_BARRIER, SHUFFLE, SHUFFLE_UP };
static Group all, warps[32];
// A context begins a fiber; from then on jumps switch, because each switch of contexts asks the system twice.
struct Fiber { ucontext_t start; jmp_buf at; bool begun; };
static jmp_buf scheduler;
static std::vector<Fiber> fibers;
static std::vector<char> done;
static long steps;
static bool mixed;   // lanes of one warp waited at different operations

static void leave() { if (!_setjmp(fibers[threadIdx.x].at)) _longjmp(scheduler, 1); }
static void go_on(Fiber& fiber) {
    if (_setjmp(scheduler)) return;
    if (fiber.begun) _longjmp(fiber.at, 1);
    fiber.begun = true;
    setcontext(&fiber.start);
}

static void meet(Group& g, int kind, int place = 0, int value = 0, int* values = nullptr) {
    const long round = g.round;
    mixed |= g.arrived && g.kind != kind;
    g.kind = kind;
    g.in[place] = value;
    if (++g.arrived == g.size) {
        g.arrived = 0;
        std::memcpy(g.out, g.in, sizeof g.out);
        ++g.round;
        ++steps;
    }
    while (g.round == round) leave();
    if (values) std::memcpy(values, g.out, sizeof g.out);
}

static Group& warp() { return warps[threadIdx.x / 32]; }
static void __syncthreads() { meet(all, BARRIER); }
static void __syncwarp() { meet(warp(), WARP_BARRIER); }
static int __shfl_sync(unsigned, int value, int from) {
    int values[32];
    meet(warp(), SHUFFLE, threadIdx.x % 32, value, values);
    return values[from];
}
static int __shfl_up_sync(unsigned, int value, int by) {
    const int lane = threadIdx.x % 32;
    int values[32];
    meet(warp(), SHUFFLE_UP, lane, value, values);
    return values[lane < by ? lane : lane - by];
}
static int __popc(unsigned x) { return __builtin_popcount(x); }
static unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
    for (int k = 0; k < 32; k += 8) c += (a >> k & 255) * (b >> k & 255);
    return c;
}
template <typename T> static T atomicAdd(T* at, int by) { const T old = *at; *at += by; return old; }
template <typename T> static T atomicOr(T* at, T bits) { const T old = *at; *at |= bits; return old; }
alignas(16) static unsigned char dynamic_shared[1 << 18];
#define __global__
#define __device__ static
#define __shared__ static
#define __launch_bounds__(...)
"""

TAIL = r"""
static std::function<void()> body;
static void enter() { body(); done[threadIdx.x] = 1; ++steps; leave(); }

static int launch(int blocks, int threads, std::function<void()> call) {
    const size_t stack = 1 << 16;
    static std::vector<char> stacks;  // new memory for each launch would take longer than the launch
    if (stacks.size() < threads * stack) stacks.resize(threads * stack);
    body = call; gridDim.x = blocks; blockDim.x = threads; fibers.resize(threads);
    for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
        std::memset(dynamic_shared, 0xA5, sizeof dynamic_shared);
        all = Group{threads}; mixed = false;
        for (auto& each : warps) each = Group{32};
        done.assign(threads, 0);
        for (int t = 0; t < threads; ++t) {
            ucontext_t& start = fibers[t].start;
            getcontext(&start);
            start.uc_stack.ss_sp = stacks.data() + t * stack;
            start.uc_stack.ss_size = stack;
            makecontext(&start, enter, 0);
            fibers[t].begun = false;
        }
        for (int left = threads; left;) {
            const long before = steps;
            for (int t = 0; t < threads; ++t) {
                if (done[t]) continue;
                threadIdx.x = t;
                go_on(fibers[t]);
                left -= done[t];
            }
            if (mixed || (left && steps == before)) { mixed = false; return 1; }
        }
    }
    return 0;
}
"""


class EmulatedKernel:
    """A kernel of a source, launched as ``kernel(blocks, threads, *arguments)`` with NumPy arguments.

    Parameters
    ----------
    source : str
        CUDA C++.
    name : str
        The kernel.
    parameters : str
        As in the source.
    folder : Path
        Where to build it.
    """

    def __init__(self, source: str, name: str, parameters: str, folder: Path) -> None:
        names = ", ".join(one.split()[-1].lstrip("*") for one in parameters.split(","))
        text = HEAD + source.replace(DYNAMIC, "uint4* shared = (uint4*)dynamic_shared;") + TAIL
        text += (
            f'extern "C" int run(int blocks, int threads, {parameters}) '
            f"{{ return launch(blocks, threads, [=] {{ {name}({names}); }}); }}\n"
        )
        path, library = folder / f"{name}.cpp", folder / f"{name}.so"
        path.write_text(text)
        command = ["g++", "-std=c++17", "-O2", "-shared", "-fPIC", "-o", str(library), str(path)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        self.run = ctypes.CDLL(str(library)).run

    def __call__(self, blocks: int, threads: int, *arguments: Any) -> None:
        """Launch, and fail where threads wait for one that never comes."""
        given = [
            ctypes.c_void_p(each.ctypes.data)
            if isinstance(each, np.ndarray)
            else np.ctypeslib.as_ctypes_type(each.dtype)(each.item())
            for each in arguments
        ]
        assert self.run(blocks, threads, *given) == 0, "threads wait at a barrier that not all reach"
