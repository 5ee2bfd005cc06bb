"""Documents that crash, exhaust or slow a reader."""
from .common import Line, size

MEMORY = 512
# What a run may need above --memory.
ABOVE = 200
# Growth of time from n to 2n that linear work may show on a busy machine; quadratic work shows four.
GROWTH = 3.0
# Below this, in seconds, a command's own start decides.
SHORT = 3.0


def lines(families):
    """The attacks with the families of documents that the test kit makes: a map of name to extension and size."""
    for name, (extension, n) in families.items():
        if extension == "pdf":
            yield Line(f"document {name}", "costs one file, which is named; at most --memory and 200 MB", crash(name, n))
        else:
            yield Line(f"document {name}", "time, memory and index linear in the input", grow(name, n))


def crash(family, n):
    """The nasty file among 50 good ones."""
    def attack(bench):
        bench.good(count=50)
        file = bench.nasty(family, n, "docs/nasty.pdf")
        # Older commands know no such limit.
        limit = ["--file-timeout", "20"] if "--file-timeout" in bench.run("index", "--help").out else []
        done = bench.index("docs", "i", "--memory", str(MEMORY), *limit)
        found = bench.documents("i") if done.sane else 0
        named = "nasty" in done.err
        held = done.sane and found >= 50 and (done.status == 0 or named) and done.mebibytes <= MEMORY + ABOVE
        word = "" if done.status == 0 else ", named" if named else ", not named"
        return held, f"{file.stat().st_size / 1000:.0f} kB: {done}, {min(max(found, 0), 50)} of 50 good documents{word}"
    return attack


def grow(family, n):
    """The file at n and at 2n."""
    def attack(bench):
        runs, disk = [], []
        for k in (n, 2 * n):
            file = bench.nasty(family, k)
            runs.append(bench.index(file, f"i{k}", "--memory", str(MEMORY)))
            disk.append(size(bench.path(f"i{k}")) / file.stat().st_size)
        one, two = runs
        time_held = two.seconds < GROWTH * one.seconds or two.seconds < SHORT
        memory_held = two.mebibytes < 2.5 * one.mebibytes and two.mebibytes <= MEMORY + ABOVE
        disk_held = disk[1] < 1.6 * disk[0] or disk[1] < 10
        held = one.sane and two.sane and time_held and memory_held and disk_held
        return held, (f"{one.seconds:.2f} and {two.seconds:.2f} s, {one.mebibytes:.0f} and {two.mebibytes:.0f} MB, "
                      f"index {disk[0]:.1f} and {disk[1]:.1f} times the file, exit {one.status} and {two.status}")
    return attack
