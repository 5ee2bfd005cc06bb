use std::collections::HashMap;
use std::fs::Metadata;
use std::time::UNIX_EPOCH;

/// The outside of a file: what the file system says of it without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    /// The size in bytes.
    pub size: i64,
    /// The time of the last change, in nanoseconds since 1970; negative before it.
    pub modified: i64,
    /// The number of the file; 0 on systems without such numbers.
    pub inode: i64,
}

impl FileStamp {
    /// Returns the stamp of a file.
    #[must_use]
    pub fn of(about: &Metadata) -> Self {
        let modified = about.modified().map_or(0, |time| match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |n| -n),
        });
        Self { size: i64::try_from(about.len()).unwrap_or(i64::MAX), modified, inode: inode(about) }
    }

    /// Returns true if the file was last written more than two seconds before `now` (nanoseconds since 1970). A younger
    /// file may be written again without a new time on it, so that its stamp proves nothing.
    #[must_use]
    pub fn is_settled(&self, now: i64) -> bool {
        now.saturating_sub(self.modified) > 2_000_000_000
    }
}

#[cfg(unix)]
fn inode(about: &Metadata) -> i64 {
    // The same bits: only ever compared.
    std::os::unix::fs::MetadataExt::ino(about).cast_signed()
}

#[cfg(not(unix))]
fn inode(_about: &Metadata) -> i64 {
    0
}

/// A source as it was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRecord {
    /// XXH3 (128 bits) of its bytes; `None` if it has to be read again because some part of it could not be indexed.
    pub hash: Option<u128>,
    /// Its stamp, if that proves anything. Of a source that has to be read again, the stamp that it had when it was read: it
    /// has changed since where it has another one.
    pub stamp: Option<FileStamp>,
    /// The fingerprint of all that makes chunks and vectors of it; see
    /// [`DestinationInfo::fingerprint`](crate::DestinationInfo::fingerprint).
    pub fingerprint: String,
    /// The number of its documents without text, of which nothing is indexed.
    pub empty: u64,
}

/// A source at the store's last commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownSource {
    /// As in [`SourceRecord`].
    pub hash: Option<u128>,
    /// As in [`SourceRecord`].
    pub stamp: Option<FileStamp>,
    /// As in [`SourceRecord`].
    pub fingerprint: String,
    /// As in [`SourceRecord`].
    pub empty: u64,
    /// The ids of its documents, sorted, and the hash that each was written with.
    pub documents: Vec<(String, Option<u128>)>,
}

/// All that a store knows of its sources. About 300 bytes a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// The sources by name.
    pub sources: HashMap<String, KnownSource>,
}
