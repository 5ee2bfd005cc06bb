"""What every attack needs: a folder, the command under limits, and a word on what it did."""
import dataclasses
import functools
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import threading
import time

# A small experiment with full-text search alone. Tables may follow.
EXPERIMENT = """name = "small"
[data]
kind = "squad"
path = "data.json"
[retrieval]
embedder = "none"
modes = ["bm25"]
k = [1]
[[chunker]]
name = "sentence"
spec = "sentence"
"""
SECONDS = 60
ADDRESS_SPACE = 6 << 30
MIB = 1 << 20


class Skipped(Exception):
    """This machine does not allow the attack."""


@dataclasses.dataclass
class Line:
    """One attack: `attack(bench)` returns whether the promise held, and what was seen."""
    name: str
    promise: str
    attack: object


@dataclasses.dataclass
class Done:
    """What became of one command."""
    status: int       # exit status; 128 + signal where it was killed; 124 where its time was up
    seconds: float
    mebibytes: float  # the most resident memory of the process or of one of its children
    out: str
    err: str

    @property
    def sane(self):
        """Whether it ended with one of the documented statuses and without a panic."""
        return self.status in (0, 1, 2, 3) and "panicked at" not in self.err

    def __str__(self):
        return f"{self.seconds:.2f} s, {self.mebibytes:.0f} MB, exit {self.status}"


class Bench:
    """A folder to work in, and the command under limits of time and memory."""

    def __init__(self, binary, generator, folder):
        self.binary, self.generator, self.folder = binary, generator, folder
        self.to_close = []

    def close(self):
        for close in reversed(self.to_close):
            close()

    def path(self, name):
        return self.folder / name

    def write(self, name, data):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def nasty(self, family, size, name=None):
        """The file of a family at a size, as the test kit makes it."""
        made = subprocess.run([self.generator, family, str(size)], capture_output=True, check=True, timeout=120)
        return self.write(name or f"{family}-{size}.{families(self.generator)[family][0]}", made.stdout)

    def good(self, folder="docs", count=5):
        """Documents that mean no harm."""
        for n in range(count):
            self.write(f"{folder}/good{n}.md", f"# Page {n}\n\nFoxes sleep in dens. Page {n} tells of foxes and rain.\n")
        return self.path(folder)

    def environment(self, **more):
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "LANG", "TMPDIR")}
        return kept | {"PERICOPE_HOME": str(self.path("no-models")), "NO_COLOR": "1"} | more

    def start(self, *arguments, cwd=None, env=None, **more):
        def limits():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        process = subprocess.Popen([self.binary, *map(os.fspath, arguments)], cwd=cwd or self.folder, env=env or self.environment(),
                                   preexec_fn=limits, **more)
        self.to_close.append(lambda: end(process))
        return process

    def run(self, *arguments, cwd=None, env=None, stdin=None, seconds=SECONDS):
        began = time.monotonic()
        with open(self.path("stdout"), "w+b") as out, open(self.path("stderr"), "w+b") as err:
            process = self.start(*arguments, cwd=cwd, env=env, stdin=stdin or subprocess.DEVNULL, stdout=out, stderr=err)
            late = threading.Timer(seconds, lambda: end(process, late=True))
            late.start()
            _, status, usage = os.wait4(process.pid, 0)
            late.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            took = time.monotonic() - began
            for file in (out, err):
                file.seek(0)
            # No test needs more than the beginning of a flood.
            texts = [file.read(16 * MIB).decode(errors="replace") for file in (out, err)]
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        if took >= seconds and code > 128:
            code = 124
        return Done(code, took, usage.ru_maxrss / 1024, *texts)

    def segment(self, file, *more):
        return self.run("segment", file, "--tokenizer", "words", "--format", "json", *more)

    def index(self, docs, into, *more, **options):
        return self.run("index", docs, "--into", into, "--embedder", "none", "--tokenizer", "words", *more, **options)

    def search(self, query, index, *more, **options):
        return self.run("search", query, "--in", index, *more, **options)

    def documents(self, index):
        """The number of documents that the word "foxes" finds at most 1,000 of."""
        import json
        done = self.run("search", "foxes", "--in", index, "--mode", "bm25", "--k", "1000", "--json")
        return len({hit["document"] for hit in json.loads(done.out)["hits"]}) if done.status == 0 else -1


@functools.cache
def families(generator):
    """The families of documents that the generator makes: extension and sensible size by name."""
    listed = subprocess.run([generator, "--list"], capture_output=True, check=True, text=True).stdout
    return {name: (extension, int(n)) for name, extension, n in (row.split()[:3] for row in listed.splitlines() if row.strip())}


def end(process, late=False):
    """Kills a command and what it started."""
    if process.returncode is None or late:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if not late and process.returncode is None:
        process.wait()


def holds(folder, needle):
    """The files below a folder, or the file, that hold some bytes."""
    needle = needle.encode() if isinstance(needle, str) else needle
    paths = [folder] if folder.is_file() else [p for p in folder.rglob("*") if p.is_file()]
    return sorted(p.name for p in paths if needle in p.read_bytes())


def size(folder):
    return sum(p.stat().st_blocks * 512 for p in pathlib.Path(folder).rglob("*") if p.is_file())


def copy(source, target):
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, symlinks=True)
    return target
