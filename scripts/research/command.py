"""The command and the data that scripts of research work with."""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Command:
    """Runs `pericope`: PERICOPE, or target/release/pericope. `data` is the folder that PERICOPE_DATA names, `out` one for files: that of
    the caller, or one that goes when the script ends."""

    def __init__(self, script, out=None):
        self.script = script
        built = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/pericope"
        self.program = os.environ.get("PERICOPE") or built
        self.data = pathlib.Path(os.environ.get("PERICOPE_DATA") or sys.exit(f"{script}: PERICOPE_DATA is not set"))
        self.scratch = None if out else tempfile.TemporaryDirectory()
        self.out = pathlib.Path(out or self.scratch.name)
        self.out.mkdir(parents=True, exist_ok=True)

    def __call__(self, *words):
        """What the command prints; the script ends where it fails."""
        done = subprocess.run([str(self.program), *map(str, words)], stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"{self.script}: pericope {' '.join(map(str, words))}: status {done.returncode}")
        return done.stdout
