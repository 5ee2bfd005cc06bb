//! Character references: `&amp;`, `&#8364;`.

use std::collections::HashMap;
use std::sync::LazyLock;

use entities::ENTITIES;
use pericope_api::Span;

/// The characters of each named reference, by its name with `&` and, where it has one, `;`.
static NAMED: LazyLock<HashMap<&str, &str>> =
    LazyLock::new(|| ENTITIES.iter().map(|entity| (entity.entity, entity.characters)).collect());

/// Longest name of a character reference, `&` and `;` left out.
const LONGEST: usize = 32;

/// The character reference at the start of `text` (which begins with `&`): its length in bytes and what it stands for.
/// References without their `;` count where HTML says so (`&copy 2026`).
pub(in crate::formats) fn reference(text: &str) -> Option<(usize, String)> {
    let body = text.get(1..)?;
    if let Some(number) = body.strip_prefix('#') {
        return numeric(number).map(|(len, c)| (2 + len, c.to_string()));
    }
    let len = body.bytes().take(LONGEST).take_while(u8::is_ascii_alphanumeric).count();
    let with_end = len + usize::from(body.as_bytes().get(len) == Some(&b';'));
    // Longest name first: `&notin;` is not `&not` and "in;".
    (1..=with_end).rev().find_map(|len| {
        let characters = NAMED.get(text.get(..1 + len)?)?;
        Some((1 + len, (*characters).to_owned()))
    })
}

/// Cuts text at its character references: pieces that show as they are, and references with what they stand for.
pub(in crate::formats) fn references(source: &str, span: Span, sink: &mut dyn FnMut(Span, Option<String>)) {
    let mut at = span.start;
    let mut from = span.start;
    while let Some(found) = memchr::memchr(b'&', &source.as_bytes()[from..span.end]) {
        let start = from + found;
        from = start + 1;
        if let Some((len, shown)) = reference(&source[start..span.end]) {
            if start > at {
                sink(Span::new(at, start), None);
            }
            at = start + len;
            from = at;
            sink(Span::new(start, at), Some(shown));
        }
    }
    if span.end > at {
        sink(Span::new(at, span.end), None);
    }
}

/// Text with its character references decoded.
pub(super) fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    references(text, Span::new(0, text.len()), &mut |span, shown| match shown {
        None => out.push_str(span.of(text)),
        Some(shown) => out.push_str(&shown),
    });
    out
}

/// A number after `&#`: its length and its character.
fn numeric(text: &str) -> Option<(usize, char)> {
    let hex = text.starts_with(['x', 'X']);
    let digits = text.get(usize::from(hex)..)?;
    let radix = if hex { 16 } else { 10 };
    let len = digits.chars().take(8).take_while(|c| c.is_digit(radix)).count();
    let code = u32::from_str_radix(digits.get(..len)?, radix).ok()?;
    let len = usize::from(hex) + len + usize::from(digits.as_bytes().get(len) == Some(&b';'));
    let c = match code {
        0 => char::REPLACEMENT_CHARACTER,
        // Pages mean Windows-1252 here, and HTML takes them at their word.
        0x80..=0x9f => WINDOWS.chars().nth(code as usize - 0x80)?,
        _ => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
    };
    Some((len, c))
}

/// The characters 0x80 to 0x9f of Windows-1252; the five that it leaves out stand for themselves.
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

#[cfg(test)]
mod tests {
    use super::{LONGEST, NAMED, reference};

    #[test]
    fn the_table_is_that_of_html() {
        assert_eq!(NAMED.len(), 2231);
        assert!(NAMED.iter().all(|(name, characters)| name.len() <= 2 + LONGEST && !characters.is_empty()));
    }

    #[test]
    fn references_are_decoded() {
        let decoded = reference;
        let is = |len, shown: &str| Some((len, shown.to_owned()));
        assert_eq!(decoded("&amp; x"), is(5, "&"));
        assert_eq!(decoded("&copy 2026"), is(5, "©"));
        assert_eq!(decoded("&notin;"), is(7, "∉"));
        assert_eq!(decoded("&notit;"), is(4, "¬"));
        assert_eq!(decoded("&#8364;x"), is(7, "€"));
        assert_eq!(decoded("&#x20AC;"), is(8, "€"));
        assert_eq!(decoded("&#150;"), is(6, "–"));
        assert_eq!(decoded("&#xD800;"), is(8, "\u{fffd}"));
        for text in ["&", "& ", "&;", "&#", "&#x;", "&nothing", "&é;"] {
            assert_eq!(decoded(text), if text == "&nothing" { is(4, "¬") } else { None }, "{text}");
        }
    }
}
