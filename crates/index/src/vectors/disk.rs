//! Reading at a place, and checksums.

pub(super) use pericope_util::read_at;
use twox_hash::XxHash3_64;

/// The checksum of a run of bytes.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The checksum of the bytes in a row: a row in the wrong place does not have it.
pub(super) fn row_sum(row: usize, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(row as u64, bytes)
}
