//! Reading a file that somebody may be writing.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use crate::error::ReadError;

/// The properties of a file that show whether it has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    pub(crate) fn of(about: &Metadata) -> Self {
        Self { len: about.len(), modified: about.modified().ok() }
    }
}

/// A file as it was read once.
pub(crate) struct Attempt {
    pub(crate) before: Stamp,
    pub(crate) bytes: Vec<u8>,
    pub(crate) after: Stamp,
}

/// The bytes of a file that stayed as it was while it was read; a file that did not is read once more.
///
/// # Errors
/// The errors of `read`; [`ReadError::Changed`] for a file that changed both times.
pub(crate) fn stable(path: &Path, read: &mut dyn FnMut() -> Result<Attempt, ReadError>) -> Result<Vec<u8>, ReadError> {
    for _ in 0..2 {
        let attempt = read()?;
        if attempt.before == attempt.after {
            return Ok(attempt.bytes);
        }
    }
    Err(ReadError::Changed { path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Attempt, Stamp, stable};
    use crate::ReadError;

    /// Lengths before and after each time it is read.
    fn read(lengths: &[(u64, u64)]) -> (Result<Vec<u8>, ReadError>, usize) {
        let stamp = |len| Stamp { len, modified: None };
        let mut times = 0;
        let bytes = stable(Path::new("f"), &mut || {
            let (before, after) = lengths[times];
            times += 1;
            Ok(Attempt { before: stamp(before), bytes: vec![b'x'; times], after: stamp(after) })
        });
        (bytes, times)
    }

    #[test]
    fn a_file_that_changes_is_read_once_more() {
        assert!(matches!(read(&[(1, 1)]), (Ok(bytes), 1) if bytes == b"x"));
        assert!(matches!(read(&[(1, 2), (2, 2)]), (Ok(bytes), 2) if bytes == b"xx"));
        assert!(matches!(read(&[(1, 2), (2, 3), (3, 3)]), (Err(ReadError::Changed { .. }), 2)));
    }
}
