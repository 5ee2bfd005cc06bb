"""What GitHub's runner and its API are told: outputs, summary, messages, the comment."""
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid

#: Seconds that a request may take.
PATIENCE = 30
#: Pages of a hundred comments that are looked through.
PAGES = 50


def append(variable, text):
    path = os.environ.get(variable)
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)


def output(name, value):
    """An output of the step. The end mark is drawn, so that no value can end itself and set another."""
    end = f"end-{uuid.uuid4()}"
    append("GITHUB_OUTPUT", f"{name}<<{end}\n{value}\n{end}\n")


def summary(text):
    append("GITHUB_STEP_SUMMARY", text)


def one_line(text):
    return " ".join(str(text).split())


def command(name, text):
    """A workflow command; what would end it is escaped as the runner asks for."""
    text = str(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    print(f"::{name}::{text}", flush=True)


def warn(text):
    command("warning", text)


def error(text):
    command("error", text)


def fail(text):
    """Ends the step: usage or surroundings are wrong."""
    error(text)
    sys.exit(2)


class Quiet:
    """While what others wrote is printed, no line of it is a command to the runner."""

    def __enter__(self):
        self.mark = str(uuid.uuid4())
        print(f"::stop-commands::{self.mark}", flush=True)

    def __exit__(self, *_):
        print(f"::{self.mark}::", flush=True)


def event():
    path = os.environ.get("GITHUB_EVENT_PATH")
    try:
        with open(path or os.devnull, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def pull_request():
    found = event().get("pull_request")
    return found if isinstance(found, dict) else {}


def run_page():
    server, repository = os.environ.get("GITHUB_SERVER_URL", ""), os.environ.get("GITHUB_REPOSITORY", "")
    number = os.environ.get("GITHUB_RUN_ID", "")
    return f"{server}/{repository}/actions/runs/{number}" if server and repository and number else ""


class ApiError(Exception):
    """A request that was refused or not answered, in one sentence."""


class Api:
    """The requests that a comment takes."""

    def __init__(self, token):
        self.base = os.environ.get("GITHUB_API_URL", "https://api.github.com").rstrip("/")
        self.repository = os.environ.get("GITHUB_REPOSITORY", "")
        self.token = token

    def ask(self, method, path, body=None):
        request = urllib.request.Request(f"{self.base}{path}", method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Accept", "application/vnd.github+json")
        request.add_header("X-GitHub-Api-Version", "2022-11-28")
        request.add_header("User-Agent", "pericope-action")
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, data=data, timeout=PATIENCE) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            if refused.code in (401, 403, 404):
                why = ("the token may not do that; the job needs `permissions: pull-requests: write`, "
                       "and pull requests from forks have a token that only reads")
            else:
                why = "try again later"
            raise ApiError(f"the API answered {refused.code} to {method} {path}: {why}") from None
        except (OSError, ValueError) as broken:
            raise ApiError(f"the API could not be asked ({method} {path}): {one_line(broken)}") from None

    def own_login(self):
        """The login of the token's owner; none for the token of a job, which may not ask."""
        try:
            return self.ask("GET", "/user").get("login")
        except ApiError:
            return None

    def comment(self, number, marker, text):
        """Writes the comment, or writes it anew where it is there. Returns its address.

        Only a comment of this token's own owner, or of a bot where that is not known, is taken for it: others can write
        the marker too.
        """
        issue = f"/repos/{self.repository}/issues/{number}/comments"
        login, found = self.own_login(), None
        for page in range(1, PAGES + 1):
            comments = self.ask("GET", f"{issue}?per_page=100&page={page}")
            for one in comments:
                user = one.get("user") or {}
                is_own = user.get("login") == login if login else user.get("type") == "Bot"
                if is_own and str(one.get("body", "")).startswith(marker):
                    found = one["id"]
                    break
            if found is not None or len(comments) < 100:
                break
        if found is None:
            return self.ask("POST", issue, {"body": text}).get("html_url", "")
        return self.ask("PATCH", f"/repos/{self.repository}/issues/comments/{found}", {"body": text}).get("html_url", "")
