use std::path::PathBuf;

/// The folder of the user's files: `$PERICOPE_HOME`, or else the XDG data folder's `pericope`; `None` where none of the variables
/// that say so is set.
pub(super) fn home_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("PERICOPE_HOME")
        .or_else(|| set("XDG_DATA_HOME").map(|data| data.join("pericope")))
        .or_else(|| set("HOME").map(|home| home.join(".local/share/pericope")))
}

/// The folder of the models below that folder.
pub(super) const MODELS: &str = "models";
