#!/usr/bin/env python3
"""Called by scripts/ci/action-test."""
import hashlib
import io
import json
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile

import runner
import stand_in

CONFIG = """
kind = "retrieval"
name = "docs & <b>"
[data]
kind = "squad"
path = "questions.json"
[retrieval]
embedder = "none"
modes = ["bm25"]
k = [3]
[[chunker]]
name = "fixed"
spec = "fixed:words=60"
[[chunker]]
name = "@everyone|`x`"
spec = "paragraph"
[[gate]]
metric = "span_recall"
k = 3
max_drop = 0.03
"""


class Bed:
    """A repository with a pull request, in a folder of its own."""

    def __init__(self, root, program, scratch, github):
        self.root, self.program, self.github = root, program, github
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=scratch))
        self.workspace, self.uses = runner.folder(self.folder / "work space"), 0
        questions = json.loads((root / "corpora/handbook-questions.json").read_text(encoding="utf-8"))
        questions["data"] = questions["data"][:8]
        self.write("questions.json", json.dumps(questions))
        self.write("nightly.toml", CONFIG)
        for page in sorted((root / "corpora/handbook").glob("*.md"))[:6]:
            self.write(f"docs/{page.name}", page.read_text(encoding="utf-8"))
        self.git("init", "--quiet", "--initial-branch=main")
        self.base = self.commit()

    def write(self, name, text):
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def git(self, *arguments):
        names = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        done = subprocess.run(["git", *names, *arguments], cwd=self.workspace, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self):
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", "change")
        return self.git("rev-parse", "HEAD")

    def use(self, event="pull_request", token=stand_in.TOKEN, environment=None, **inputs):
        self.uses += 1
        temp = runner.folder(self.folder / f"temp {self.uses}")
        payload = {"pull_request": {"number": 7, "base": {"sha": self.base, "ref": "main"}}} if event != "push" else {}
        (temp / "event.json").write_text(json.dumps(payload))
        surroundings = {
            **runner.environment(), "GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": str(temp / "event.json"),
            "GITHUB_REPOSITORY": "someone/docs", "GITHUB_API_URL": f"{self.github.address}/api",
            "GITHUB_SERVER_URL": self.github.address, "GITHUB_RUN_ID": "42", "PERICOPE_HOME": str(self.folder / "no-home"),
            **(environment or {}),
        }
        inputs = {name.replace("_", "-"): value for name, value in inputs.items()}
        inputs.setdefault("binary", str(self.program))
        return runner.use(self.root, inputs, {"token": token}, surroundings, self.workspace, temp)


def own(github):
    return [comment for comment in github.comments if comment["user"]["type"] == "Bot"]


def expect(holds, *what):
    if not holds:
        raise AssertionError("\n".join(str(one) for one in what))


def the_steps_read_no_input_in_a_shell(bed):
    runner.no_expression_in_a_shell(bed.root)


def a_pull_request_that_is_well_then_red_then_mended_has_one_comment(bed):
    bed.write("notes.md", "# New\n\nA page.\n")
    bed.commit()
    done = bed.use(config="nightly.toml")
    expect(done.status == 0, done.log)
    [comment] = own(bed.github)
    expect("✅ no check fails" in comment["body"] and "no score changed since night 1" in comment["body"], comment["body"])
    expect("| target branch | here | change |" in comment["body"], comment["body"])
    expect("[the page](https://github.example/artifacts/1)" in comment["body"], comment["body"])
    expect("Pericope: ✅" in done.summary and done.outputs["status"] == "0", done.summary)
    folder = pathlib.Path(done.outputs["folder"])
    expect(all((folder / name).is_file() for name in ("index.html", "junit.xml", "badge.svg", "metrics.prom")), folder)
    [(action, given)] = done.used
    expect(str(folder) in given["path"] and given["name"] == "pericope", action, given)
    # Names are words: no mention, no markup, no second column.
    expect("@everyone" not in comment["body"] and "<b>" not in comment["body"], comment["body"])
    expect("@\u200beveryone\\|\\`x\\`" in comment["body"], comment["body"])

    bed.write("nightly.toml", CONFIG.replace("fixed:words=60", "fixed:words=6"))
    bed.commit()
    done = bed.use(config="nightly.toml")
    expect(done.status == 1 and done.outputs["status"] == "1", done.log)
    [again] = own(bed.github)
    expect(again["id"] == comment["id"] and "❌ a check fails" in again["body"], again["body"])
    expect("❌ does not hold" in again["body"] and "fell by" in again["body"] and "fixed" in again["body"], again["body"])
    expect("chunker.fixed.spec" in again["body"], again["body"])
    expect("::error::" in done.log and "❌ a check fails" in done.summary, done.log)
    expect(any(path.name == "junit.xml" and 'failures="1"' in path.read_text()
               for path in pathlib.Path(done.outputs["folder"]).iterdir()), "the test report says it")
    expect(not bed.git("worktree", "list").splitlines()[1:], "the target branch is checked out no more")

    bed.write("nightly.toml", CONFIG)
    bed.commit()
    done = bed.use(config="nightly.toml")
    expect(done.status == 0 and len(own(bed.github)) == 1 and "✅" in own(bed.github)[0]["body"], done.log)


