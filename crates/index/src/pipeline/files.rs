use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use twox_hash::xxhash3_128::Hasher;

/// Bytes read at a time.
const BLOCK: usize = 128 << 10;

/// XXH3 (128 bits, seed 0) of a file's bytes, however many there are.
///
/// # Errors
/// What the file system says.
pub fn hash_file(path: &Path) -> io::Result<u128> {
    let mut file = File::open(path)?;
    let mut hasher = Hasher::new();
    // Most files are small, and there are many of them.
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(BLOCK);
    let mut block = vec![0; length.clamp(1, BLOCK)];
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(hasher.finish_128()),
            Ok(n) => hasher.write(block.get(..n).unwrap_or(&[])),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn it_is_the_hash_of_the_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        for length in [0, 1, 200, BLOCK, 3 * BLOCK + 17] {
            let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(hash_file(&path).unwrap(), Hasher::oneshot(&bytes), "{length}");
        }
        assert!(hash_file(dir.path()).is_err());
    }
}
