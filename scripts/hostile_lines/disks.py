"""Disks that are full, read-only or damaged."""
import collections
import os
import random
import subprocess

from .common import Line, Skipped, copy


def mount(bench, *arguments):
    target = bench.path("mnt")
    target.mkdir()
    if subprocess.run(["mount", *arguments, str(target)], capture_output=True).returncode:
        raise Skipped("mounting is not permitted")
    bench.to_close.append(lambda: subprocess.run(["umount", "-l", str(target)], check=False))
    return target


def hashed(bench, docs, into, *more):
    """An index by an embedder that needs no model."""
    done = bench.run("index", docs, "--into", into, "--embedder", "hashed", "--tokenizer", "words", *more)
    if done.status == 2:
        raise Skipped("the embedder `hashed` is in debug builds alone")
    return done


def full(bench):
    disk = mount(bench, "-t", "tmpfs", "-o", "size=48m", "tmpfs")
    for n in range(400):
        bench.write(f"docs/p{n}.md", f"# Page {n}\n\n" + f"Foxes number {n} sleep. " * 100 + "\n")
    bench.good("few")
    small = hashed(bench, "few", disk / "i")
    with open(disk / "filler", "wb", buffering=0) as filler:
        try:
            while filler.write(b"x" * 65536):
                pass
        except OSError:
            pass
    done = hashed(bench, "docs", disk / "i")
    reader = bench.search("foxes", disk / "i", "--mode", "dense")
    (disk / "filler").unlink()
    after = bench.search("foxes", disk / "i", "--mode", "dense")
    held = small.status == 0 and done.status == 3 and reader.status in (0, 3) and after.status == 0
    return held, f"index: exit {done.status}; search on the full disk: {reader.status}; with room again: {after.status}"


def read_only(bench):
    bench.good()
    hashed(bench, "docs", "i")
    disk = mount(bench, "--bind", str(bench.path("i")))
    if subprocess.run(["mount", "-o", "remount,ro,bind", str(disk)], capture_output=True).returncode:
        raise Skipped("mounting is not permitted")
    runs = {mode: bench.search("foxes", disk, "--mode", mode) for mode in ("bm25", "dense", "hybrid")}
    writing = hashed(bench, "docs", disk, "--rebuild")
    held = all(run.status == 0 for run in runs.values()) and writing.status == 3 and "damaged" not in writing.err
    return held, "search: " + ", ".join(f"{mode} {run.status}" for mode, run in runs.items()) + f"; index: {writing.status}"


def damage(mode):
    def attack(bench):
        for n in range(40):
            bench.write(f"docs/p{n}.md", f"# Page {n}\n\nFoxes number {n} sleep in den {n * 7}. Rain falls on page {n}.\n")
        hashed(bench, "docs", "i")
        def ask():
            return bench.search("foxes number 7", "damaged", "--mode", mode, "--k", "3", "--json")
        copy(bench.path("i"), bench.path("damaged"))
        right = ask().out
        # Seeded: the same places every time.
        chance = random.Random(3)
        files = sorted(p.relative_to(bench.path("i")) for p in bench.path("i").rglob("*") if p.is_file() and p.stat().st_size and p.name != "lock")
        seen = collections.Counter()
        wrong = []
        for file in files:
            for trial in range(3):
                copy(bench.path("i"), bench.path("damaged"))
                place = bench.path("damaged") / file
                raw = bytearray(place.read_bytes())
                if trial == 2:
                    os.truncate(place, len(raw) // 2)
                else:
                    used = [n for n in range(min(len(raw), 1 << 20)) if raw[n]] or [0]
                    at = used[0] if trial == 0 else chance.choice(used)
                    for n in range(at, min(at + 16, len(raw))):
                        raw[n] ^= 0xFF
                    place.write_bytes(raw)
                done = ask()
                kind = ("same answer" if done.out == right else "WRONG answer") if done.status == 0 else \
                    "named" if done.status in (2, 3) and done.sane and done.err.strip() else f"CRASH {done.status}"
                seen[kind] += 1
                if kind.isupper() or kind.split()[0].isupper():
                    wrong.append(str(file))
        return not wrong, ", ".join(f"{count} {kind}" for kind, count in seen.most_common()) + (f" ({', '.join(sorted(set(wrong))[:4])})" if wrong else "")
    return Line(f"disk damage {mode}", "the same answer or a named error", attack)


LINES = [
    Line("disk full", "a message; nothing is lost", full),
    Line("disk read-only", "an index can be searched", read_only),
    damage("bm25"), damage("dense"),
]
