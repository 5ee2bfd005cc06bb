//! How bytes stand for several things at once.

/// The byte that ends a part. It is in no text that people write.
const END: u8 = 0x1e;

/// The parts of an input, which the record separator (U+001E) ends.
pub(super) fn parts(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    data.split(|&byte| byte == END)
}

/// The input as text; what is no UTF-8 is replaced.
pub(super) fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

/// The first byte, which chooses, and the rest.
pub(super) fn choice(data: &[u8], of: usize) -> (usize, &[u8]) {
    data.split_first().map_or((0, data), |(first, rest)| (usize::from(*first) % of.max(1), rest))
}

/// A piece of damage: bytes that are put over a file's at a place.
pub(super) struct Damage<'a> {
    /// The number of the file, from 0; taken modulo the number of files.
    pub file: usize,
    /// The place in 1/65536 of the file's length.
    pub place: u16,
    /// What is done there.
    pub what: What<'a>,
}

/// The kinds of damage.
pub(super) enum What<'a> {
    /// Other bytes stand there.
    Bytes(&'a [u8]),
    /// The file ends there.
    Cut,
    /// The file is gone.
    Gone,
}

/// Reads damage: a byte for the file, two for the place, one for the kind and length, then as many bytes as that says.
pub(super) fn damages(mut data: &[u8]) -> Vec<Damage<'_>> {
    let mut found = Vec::new();
    while let [file, high, low, kind, rest @ ..] = data {
        let length = usize::from(*kind).min(16).min(rest.len());
        let (bytes, after) = rest.split_at(length);
        let what = match kind {
            0xff => What::Gone,
            0xfe => What::Cut,
            _ => What::Bytes(bytes),
        };
        found.push(Damage { file: usize::from(*file), place: u16::from_be_bytes([*high, *low]), what });
        data = after;
    }
    found
}

/// Applies one piece of damage to the bytes of a file; `None` where the file is to be gone.
pub(super) fn damaged(mut bytes: Vec<u8>, damage: &Damage<'_>) -> Option<Vec<u8>> {
    let at = bytes.len() * usize::from(damage.place) / 65_536;
    match damage.what {
        What::Gone => return None,
        What::Cut => bytes.truncate(at),
        What::Bytes(new) => bytes.iter_mut().skip(at).zip(new).for_each(|(old, new)| *old = *new),
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{What, damaged, damages, parts};

    #[test]
    fn damage_is_read_and_applied() {
        let found = damages(b"\x01\x80\x00\x02ab\x00\x00\x00\xff\x02\x40");
        assert_eq!(found.len(), 2);
        assert_eq!(damaged(b"0123".to_vec(), &found[0]), Some(b"01ab".to_vec()));
        assert!(matches!(found[1].what, What::Gone) && damaged(vec![1], &found[1]).is_none());
        assert_eq!(parts(b"a\x1e\x1eb").count(), 3);
    }
}