def a_target_branch_below_its_own_floor_is_compared_with_all_the_same(bed):
    bed.write("nightly.toml", CONFIG + '[[gate]]\nmetric = "hit"\nk = 3\nmin = 1.0\n')
    bed.base = bed.commit()
    bed.write("nightly.toml", CONFIG)
    bed.commit()
    done = bed.use(config="nightly.toml", comment="false")
    expect(done.status == 0 and "does not pass its own checks" in done.summary, done.log, done.summary)
    expect("Compared on" in done.summary and not own(bed.github), done.summary)


def chunkers_are_compared_and_a_lower_score_fails_where_that_is_asked(bed):
    few = "--questions\n40\n--embedder\nnone"
    done = bed.use(paths="docs", arguments=few)
    expect(done.status == 0, done.log)
    [comment] = own(bed.github)
    expect("✅ compared" in comment["body"] and "recommended in bold" in comment["body"], comment["body"])
    expect("| structure |" in comment["body"] or "| **structure** |" in comment["body"], comment["body"])
    # Another use has a comment of its own.
    narrow = f"--only\n--chunker\nfixed:words=8\n--chunker\nsentence\n{few}"
    done = bed.use(paths="docs\n\n", arguments=narrow, max_drop="0.0")
    expect(done.status == 0 and len(own(bed.github)) == 2, "other inputs, the same documents", done.log)
    for page in (bed.workspace / "docs").iterdir():
        text = page.read_text(encoding="utf-8")
        page.write_text(text + "\n\n" + text.replace(".", ". So it is said.").replace("a", "e"), encoding="utf-8")
    bed.commit()
    done = bed.use(paths="docs", arguments=few, max_drop="0.0")
    fell = "the score of the recommended chunker fell by" in done.log
    expect(done.status == (1 if fell else 0), done.log)
    expect(fell, "documents that say everything twice are harder to search", done.summary)
    expect("❌ the score fell" in done.summary, done.summary)


def what_a_shell_would_run_is_not_run(bed):
    evil = "$(touch pwned) `touch pwned`; touch pwned #\" ' \\ ${{ github.token }}"
    for inputs in (
        {"config": evil}, {"paths": evil}, {"paths": f"--help\n{evil}"}, {"config": "nightly.toml", "arguments": f"--set\n{evil}"},
        {"config": "nightly.toml", "history": evil, "event": "push"}, {"config": "nightly.toml", "working_directory": evil},
        {"config": "nightly.toml", "binary": evil}, {"config": "nightly.toml", "binary": "", "version": evil},
        {"paths": "docs", "max_drop": evil}, {"config": "nightly.toml", "models": evil}, {"config": "nightly.toml", "artifact": evil},
    ):
        done = bed.use(**inputs)
        expect(done.status != 0 or {"history", "artifact"} & set(inputs), inputs, done.log)
        written = [str(path) for path in bed.folder.rglob("pwned")]
        expect(not written, inputs, written, done.log)


def what_the_program_says_is_no_command_to_the_runner(bed):
    program = bed.folder / "pericope"
    program.write_text("#!/bin/sh\necho '::add-path::/evil'\necho '::error::x' >&2\nexit 3\n")
    program.chmod(0o755)
    done = bed.use(config="nightly.toml", binary=str(program))
    expect(done.status == 3 and "did not run" in done.summary, done.log)
    heard, listening = [], None
    for line in done.log.splitlines():
        if listening is None and line.startswith("::stop-commands::"):
            listening = line.removeprefix("::stop-commands::")
        elif listening is not None and line == f"::{listening}::":
            listening = None
        elif listening is None and line.startswith("::"):
            heard.append(line.split("::")[1])
    expect(listening is None and set(heard) <= {"warning", "error"} and "add-path" not in heard, heard)


