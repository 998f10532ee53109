"""Makes the eight drawings of how a GPU works: ``python docs/drawings/machine.py``."""

from __future__ import annotations

from make_drawings import BLUE, FOLDER, GREEN, MUTED, ORANGE, PURPLE, Drawing

from gpuguide.style import to_dark


def gpu_host_and_device() -> Drawing:
    """Show two computers in one: each has a processor and a memory of its own, and a bridge between."""
    d = Drawing(720, 230)
    for x, colour, name, processor in ((20, ORANGE, "host", "CPU"), (420, BLUE, "device", "GPU")):
        d.box(x, 34, 280, 170, colour)
        d.words(x + 14, 56, name, anchor="start")
        d.box(x + 24, 74, 232, 44, colour, processor)
        d.box(x + 24, 150, 232, 40, colour, "memory")
        d.arrow(x + 110, 120, x + 110, 147, colour, width=4 if colour == BLUE else 2)
        d.arrow(x + 170, 147, x + 170, 120, colour, width=4 if colour == BLUE else 2)
    d.arrow(282, 162, 438, 162, MUTED)
    d.arrow(438, 178, 282, 178, MUTED)
    d.words(360, 150, "PCIe", size=12, colour=MUTED)
    d.arrow(282, 96, 438, 96, MUTED, dash="4 3")
    d.words(360, 88, "launches", size=12, colour=MUTED)
    return d


def gpu_thread_to_grid() -> Drawing:
    """Show a thread, a block of them, a grid of blocks: each level knows its place in the next."""
    d = Drawing(720, 220)
    d.box(40, 88, 54, 54, GREEN)
    d.words(67, 196, "thread")
    d.words(67, 212, "runs the kernel once", size=11, colour=MUTED)
    d.arrow(102, 115, 148, 115)
    for row in range(4):
        for column in range(4):
            d.box(162 + column * 28, 60 + row * 28, 24, 24, GREEN)
    d.box(154, 52, 124, 124, BLUE)
    d.words(216, 196, "block")
    d.words(216, 212, "shares a small memory", size=11, colour=MUTED)
    d.arrow(292, 115, 356, 115)
    for row in range(2):
        for column in range(5):
            d.box(374 + column * 64, 48 + row * 64, 56, 56, BLUE, f"{column}, {row}", size=12)
    d.box(366, 40, 328, 136, PURPLE)
    d.words(530, 196, "grid")
    d.words(530, 212, "all blocks of one launch, in any order", size=11, colour=MUTED)
    return d


def gpu_warp() -> Drawing:
    """Show how thirty-two threads take each step together, and walk both ways where they disagree."""
    d = Drawing(720, 250)
    d.words(20, 30, "a warp: 32 threads, one instruction at a time", anchor="start", size=12, colour=MUTED)
    rows = (
        ("i = cuda.grid(1)", lambda lane: True, BLUE),
        ("if x[i] &gt; 0:", lambda lane: True, BLUE),
        ("    y[i] = x[i]", lambda lane: lane % 3 != 0, GREEN),
        ("else:", None, MUTED),
        ("    y[i] = -x[i]", lambda lane: lane % 3 == 0, ORANGE),
        ("z[i] = 2 * y[i]", lambda lane: True, BLUE),
    )
    for step, (code, works, colour) in enumerate(rows):
        y = 48 + step * 32
        d.words(20, y + 17, code.replace("    ", "\u00a0\u00a0\u00a0\u00a0"), anchor="start", size=12)
        if works is None:
            continue
        for lane in range(32):
            x = 184 + lane * 16.4
            if works(lane):
                d.box(x, y, 13, 22, colour)
            else:
                d.line(x + 2, y + 11, x + 11, y + 11, MUTED)
    return d


def gpu_multiprocessor() -> Drawing:
    """Show a multiprocessor with many warps; four run at any moment while the others wait for data."""
    d = Drawing(720, 260)
    d.box(20, 30, 680, 210, BLUE)
    d.words(34, 52, "one multiprocessor, of more than a hundred", anchor="start", size=12, colour=MUTED)
    for unit in range(4):
        left = 40 + unit * 165
        d.box(left, 66, 150, 92, PURPLE)
        for warp in range(8):
            x, y = left + 10 + warp % 4 * 34, 76 + warp // 4 * 26
            d.box(x, y, 28, 20, GREEN if warp == (0, 5, 2, 7)[unit] else MUTED)
        d.words(left + 75, 148, "one warp at a time", size=11)
    d.box(40, 172, 315, 26, ORANGE, "registers", size=12)
    d.box(370, 172, 315, 26, ORANGE, "shared memory and L1 cache", size=12)
    d.words(360, 222, "green: runs now; grey: waits for data, at no cost", size=12, colour=MUTED)
    return d


