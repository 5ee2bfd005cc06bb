//! Reading at a place, and checksums.

use std::fs::File;
use std::io;

use twox_hash::XxHash3_64;

/// Reads exactly `buffer.len()` bytes from `offset` on, whatever others read of the same file meanwhile.
#[cfg(unix)]
pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
pub(super) fn read_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                buffer = buffer.get_mut(read..).unwrap_or_default();
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The checksum of a run of bytes.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The checksum of the bytes in a row: a row in the wrong place does not have it.
pub(super) fn row_sum(row: usize, bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(row as u64, bytes)
}
