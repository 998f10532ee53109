"""Makes the eight drawings of how a GPU works: ``python docs/drawings/machine.py``."""

from __future__ import annotations

from make_drawings import BLUE, GREEN, MUTED, ORANGE, PURPLE, Drawing, write


def gpu_host_and_device() -> Drawing:
    """Show two computers in one: each has a processor and a memory of its own, and a bridge between."""
    d = Drawing(720, 206)
    for x, colour, name, processor in ((10, ORANGE, "host", "CPU"), (430, BLUE, "device", "GPU")):
        d.frame(x, 8, 280, 190, colour)
        d.words(x + 14, 32, name, anchor="start")
        d.box(x + 24, 48, 232, 44, colour, processor)
        d.box(x + 24, 136, 232, 44, colour, "memory")
        d.arrow(x + 110, 94, x + 110, 133, colour, width=4 if colour == BLUE else 2)
        d.arrow(x + 170, 133, x + 170, 94, colour, width=4 if colour == BLUE else 2)
    d.box(306, 20, 108, 166, PURPLE)
    d.words(360, 42, "PCIe")
    d.words(360, 66, "launches", colour=MUTED)
    d.arrow(270, 76, 450, 76, MUTED, dash="4 3")
    d.words(360, 140, "copies", colour=MUTED)
    d.arrow(270, 152, 450, 152, MUTED)
    d.arrow(450, 168, 270, 168, MUTED)
    return d


def gpu_thread_to_grid() -> Drawing:
    """Show a thread, a block of them, a grid of blocks: each level knows its place in the next."""
    d = Drawing(720, 226)
    levels = (
        (95, "thread", "runs the", "kernel once"),
        (285, "block", "shares a", "small memory"),
        (550, "grid", "all blocks of one launch,", "run in any order"),
    )
    for x, name, first, second in levels:
        d.words(x, 172, name)
        d.words(x, 194, first, colour=MUTED)
        d.words(x, 214, second, colour=MUTED)
    d.box(68, 54, 54, 54, GREEN)
    d.arrow(132, 81, 212, 81)
    d.frame(223, 19, 124, 124, BLUE)
    for row in range(4):
        for column in range(4):
            d.box(231 + column * 28, 27 + row * 28, 24, 24, GREEN)
    d.arrow(356, 81, 376, 81)
    d.frame(386, 13, 328, 136, PURPLE)
    for row in range(2):
        for column in range(5):
            d.box(394 + column * 64, 21 + row * 64, 56, 56, BLUE, f"{column}, {row}")
    return d


def gpu_warp() -> Drawing:
    """Show how thirty-two threads take each step together, and walk both ways where they disagree."""
    d = Drawing(720, 228, labels=206)
    d.words(8, 24, "a warp: 32 threads, one instruction at a time", anchor="start", colour=MUTED)
    rows = (
        ("i = cuda.grid(1)", lambda lane: True, BLUE),
        ("if x[i] &gt; 0:", lambda lane: True, BLUE),
        ("    y[i] = x[i]", lambda lane: lane % 3 != 0, GREEN),
        ("else:", None, MUTED),
        ("    y[i] = -x[i]", lambda lane: lane % 3 == 0, ORANGE),
        ("z[i] = 2 * y[i]", lambda lane: True, BLUE),
    )
    for step, (code, works, colour) in enumerate(rows):
        y = 38 + step * 31
        d.code(8, y + 17, code)
        if works is None:
            continue
        for lane in range(32):
            x = 208 + lane * 15.8
            if works(lane):
                d.box(x, y, 12.5, 22, colour)
            else:
                d.line(x + 2, y + 11, x + 10.5, y + 11, MUTED)
    return d


def gpu_multiprocessor() -> Drawing:
    """Show a multiprocessor with many warps; four run at any moment while the others wait."""
    d = Drawing(720, 250)
    d.frame(8, 8, 704, 206, BLUE)
    d.words(22, 32, "a multiprocessor: four parts, a warp at a time each", anchor="start")
    for unit in range(4):
        left = 22 + unit * 171
        d.frame(left, 44, 162, 114, PURPLE)
        for warp in range(8):
            x, y = left + 12 + warp % 4 * 36, 54 + warp // 4 * 28
            (d.full if warp == (0, 5, 2, 7)[unit] else d.box)(
                x, y, 30, 22, GREEN if warp == (0, 5, 2, 7)[unit] else MUTED
            )
        d.box(left + 10, 118, 142, 30, ORANGE, "registers")
    d.box(22, 168, 675, 34, ORANGE, "shared memory and L1 cache")
    d.words(360, 240, "green: runs now; grey: waits for data or its turn", colour=MUTED)
    return d


def gpu_memory_levels() -> Drawing:
    """Show five memories: each larger, further and slower than the one above."""
    d = Drawing(720, 250)
    levels = (
        ("registers", "of one thread", 130, GREEN),
        ("shared memory", "of one block", 200, GREEN),
        ("L2 cache", "shared by all", 280, BLUE),
        ("global memory", "of the device", 360, BLUE),
        ("host memory", "across PCIe", 440, ORANGE),
    )
    for i, (name, whose, width, colour) in enumerate(levels):
        d.box(8, 8 + i * 48, width, 38, colour, name)
        d.words(20 + width, 33 + i * 48, whose, colour=MUTED, anchor="start")
    d.arrow(706, 10, 706, 236)
    d.words(694, 130, "more room,", colour=MUTED, anchor="end")
    d.words(694, 150, "a longer way", colour=MUTED, anchor="end")
    return d


