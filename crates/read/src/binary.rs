//! Files that are no text.

use std::path::Path;

use crate::error::ReadError;

/// Refuses a file that begins with binary data, before the rest of it is read.
///
/// # Errors
/// [`ReadError::Binary`].
pub(crate) fn check_head(path: &Path, head: &[u8]) -> Result<(), ReadError> {
    let utf16 = head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]);
    match binary(head).filter(|_| !utf16) {
        Some(what) => Err(ReadError::Binary { path: path.to_owned(), what }),
        None => Ok(()),
    }
}

/// Returns the kind of binary data that these bytes are; `None` where they may be text.
pub(crate) fn binary(bytes: &[u8]) -> Option<String> {
    const SIGNATURES: &[(&[u8], &str)] = &[
        (b"%PDF-", "a PDF document"),
        (b"\x89PNG\r\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"PK\x03\x04", "a ZIP archive (or an office document)"),
        (b"\x1f\x8b", "gzip data"),
        (b"\x7fELF", "a program"),
    ];
    if let Some((_, what)) = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature)) {
        return Some((*what).to_owned());
    }
    memchr::memchr(0, bytes).map(|at| {
        let perhaps = if is_wide(bytes) { "; perhaps UTF-16 without a byte order mark" } else { "" };
        format!("binary data (byte {at} is zero{perhaps})")
    })
}

/// True where most of every other byte is zero and of the rest next to none, as in UTF-16 of languages with Latin letters.
fn is_wide(bytes: &[u8]) -> bool {
    const SAMPLE: usize = 1024;
    let head = bytes.get(..SAMPLE).unwrap_or(bytes);
    let zeros = |from: usize| head.iter().skip(from).step_by(2).filter(|&&b| b == 0).count();
    let (even, odd, pairs) = (zeros(0), zeros(1), head.len() / 2);
    even.max(odd) * 2 > pairs && even.min(odd) * 20 <= pairs
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::binary;

    #[test]
    fn utf16_without_its_mark_is_told() {
        let wide: Vec<u8> = "A pump.".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(binary(&wide).unwrap(), "binary data (byte 1 is zero; perhaps UTF-16 without a byte order mark)");
        assert_eq!(binary(b"ab\0c").unwrap(), "binary data (byte 2 is zero)");
        assert_eq!(binary(&[0; 99]).unwrap(), "binary data (byte 0 is zero)");
        assert_eq!(binary(b"abc"), None);
    }
}
