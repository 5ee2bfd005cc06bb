//! A text as it reads once its escapes are undone, with the place of each byte in the text itself.

use std::ops::Range;

/// A reading of a text.
pub(super) struct Layer {
    pub(super) bytes: Vec<u8>,
    /// The bytes of the text that each byte stands for.
    places: Vec<Range<usize>>,
}

impl Layer {
    /// Reads the text as it stands.
    pub(super) fn plain(text: &str) -> Self {
        Self { bytes: text.bytes().collect(), places: (0..text.len()).map(|at| at..at + 1).collect() }
    }

    /// Returns the bytes of the text that a range of this reading stands for.
    pub(super) fn place(&self, range: Range<usize>) -> Option<Range<usize>> {
        let (first, last) = (self.places.get(range.start)?, self.places.get(range.end.checked_sub(1)?)?);
        Some(first.start..last.end)
    }

    /// Undoes one level of escapes: those of JSON and JavaScript, of addresses, and of HTML. `None` where there are none.
    pub(super) fn unescaped(&self) -> Option<Self> {
        self.mapped(|rest| escape(rest).map(|(byte, length)| (Some(byte), length)))
    }

    /// Leaves out white space and marks without width. `None` where there are none.
    pub(super) fn squeezed(&self) -> Option<Self> {
        self.mapped(|rest| blank(rest).map(|length| (None, length)))
    }

    /// Replaces what `find` finds at a place: the byte instead, if any, and the number of bytes that it replaces.
    fn mapped(&self, find: impl Fn(&[u8]) -> Option<(Option<u8>, usize)>) -> Option<Self> {
        let mut out =
            Self { bytes: Vec::with_capacity(self.bytes.len()), places: Vec::with_capacity(self.bytes.len()) };
        let mut at = 0;
        while let Some((&byte, place)) = self.bytes.get(at).zip(self.places.get(at)) {
            let (byte, length) = match find(self.bytes.get(at..).unwrap_or_default()) {
                Some((byte, length)) => (byte, length.max(1)),
                None => (Some(byte), 1),
            };
            if let Some(byte) = byte {
                let end = self.places.get(at + length - 1).map_or(place.end, |last| last.end);
                out.bytes.push(byte);
                out.places.push(place.start..end);
            }
            at += length;
        }
        (out.bytes.len() < self.bytes.len()).then_some(out)
    }
}

/// Returns the ASCII character of the escape at the start of `rest`, and the escape's length.
fn escape(rest: &[u8]) -> Option<(u8, usize)> {
    match rest {
        [b'\\', b'u', ..] => Some((number(rest.get(2..6)?, 16)?, 6)),
        [b'\\', b'x', ..] => Some((number(rest.get(2..4)?, 16)?, 4)),
        [b'\\', b'n' | b'r' | b't', ..] => Some((b' ', 2)),
        [b'\\', c @ (b'/' | b'\\' | b'"' | b'\''), ..] => Some((*c, 2)),
        [b'%', ..] => Some((number(rest.get(1..3)?, 16)?, 3)),
        [b'&', b'#', ..] => {
            let end = rest.iter().take(12).position(|&b| b == b';')?;
            let digits = rest.get(2..end)?;
            let code = match digits {
                [b'x' | b'X', hexadecimal @ ..] => number(hexadecimal, 16),
                _ => number(digits, 10),
            };
            Some((code?, end + 1))
        }
        [b'&', ..] => {
            const NAMED: &[(&[u8], u8)] = &[
                (b"&amp;", b'&'),
                (b"&lt;", b'<'),
                (b"&gt;", b'>'),
                (b"&quot;", b'"'),
                (b"&apos;", b'\''),
                (b"&sol;", b'/'),
                (b"&plus;", b'+'),
                (b"&equals;", b'='),
                (b"&period;", b'.'),
                (b"&lowbar;", b'_'),
            ];
            NAMED.iter().find(|(name, _)| rest.starts_with(name)).map(|(name, byte)| (*byte, name.len()))
        }
        _ => None,
    }
}

/// Reads an ASCII character's code. Keys are ASCII: other characters stay as they are written.
fn number(digits: &[u8], radix: u32) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_alphanumeric()))?;
    u32::from_str_radix(text, radix).ok().and_then(|code| u8::try_from(code).ok()).filter(u8::is_ascii)
}

/// Returns the length of the white space or the mark without width at the start of `rest`.
fn blank(rest: &[u8]) -> Option<usize> {
    match rest {
        [b, ..] if b.is_ascii_whitespace() => Some(1),
        // A soft hyphen or a no-break space.
        [0xC2, 0xAD | 0xA0, ..] => Some(2),
        // Spaces and joiners without width.
        [0xE2, 0x80, 0x8B..=0x8F, ..] | [0xE2, 0x81, 0xA0, ..] | [0xEF, 0xBB, 0xBF, ..] => Some(3),
        _ => None,
    }
}