def gpu_memory_levels() -> Drawing:
    """Show five memories: each larger, further and slower than the one above."""
    d = Drawing(720, 280)
    levels = (
        ("registers", "of one thread", 120, GREEN),
        ("shared memory", "of one block, on its multiprocessor", 200, GREEN),
        ("L2 cache", "of all multiprocessors", 280, BLUE),
        ("global memory", "of the device", 360, BLUE),
        ("host memory", "on the other side of PCIe", 440, ORANGE),
    )
    for i, (name, whose, width, colour) in enumerate(levels):
        d.box(20, 24 + i * 48, width, 38, colour, name)
        d.words(32 + width, 48 + i * 48, whose, size=12, colour=MUTED, anchor="start")
    d.arrow(690, 30, 690, 246)
    d.words(680, 60, "more room,", size=12, colour=MUTED, anchor="end")
    d.words(680, 76, "a longer way", size=12, colour=MUTED, anchor="end")
    return d


def gpu_launch_queue() -> Drawing:
    """Show how the host puts kernels into a stream and goes on; the device takes them out in order."""
    d = Drawing(720, 210)
    d.words(20, 62, "host", anchor="start")
    d.words(20, 112, "stream", anchor="start")
    d.words(20, 172, "device", anchor="start")
    for i, name in enumerate(("A", "B", "C")):
        d.box(100 + i * 50, 40, 44, 34, BLUE, name)
        d.arrow(122 + i * 50, 76, 122 + i * 50, 94, BLUE)
        d.box(104 + i * 50, 98, 36, 28, PURPLE, name, size=12)
        d.box(180 + i * 143, 150, 138, 34, GREEN, name)
    d.box(250, 40, 270, 34, MUTED, "Python goes on", size=12)
    d.box(520, 40, 90, 34, ORANGE, "waits", size=12)
    d.arrow(122, 128, 176, 160, PURPLE)
    d.arrow(608, 148, 608, 78, GREEN, dash="4 3")
    return d


def gpu_coalescing() -> Drawing:
    """Show a warp that asks for neighbours, and one that needs a piece of memory for each thread."""
    d = Drawing(720, 250)
    for top, title, step in ((20, "neighbours", 1), (136, "every eighth", 8)):
        d.words(20, top + 20, title, anchor="start", size=12)
        d.words(20, top + 84, "memory", anchor="start", size=12, colour=MUTED)
        for thread in range(8):
            d.box(120 + thread * 34, top, 28, 28, BLUE)
        for sector in range(8):
            used = sector == 0 if step == 1 else True
            d.box(120 + sector * 73, top + 66, 68, 28, GREEN if used else MUTED)
            for word in range(8):
                if (word == 0) if step == 8 else (sector == 0):
                    d.box(123 + sector * 73 + word * 8, top + 70, 6, 20, BLUE)
        for thread in range(8):
            target = 126 + (thread * 8 if step == 1 else thread * 73)
            d.arrow(134 + thread * 34, top + 30, target, top + 68, BLUE)
    d.words(360, 246, "green: 32 bytes that must be fetched", size=12, colour=MUTED)
    return d


def gpu_occupancy() -> Drawing:
    """Show how what a block needs decides how many fit on a multiprocessor."""
    d = Drawing(720, 240)
    for left, title, blocks, height in (
        (40, "small blocks: four fit", 4, 34),
        (390, "a larger need: two fit", 2, 52),
    ):
        d.words(left + 145, 24, title, size=12, colour=MUTED)
        d.box(left, 36, 290, 170, BLUE)
        for block in range(blocks):
            y = 46 + block * (height + 5)
            d.box(left + 12, y, 266, height, GREEN, f"block {block}", size=12)
        free = 46 + blocks * (height + 5)
        if free < 190:
            d.box(left + 12, free, 266, 196 - free, MUTED, "free, but too small for another", size=12)
    d.words(360, 230, "a multiprocessor's registers and shared memory", size=12, colour=MUTED)
    return d


def why_gpu() -> Drawing:
    """Show one worker, a few, and one for each number behind a bridge."""
    d = Drawing(720, 270)
    for row, (title, workers) in enumerate((("one thread", 1), ("all threads", 4), ("GPU", 24))):
        y = 20 + row * 84
        d.words(20, y + 44, title, anchor="start")
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
    d.arrow(150, 222, 240, 222, PURPLE, width=2)
    d.arrow(240, 236, 150, 236, PURPLE, width=2)
    d.words(195, 214, "the trip", size=12, colour=MUTED)
    d.words(430, 264, "upper squares: workers; lower squares: numbers", size=12, colour=MUTED)
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
)


def main() -> None:
    """Write the drawings and their dark twins."""
    for make in DRAWINGS:
        svg = make().svg()
        (FOLDER / f"{make.__name__}.svg").write_text(svg, encoding="utf-8")
        (FOLDER / f"{make.__name__}-dark.svg").write_text(to_dark(svg), encoding="utf-8")


if __name__ == "__main__":
    main()
