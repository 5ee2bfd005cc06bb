//! Whose project it is. Settings may name a program to start, so those of another user are not obeyed.

use std::path::Path;

use crate::status::Failure;

/// Names folders of projects that are trusted whoever owns them, separated as in `PATH`; `*` trusts all.
#[cfg(unix)]
const TRUSTED: &str = "PERICOPE_SAFE_DIRECTORY";

/// Refuses a project of which a part belongs to another user: neither to who runs this command, nor to root, nor, under sudo, to who called it.
///
/// # Errors
/// A usage failure that names the file and says what to do: `instead`, or to trust the project.
#[cfg(unix)]
pub fn check(root: &Path, parts: &[&Path], instead: &str) -> Result<(), Failure> {
    use std::os::unix::fs::MetadataExt;

    use crate::resources::shown;

    let is_trusted = |list: std::ffi::OsString| {
        std::env::split_paths(&list)
            .any(|path| path.as_os_str() == "*" || path.canonicalize().is_ok_and(|path| path == root))
    };
    if std::env::var_os(TRUSTED).is_some_and(is_trusted) {
        return Ok(());
    }
    let me = rustix::process::geteuid().as_raw();
    let caller = std::env::var("SUDO_UID").ok().and_then(|id| id.parse().ok()).filter(|_| me == 0);
    for part in parts {
        // Of a link both ends count. What is not there belongs to nobody.
        for about in [part.symlink_metadata(), part.metadata()].into_iter().flatten() {
            let owner: u32 = about.uid();
            if ![Some(me), Some(0), caller].contains(&Some(owner)) {
                return Err(Failure::usage(format!(
                    "{} belongs to another user (number {owner}), whose settings may name programs to start: \
                     {instead}, or trust the project with {TRUSTED}={}",
                    shown(part),
                    shown(root)
                )));
            }
        }
    }
    Ok(())
}

/// Elsewhere who owns a file says less.
#[cfg(not(unix))]
pub fn check(_: &Path, _: &[&Path], _: &str) -> Result<(), Failure> {
    Ok(())
}
