//! Which nights' full run folders stay.

use std::path::Path;

use super::compare::run_folder;
use super::history::RunHeader;

/// Removes the run folders of nights that are not among the newest `keep`, but never the last good night's nor the
/// `spared` ones. The history keeps all nights. Gives what could not be removed, a line each.
pub(super) fn prune(dir: &Path, heads: &[RunHeader], keep: usize, spared: &[u32]) -> Vec<String> {
    let last_good = heads.iter().rev().find(|head| head.verdict.is_good()).map(|head| head.number);
    let old = heads.iter().rev().skip(keep).map(|head| head.number);
    let mut warnings = Vec::new();
    for number in old.filter(|number| Some(*number) != last_good && !spared.contains(number)) {
        let folder = run_folder(dir, number);
        match std::fs::remove_dir_all(&folder) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                warnings.push(format!("the old run {} could not be removed: {e}", folder.display()));
            }
            _ => {}
        }
    }
    warnings
}
