//! Folders that `pericope compare` wrote, which hold no documents.

use std::path::{Path, PathBuf};

use crate::input::Folders;
use crate::resources::shown;
use crate::terminal::is_quiet;

/// The list of what `compare` wrote, in the folder of each comparison.
pub const WRITTEN: &str = ".written.json";

/// Such folders below the paths that were typed. What was typed itself is meant.
pub fn below(roots: &[PathBuf]) -> Folders<'_> {
    Folders::below(roots, |folder| !roots.iter().any(|root| root == folder) && is_written(folder))
}

/// Names the folders that were met. They are a rule and no failure.
pub fn tell(compared: Folders<'_>) {
    for folder in compared.met().iter().filter(|_| !is_quiet()) {
        tell!("left out: {}: pericope compare wrote it", shown(folder));
    }
}

/// Whether a folder has the list, which has `files`.
fn is_written(folder: &Path) -> bool {
    let Ok(bytes) = pericope_util::read_file(&folder.join(WRITTEN)) else { return false };
    serde_json::from_slice::<serde_json::Value>(&bytes).is_ok_and(|list| list.get("files").is_some())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_a_comparison_wrote_is_no_document_unless_it_was_typed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        std::fs::create_dir_all(at("docs/old/run")).unwrap();
        std::fs::write(at("docs/old").join(WRITTEN), "{\"files\": {}}").unwrap();
        std::fs::create_dir_all(at("docs/other")).unwrap();
        std::fs::write(at("docs/other").join(WRITTEN), "mine").unwrap();
        let roots = [at("docs")];
        let mut found = below(&roots);
        for (file, is_held) in [
            ("docs/a.md", false),
            ("docs/old/compare.toml", true),
            ("docs/old/run/index.html", true),
            ("docs/other/b.md", false),
        ] {
            assert_eq!(found.hold(&at(file)), is_held, "{file}");
        }
        assert_eq!(found.met().len(), 1);
        for typed in [[at("docs/old")], [at("docs/old/compare.toml")]] {
            assert!(!below(&typed).hold(&at("docs/old/compare.toml")), "{typed:?}");
        }
    }
}
