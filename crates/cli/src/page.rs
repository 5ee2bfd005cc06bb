//! `pericope segment --format html`: the text with its cuts, as one page without anything from outside.

use std::io::Write;

use pericope_api::{Chunk, Document};

const HEAD: &str = r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Chunks</title>
<style>
:root { color-scheme: light dark; --ink: #1b1e23; --paper: #fdfdfb; --soft: #667; --line: #d8d8d2; --a: #eef3fb; --b: #f8f1e6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e4e0; --paper: #16181b; --soft: #9aa; --line: #33373d; --a: #1d2633; --b: #2b251b; } }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 50rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.55 Georgia, "Times New Roman", serif; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; } header p { color: var(--soft); }
section.chunk { margin: 0 0 .6rem; padding: .5rem .9rem .7rem; border-left: .3rem solid var(--line); background: var(--a); }
section.chunk:nth-of-type(even) { background: var(--b); }
section.chunk p.meta { margin: 0 0 .3rem; font: .8rem/1.4 system-ui, sans-serif; color: var(--soft); font-variant-numeric: tabular-nums; }
section.chunk pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; }
.repeat { color: var(--soft); }
</style></head><body>
"#;

/// Begins the page.
pub fn begin(out: &mut impl Write, spec: &str) -> std::io::Result<()> {
    writeln!(out, "{HEAD}<header><p>Cut by <code>{}</code></p></header>", escape(spec))
}

/// One document: a block a chunk; text that repeats the chunk before (overlap) is grey.
pub fn document(out: &mut impl Write, document: &Document, chunks: &[Chunk]) -> std::io::Result<()> {
    writeln!(out, "<h1>{}</h1>", escape(document.title.as_deref().unwrap_or(&document.id)))?;
    let mut covered = 0;
    for chunk in chunks {
        let path = chunk.heading_path.join(" › ");
        writeln!(
            out,
            "<section class=\"chunk\"><p class=\"meta\">{} · {} tokens · bytes {}–{}{}{}</p><pre>",
            chunk.ordinal,
            chunk.tokens,
            chunk.span.start,
            chunk.span.end,
            if path.is_empty() { "" } else { " · " },
            escape(&path)
        )?;
        let text = document.text(chunk.span);
        let repeat = covered.clamp(chunk.span.start, chunk.span.end) - chunk.span.start;
        let (old, new) = text.split_at_checked(repeat).unwrap_or(("", text));
        if !old.is_empty() {
            write!(out, "<span class=\"repeat\">{}</span>", escape(old))?;
        }
        writeln!(out, "{}</pre></section>", escape(new))?;
        covered = covered.max(chunk.span.end);
    }
    Ok(())
}

/// Ends the page.
pub fn end(out: &mut impl Write) -> std::io::Result<()> {
    out.write_all(b"</body></html>\n")
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use pericope_api::Span;

    #[test]
    fn text_is_escaped_and_repeats_are_marked() {
        let doc = Document::from_sentences("<d>", &["A <b>.", "C & d."]);
        let chunk = |ordinal, start, end| Chunk {
            document: doc.id.clone(),
            ordinal,
            span: Span::new(start, end),
            heading_path: vec![],
            tokens: 3,
            hash: 0,
        };
        let mut out = Vec::new();
        document(&mut out, &doc, &[chunk(0, 0, 6), chunk(1, 0, 13)]).unwrap_or_else(|e| panic!("{e}"));
        let page = String::from_utf8_lossy(&out);
        assert!(page.contains("<h1>&lt;d&gt;</h1>"));
        assert!(page.contains("<span class=\"repeat\">A &lt;b&gt;.</span>\nC &amp; d."), "{page}");
    }
}
