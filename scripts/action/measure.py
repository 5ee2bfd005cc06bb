"""Runs the program on the target branch and on what is checked out."""
import json
import os
import pathlib
import re
import subprocess

import github


def inside(folder):
    """The working directory, which lies in the workspace."""
    workspace = pathlib.Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
    place = (workspace / (folder.strip() or ".")).resolve()
    if not place.is_dir() or (place != workspace and workspace not in place.parents):
        github.fail(f"`working-directory` is {folder!r}, and there is no such folder in the workspace")
    return place


def share(text):
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        github.fail(f"`max-drop` is {text!r}: a share from 0 to 1, as 0.02 for two points")
    return value


def call(state, arguments, place, capture=False):
    """Runs the program; returns its exit status, and its standard output where that is asked for. The other is shown, and
    is no command to the runner."""
    # The summary is written once, at the end, by this action.
    surroundings = {name: value for name, value in os.environ.items() if name != "GITHUB_STEP_SUMMARY"}
    if state.get("home"):
        surroundings["PERICOPE_HOME"] = state["home"]
    with github.Quiet():
        done = subprocess.run(
            [state["program"], *arguments],
            cwd=place,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if capture else None,
            check=False,
        )
    return done.returncode, (done.stdout or b"").decode("utf-8", "replace")


class Target:
    """The target branch of the pull request, checked out beside the workspace for as long as it is needed."""

    def __init__(self, folder, place):
        self.path, self.place, self.why = folder / "target-branch", place, ""
        self.workspace = pathlib.Path(os.environ.get("GITHUB_WORKSPACE") or ".").resolve()
        base = github.pull_request().get("base")
        self.commit = str(base.get("sha", "")) if isinstance(base, dict) else ""

    def git(self, *arguments):
        command = ["git", "-C", str(self.workspace), *arguments]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)

    def __enter__(self):
        if not github.pull_request():
            return None
        if not re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", self.commit):
            self.why = "the event names no commit of the target branch"
            return self
        there = self.git("cat-file", "-e", f"{self.commit}^{{commit}}").returncode == 0
        if not there and self.git("fetch", "--no-tags", "--depth=1", "origin", self.commit).returncode != 0:
            self.why = "the target branch could not be fetched; check out with `fetch-depth: 0`"
            return self
        made = self.git("worktree", "add", "--detach", str(self.path), self.commit)
        if made.returncode != 0:
            self.why = f"the target branch could not be checked out: {github.one_line(made.stderr.decode(errors='replace'))}"
        return self

    def folder(self):
        """Where the commands run in it; none where it is not there."""
        if self.why:
            return None
        found = self.path / self.place.relative_to(self.workspace)
        if not found.is_dir():
            self.why = "the working directory is not on the target branch"
            return None
        return found

    def __exit__(self, *_):
        self.git("worktree", "remove", "--force", str(self.path))


def read(path):
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def nightly(state, config, arguments, place, folder, history):
    """The experiment on the target branch is night 1 of a new history, and here night 2: the gates compare the two, question
    by question."""
    warnings, before = [], {}
    with Target(folder, place) as target:
        kept = (place / history).resolve() if history and target is None else folder / "history"
        common = ["nightly", *arguments, "--history", str(kept), "--quiet"]
        if target is not None and (at := target.folder()) is not None:
            if not (at / config).is_file():
                target.why = "the experiment is not on the target branch"
            else:
                status, _ = call(state, [*common, "--", config], at)
                before = read(kept / "latest.json")
                if status == 1 and before:
                    # Worse or not is asked against the target branch, whatever its own gates say.
                    accepted, _ = call(state, [*common, "--accept", "last", "--", config], at)
                    status = accepted
                    warnings.append("the target branch does not pass its own checks")
                if status != 0:
                    before, target.why = {}, f"the run on the target branch ended with status {status}"
                    kept = folder / "history-alone"
                    common[common.index("--history") + 1] = str(kept)
        if target is not None and target.why:
            warnings.append(f"not compared with the target branch: {target.why}")
        old = (kept / "latest.json").read_bytes() if (kept / "latest.json").is_file() else b""
        status, _ = call(state, [*common, "--", config], place)
    latest = read(kept / "latest.json")
    # A run that broke off leaves the files of the one before it.
    is_new = bool(latest) and (kept / "latest.json").read_bytes() != old
    verdict = latest.get("text", "") if is_new else f"pericope nightly ended with status {status}: its output says why"
    if status not in (0, 1) and is_new:
        verdict = f"pericope nightly ended with status {status}"
    return {
        "status": status, "verdict": github.one_line(verdict), "folder": str(kept), "written": is_new,
        "warnings": warnings, "latest": latest if is_new else {}, "before": before,
    }


def compare(state, paths, arguments, place, folder, drop):
    """Questions are drafted from the documents of either branch, so the two scores are not paired."""
    warnings, before = [], {}
    out = folder / "comparison"

    def once(at, to):
        status, said = call(state, ["compare", *arguments, "--out", str(to), "--json", "--", *paths], at, capture=True)
        try:
            found = json.loads(said)
        except ValueError:
            found = {}
        return status, found if isinstance(found, dict) else {}

    with Target(folder, place) as target:
        if target is not None and (at := target.folder()) is not None:
            status, before = once(at, folder / "comparison-before")
            if not before:
                target.why = f"the comparison on the target branch ended with status {status}"
        if target is not None and target.why:
            warnings.append(f"not compared with the target branch: {target.why}")
        status, found = once(place, out)
    verdict = found.get("sentence") or f"pericope compare ended with status {status}: its output says why"
    fell = None
    if drop is not None and status == 0:
        now, then = score(found), score(before)
        if now is None or then is None:
            warnings.append("`max-drop` could not be judged: one of the two has no score")
        elif now < then - drop - 1e-12:
            status, fell = 1, then - now
            verdict = (f"the score of the recommended chunker fell by {100 * fell:.1f} points "
                       f"({100 * then:.1f} % to {100 * now:.1f} %); {100 * drop:.1f} points allowed")
    return {
        "status": status, "verdict": github.one_line(verdict), "folder": str(out), "written": bool(found),
        "warnings": warnings, "found": found, "before": before, "fell": fell,
    }


def primary(found):
    """What decides: metric and setting; and the scores by chunker."""
    summary = found.get("summary") or {}
    decided = (summary.get("verdict") or {}).get("primary") or {}
    keys = ("mode", "k", "token_budget")
    scores = {
        cell.get("chunker"): (cell.get("metrics") or {}).get(decided.get("metric"))
        for cell in summary.get("cells", [])
        if decided and all(cell.get(key) == decided.get(key) for key in keys)
    }
    return decided, scores


def score(found):
    """The score of the chunker that is recommended."""
    recommended = ((found.get("summary") or {}).get("verdict") or {}).get("recommended")
    return primary(found)[1].get(recommended)
