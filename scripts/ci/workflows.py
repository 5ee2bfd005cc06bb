#!/usr/bin/env python3
"""Called by scripts/ci/workflows with the files to look at."""
import re
import sys

import yaml

#: What somebody outside can write into an expression.
HOSTILE = re.compile(r"\$\{\{.*?(github\.(event|head_ref|ref|actor)|inputs\.|steps\.).*?\}\}", re.S)
PINNED = re.compile(r"[\w./-]+@[0-9a-f]{40}")
#: An example for projects of others, which follow the major version.
BY_TAG = {"scripts/nightly/github-workflow.yml"}


def steps(described):
    jobs = described.get("jobs", {}).values() if "jobs" in described else [described["runs"]]
    for job in jobs:
        yield from job["steps"]


def main():
    wrong = []
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            described = yaml.safe_load(file)
        if "jobs" in described and "permissions" not in described:
            wrong.append(f"{name}: no `permissions`")
        for step in steps(described):
            if HOSTILE.search(step.get("run", "")):
                wrong.append(f"{name}: an expression within `run`: {step['run'].strip().splitlines()[0]}")
            if "uses" in step and name not in BY_TAG and not PINNED.fullmatch(step["uses"]):
                wrong.append(f"{name}: {step['uses']} is not pinned by its hash")
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(sys.argv) - 1} files looked at, {len(wrong)} problems")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
