"""Run folders that two use at once, settings without end, and secrets in what is kept."""
import json
import sqlite3
import subprocess
import time

from .common import EXPERIMENT, Line, holds
from .server import data

CONFIG = EXPERIMENT + """[[chunker]]
name = "five"
spec = "fixed:words=5"
[[chunker]]
name = "twenty"
spec = "fixed:words=20"
[judge]
checks = false
"""


def two_runs(bench):
    bench.write("data.json", data(150))
    bench.write("e.toml", CONFIG)
    first = bench.start("eval", "run", "e.toml", "--out", "o", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.3)
    second = bench.run("eval", "run", "e.toml", "--out", "o")
    first.wait(60)
    items = bench.path("o/items.jsonl")
    lines = len(items.read_text().splitlines()) if items.exists() else 0
    summary = json.loads(bench.path("o/summary.json").read_text()) if bench.path("o/summary.json").exists() else {}
    questions = summary.get("questions", 0)
    ended = sorted([first.returncode, second.status])
    held = lines == questions * 3 and questions > 0 and ended in ([0, 3], [0, 0])
    return held, f"exits {first.returncode} and {second.status}; {lines} items of {questions * 3}"


def deep_set(bench):
    bench.write("data.json", data())
    bench.write("e.toml", CONFIG)
    done = bench.run("eval", "run", "e.toml", "--out", "o", "--set", "a." * 60_000 + "b=1")
    return done.status == 2, f"{done}"


def secrets(bench):
    bench.write("data.json", data())
    words = {"hook argument": "HOOKSECRET1", "url password": "URLSECRET2", "header literal": "HEADERSECRET3", "path": "PATHSECRET4"}
    bench.write("e.toml", CONFIG + f"""[answer]
generator = "none"
[llm.generator]
provider = "openai"
model = "m"
base_url = "http://127.0.0.1:9/{words['path']}/v1"
headers = {{ authorization = "{words['header literal']} ${{HOME}}" }}
[nightly]
on_finish = ["true", "Authorization: Bearer {words['hook argument']}"]
url = "https://user:{words['url password']}@example.org/nightly/"
""")
    done = bench.run("nightly", "e.toml", "--history", "h")
    places = {what: holds(bench.path("h"), word) for what, word in words.items()}
    leaked = [f"{what} in {', '.join(sorted(set(files)))}" for what, files in places.items() if files]
    return done.status in (0, 1) and not leaked, f"exit {done.status}; kept: {'; '.join(leaked) or 'nothing'}"


def hook_children(bench):
    bench.write("data.json", data())
    bench.write("hook.sh", "#!/bin/sh\nsleep 47 &\nsleep 47\n")
    bench.path("hook.sh").chmod(0o755)
    bench.write("e.toml", CONFIG + f'[nightly]\non_finish = ["{bench.path("hook.sh")}"]\ntimeout_seconds = 1\n')
    done = bench.run("nightly", "e.toml", "--history", "h")
    time.sleep(0.5)
    left = subprocess.run(["pgrep", "-fc", "^sleep 47$"], capture_output=True, text=True).stdout.strip()
    subprocess.run(["pkill", "-f", "^sleep 47$"], check=False)
    return left == "0" and done.sane, f"{done}; processes of the hook left: {left}"


def damaged_history(bench):
    bench.write("data.json", data(20))
    bench.write("e.toml", CONFIG)
    bench.run("nightly", "e.toml", "--history", "h")
    base = bench.path("h/history.db")
    with sqlite3.connect(base) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
    raw = bytearray(base.read_bytes())
    silent, tried = [], 0
    for place in range(2000, len(raw) - 64, max(1, len(raw) // 12)):
        if not any(raw[place:place + 64]):
            continue
        changed = bytearray(raw)
        changed[place:place + 64] = bytes(b ^ 0xFF for b in raw[place:place + 64])
        base.write_bytes(changed)
        for rest in bench.path("h").glob("history.db-*"):
            rest.unlink()
        done = bench.run("nightly", "e.toml", "--history", "h")
        tried += 1
        if not done.sane or done.status == 0:
            silent.append(str(place))
    return tried > 3 and not silent, f"{tried} places of 64 bytes flipped; not noticed: {', '.join(silent) or 'none'}"


LINES = [
    Line("run two in one folder", "one is refused, the other is whole", two_runs),
    Line("run --set without end", "a usage error", deep_set),
    Line("run secrets", "no secret is kept", secrets),
    Line("run hook's children", "end with the hook", hook_children),
    Line("run damaged history", "damage is noticed", damaged_history),
]
