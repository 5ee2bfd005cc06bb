"""A stand-in of GitHub's runner for composite actions: reads action.yml, works out its expressions, and runs each `run` with
its `env` in bash, as the runner does. Steps that use other actions are noted and not run."""
import os
import pathlib
import re
import subprocess

import yaml

EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.S)
TOKEN = re.compile(r"\s*('(?:[^']|'')*'|[A-Za-z_][\w.-]*(?:\(\))?|==|!=|&&|\|\||!|\(|\))")


class Expressions:
    """The part of GitHub's expressions that action.yml uses: names, strings, `==`, `!=`, `&&`, `||`, `!`, brackets."""

    def __init__(self, contexts):
        self.contexts = contexts

    def value(self, text):
        self.tokens, at = [], 0
        text = text.strip()
        while at < len(text):
            found = TOKEN.match(text, at)
            assert found, f"an expression that this stand-in does not know: {text}"
            self.tokens.append(found[1])
            at = found.end()
        value = self.either()
        assert not self.tokens, f"an expression that this stand-in does not know: {text}"
        return value

    def take(self, *wanted):
        if self.tokens and self.tokens[0] in wanted:
            return self.tokens.pop(0)
        return None

    def either(self):
        value = self.both()
        while self.take("||"):
            other = self.both()
            value = value or other
        return value

    def both(self):
        value = self.compared()
        while self.take("&&"):
            other = self.compared()
            value = value and other
        return value

    def compared(self):
        value = self.one()
        while sign := self.take("==", "!="):
            other = self.one()
            value = (value == other) == (sign == "==")
        return value

    def one(self):
        token = self.tokens.pop(0)
        if token == "!":
            return not self.one()
        if token == "(":
            value = self.either()
            assert self.tokens.pop(0) == ")"
            return value
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if token == "always()":
            return True
        value = self.contexts
        for part in token.split("."):
            value = value.get(part, "") if isinstance(value, dict) else ""
        return value

    def filled(self, text):
        return EXPRESSION.sub(lambda found: str(self.value(found[1])), str(text))


class Finished:
    """What a use of the action came to."""

    def __init__(self):
        self.status, self.log, self.summary, self.outputs, self.used = 0, "", "", {}, []


def outputs(path):
    """Outputs of a step, in the form with end marks."""
    found, name, end, value = {}, None, None, []
    for line in path.read_text(encoding="utf-8").splitlines():
        if name is None:
            name, end = line.split("<<", 1)
            value = []
        elif line == end:
            found[name], name = "\n".join(value), None
        else:
            value.append(line)
    assert name is None, "an output that does not end"
    return found


def use(action, inputs, github, environment, workspace, temp):
    """Runs the action once; a step that fails ends it, as on GitHub, but for steps whose `if` says always()."""
    text = (action / "action.yml").read_text(encoding="utf-8")
    described = yaml.safe_load(text)
    assert set(inputs) <= set(described["inputs"]), "inputs that action.yml does not have"
    contexts = {"github": {**github, "action_path": str(action)}, "steps": {}, "inputs": {},
                "runner": {"os": "Linux", "arch": "X64", "temp": str(temp)}}
    expressions = Expressions(contexts)
    for name, described_input in described["inputs"].items():
        default = expressions.filled(described_input.get("default", ""))
        contexts["inputs"][name] = inputs.get(name, default)
    finished, summary = Finished(), temp / "summary.md"
    summary.write_text("")
    for number, step in enumerate(described["runs"]["steps"]):
        condition = str(step.get("if", ""))
        if finished.status != 0 and "always()" not in condition:
            continue
        if condition and not expressions.value(EXPRESSION.sub(lambda found: found[1], condition)):
            continue
        made = {}
        if "uses" in step:
            given = {key: expressions.filled(value) for key, value in step.get("with", {}).items()}
            finished.used.append((step["uses"], given))
            if step["uses"].startswith("actions/upload-artifact@"):
                made = {"artifact-url": "https://github.example/artifacts/1"}
        else:
            file = temp / f"output-{number}"
            file.write_text("")
            env = {**environment, **{key: expressions.filled(value) for key, value in step.get("env", {}).items()},
                   "GITHUB_OUTPUT": str(file), "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(temp),
                   "GITHUB_WORKSPACE": str(workspace)}
            # As the runner calls `shell: bash`.
            script = temp / f"step-{number}.sh"
            script.write_text(expressions.filled(step["run"]))
            done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)], cwd=workspace, env=env,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            finished.log += f"== {step.get('name')}\n{done.stdout.decode('utf-8', 'replace')}"
            finished.status = done.returncode or finished.status
            made = outputs(file)
        if "id" in step:
            contexts["steps"][step["id"]] = {"outputs": made}
    finished.summary = summary.read_text(encoding="utf-8")
    finished.outputs = {name: expressions.filled(one["value"]) for name, one in described["outputs"].items()}
    return finished


def no_expression_in_a_shell(action):
    """Every `run` of the action is the same text whatever the inputs are, and other actions are pinned by their hash."""
    described = yaml.safe_load((action / "action.yml").read_text(encoding="utf-8"))
    for step in described["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), f"an expression within run: {step['run']}"
        if "run" in step:
            assert step["shell"] == "bash"
        else:
            assert re.fullmatch(r"[\w/.-]+@[0-9a-f]{40}", step["uses"]), step["uses"]


def environment():
    """What a step sees of this machine."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "CI": "true"}


def folder(path):
    made = pathlib.Path(path)
    made.mkdir(parents=True, exist_ok=True)
    return made