def a_comment_that_only_pretends_to_be_ours_is_left_alone(bed):
    done = bed.use(config="nightly.toml")
    [comment] = own(bed.github)
    marker = comment["body"].splitlines()[0]
    expect(marker.startswith("<!-- pericope-action "), marker)
    bed.github.comments.remove(comment)
    false = [bed.github.add("mallory", f"{marker}\nmine"), bed.github.add("other[bot]", f"words\n{marker}", "Bot")]
    before = [one["body"] for one in false]
    for number in range(230):
        bed.github.add(f"user{number}", "words")
    done = bed.use(config="nightly.toml")
    expect([one["body"] for one in false] == before, done.log)
    mine = [one for one in own(bed.github) if one["body"].startswith(marker)]
    expect(len(mine) == 1, done.log)
    # It stands on the third page, and is found there.
    done = bed.use(config="nightly.toml")
    expect(len(own(bed.github)) == 2 and done.outputs["comment"] == mine[0]["html_url"], done.log)


def a_token_that_is_missing_or_may_not_write_is_said_and_fails_nothing(bed):
    done = bed.use(config="nightly.toml", token="")
    expect(done.status == 0 and "::warning::no comment: `github-token` is empty" in done.log, done.log)
    expect("Pericope: ✅" in done.summary, done.summary)
    for token in (stand_in.READS, "wrong"):
        done = bed.use(config="nightly.toml", token=token)
        expect(done.status == 0 and "pull-requests: write" in done.log, done.log)
        expect(token not in done.log and token not in done.summary, "a token is in no output")
    done = bed.use(config="nightly.toml", environment={"GITHUB_API_URL": "http://127.0.0.1:9/api"})
    expect(done.status == 0 and "could not be asked" in done.log, done.log)
    expect(not own(bed.github), bed.github.comments)


def usage_is_checked_before_anything_runs(bed):
    for inputs, said in (
        ({}, "give either"), ({"config": "a", "paths": "b"}, "give either"), ({"config": "a", "max_drop": "0.1"}, "max-drop"),
        ({"paths": "a", "max_drop": "2"}, "share from 0 to 1"), ({"config": "a", "working_directory": ".."}, "no such folder"),
        ({"config": "a", "event": "pull_request_target"}, "pull_request_target"), ({"config": "a", "binary": "/no"}, "no such program"),
    ):
        done = bed.use(**inputs)
        expect(done.status == 2 and said in done.log, inputs, done.log)
    done = bed.use(config="absent.toml")
    expect(done.status == 2 and "ended with status 2" in done.summary and done.outputs["folder"] == "", done.log)


def a_push_keeps_its_history_and_comments_on_nothing(bed):
    for night in (1, 2):
        done = bed.use(event="push", config="nightly.toml", history="kept")
        expect(done.status == 0 and f"night {night} " in done.summary and not own(bed.github), done.log)
    expect((bed.workspace / "kept/history.db").is_file(), "the history stays")


def a_shallow_checkout_fetches_the_target_branch(bed):
    bed.write("notes.md", "# New\n\nA page.\n")
    bed.commit()
    origin = bed.folder / "origin"
    bed.workspace.rename(origin)
    # As GitHub does, commits can be fetched by their hash.
    subprocess.run(["git", "-C", str(origin), "config", "uploadpack.allowAnySHA1InWant", "true"], check=True)
    subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{origin}", str(bed.workspace)], check=True)
    done = bed.use(config="nightly.toml")
    expect(done.status == 0 and "Compared on" in done.summary, done.log, done.summary)
    bed.base = "0" * 40
    done = bed.use(config="nightly.toml")
    expect(done.status == 0 and "check out with `fetch-depth: 0`" in done.log, done.log)


