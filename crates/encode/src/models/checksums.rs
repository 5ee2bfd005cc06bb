use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;

use pericope_util::{replace_file, sha256_hex};
use serde::{Deserialize, Serialize};

use super::error::ModelError;

/// Checksums that were worked out before, beside the files.
const CACHE: &str = ".checksums.json";

/// A checksum, and the state of the file that it was taken of.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    bytes: u64,
    modified_ns: u128,
    sha256: String,
}

/// SHA-256 of a file whose content is at hand: taken from the cache in its folder where size and modification time have
/// not changed, else worked out and remembered (where the folder can be written).
///
/// # Errors
/// [`ModelError::Io`] where the file's state cannot be read.
pub fn known_sha256(path: &Path, content: &[u8]) -> Result<String, ModelError> {
    let meta = std::fs::metadata(path).map_err(ModelError::io(path))?;
    let modified = meta.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
    let (Some(modified), Some(folder), Some(name)) = (modified, path.parent(), path.file_name()) else {
        return Ok(sha256_hex(content));
    };
    let name = name.to_string_lossy().into_owned();
    let (bytes, modified_ns) = (meta.len(), modified.as_nanos());
    let cache = folder.join(CACHE);
    let mut stamps: BTreeMap<String, Stamp> =
        std::fs::read(&cache).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
    if let Some(stamp) = stamps.get(&name)
        && (stamp.bytes, stamp.modified_ns) == (bytes, modified_ns)
    {
        return Ok(stamp.sha256.clone());
    }
    let sha256 = sha256_hex(content);
    stamps.insert(name, Stamp { bytes, modified_ns, sha256: sha256.clone() });
    // Only a shortcut for the next start: a folder that cannot be written is no error.
    if let Ok(text) = serde_json::to_vec_pretty(&stamps) {
        let _ = replace_file(&cache, text);
    }
    Ok(sha256)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::files::sha256_file;
    use super::{CACHE, known_sha256};

    /// The value for "abc" is in FIPS 180-2, appendix B.1.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_cache_is_used_until_the_file_changes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(sha256_file(&path).unwrap(), ABC);
        assert_eq!(known_sha256(&path, b"abc").unwrap(), ABC);
        assert!(dir.path().join(CACHE).exists());
        // A cached value is believed: the content is not looked at again.
        assert_eq!(known_sha256(&path, b"").unwrap(), ABC);
        std::fs::write(&path, "abcd").unwrap();
        assert_eq!(known_sha256(&path, b"abcd").unwrap(), sha256_file(&path).unwrap());
        assert_ne!(known_sha256(&path, b"abcd").unwrap(), ABC);
    }

    #[test]
    fn a_broken_cache_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "abc").unwrap();
        std::fs::write(dir.path().join(CACHE), "{not json").unwrap();
        assert_eq!(known_sha256(&path, b"abc").unwrap(), ABC);
        assert!(std::fs::read_to_string(dir.path().join(CACHE)).unwrap().contains(ABC));
    }
}
