//! The names that the full-text index gives its files: nothing else in its folder is its own.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use pericope_util::is_left_over;

use super::text_files::{META, REPLACED};

/// True where a folder holds a full-text index of this program, by the fields of its schema.
pub(crate) fn is_text_index(folder: &Path) -> bool {
    let read = fs::read(folder.join(META)).ok();
    let meta: Option<serde_json::Value> = read.and_then(|bytes| first(&bytes));
    let schema = meta.as_ref().and_then(|meta| meta.get("schema")).and_then(serde_json::Value::as_array);
    let has = |name: &str| {
        schema.is_some_and(|fields| fields.iter().any(|field| field.get("name").is_some_and(|n| n == name)))
    };
    has("doc_id") && has("ordinal") && has("text")
}

/// The JSON that a file begins with; a checksum may stand behind it.
fn first(bytes: &[u8]) -> Option<serde_json::Value> {
    serde_json::Deserializer::from_slice(bytes).into_iter().next()?.ok()
}

/// True for the full-text index's files, by their paths in its folder.
pub(crate) fn is_own_text(path: &Path) -> bool {
    let Some(name) = path.to_str() else { return false };
    // One that is replaced, or was about to be.
    let is_replaced = |own: &&str| name == *own || is_left_over(OsStr::new(name), OsStr::new(own));
    if matches!(name, ".tantivy-writer.lock" | ".tantivy-meta.lock") || REPLACED.iter().any(is_replaced) {
        return true;
    }
    // What earlier versions wrote before it took its place.
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

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_people_are_not_ours() {
        let segment = "1082208c66f147e9882e91688f2f6eaf";
        let (idx, del) = (format!("{segment}.idx"), format!("{segment}.12.del"));
        for own in ["meta.json", ".managed.json", "meta.json.a1B2c3.unfinished", ".tmpa1B2c3", &idx, &del] {
            assert!(is_own_text(Path::new(own)), "{own}");
        }
        for foreign in
            ["keep.txt", "notes/meta.json", ".tmp", "a.idx", &format!("{segment}.txt"), &format!("{segment}.x.del")]
        {
            assert!(!is_own_text(Path::new(foreign)), "{foreign}");
        }
    }
}
