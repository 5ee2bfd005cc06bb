//! Where the index of a project lies: in a folder of the project's, whose files it holds.

use std::path::Path;

/// The folder of a project's settings and index. No file in it is a document.
pub const FOLDER: &str = ".pericope";
/// The index, in that folder.
pub const INDEX: &str = "index";

/// Returns the folder of the project whose own index this is, from which its files are named.
#[must_use]
pub fn of_index(index: &Path) -> Option<&Path> {
    let folder = index.parent()?;
    (index.ends_with(INDEX) && folder.ends_with(FOLDER)).then(|| folder.parent()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_known_by_where_its_index_lies() {
        for (index, project) in [
            ("/p/.pericope/index", Some("/p")),
            (".pericope/index", Some("")),
            ("a/.pericope/index/", Some("a")),
            ("/p/docs.idx", None),
            ("/p/index", None),
            (".pericope/other", None),
        ] {
            assert_eq!(of_index(Path::new(index)), project.map(Path::new), "{index}");
        }
    }
}
