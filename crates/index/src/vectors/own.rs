//! The names of the files of vectors: nothing else in their folder is ours.

use std::path::Path;

/// True for a file or a folder of the vectors, of this version or an earlier one, by its path in their folder.
pub(crate) fn is_own_vectors(path: &Path) -> bool {
    path.to_str().is_some_and(is_current) || is_old_vectors(path)
}

/// True for the name of a file that this version writes, whole or not.
fn is_current(name: &str) -> bool {
    let mut parts = name.split('.');
    let is_number = |number: &str| number.len() == 32 && number.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let is_random = |text: &str| text.len() == 6 && text.bytes().all(|b| b.is_ascii_alphanumeric());
    parts.next().is_some_and(is_number)
        && matches!(parts.next(), Some("vectors" | "generation"))
        && match (parts.next(), parts.next(), parts.next()) {
            (None, ..) => true,
            (Some(random), Some("unfinished"), None) => is_random(random),
            _ => false,
        }
}

/// True for what earlier versions kept there.
pub(crate) fn is_old_vectors(path: &Path) -> bool {
    let mut parts = path.iter().map(|part| part.to_str().unwrap_or_default());
    match (parts.next(), parts.next()) {
        (Some("edge_config.json" | "shard_config.json" | "segments" | "temp_segments" | "wal"), None) => true,
        // All that is in the folder of a segment is the segment's.
        (Some("segments" | "temp_segments"), Some(segment)) => {
            let name = segment.strip_suffix(".deleted").unwrap_or(segment);
            name.len() == 36 && uuid::Uuid::try_parse(name).is_ok()
        }
        (Some("wal"), Some(file)) => {
            let kinds = ["open-", "closed-", "tmp-", "temp-"];
            (file == "first-index" || file == ".wal" || kinds.iter().any(|kind| file.starts_with(kind)))
                && parts.next().is_none()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_people_are_not_ours() {
        let (number, segment) = ("1082208c66f147e9882e91688f2f6eaf", "7396235a-9cc5-415a-8749-6df9045e574e");
        for own in [
            &format!("{number}.vectors"),
            &format!("{number}.generation"),
            &format!("{number}.vectors.a1B2c3.unfinished"),
            "edge_config.json",
            "segments",
            &format!("segments/{segment}/segment.json"),
            "wal/open-1",
        ] {
            assert!(is_own_vectors(Path::new(own)), "{own}");
        }
        for foreign in [
            "keep.txt",
            "mine.vectors",
            &format!("{number}.txt"),
            &format!("{number}.vectors.txt"),
            &format!("{number}.vectors.a1.unfinished"),
            "segments/keep.txt",
            "segments/mine/segment.json",
            "wal/keep.txt",
            "mine",
        ] {
            assert!(!is_own_vectors(Path::new(foreign)), "{foreign}");
        }
    }
}
