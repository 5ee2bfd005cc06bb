//! Documents read as an index reads them.

use std::fs;
use std::path::{Path, PathBuf};

use pericope_api::Document;
use pericope_eval::data::SquadFile;
use pericope_index::pipeline::DEFAULT_MEMORY;
use pericope_read::document_id;

use super::compared;
use crate::args::SourceArgs;
use crate::input::{self, AllLeftOut, Input};
use crate::progress;
use crate::resources::shown;
use crate::status::Failure;

/// Documents, and how much of the input gave none.
pub struct Documents {
    pub documents: Vec<Document>,
    /// What could not be read, or not in full; each part was named.
    pub skipped: usize,
    /// Pages without text.
    pub empty: usize,
}

/// Reads files and folders; `own` are files and folders of ours, which are no documents.
pub fn read(paths: &[PathBuf], source: &SourceArgs, own: &[&Path], quiet: bool) -> Result<Documents, Failure> {
    let limits = source.time.limits(DEFAULT_MEMORY as u64);
    let found = Input::search(paths, &source.files.walk(), source.max_bytes(), limits, None)?;
    let own: Vec<PathBuf> = own.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let is_own = |path: &Path| path.canonicalize().is_ok_and(|path| own.iter().any(|own| path.starts_with(own)));
    let mut skipped = found.report();
    let globs = &source.files.glob;
    if found.files().is_empty() && !globs.is_empty() {
        return Err(Failure::usage(format!(
            "no file below {} that is neither hidden nor ignored is called as --glob wants it: {}",
            paths.iter().map(|path| shown(path)).collect::<Vec<_>>().join(", "),
            globs.join(", ")
        )));
    }
    let mut left_out = AllLeftOut::default();
    let mut documents = Vec::new();
    let mut compared = compared::below(paths);
    let files: Vec<&PathBuf> = found.files().iter().filter(|path| !is_own(path) && !compared.hold(path)).collect();
    let bar = progress::files(files.len() as u64, quiet);
    for path in files {
        found.read_in_time(path, |document| document, &mut |read| match read {
            Ok(document) => documents.push(relative(document, paths)),
            Err(one) => left_out.add(one),
        });
        bar.inc(1);
    }
    bar.finish_and_clear();
    skipped += left_out.report().total();
    input::tell_empty(&left_out.empty);
    found.tell_rules();
    compared::tell(compared);
    Ok(Documents { documents, skipped, empty: left_out.empty.len() })
}

/// Ids do not depend on where the folder lies.
pub fn relative(mut document: Document, roots: &[PathBuf]) -> Document {
    if let [root] = roots
        && root.is_dir()
        && let Ok(inside) = Path::new(&document.id).strip_prefix(document_id(root))
    {
        // The id is text already, with `/` between its parts.
        document.id = inside.to_string_lossy().into_owned();
    }
    document
}

/// Notes in a file of questions what [`relative`] took off: chunks and passages of others may name documents by paths as
/// they are typed.
pub fn note_paths(file: &mut SquadFile, roots: &[PathBuf]) {
    let [root] = roots else { return };
    let folder = document_id(root);
    if folder.is_empty() || !root.is_dir() {
        return;
    }
    let joint = if folder.ends_with('/') { "" } else { "/" };
    for article in &mut file.data {
        article.path = article.id.as_ref().map(|id| format!("{folder}{joint}{id}"));
    }
}

/// Writes a file that the command names, whole or not at all.
pub fn save(path: &Path, text: &str) -> Result<(), Failure> {
    save_by(path, |path| pericope_util::replace_file(path, text))
}

/// Writes a file that the user named, whole or not at all: where a link leads, and a pipe or a device as the text comes.
pub fn save_named(path: &Path, text: &str) -> Result<(), Failure> {
    save_by(path, |path| pericope_util::replace_named_file(path, text))
}

fn save_by(path: &Path, write: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::runtime(format!("{}: {e}", shown(path)));
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    write(path).map_err(failed)
}
