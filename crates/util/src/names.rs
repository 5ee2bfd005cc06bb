use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::visible::visible_line;

/// Returns a file name as text, from which [`name_of_text`] gets the same name: no two names have the same text.
///
/// A name that is UTF-8 is its own text. Each byte that belongs to no character is written `\xff`, in hexadecimal. Where
/// a name itself holds a backslash with `x` and two such digits after it, that backslash is written `\x5c`.
#[must_use]
pub fn name_text(name: &OsStr) -> Cow<'_, str> {
    if let Some(text) = name.to_str()
        && !text.contains("\\x")
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(name.len() + 8);
    for part in name.as_encoded_bytes().utf8_chunks() {
        let mut rest = part.valid();
        while let Some(at) = rest.find('\\') {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            out.push_str(if escaped_byte(from.as_bytes()).is_some() { "\\x5c" } else { "\\" });
            rest = from.get(1..).unwrap_or_default();
        }
        out.push_str(rest);
        out.extend(part.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    Cow::Owned(out)
}

/// Returns the file name of a text that [`name_text`] made.
///
/// On systems whose names are not bytes, a text that stands for no Unicode is its own name.
#[must_use]
pub fn name_of_text(text: &str) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        match escaped_byte(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = rest.get(4..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    name_of_bytes(bytes, text)
}

#[cfg(unix)]
fn name_of_bytes(bytes: Vec<u8>, _text: &str) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn name_of_bytes(bytes: Vec<u8>, text: &str) -> OsString {
    String::from_utf8(bytes).map_or_else(|_| OsString::from(text), OsString::from)
}

/// Returns a path as messages show it: [as text](name_text), on one line, without control characters.
#[must_use]
pub fn shown_path(path: &Path) -> String {
    visible_line(&name_text(path.as_os_str())).into_owned()
}

/// The byte that an escape at the beginning of `text` stands for.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let [b'\\', b'x', high, low, ..] = text else { return None };
    Some((digit(*high)? << 4) | digit(*low)?)
}

/// Lower case alone: each byte has one escape.
fn digit(letter: u8) -> Option<u8> {
    match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use proptest::prelude::*;

    use super::*;

    fn text(name: &[u8]) -> String {
        name_text(OsStr::from_bytes(name)).into_owned()
    }

    #[test]
    fn bytes_that_are_no_characters_are_escaped() {
        assert_eq!(text(b"a\xff.md"), "a\\xff.md");
        assert_eq!(text(b"a\xfe.md"), "a\\xfe.md");
        // The name that looks like the first one is another.
        assert_eq!(text(br"a\xff.md"), r"a\x5cxff.md");
        assert_eq!(text("größe/c:\\x.md".as_bytes()), "größe/c:\\x.md");
        assert_eq!(shown_path(Path::new(OsStr::from_bytes(b"a\n\x1b\xff"))), "a\\n\\u{1b}\\xff");
    }

    proptest! {
        #[test]
        fn every_name_comes_back(pieces in prop::collection::vec(
            prop_oneof![Just(b"\\".to_vec()), Just(b"x".to_vec()), Just(b"5c".to_vec()), prop::collection::vec(any::<u8>(), 1..3)],
            0..12,
        )) {
            let name = pieces.concat();
            let text = text(&name);
            let back = name_of_text(&text);
            prop_assert_eq!(back.as_bytes(), &name[..]);
        }
    }
}
