use std::collections::HashMap;
use std::fs::Metadata;
use std::time::UNIX_EPOCH;

/// What the file system says of a file without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes.
    pub size: i64,
    /// Nanoseconds since 1970; before it where negative.
    pub modified: i64,
    /// Number of the file, where the system has such numbers; else 0.
    pub inode: i64,
}

impl Stamp {
    /// The stamp of a file.
    #[must_use]
    pub fn of(about: &Metadata) -> Self {
        let modified = about.modified().map_or(0, |time| match time.duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |n| -n),
        });
        Self { size: i64::try_from(about.len()).unwrap_or(i64::MAX), modified, inode: inode(about) }
    }

    /// True where the file was last written more than two seconds before `now` (nanoseconds since 1970): what is younger
    /// may be written again without a new time on it, so that its stamp proves nothing.
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
    /// XXH3 (128 bits) of its bytes; nothing where it has to be read again, since some part of it could not be indexed.
    pub hash: Option<u128>,
    /// Its stamp, where that proves anything.
    pub stamp: Option<Stamp>,
    /// Of all that makes chunks and vectors of it; see [`Destination::fingerprint`](crate::Destination::fingerprint).
    pub fingerprint: String,
}

/// A source at the destination's last commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownSource {
    /// As in [`SourceRecord`].
    pub hash: Option<u128>,
    /// As in [`SourceRecord`].
    pub stamp: Option<Stamp>,
    /// As in [`SourceRecord`].
    pub fingerprint: String,
    /// Ids of its documents, and the hash that each was written with.
    pub documents: Vec<(String, Option<u128>)>,
}

/// All that a destination knows of its sources. About 300 bytes a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// By name.
    pub sources: HashMap<String, KnownSource>,
}
