//! The keys of specs, as lists of segmenters and rerankers show them.

use pericope_segment::registry::SettingKey;
use serde::Serialize;

/// A key in a JSON list.
#[derive(Serialize)]
pub struct KeyRow {
    name: &'static str,
    default: &'static str,
    doc: &'static str,
}

/// The rows of a JSON list.
pub fn rows(keys: &[SettingKey]) -> Vec<KeyRow> {
    keys.iter().map(|key| KeyRow { name: key.name, default: key.default, doc: key.doc }).collect()
}

/// Prints a key on a line of its own.
pub fn show(key: &SettingKey) -> std::io::Result<()> {
    let default = if key.default.is_empty() { String::new() } else { format!(" [{}]", key.default) };
    say!("    {:<14} {}{default}", key.name, key.doc);
    Ok(())
}
