//! The names that the engines give their files: nothing else in their folders is theirs.

use std::fs;
use std::path::Path;

/// True where a folder holds a full-text index of this program, by the fields of its schema.
pub(crate) fn is_text_index(folder: &Path) -> bool {
    let read = fs::read(folder.join("meta.json")).ok();
    let meta: Option<serde_json::Value> = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let schema = meta.as_ref().and_then(|meta| meta.get("schema")).and_then(serde_json::Value::as_array);
    let has = |name: &str| {
        schema.is_some_and(|fields| fields.iter().any(|field| field.get("name").is_some_and(|n| n == name)))
    };
    has("doc_id") && has("ordinal") && has("text")
}

/// True for the full-text index's files, by their paths in its folder.
pub(crate) fn is_own_text(path: &Path) -> bool {
    let Some(name) = path.to_str() else { return false };
    if matches!(name, "meta.json" | ".managed.json" | ".tantivy-writer.lock" | ".tantivy-meta.lock") {
        return true;
    }
    // Written before they take their places.
    if let Some(random) = name.strip_prefix(".tmp") {
        return random.len() == 6 && random.bytes().all(|b| b.is_ascii_alphanumeric());
    }
    let Some((segment, component)) = name.split_once('.') else { return false };
    let is_count = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    segment.len() == 32
        && is_hexadecimal(segment)
        && (matches!(component, "idx" | "pos" | "term" | "store" | "fast" | "fieldnorm" | "temp")
            || component.strip_suffix(".del").is_some_and(is_count))
}

/// True for the vector engine's files and folders, by their paths in its folder.
pub(crate) fn is_own_vectors(path: &Path) -> bool {
    let mut parts = path.iter().map(|part| part.to_str().unwrap_or_default());
    match (parts.next(), parts.next()) {
        (Some("edge_config.json" | "segments" | "temp_segments" | "wal"), None) => true,
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

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_people_are_not_ours() {
        let segment = "1082208c66f147e9882e91688f2f6eaf";
        for own in ["meta.json", ".managed.json", ".tmpa1B2c3", &format!("{segment}.idx"), &format!("{segment}.12.del")]
        {
            assert!(is_own_text(Path::new(own)), "{own}");
        }
        for foreign in
            ["keep.txt", "notes/meta.json", ".tmp", "a.idx", &format!("{segment}.txt"), &format!("{segment}.x.del")]
        {
            assert!(!is_own_text(Path::new(foreign)), "{foreign}");
        }
        let segment = "7396235a-9cc5-415a-8749-6df9045e574e";
        for own in ["edge_config.json", "segments", &format!("segments/{segment}/segment.json"), "wal/open-1"] {
            assert!(is_own_vectors(Path::new(own)), "{own}");
        }
        for foreign in ["keep.txt", "segments/keep.txt", "segments/mine/segment.json", "wal/keep.txt", "mine"] {
            assert!(!is_own_vectors(Path::new(foreign)), "{foreign}");
        }
    }
}
