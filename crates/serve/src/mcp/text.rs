//! The answers as text: what a model reads.

use std::fmt::Write;

use super::answers::{IndexStatus, ListOutput, Passage, SearchOutput, StatusOutput, TextOutput};

/// The place of a passage as people cite it: path and lines.
fn place(document: &str, lines: Option<[usize; 2]>) -> String {
    match lines {
        Some([first, last]) if first == last => format!("{document}:{first}"),
        Some([first, last]) => format!("{document}:{first}-{last}"),
        None => document.to_owned(),
    }
}

pub(super) fn search(answer: &SearchOutput) -> String {
    let SearchOutput { query, mode, index, hits, left_out, .. } = answer;
    let passages = |count: usize| if count == 1 { "passage" } else { "passages" };
    if let Some(left_out) = left_out.as_ref().filter(|_| hits.is_empty()) {
        return format!(
            "{} {} found for {query:?} in {index} ({mode}), and none within `budget`: the shortest has {}. Ask with a larger \
             `budget`.\n",
            left_out.hits,
            passages(left_out.hits),
            counted(left_out.least_tokens as u64, "token")
        );
    }
    if hits.is_empty() {
        return format!(
            "Nothing found for {query:?} in {index} ({mode}). Try other words, another mode, or no path and heading.\n"
        );
    }
    let (count, tokens) = (hits.len(), answer.tokens);
    let mut out =
        format!("{count} {} for {query:?} in {index} ({mode}, {})\n", passages(count), counted(tokens as u64, "token"));
    for (number, hit) in (1..).zip(hits) {
        let _ = writeln!(out, "\n[{number}] {}", place(&hit.document, hit.lines));
        facts(&mut out, hit);
        let _ = writeln!(out, "\n{}", hit.text.trim_end());
    }
    if let Some(left_out) = left_out {
        let more = passages(left_out.hits);
        let _ = writeln!(out, "\n({} more {more} did not fit `budget`)", left_out.hits);
    }
    out
}

fn facts(out: &mut String, hit: &Passage) {
    if hit.title != hit.document {
        let _ = writeln!(out, "title: {}", hit.title);
    }
    headings(out, &hit.heading_path);
    if let Some(url) = &hit.url {
        let _ = writeln!(out, "url: {url}");
    }
    let _ = writeln!(out, "id: {}", hit.id);
}

fn headings(out: &mut String, path: &[String]) {
    if !path.is_empty() {
        let _ = writeln!(out, "headings: {}", path.join(" › "));
    }
}

pub(super) fn passage(answer: &TextOutput) -> String {
    let mut out = format!("{}\n", place(&answer.document, answer.lines));
    if answer.title != answer.document {
        let _ = writeln!(out, "title: {}", answer.title);
    }
    headings(&mut out, &answer.heading_path);
    if let Some(url) = &answer.url {
        let _ = writeln!(out, "url: {url}");
    }
    for (name, id) in [("previous", &answer.previous), ("next", &answer.next)] {
        if let Some(id) = id {
            let _ = writeln!(out, "{name} passage: {id}");
        }
    }
    let _ = writeln!(out, "\n{}", answer.text.trim_end());
    if let Some(from) = answer.more_from {
        let _ = writeln!(out, "\n(cut off here; read {:?} with start {from} goes on)", answer.document);
    }
    out
}

pub(super) fn list(answer: &ListOutput) -> String {
    if answer.documents.is_empty() {
        return "No documents of this prefix.\n".to_owned();
    }
    let mut out = String::new();
    for document in &answer.documents {
        let title = if document.title == document.id { "" } else { &format!(" — {}", document.title) };
        let tokens = document.tokens.map(|tokens| format!(", {}", counted(tokens, "token"))).unwrap_or_default();
        let _ = writeln!(out, "{}{title} ({}{tokens})", document.id, counted(document.passages, "passage"));
    }
    if let Some(next) = &answer.next {
        let _ = writeln!(out, "\nMore: list with after {next:?}");
    }
    out
}

pub(super) fn status(answer: &StatusOutput) -> String {
    let mut out = answer.indexes.iter().map(index).collect::<Vec<_>>().join("\n");
    if !answer.rerankers.is_empty() {
        let _ = writeln!(out, "rerankers: {}", answer.rerankers.join(", "));
    }
    out
}

fn index(index: &IndexStatus) -> String {
    let modes = index.modes.join(", ");
    let mut out = format!(
        "{}: {}, {}; ranks by {modes}\n",
        index.name,
        counted(index.documents, "document"),
        counted(index.passages, "passage")
    );
    if let Some(written) = &index.written {
        let age = index.age_seconds.map(|age| format!(" ({} ago)", span(age))).unwrap_or_default();
        let _ = writeln!(out, "written {written}{age}");
    }
    match &index.stale {
        None => out.push_str("whether files changed since cannot be seen from here\n"),
        Some(stale) if stale.changed == 0 && stale.gone == 0 => {
            out.push_str("no indexed file changed since; new files are not looked for\n");
        }
        Some(stale) => {
            let more = if stale.changed + stale.gone > stale.names.len() as u64 { ", ..." } else { "" };
            let _ = writeln!(
                out,
                "{} changed since, {} {} gone: {}{more}",
                counted(stale.changed, "file"),
                stale.gone,
                if stale.gone == 1 { "is" } else { "are" },
                stale.names.join(", ")
            );
        }
    }
    out
}

/// `1 file`, `2 files`.
fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A time in its largest whole unit.
fn span(seconds: u64) -> String {
    let (number, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    counted(number, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_times_read_as_people_write_them() {
        assert_eq!(place("a.md", Some([3, 3])), "a.md:3");
        assert_eq!(place("a.md", Some([3, 7])), "a.md:3-7");
        assert_eq!(place("a.md", None), "a.md");
        for (seconds, text) in
            [(1, "1 second"), (59, "59 seconds"), (60, "1 minute"), (7_300, "2 hours"), (90_000, "1 day")]
        {
            assert_eq!(span(seconds), text);
        }
        assert_eq!([1, 2].map(|n| counted(n, "file")), ["1 file", "2 files"]);
    }
}