def a_release_is_taken_where_its_checksum_is_right(bed):
    target = {"x86_64": "x86_64-unknown-linux-gnu", "aarch64": "aarch64-unknown-linux-gnu"}.get(platform.machine())
    if platform.system() != "Linux" or not target:
        print(f"SKIPPED: action-test: no release is made for {platform.system()} on {platform.machine()}")
        return
    packed, name = io.BytesIO(), f"pericope-9.9.9-{target}"
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        script = f'#!/bin/sh\nexec "{bed.program}" "$@"\n'.encode()
        for path, content in ((f"{name}/README.md", b"words"), (f"{name}/../../pwned", b"x"), (f"{name}/pericope", script)):
            member = tarfile.TarInfo(path)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    file = f"{name}.tar.gz"
    bed.github.releases[file] = packed.getvalue()
    bed.github.releases["SHA256SUMS"] = f"{hashlib.sha256(packed.getvalue()).hexdigest()}  {file}\n".encode()
    done = bed.use(config="nightly.toml", binary="", version="v9.9.9")
    expect(done.status == 0 and "✅" in done.summary, done.log)
    expect(not list(bed.folder.rglob("pwned")), "only the program is unpacked")
    bed.github.releases[file] += b"x"
    done = bed.use(config="nightly.toml", binary="", version="9.9.9")
    expect(done.status == 2 and "does not have the checksum" in done.log, done.log)
    del bed.github.releases["SHA256SUMS"]
    done = bed.use(config="nightly.toml", binary="", version="9.9.9")
    expect(done.status == 2 and "is there such a release?" in done.log, done.log)


def a_build_is_made_of_the_action_s_own_sources_and_cached(bed):
    # A copy of the sources: what stands in for cargo lays the program where a build would.
    sources = bed.folder / "sources"
    for name in ("action.yml", "Cargo.toml", "Cargo.lock", "scripts/action"):
        to = sources / name
        to.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (bed.root / name).is_dir() else shutil.copy)(bed.root / name, to)
    tools = runner.folder(bed.folder / "tools")
    asked = bed.folder / "asked"
    cargo = tools / "cargo"
    cargo.write_text(
        f'#!/bin/sh\nset -e\necho "$PWD $*" >>"{asked}"\nmkdir -p "$CARGO_TARGET_DIR/release"\n'
        f'ln -sf "{bed.program}" "$CARGO_TARGET_DIR/release/pericope"\n'
    )
    cargo.chmod(0o755)
    bed.root = sources
    path = {"PATH": f"{tools}:{runner.environment()['PATH']}"}

    def built():
        done = bed.use(config="nightly.toml", binary="", version="build", environment=path)
        return done, [given for action, given in done.used if action.startswith("actions/cache@")]

    done, [cache] = built()
    expect(done.status == 0 and "✅" in done.summary, done.log)
    expect(asked.read_text() == f"{sources} build --release --locked -p pericope-cli\n", asked.read_text())
    expect(str(sources / "target") in cache["path"].split(), cache)
    expect(cache["key"].startswith("pericope-build-Linux-X64-") and len(cache["key"]) > 40, cache)
    expect(built()[1] == [cache], "the same dependencies have the same cache")
    with (sources / "Cargo.lock").open("a") as file:
        file.write("# changed\n")
    expect(built()[1][0]["key"] != cache["key"], "others have another")
    cargo.write_text("#!/bin/sh\necho 'error: no' >&2\nexit 101\n")
    done, _ = built()
    expect(done.status == 2 and "cargo could not build the command" in done.log, done.status, done.log)


TESTS = [
    the_steps_read_no_input_in_a_shell,
    a_pull_request_that_is_well_then_red_then_mended_has_one_comment,
    a_target_branch_below_its_own_floor_is_compared_with_all_the_same,
    chunkers_are_compared_and_a_lower_score_fails_where_that_is_asked,
    what_a_shell_would_run_is_not_run,
    what_the_program_says_is_no_command_to_the_runner,
    a_comment_that_only_pretends_to_be_ours_is_left_alone,
    a_token_that_is_missing_or_may_not_write_is_said_and_fails_nothing,
    usage_is_checked_before_anything_runs,
    a_push_keeps_its_history_and_comments_on_nothing,
    a_shallow_checkout_fetches_the_target_branch,
    a_release_is_taken_where_its_checksum_is_right,
    a_build_is_made_of_the_action_s_own_sources_and_cached,
]


def main():
    root, program, kept = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    kept.mkdir(parents=True, exist_ok=True)
    scratch, failed = pathlib.Path(tempfile.mkdtemp()), 0
    for test in TESTS:
        name = test.__name__.replace("_", " ")
        github = stand_in.GitHub()
        try:
            test(Bed(root, program, scratch, github))
            print(f"ok      {name}", flush=True)
        except AssertionError as error:
            failed += 1
            print(f"FAILED  {name}\n{error}", flush=True)
        bodies = "\n\n---\n\n".join(comment["body"] for comment in own(github))
        (kept / f"{test.__name__}.md").write_text(bodies, encoding="utf-8")
        github.end()
    shutil.rmtree(scratch, ignore_errors=True)
    print(f"action: {len(TESTS) - failed} of {len(TESTS)} hold; comments in {kept}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
