"""Servers of language models that leak, lie, never end or bill what they do not deliver."""
import base64
import json
import sqlite3

from .common import Line, holds
from .server import Server, data, experiment

KEY = "sk-live/AbCd/1234567890+zz"


def serve(bench, mode, size=0, copies=1, **config):
    server = Server(mode, size)
    bench.to_close.append(server.close)
    bench.write("data.json", data(copies))
    bench.write("e.toml", experiment(server.port, **config))
    return server


def evaluate(bench, *more):
    return bench.run("eval", "run", "e.toml", "--out", "o", *more, env=bench.environment(HOSTILE_KEY=KEY))


def forms():
    yield KEY
    yield KEY.replace("/", "\\/")
    yield base64.b64encode(KEY.encode()).decode()
    yield "".join(f"%{ord(c):02X}" for c in KEY)
    yield "".join(f"\\u{ord(c):04x}" for c in KEY)


def leak(mode):
    def attack(bench):
        serve(bench, mode)
        done = evaluate(bench)
        places = [name for form in forms() for name in holds(bench.path("o"), form)] if bench.path("o").exists() else []
        places += ["terminal"] if any(form in done.out + done.err for form in forms()) else []
        return done.sane and not places, f"exit {done.status}; the key stands in: {', '.join(sorted(set(places))) or 'nothing'}"
    return Line(f"key {mode}", "a key stands in no output", attack)


def leak_webhook(bench):
    server = serve(bench, "401 slash")
    bench.write("e.toml", experiment(server.port, further=f'[nightly]\nwebhook = "http://127.0.0.1:{server.port}/hook"\n'))
    done = bench.run("nightly", "e.toml", "--history", "h", env=bench.environment(HOSTILE_KEY=KEY))
    sent = b"\n".join(server.hooks).decode(errors="replace")
    places = [name for form in forms() for name in holds(bench.path("h"), form)] if bench.path("h").exists() else []
    leaked = any(form in sent + done.err + done.out for form in forms()) or places
    return done.sane and bool(server.hooks) and not leaked, f"exit {done.status}; webhook calls: {len(server.hooks)}; key: {'leaked' if leaked else 'nowhere'}"


def budget_waits(bench):
    serve(bench, "ok", limits="budget = 400.0", judge="lexical", copies=2)
    done = evaluate(bench)
    return done.status == 0, f"budget 400, 6 calls of 2 that reserve some 200 each, 2 at once: exit {done.status}; spent {spent(bench, 'o')}"


def spent(bench, folder):
    file = next(iter(bench.path(folder).glob("**/responses.sqlite")), None)
    if file is None:
        return None
    with sqlite3.connect(file) as base:
        tables = [row[0] for row in base.execute("select name from sqlite_master where type = 'table'")]
        for table in tables:
            columns = [row[1] for row in base.execute(f"pragma table_info('{table}')")]
            for column in ("paid", "spent", "cost", "amount"):
                if column in columns:
                    return base.execute(f"select coalesce(sum({column}), 0) from {table}").fetchone()[0]
    return None


def broken_is_charged(bench):
    server = serve(bench, "cut", limits="budget = 4000.0", judge="lexical")
    done = evaluate(bench)
    paid = spent(bench, "o") or 0
    return done.sane and paid > 0, f"{server.calls} answers cut off: exit {done.status}; {paid} charged"


def night_goes_on(bench):
    server = serve(bench, "ok", limits="budget = 5.0", judge="lexical", copies=4,
                   generator="", )
    text = bench.path("e.toml").read_text().replace("price = { input = 1000000.0", "price = { input = 0.0")
    text = text.replace("concurrency = 2", "concurrency = 1").replace("max_tokens = 20", "max_tokens = 2")
    bench.write("e.toml", text)
    statuses = [bench.run("nightly", "e.toml", "--history", "h", env=bench.environment(HOSTILE_KEY=KEY)).status for _ in range(3)]
    # Each call costs 1 here: one token at a million a million tokens.
    return server.calls <= 5, f"budget 5, three sittings: {server.calls} calls of 1 paid; exits {statuses}"


def endless(bench):
    serve(bench, "endless", judge="lexical")
    done = evaluate(bench)
    return done.sane and done.mebibytes < 300 and done.seconds < 40, f"{done}"


def braces(bench):
    runs = []
    for size in (40_000, 80_000):
        serve(bench, "braces", size)
        runs.append(evaluate(bench, "--set", f"name=b{size}"))
    growth = runs[1].seconds / max(runs[0].seconds, 0.001)
    return all(run.sane for run in runs) and (growth < 3 or runs[1].seconds < 2), f"n: {runs[0]}; 2n: {runs[1]}; {growth:.1f} times"


def two_verdicts(bench):
    serve(bench, "two verdicts")
    done = evaluate(bench)
    scores = set()
    for line in (bench.path("o/items.jsonl").read_text().splitlines() if bench.path("o/items.jsonl").exists() else []):
        item = json.loads(line)
        scores.add(str(item["metrics"].get("judge")))
    return "10.0" not in scores and "10" not in scores and done.sane, f"exit {done.status}; judge's scores: {', '.join(sorted(scores)) or 'none'}"


def usage(bench):
    serve(bench, "usage", limits="budget = 4000.0")
    done = evaluate(bench)
    return done.sane, f"exit {done.status}"


LINES = [
    *[leak(mode) for mode in ("401 plain", "401 slash", "400 slash", "401 unicode", "400 base64", "400 percent")],
    Line("key webhook", "a key stands in no output", leak_webhook),
    Line("budget waits", "reservations are waited for", budget_waits),
    Line("budget broken answers", "what was answered is charged", broken_is_charged),
    Line("budget of a night", "one ledger for a night", night_goes_on),
    Line("answer endless", "a few MB at most", endless),
    Line("answer braces", "time linear in the answer", braces),
    Line("answer two verdicts", "two that differ are a failed item", two_verdicts),
    Line("answer usage 2^64-1", "no wrap, no panic", usage),
]
