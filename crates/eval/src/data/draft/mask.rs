//! Headings whose words are taken out, so that every byte of the document keeps its place.

use pericope_api::{Document, Kind, Span};
use pericope_read::{ReadOptions, read_text};

use super::super::sections::format_name;
use super::super::squad::Masked;

/// What stands for the words of a heading; blanks fill it up to their length.
const MARK: &str = "§";

/// The document's source with a mark in place of the words of these headings (indices of sentences), of the same length
/// in bytes. `None` where the text would then be read with other headings, or would still show some of the words.
pub(super) fn masked(document: &Document, headings: &[usize]) -> Option<String> {
    let mut bytes = document.source.as_bytes().to_vec();
    for sentence in headings.iter().filter_map(|&i| document.sentences.get(i)) {
        let mut mark = Some(MARK);
        for piece in shown(document, sentence.span) {
            let part = bytes.get_mut(piece.start..piece.end)?;
            part.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
            if part.len() >= MARK.len()
                && let Some(mark) = mark.take()
            {
                part.iter_mut().zip(mark.bytes()).for_each(|(byte, new)| *byte = new);
            }
        }
        if mark.is_some() {
            return None;
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    let again = read_text(&document.id, format_name(document), text.as_str(), &ReadOptions::default()).ok()?;
    let starts = |document: &Document| -> Vec<(usize, Kind)> {
        let headings = document.sentences.iter().filter(|s| matches!(s.kind, Kind::Heading(_)));
        headings.map(|s| (s.span.start, s.kind)).collect()
    };
    let speaks = |i: &usize| {
        let start = document.sentences.get(*i).map_or(0, |s| s.span.start);
        let sentence = again.sentences.get(again.sentence_at(start));
        sentence.is_none_or(|s| again.visible(s.span).contains(char::is_alphanumeric))
    };
    (starts(document) == starts(&again) && !headings.iter().any(speaks)).then_some(text)
}

/// What stands in a text and no longer in the masked one of the same length.
pub(super) fn taken_out(text: &str, masked: &str) -> Vec<Masked> {
    if text == masked {
        return Vec::new();
    }
    let mut spans: Vec<Span> = Vec::new();
    let mut start = 0;
    // Between two places where a character begins in both.
    for end in (1..=text.len()).filter(|&at| text.is_char_boundary(at) && masked.is_char_boundary(at)) {
        let cell = Span::new(start, end);
        start = end;
        if cell.of(text) == cell.of(masked) {
            continue;
        }
        match spans.last_mut() {
            // A blank between two words stands in both.
            Some(last) if Span::new(last.end, cell.start).of(masked).bytes().all(|byte| byte == b' ') => {
                last.end = cell.end;
            }
            _ => spans.push(cell),
        }
    }
    spans.into_iter().map(|span| Masked { start: span.start, text: span.of(text).to_owned() }).collect()
}

/// The parts of a heading that a reader sees, without what is only mark-up.
fn shown(document: &Document, span: Span) -> Vec<Span> {
    let mut pieces = Vec::new();
    let mut at = span.start;
    let first = document.rewrites.partition_point(|r| r.span.end <= span.start);
    for rewrite in document.rewrites.iter().skip(first).take_while(|r| r.span.start < span.end) {
        pieces.push(Span::new(at, rewrite.span.start));
        if rewrite.with.contains(char::is_alphanumeric) {
            pieces.push(rewrite.span);
        }
        at = rewrite.span.end.max(at);
    }
    pieces.push(Span::new(at, span.end));
    pieces.into_iter().map(|piece| piece.trimmed(&document.source)).filter(|piece| !piece.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(format: &str, source: &str) -> Document {
        read_text(&format!("d.{format}"), format, source, &ReadOptions::default()).unwrap()
    }

    fn first_masked(format: &str, source: &str) -> Option<String> {
        let document = read(format, source);
        let heading = document.sentences.iter().position(|s| matches!(s.kind, Kind::Heading(_))).unwrap();
        masked(&document, &[heading])
    }

    #[test]
    fn the_words_go_and_every_byte_keeps_its_place() {
        for (format, source) in [
            ("md", "Before.\n\n## Fitting the *second* `pump` {#fit}\n\nText.\n\n## Next\n\nMore.\n"),
            ("md", "Über dem Wasser\n---------------\n\nText é.\n"),
            (
                "html",
                "<h1>Tools &amp; uses</h1><h2 id=\"fit\">Fit <b>the</b> <a href=\"#fit\">pump</a></h2><p>Text.</p>",
            ),
            ("rst", "Fitting the pump\n================\n\nText.\n\nNext\n====\n\nMore.\n"),
            ("asciidoc", "== Fitting the pump\n\nText.\n\n== Next\n\nMore.\n"),
        ] {
            let text = first_masked(format, source).unwrap();
            assert_eq!(text.len(), source.len(), "{format}");
            let (before, after) = (read(format, source), read(format, &text));
            assert_eq!(before.sections.len(), after.sections.len(), "{format}: {text}");
            let found = after.sentences.iter().find(|s| matches!(s.kind, Kind::Heading(_))).unwrap();
            assert!(!after.visible(found.span).contains(char::is_alphanumeric), "{format}: {text}");
            for word in ["Text", "Next"] {
                assert_eq!(text.find(word), source.find(word), "{format}: {text}");
            }
        }
    }

    #[test]
    fn what_was_taken_out_is_known() {
        let of = |text: &str, masked: &str| -> Vec<(usize, String)> {
            assert_eq!(text.len(), masked.len());
            taken_out(text, masked).into_iter().map(|masked| (masked.start, masked.text)).collect()
        };
        let owned =
            |found: &[(usize, &str)]| found.iter().map(|(at, text)| (*at, (*text).to_owned())).collect::<Vec<_>>();
        assert_eq!(of("# Fit the pump\n\nText.", "# §          \n\nText."), owned(&[(2, "Fit the pump")]));
        // The mark's second byte is that of the letter.
        assert_eq!(of("# ça va", "# §    "), owned(&[(2, "ça va")]));
        assert_eq!(of("# 漢字", "# §    "), owned(&[(2, "漢字")]));
        assert_eq!(of("# Ab *cd*", "# § *  *"), owned(&[(2, "Ab"), (6, "cd")]));
        assert_eq!(of("Same.", "Same."), owned(&[]));
    }

    #[test]
    fn a_heading_too_short_for_the_mark_stays() {
        assert_eq!(first_masked("md", "# A\n\nText.\n"), None);
        assert!(first_masked("md", "# AB\n\nText.\n").is_some());
    }
}
