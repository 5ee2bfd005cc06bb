//! Checksums of the rows of a manifest.

use pericope_store::SourceRecord;
use twox_hash::XxHash3_64;

/// The checksum of a source's row.
pub(super) fn source_sum(name: &str, record: &SourceRecord) -> i64 {
    let stamp = record.stamp.map(|stamp| format!("{} {} {}", stamp.size, stamp.modified, stamp.inode));
    let hash = record.hash.map(u128::to_be_bytes);
    let empty = record.empty.to_le_bytes();
    row_sum(&[
        Some(name.as_bytes()),
        hash.as_ref().map(<[u8; 16]>::as_slice),
        stamp.as_deref().map(str::as_bytes),
        Some(record.fingerprint.as_bytes()),
        Some(empty.as_slice()),
    ])
}

/// The checksum of a document's row.
pub(super) fn document_sum(id: &str, source: Option<&str>, hash: Option<u128>, chunks: &[u8]) -> i64 {
    let hash = hash.map(u128::to_be_bytes);
    let hash = hash.as_ref().map(<[u8; 16]>::as_slice);
    row_sum(&[Some(id.as_bytes()), source.map(str::as_bytes), hash, Some(chunks)])
}

fn row_sum(values: &[Option<&[u8]>]) -> i64 {
    let mut bytes = Vec::new();
    for value in values {
        // Lengths keep apart what would else run together.
        bytes.extend(value.map_or(u64::MAX, |value| value.len() as u64).to_le_bytes());
        bytes.extend_from_slice(value.unwrap_or_default());
    }
    XxHash3_64::oneshot(&bytes).cast_signed()
}
