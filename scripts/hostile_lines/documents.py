"""Documents that crash, exhaust or slow a reader."""
from .common import Line, size

# Growth of time from n to 2n that linear work may show on a busy machine; quadratic work shows four.
GROWTH = 3.0
# Below this a command's own start decides.
SHORT = 0.5


def crash(family, n=1):
    def attack(bench):
        bench.good(count=50)
        bench.nasty(family, n, f"docs/nasty.{bench.extensions()[family]}")
        done = bench.index("docs", "i")
        found = bench.documents("i") if done.sane else 0
        named = "nasty" in done.err
        held = done.sane and found >= 50 and (done.status == 0 or named)
        return held, f"{done}, {min(found, 50)} of 50 good documents indexed" + ("" if done.status == 0 else ", named" if named else ", not named")
    return Line(f"crash {family}", "costs one file, which is named", attack)


def bomb(family, n):
    def attack(bench):
        file = bench.nasty(family, n)
        done = bench.run("index", file, "--into", "i", "--embedder", "none", "--tokenizer", "words", "--memory", "512")
        held = done.sane and done.mebibytes <= 512 + 200 and done.seconds < 60
        return held, f"{file.stat().st_size / 1000:.0f} kB: {done}"
    return Line(f"bomb {family}", "at most --memory 512 plus 200 MB, and an end", attack)


def slow(family, n):
    def attack(bench):
        runs = [bench.segment(bench.nasty(family, size)) for size in (n, 2 * n)]
        growth = runs[1].seconds / max(runs[0].seconds, 0.001)
        held = all(run.sane for run in runs) and (growth < GROWTH or runs[1].seconds < SHORT)
        return held, f"n: {runs[0]}; 2n: {runs[1]}; {growth:.1f} times"
    return Line(f"slow {family}", "time linear in the input", attack)


def large(family, n, *options):
    def attack(bench):
        runs, disk = [], []
        for k in (n, 2 * n):
            file = bench.nasty(family, k)
            runs.append(bench.index(file, f"i{k}", *options))
            disk.append(size(bench.path(f"i{k}")) / file.stat().st_size)
        memory = runs[1].mebibytes / runs[0].mebibytes
        held = all(run.sane for run in runs) and memory < 2.5 and disk[1] < 1.6 * disk[0] and runs[1].mebibytes < 712
        return held, f"n: {runs[0]}; 2n: {runs[1]}; index {disk[0]:.1f} and {disk[1]:.1f} times the file"
    return Line(f"large {family}", "memory and index linear in the input", attack)


LINES = [
    crash("pdf_selfform"), crash("pdf_selfform_image"), crash("pdf_selfform_paren"),
    crash("pdf_cmap_deep", 1_000_000), crash("pdf_cmap_deep_str", 1_000_000), crash("pdf_laughs"),
    bomb("pdf_bomb_plain", 1000), bomb("pdf_bomb_image", 1000), bomb("pdf_bomb_hex", 1000), bomb("pdf_bomb_pad", 1000),
    bomb("pdf_bomb_obj", 1000), bomb("pdf_lzw", 300_000), bomb("pdf_bomb_repeat", 40), bomb("pdf_cmap_range", 4_294_967_295),
    slow("split_close", 20_000), slow("split_quote", 20_000),
    large("head_amp_md", 104_000), large("head_amp_title", 200_000, "--max-tokens", "16"), large("jsonl_title", 200_000),
    large("md_setext", 200_000),
    slow("adoc_star", 7_500), slow("adoc_link", 10_000), slow("adoc_pending", 100_000), slow("html_ws", 100_000),
    slow("rst_colon", 20_000), slow("rst_foot", 40_000), slow("mdx_lines", 25_000), slow("mdx_tags", 10_000),
    slow("mdx_escape", 80_000), large("rst_subst", 30_000), large("adoc_attr", 30_000),
]
