"""What is said of a run, in GitHub's Markdown. Names come from experiments and documents: they may hold anything."""
import re

import measure

#: Rows of a table at most.
ROWS = 20
#: Letters of a comment at most; the API takes 65,536.
LONGEST = 60_000
MARKUP = re.compile(r"([\\`*_\[\]|~$]|^[#+-])")


def text(value, longest=300):
    """Text that is no markup, mentions nobody and links nowhere."""
    plain = " ".join(str(value).replace("\u00a0", " ").split())
    plain = plain if len(plain) <= longest else plain[: longest - 1] + "…"
    plain = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = MARKUP.sub(r"\\\1", plain)
    plain = plain.replace("://", "&#58;//").replace("www.", "www&#46;")
    # Mentions and references to issues are looked for in what is shown, so an invisible letter stands in them.
    return re.sub(r"@(?=\w)|#(?=\d)|\bGH-(?=\d)", lambda found: found[0] + "\u200b", plain)


def table(head, rows):
    found = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    found += ["| " + " | ".join(row) + " |" for row in rows[:ROWS]]
    if len(rows) > ROWS:
        found.append(f"\nand {len(rows) - ROWS} more, on the page.")
    return "\n".join(found)


def value(number, metric):
    if not isinstance(number, (int, float)):
        return "–"
    plain = ("judge", "segment_seconds", "index_seconds", "query_p50_ms", "query_p95_ms")
    return f"{number:.2f}" if metric in plain else f"{100 * number:.1f} %"


def change(number, metric, kind):
    if not isinstance(number, (int, float)):
        return "–"
    if kind == "speed":
        return f"× {number:.2f}"
    return f"{number:+.2f}" if metric == "judge" else f"{100 * number:+.1f}"


MARKS = {"held": "✅ holds", "broken": "❌ does not hold", "unjudged": "➖ not judged"}


def nightly(result):
    """Of a nightly run: verdict, checks beside the target branch, losses."""
    latest, status = result["latest"], result["status"]
    mark = "✅ no check fails" if status == 0 else "❌ a check fails" if status == 1 else "❌ did not run"
    parts = [f"### Pericope: {mark}", text(result["verdict"], 600)]
    parts += [f"_Note: {text(warning)}._" for warning in result["warnings"]]
    order = {"broken": 0, "held": 1, "unjudged": 2}
    checks = sorted(latest.get("checks", []), key=lambda check: order.get(check.get("state"), 3))
    rows = [
        [
            text(check.get("what", "")),
            value(check.get("before"), check.get("metric")),
            value(check.get("tonight"), check.get("metric")),
            change(check.get("difference"), check.get("metric"), check.get("kind")),
            MARKS.get(check.get("state"), "–"),
        ]
        for check in checks
    ]
    if rows:
        before = "target branch" if result["before"] else "before"
        parts.append(table(["check", before, "here", "change", "outcome"], rows))
    reference = latest.get("reference") or {}
    if result["before"] and reference:
        said = f"Compared on {reference.get('common_questions')} questions that both have."
        changed = reference.get("changes") or []
        parts.append(said + (" What changed: " + "; ".join(text(one, 120) for one in changed[:8]) + "." if changed else ""))
    return "\n\n".join(parts)


def compare(result):
    """Of a comparison: verdict, chunkers beside the target branch."""
    found, before, status = result["found"], result["before"], result["status"]
    fails = "❌ the score fell" if result["fell"] is not None else "❌ something was left out" if status == 1 else "❌ did not run"
    parts = [f"### Pericope: {'✅ compared' if status == 0 else fails}", text(result["verdict"], 600)]
    if result["fell"] is not None:
        parts.append(text(found.get("sentence", ""), 600))
    parts += [f"_Note: {text(warning)}._" for warning in result["warnings"]]
    decided, scores = measure.primary(found)
    earlier = measure.primary(before)[1] if before else {}
    metric = decided.get("metric")
    recommended = ((found.get("summary") or {}).get("verdict") or {}).get("recommended")

    def row(name, now):
        then = earlier.get(name)
        both = isinstance(now, (int, float)) and isinstance(then, (int, float))
        shown = f"**{text(name)}**" if name == recommended else text(name)
        return [shown, value(then, metric), value(now, metric), change(now - then, metric, "") if both else "–"]

    if scores:
        rows = [row(name, now) for name, now in scores.items()]
        parts.append(table(["chunker", "target branch", "here", "change"], rows))
        skipped = found.get("skipped", 0)
        parts.append(
            f"{text(str(metric).replace('_', ' ')).capitalize()}; recommended in bold. Questions are drafted from the documents "
            f"of either branch: the scores are not paired."
            + (f" {skipped} files could not be read." if skipped else "")
        )
    return "\n\n".join(parts)


def links(run, page):
    """The last line of a comment."""
    found = [f"[{name}]({url})" for name, url in (("the page", page), ("the run", run)) if re.fullmatch(r"https?://[^\s()<>]+", url)]
    return " · ".join(found)


def fitted(body, last):
    if len(body) > LONGEST:
        body = body[:LONGEST].rsplit("\n", 1)[0] + "\n\n…"
    return f"{body}\n\n{last}".rstrip() + "\n"
