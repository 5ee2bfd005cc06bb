//! The work of reading, counted: how many bytes the parsers look at.
//!
//! Every search that may reach far from its place says how far it went. Tests compare the sum with the length of the
//! input (`growth.rs`); in other builds nothing is counted.

#[cfg(test)]
thread_local! {
    static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Counts `bytes` that were looked at.
#[inline]
pub(crate) fn looked(bytes: usize) {
    #[cfg(test)]
    LOOKED.with(|sum| sum.set(sum.get() + bytes));
    #[cfg(not(test))]
    let _ = bytes;
}

/// Returns the bytes that this thread has looked at since the last call.
#[cfg(test)]
pub(crate) fn take() -> usize {
    LOOKED.with(|sum| sum.replace(0))
}

/// Finds `needle` in `text`, counted.
#[inline]
pub(crate) fn find(text: &str, needle: &str) -> Option<usize> {
    let found = text.find(needle);
    looked(found.map_or(text.len(), |at| at + needle.len()));
    found
}

/// Finds the first character of `text` that `wanted` holds for, counted.
#[inline]
pub(crate) fn find_char(text: &str, wanted: impl FnMut(char) -> bool) -> Option<usize> {
    let found = text.find(wanted);
    looked(found.map_or(text.len(), |at| at + 1));
    found
}

/// Returns the byte `needle` in `bytes`, counted.
#[inline]
pub(crate) fn memchr(needle: u8, bytes: &[u8]) -> Option<usize> {
    let found = memchr::memchr(needle, bytes);
    looked(found.map_or(bytes.len(), |at| at + 1));
    found
}

/// Returns `text` without the blanks before it, counted.
#[inline]
pub(crate) fn trim_start(text: &str) -> &str {
    let rest = text.trim_start();
    looked(text.len() - rest.len() + 1);
    rest
}

/// True where `text` holds nothing but blanks, counted.
#[inline]
pub(crate) fn is_blank(text: &str) -> bool {
    trim_start(text).is_empty()
}
