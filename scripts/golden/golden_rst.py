#!/usr/bin/env python3
"""Writes what docutils makes of the sections of reStructuredText: their titles from the outermost in, and their ids.

    scripts/golden/golden_rst.py                       crates/read/tests/golden/rst_sections.json, from tests/samples/*.rst
    scripts/golden/golden_rst.py FILE.jsonl OUT.jsonl  the same for the documents of a corpus: {"id", "format": "rst", "text"}

Roles that docutils does not know (those of Sphinx) are taken for plain text. The first id of a section is that of its
title; the others are those of targets before it.
"""

import json
import re
import sys
from pathlib import Path

import docutils
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import roles

TESTS = Path(__file__).resolve().parents[2] / "crates/read/tests"
SETTINGS = {
    "report_level": 5,
    "halt_level": 5,
    "doctitle_xform": False,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
}


def plain_role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """The text of a role as Sphinx shows it where nothing else is known: `title <target>` is the title."""
    titled = re.match(r"^(.+?)\s*<[^<]*>$", text, re.S)
    return [nodes.inline(rawtext, titled.group(1) if titled else text)], []


def sections(text: str) -> list[dict]:
    for name in set(re.findall(r":([a-zA-Z][\w:.+-]*):`", text)):
        if name.lower() not in roles._role_registry and name.lower() not in ("code", "math", "sup", "sub", "title"):
            roles.register_local_role(name.lower(), plain_role)
    tree = publish_doctree(text, settings_overrides=SETTINGS)
    found = []

    def walk(node, path):
        for child in node.children:
            if isinstance(child, nodes.section):
                title = next((c.astext() for c in child.children if isinstance(c, nodes.title)), "")
                here = path + [" ".join(title.split())]
                found.append({"path": here, "ids": list(child["ids"])})
                walk(child, here)

    walk(tree, [])
    return found


def main() -> None:
    if len(sys.argv) == 3:
        with open(sys.argv[1]) as lines, open(sys.argv[2], "w") as out:
            for line in lines:
                document = json.loads(line)
                if document.get("format") != "rst":
                    continue
                try:
                    row = {"id": document["id"], "sections": sections(document["text"])}
                except Exception as error:  # docutils itself fails on some pages that are made for Sphinx
                    print(f"{document['id']}: docutils: {error!r}", file=sys.stderr)
                    continue
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
        return
    files = sorted((TESTS / "samples").glob("*.rst"))
    golden = {
        "docutils": docutils.__version__,
        "files": [{"file": file.name, "sections": sections(file.read_text())} for file in files],
    }
    out = TESTS / "golden/rst_sections.json"
    out.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n")
    print(f"{out}: {len(files)} files, docutils {docutils.__version__}")


if __name__ == "__main__":
    main()