def gpu_launch_queue() -> Drawing:
    """Show how the host puts kernels into a stream and goes on; the device takes them out in order."""
    d = Drawing(720, 170)
    d.words(8, 30, "host", anchor="start")
    d.words(8, 85, "stream", anchor="start")
    d.words(8, 146, "device", anchor="start")
    for i, name in enumerate(("A", "B", "C")):
        d.box(100 + i * 50, 8, 44, 34, BLUE, name)
        d.arrow(122 + i * 50, 44, 122 + i * 50, 64, BLUE)
        d.box(104 + i * 50, 67, 36, 28, PURPLE, name)
        d.box(180 + i * 143, 124, 138, 34, GREEN, name)
    d.box(250, 8, 266, 34, MUTED, "Python goes on")
    d.box(520, 8, 90, 34, ORANGE, "waits")
    d.arrow(122, 97, 176, 132, PURPLE)
    d.arrow(608, 121, 608, 46, GREEN, dash="4 3")
    return d


def gpu_coalescing() -> Drawing:
    """Show threads that ask for neighbours, and threads that need a piece of memory each."""
    d = Drawing(720, 260, labels=138)
    for top, title, step in ((8, "neighbours", 1), (124, "every 8th", 8)):
        d.words(8, top + 20, title, anchor="start")
        d.words(8, top + 85, "memory", anchor="start", colour=MUTED)
        for thread in range(8):
            d.box(140 + thread * 34, top, 28, 28, BLUE)
        for sector in range(8):
            used = sector == 0 if step == 1 else True
            d.box(140 + sector * 71, top + 66, 66, 28, GREEN if used else MUTED)
            for word in range(8):
                if (word == 0) if step == 8 else (sector == 0):
                    d.full(143 + sector * 71 + word * 7.7, top + 70, 5.5, 20, BLUE)
        for thread in range(8):
            target = 146 + (thread * 7.7 if step == 1 else thread * 71)
            d.arrow(154 + thread * 34, top + 30, target, top + 68, BLUE)
    d.words(430, 28, "each: 4 bytes", anchor="start", colour=MUTED)
    d.words(360, 250, "green: pieces of 32 bytes that are fetched", colour=MUTED)
    return d


def gpu_occupancy() -> Drawing:
    """Show how what a block needs decides how many fit on a multiprocessor."""
    d = Drawing(720, 238)
    for left, title, blocks, height in (
        (30, "small blocks: four fit", 4, 35),
        (400, "larger blocks: two fit", 2, 54),
    ):
        d.words(left + 145, 24, title, colour=MUTED)
        d.frame(left, 36, 290, 172, BLUE)
        for block in range(blocks):
            d.box(left + 12, 46 + block * (height + 5), 266, height, GREEN, f"block {block}")
        free = 46 + blocks * (height + 5)
        if free < 190:
            d.box(left + 12, free, 266, 198 - free, MUTED, "free, but too small")
    d.words(360, 230, "a multiprocessor's registers and shared memory", colour=MUTED)
    return d


def why_gpu() -> Drawing:
    """Show one worker, a few, and one for each number behind a bridge."""
    d = Drawing(720, 244)
    for row, (title, workers) in enumerate((("one thread", 1), ("all threads", 4), ("GPU", 24))):
        y = 8 + row * 76
        d.words(8, y + 46, title, anchor="start")
        left = 150 if row < 2 else 246
        step = 23 if row < 2 else 19
        for i in range(24):
            d.box(left + i * step, y + 30, step - 4, 22, MUTED)
        colour = (ORANGE, ORANGE, BLUE)[row]
        for worker in range(workers):
            x = left + worker * 24 // workers * step
            d.box(x, y, step - 4, 18, colour)
            d.arrow(x + step / 2 - 2, y + 19, x + step / 2 - 2, y + 29, colour)
            if row < 2:
                d.arrow(x + step, y + 9, x + (24 // workers) * step - 8, y + 9, colour)
    d.arrow(150, 194, 240, 194, PURPLE, width=2)
    d.arrow(240, 208, 150, 208, PURPLE, width=2)
    d.words(195, 184, "the trip", colour=MUTED)
    d.words(430, 236, "squares above: workers; below: numbers", colour=MUTED)
    return d


def roofline() -> Drawing:
    """Show the two limits of a kernel, and the four corners in which it can stand."""
    d = Drawing(720, 236)
    d.arrow(20, 206, 20, 20)
    d.arrow(20, 206, 708, 206)
    d.words(30, 22, "operations per second", anchor="start", colour=MUTED)
    d.words(708, 228, "operations per byte", anchor="end", colour=MUTED)
    # The lines stop at A and C.
    for x0, y0, x1, y1, colour in (
        (20, 200, 168, 138, BLUE),
        (208, 121, 340, 66, BLUE),
        (340, 66, 500, 66, GREEN),
        (540, 66, 700, 66, GREEN),
    ):
        d.line(x0, y0, x1, y1, colour)
    d.words(80, 130, "memory", colour=MUTED)
    d.words(640, 46, "arithmetic", colour=MUTED)
    for corner, x, y, colour in (
        ("A", 168, 114, BLUE),
        ("B", 230, 164, BLUE),
        ("C", 500, 50, GREEN),
        ("D", 500, 150, GREEN),
    ):
        d.box(x, y, 40, 32, colour, corner)
    return d


DRAWINGS = (
    why_gpu,
    gpu_host_and_device,
    gpu_thread_to_grid,
    gpu_warp,
    gpu_multiprocessor,
    gpu_memory_levels,
    gpu_launch_queue,
    gpu_coalescing,
    gpu_occupancy,
    roofline,
)


if __name__ == "__main__":
    write(*DRAWINGS)
