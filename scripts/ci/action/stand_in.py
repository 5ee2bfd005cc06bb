"""The part of GitHub that the action asks, on 127.0.0.1: comments of one pull request, and the files of releases."""
import http.server
import json
import re
import threading
import urllib.parse

TOKEN = "t0ken-of-the-job"
#: May read, and not write: what pull requests from forks get.
READS = "t0ken-that-reads"


class GitHub:
    def __init__(self):
        self.comments, self.releases, self.asked = [], {}, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def answer(self, status, body):
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def handle_any(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                outer.asked.append((self.command, self.path))
                self.answer(*outer.reply(self.command, self.path, self.headers.get("Authorization", ""), body))

            do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = handle_any

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def add(self, user, body, kind="User"):
        comment = {"id": 1000 + len(self.comments), "user": {"login": user, "type": kind}, "body": body}
        comment["html_url"] = f"https://github.example/c/{comment['id']}"
        self.comments.append(comment)
        return comment

    def reply(self, method, path, authorization, body):
        address = urllib.parse.urlsplit(path)
        if address.path.startswith("/pericope/pericope/releases/download/"):
            file = self.releases.get(address.path.rsplit("/", 1)[1])
            return (200, file) if file is not None else (404, {"message": "Not Found"})
        if authorization not in (f"Bearer {TOKEN}", f"Bearer {READS}"):
            return 401, {"message": "Bad credentials"}
        if address.path == "/api/user":
            return 403, {"message": "Resource not accessible by integration"}
        if address.path == "/api/repos/someone/docs/issues/7/comments" and method == "GET":
            asked = urllib.parse.parse_qs(address.query)
            size, page = int(asked.get("per_page", ["30"])[0]), int(asked.get("page", ["1"])[0])
            return 200, self.comments[size * (page - 1) : size * page]
        if authorization != f"Bearer {TOKEN}":
            return 403, {"message": "Resource not accessible by integration"}
        if address.path == "/api/repos/someone/docs/issues/7/comments" and method == "POST":
            if len(body["body"]) > 65_536:
                return 422, {"message": "Body is too long"}
            return 201, self.add("github-actions[bot]", body["body"], "Bot")
        found = re.fullmatch(r"/api/repos/someone/docs/issues/comments/(\d+)", address.path)
        if found and method == "PATCH":
            for comment in self.comments:
                if comment["id"] == int(found[1]):
                    comment["body"] = body["body"]
                    return 200, comment
        return 404, {"message": "Not Found"}

    def end(self):
        self.server.shutdown()
