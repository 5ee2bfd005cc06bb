"""Folders, names and links that make documents vanish, or take what is not theirs."""
import os
import pty
import subprocess
import time

from .common import EXPERIMENT, Line, Skipped, copy, end

DOCS = "docs"


def empty_into(bench):
    bench.good()
    bench.write("work/text/mine.txt", "precious")
    done = bench.index("../docs", "", cwd=bench.path("work"))
    again = bench.index("../docs", "", "--rebuild", cwd=bench.path("work"))
    left = sorted(p.name for p in bench.path("work").iterdir())
    held = done.status == again.status == 2 and left == ["text"] and bench.path("work/text/mine.txt").exists()
    return held, f"exit {done.status} and {again.status}; the folder then holds {', '.join(left)}"


def foreign_index(bench):
    bench.good()
    bench.write("fake/pericope.json", "{}")
    bench.write("fake/text/keep.txt", "precious")
    done = bench.index("docs", "fake", "--rebuild")
    kept = bench.path("fake/text/keep.txt").exists()
    return kept and done.sane, f"exit {done.status}; the user's file is {'kept' if kept else 'gone'}"


def foreign_files(bench):
    bench.good()
    bench.index("docs", "i")
    for name in ("i/text/mine.txt", "i/vectors/mine.txt", "i/mine.txt"):
        bench.write(name, "precious")
    done = bench.index("docs", "i", "--rebuild")
    kept = [name for name in ("i/text/mine.txt", "i/vectors/mine.txt", "i/mine.txt") if bench.path(name).exists()]
    return len(kept) == 3 and done.sane, f"exit {done.status}; {len(kept)} of 3 of the user's files in an index are kept by --rebuild"


def planted_marker(bench):
    bench.good()
    bench.write("docs/sub/page.md", "# Sub\n\nFoxes below.\n")
    bench.index("docs", "i")
    before = bench.documents("i")
    bench.write("docs/sub/pericope.json", "{}")
    done = bench.index("docs", "i", "--prune")
    after = bench.documents("i")
    return before == after and done.sane, f"exit {done.status}; {before} documents before, {after} after --prune"


def names_not_utf8(bench):
    bench.good()
    for byte, word in ((b"\xff", b"badgers"), (b"\xfe", b"otters")):
        with open(os.fsencode(bench.path("docs")) + b"/a" + byte + b".md", "wb") as file:
            file.write(b"# A\n\nFoxes and " + word + b".\n")
    first = bench.index("docs", "i")
    second = bench.index("docs", "i")
    found = [bench.search(word, "i", "--mode", "bm25", "--json").out.count('"rank"') for word in ("badgers", "otters")]
    held = first.sane and all(found) and "0 written" in second.err + second.out or first.status == 1 and "skipped" in first.err
    return held, f"exit {first.status}; hits of the two documents: {found[0]} and {found[1]}"


def replaced_folder(bench):
    bench.good()
    errors = open(bench.path("watch.err"), "wb")
    process = bench.start("index", "docs", "--into", "i", "--embedder", "none", "--tokenizer", "words", "--watch",
                          stdout=subprocess.DEVNULL, stderr=errors, stdin=subprocess.DEVNULL)
    wait(lambda: bench.path("i").exists() and bench.documents("i") == 5, 20)
    time.sleep(3)
    bench.path("docs").rename(bench.path("docs.old"))
    copy(bench.path("docs.old"), bench.path("docs"))
    # The move itself wakes the watcher; what comes later shows whether it watches the new folder.
    time.sleep(4)
    bench.write(f"{DOCS}/new.md", "# New\n\nFoxes anew.\n")
    seen = wait(lambda: bench.documents("i") == 6, 15)
    end(process)
    errors.close()
    return seen, "the new folder's document was " + ("indexed" if seen else "not seen in 15 s")


def wait(what, seconds):
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if what():
            return True
        time.sleep(0.3)
    return False


def terminal(bench):
    bench.write("docs/\x1b]0;NAME\x07.md", b"# T\n\nfoxes \x1b]0;TITLE\x07\x1b]52;c;cm0gLXJm\x07\x1b[2J\n")
    bench.write("docs/bad\x1b]0;BAD\x07.md", b"\x00\xff\x00\xfe\x00")
    bench.index("docs", "i")
    shown = b""
    for command in (["segment", "docs", "--tokenizer", "words"], ["search", "foxes", "--in", "i", "--mode", "bm25"],
                    ["index", "docs", "--into", "j", "--embedder", "none", "--tokenizer", "words"]):
        shown += on_terminal(bench, command)
    passed = [name for name, needle in (("OSC 0", b"\x1b]0;"), ("OSC 52", b"\x1b]52;"), ("clear", b"\x1b[2J")) if needle in shown]
    return not passed and b"foxes" in shown, "passed to the terminal: " + (", ".join(passed) or "nothing")


def on_terminal(bench, arguments):
    leader, follower = pty.openpty()
    process = bench.start(*arguments, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    text = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(leader)
    process.wait()
    return text


def link_out(bench):
    bench.good()
    bench.write("secret/credentials.md", "zebrasecret\n")
    os.symlink(bench.path("secret/credentials.md"), bench.path(DOCS) / "notes.md")
    os.symlink(bench.path("secret"), bench.path("docs/folder"))
    done = bench.index("docs", "i")
    found = bench.search("zebrasecret", "i", "--mode", "bm25", "--json").out.count('"rank"')
    told = bench.index("docs", "j", "--follow-links")
    wanted = bench.search("zebrasecret", "j", "--mode", "bm25", "--json").out.count('"rank"') if told.sane else 0
    held = done.sane and found == 0 and told.status in (0, 1) and wanted > 0
    return held, f"exit {done.status}; hits of the file outside: {found}; with --follow-links: {wanted}"


def narrower_glob(bench):
    bench.good()
    bench.write("docs/page.txt", "Foxes in plain text.\n")
    bench.index("docs", "i")
    before = bench.documents("i")
    done = bench.index("docs", "i", "--glob", "*.txt", "--prune")
    after = bench.documents("i")
    return before == after == 6, f"exit {done.status}; {before} documents before, {after} after --prune with a narrower --glob"


def pipe_as_data(bench):
    os.mkfifo(bench.path("data.json"))
    bench.write("e.toml", EXPERIMENT)
    done = bench.run("eval", "run", "e.toml", "--out", "o", seconds=10)
    return done.status in (2, 3) and "data.json" in done.err, f"{done}"


def device(bench):
    if not os.path.exists("/dev/zero"):
        raise Skipped("no /dev/zero")
    done = bench.run("segment", "/dev/zero", seconds=10)
    return done.status in (1, 2, 3), f"{done}"


LINES = [
    Line("path --into ''", "a usage error; nothing written, nothing deleted", empty_into),
    Line("path foreign index", "what Pericope did not write stays", foreign_index),
    Line("path foreign files", "what Pericope did not write stays", foreign_files),
    Line("path planted marker", "a file's name hides no document", planted_marker),
    Line("path names not UTF-8", "two names, two documents", names_not_utf8),
    Line("path watched and replaced", "--watch sees the new folder", replaced_folder),
    Line("path terminal", "control characters do not reach a terminal", terminal),
    Line("path link out", "not followed unless --follow-links", link_out),
    Line("path narrower glob", "--prune removes what is not there any more", narrower_glob),
    Line("path pipe as data", "refused, named", pipe_as_data),
    Line("path device", "refused", device),
]
